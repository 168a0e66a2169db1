//! Decides where invocations that leave a function go.
//!
//! A construct is a *stop* if a waiting loop may be executed between its merge block and the end of the construct around it.
//! An exit goes to the merge block of the nearest stop, loop or switch around it, as long as a waiting loop can be reached
//! behind that merge block or one further out. The test there is an exit itself.

use super::flow::{Flow, is_loop};
use super::waits::reaching;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_analysis::exit_plan::ExitKind;
use vkabort_spirv::index::typed::{Node, Table};

/// Targets of the exits of a function. Constructs are named by their headers.
#[derive(Debug, Default)]
pub(super) struct Detours {
    /// Construct to whose merge block an exit goes.
    pub(super) exits: BTreeMap<Node, Node>,
    /// Constructs whose merge block tests the flag, and the construct to whose merge block the test goes; `None`: it ends
    /// the function.
    pub(super) tests: BTreeMap<Node, Option<Node>>,
    /// Selections that become switches, because a block inside another selection leaves them.
    pub(super) switches: BTreeSet<Node>,
}

impl Detours {
    /// `waits`: blocks that wait. `exits`: the blocks that leave the function because of an abort.
    pub(super) fn new(flow: &Flow<'_, '_>, waits: &Table<Node, bool>, exits: &[(Node, ExitKind)]) -> Self {
        let goals = goals(flow, waits);
        let goal = |header: Option<Node>| header.and_then(|header| goals.get(header).copied().flatten());
        let mut detours = Self::default();
        let mut worklist = Vec::new();
        for (node, kind) in exits {
            if !flow.dominators.is_reachable(*node) || flow.is_in_continue(*node) {
                continue;
            }
            let innermost = flow.innermost(*node);
            let around = match kind {
                ExitKind::Abort => innermost,
                ExitKind::Test => innermost.and_then(|header| flow.construct(header)?.outer),
            };
            if let Some(header) = goal(around) {
                detours.exits.insert(*node, header);
                worklist.push((header, innermost == Some(header)));
            }
        }
        while let Some((header, is_direct)) = worklist.pop() {
            let Some(construct) = flow.construct(header) else {
                continue;
            };
            if !is_direct && !construct.is_breakable {
                detours.switches.insert(header);
            }
            if let Entry::Vacant(test) = detours.tests.entry(header) {
                let next = *test.insert(goal(construct.outer));
                worklist.extend(next.map(|next| (next, false)));
            }
        }
        detours
    }

    /// Nodes for the tests, behind those of the blocks, by merge block: the phis and the test of that block.
    pub(super) fn test_nodes(&self, flow: &Flow<'_, '_>) -> BTreeMap<Node, Node> {
        let merges = self.tests.keys().filter_map(|header| flow.construct(*header));
        let first = flow.successors.count();
        merges
            .enumerate()
            .map(|(number, construct)| (construct.merge, Node::from_usize(first + number)))
            .collect()
    }

    /// The successors of all blocks and `tests`. Edges into a tested merge block lead to its test, except for back edges, and
    /// so do those by which invocations leave.
    pub(super) fn successors(&self, flow: &Flow<'_, '_>, tests: &BTreeMap<Node, Node>) -> Table<Node, Vec<Node>> {
        let test_of = |header: Node| tests.get(&flow.construct(header)?.merge).copied();
        let mut all: Vec<Vec<Node>> = Vec::with_capacity(flow.successors.count() + tests.len());
        for (node, next) in flow.successors.iter() {
            let enter = |to: &Node| {
                let is_back_edge = is_loop(flow, *to) && flow.dominators.dominates(*to, node);
                tests.get(to).copied().filter(|_| !is_back_edge).unwrap_or(*to)
            };
            let exit = self.exits.get(&node).and_then(|header| test_of(*header));
            all.push(next.iter().map(enter).chain(exit).collect());
        }
        for (header, next) in &self.tests {
            if let Some(construct) = flow.construct(*header) {
                let next = next.and_then(test_of);
                all.push([construct.merge].into_iter().chain(next).collect());
            }
        }
        all.into()
    }
}

/// By header of a construct: the construct to whose merge block an exit in it goes.
fn goals(flow: &Flow<'_, '_>, waits: &Table<Node, bool>) -> Table<Node, Option<Node>> {
    let reaches = reaching(&flow.successors, waits);
    // Constructs with a waiting loop inside.
    let mut contains = flow.successors.map(|_| false);
    for node in waits.keys().filter(|node| waits.is_set(*node)) {
        let mut next = flow.innermost(node);
        while let Some(header) = next.filter(|header| contains.set(*header)) {
            next = flow.construct(header).and_then(|construct| construct.outer);
        }
    }
    let breaks_out = breaking_out(flow);
    let mut is_followed = flow.successors.map(|_| false);
    let mut goals: Table<Node, Option<Node>> = flow.successors.map(|_| None);
    for header in flow.headers.iter().copied() {
        let Some(construct) = flow.construct(header) else {
            continue;
        };
        let outer = construct.outer;
        let is_before_wait = reaches.is_set(construct.merge);
        let outer_is_followed = outer.is_some_and(|outer| is_followed.is_set(outer));
        if !is_before_wait && !outer_is_followed {
            continue;
        }
        is_followed.set(header);
        let is_stop = is_before_wait && outer.is_none_or(|outer| contains.is_set(outer) || !is_followed.is_set(outer));
        // No branch leaves a continue construct, so a test there would be of no use.
        let can_leave = !flow.is_in_continue(construct.merge);
        let is_goal = construct.is_breakable || is_stop && !breaks_out.is_set(header);
        let goal = if can_leave && is_goal {
            Some(header)
        } else {
            outer.and_then(|outer| goals.get(outer).copied().flatten())
        };
        if let Some(slot) = goals.get_mut(header) {
            *slot = goal;
        }
    }
    goals
}

/// Marks the headers of constructs with a block that branches to the merge block of an enclosing switch. If such a construct
/// became a switch, that branch would have to end it instead.
fn breaking_out(flow: &Flow<'_, '_>) -> Table<Node, bool> {
    let mut is_loop_end = flow.successors.map(|_| false);
    for construct in flow.headers.iter().filter_map(|header| flow.construct(*header)) {
        if let Some(target) = construct.continue_target {
            is_loop_end.set(target);
            is_loop_end.set(construct.merge);
        }
    }
    let mut found = flow.successors.map(|_| false);
    for (node, next) in flow.successors.iter() {
        for to in next.iter().filter(|to| !is_loop_end.is_set(**to)) {
            let around = flow.outside(*to);
            let mut left = flow.construct(node).map(|_| node).or_else(|| flow.outside(node));
            while let Some(header) = left.filter(|header| Some(*header) != around) {
                let Some(construct) = flow.construct(header) else { break };
                if construct.merge == *to {
                    break;
                }
                found.set(header);
                left = construct.outer;
            }
        }
    }
    found
}
