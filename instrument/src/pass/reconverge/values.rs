//! Values whose definition no longer dominates their use, because invocations that leave reach a merge block without it.
//!
//! ```text
//! %x = ..                   in one arm, where all others aborted
//! %y = Phi %x %arm, %placeholder %aborted     at the merge block
//! .. %y                     instead of %x behind it
//! ```
//!
//! Pointers and opaque handles, which no phi can select, are computed again in front of the use.

use super::flow::{Flow, is_loop};
use crate::analysis::dominators::Dominators;
use crate::analysis::index::typed::{Node, Table};
use crate::edit::emitter::Emitter;
use crate::edit::phi::predecessor;
use crate::edit::placeholder::Placeholders;
use crate::edit::rematerialize_handles::{MAX_COPIES, is_repeatable};
use crate::spv::{Code, Id, Inst, op, operands};
use std::collections::BTreeMap;

/// A phi to add. Predecessors by branches of the module only; edges of invocations that leave take a placeholder.
pub(super) struct NewPhi {
    pub(super) ty: Id,
    pub(super) result: Id,
    /// `None`: a placeholder.
    pub(super) values: Vec<(Option<Id>, Node)>,
}

/// Why the values of a function cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// An instruction with this opcode, which may use any value.
    UnknownInstruction(u16),
    /// A pointer or handle that can be neither selected nor computed again, by the instruction that defines it.
    Value(Id),
}

/// Changes to the values of a function.
#[derive(Default)]
pub(super) struct Repairs {
    /// By offset of an instruction: new ids of its words.
    pub(super) uses: BTreeMap<usize, Vec<(usize, Id)>>,
    /// By block.
    pub(super) phis: BTreeMap<Node, Vec<NewPhi>>,
    /// Code in front of the instruction at an offset.
    pub(super) copies: BTreeMap<usize, Code>,
}

/// Finds the uses of a function that its new edges break.
pub(super) struct Repairer<'a, 'w> {
    pub(super) flow: &'a Flow<'a, 'w>,
    /// With the new edges.
    pub(super) dominators: &'a Dominators,
    pub(super) predecessors: &'a Table<Node, Vec<Node>>,
    /// Nodes of the tests, by merge block.
    tests: &'a BTreeMap<Node, Node>,
    /// Merge blocks, by the nodes of their tests.
    merges: BTreeMap<Node, Node>,
    pub(super) out: &'a mut Emitter,
    pub(super) placeholders: &'a mut Placeholders,
    /// Results of the new phis, by block and value.
    results: BTreeMap<(Node, Id), Id>,
    /// Values and the new ids that derive from them. They are decorated at the end: an obstacle leaves the ids undefined.
    derived: Vec<(Id, Id)>,
    worklist: Vec<(Node, Id)>,
}

impl<'a, 'w> Repairer<'a, 'w> {
    pub(super) fn new(
        flow: &'a Flow<'a, 'w>,
        dominators: &'a Dominators,
        predecessors: &'a Table<Node, Vec<Node>>,
        tests: &'a BTreeMap<Node, Node>,
        out: &'a mut Emitter,
        placeholders: &'a mut Placeholders,
    ) -> Self {
        Self {
            flow,
            dominators,
            predecessors,
            tests,
            merges: tests.iter().map(|(merge, test)| (*test, *merge)).collect(),
            out,
            placeholders,
            results: BTreeMap::new(),
            derived: Vec::new(),
            worklist: Vec::new(),
        }
    }

    /// `is_replaced` says which terminators are.
    ///
    /// # Errors
    ///
    /// A value can be neither selected nor computed again, or an instruction is unknown.
    pub(super) fn run(mut self, is_replaced: impl Fn(Node) -> bool) -> Result<Repairs, Obstacle> {
        let index = self.flow.index;
        let mut repairs = Repairs::default();
        for (position, block) in index.blocks_of(self.flow.function).iter().enumerate() {
            let node = Node::from_usize(position);
            if !self.flow.dominators.is_reachable(node) {
                continue;
            }
            for inst in index.insts(block.offset, block.end).skip(1) {
                if inst.offset == block.terminator && is_replaced(node) {
                    continue;
                }
                self.repair_inst(node, &inst, &mut repairs)?;
            }
        }
        while let Some((node, value)) = self.worklist.pop() {
            let result = self.results.get(&(node, value)).copied();
            let result = result.ok_or(Obstacle::Value(value))?;
            let mut values = Vec::new();
            for before in self.predecessors.get(node).into_iter().flatten() {
                let is_reachable = self.flow.dominators.is_reachable(*before);
                let value = is_reachable.then(|| self.value_at(value, *before)).flatten();
                values.push((value, *before));
            }
            let ty = index.type_of(value);
            repairs
                .phis
                .entry(node)
                .or_default()
                .push(NewPhi { ty, result, values });
        }
        for (from, to) in self.derived {
            self.out.inherit_non_uniform(index, from, &[to]);
        }
        Ok(repairs)
    }

    fn repair_inst(&mut self, node: Node, inst: &Inst<'_>, repairs: &mut Repairs) -> Result<(), Obstacle> {
        let index = self.flow.index;
        let mut broken = Vec::new();
        let is_visited = operands::visit_ids(inst, index.selector_words(inst), |word| {
            let id = inst.id(word);
            let use_node = match inst.opcode() {
                op::Phi => predecessor(inst, word).and_then(|label| self.flow.node(label)),
                _ => Some(node),
            };
            let is_evaluated = |at: &Node| self.flow.dominators.is_reachable(*at);
            if let Some(at) = use_node.filter(is_evaluated)
                && self
                    .definition(id)
                    .is_some_and(|from| !self.dominators.dominates(from, at))
            {
                broken.push((word, id, at));
            }
        });
        if !is_visited {
            return Err(Obstacle::UnknownInstruction(inst.opcode()));
        }
        for (word, id, at) in broken {
            let new = match self.placeholders.can_select(index, index.type_of(id)) {
                true => self.value_at(id, at),
                false if inst.opcode() == op::Phi => None,
                false => {
                    let code = repairs.copies.entry(inst.offset).or_default();
                    let mut copied = 0;
                    self.compute_again(id, at, code, &mut copied)
                }
            };
            let new = new.ok_or(Obstacle::Value(id))?;
            repairs.uses.entry(inst.offset).or_default().push((word, new));
        }
        Ok(())
    }

    /// The block that defines a value. `None` for labels, parameters and what other functions or no function defines.
    fn definition(&self, id: Id) -> Option<Node> {
        let (index, function) = (self.flow.index, self.flow.function);
        let inst = index.def(id).filter(|inst| inst.opcode() != op::Label)?;
        let blocks = index.blocks_of(function);
        let position = blocks.partition_point(|b| b.offset <= inst.offset).checked_sub(1)?;
        let holds = blocks.get(position).is_some_and(|b| inst.offset < b.end);
        let node = Node::from_usize(position);
        // The phis of a merge block precede its test; those of a loop's header follow it.
        let is_before_test = inst.opcode() == op::Phi && !is_loop(self.flow, node);
        let test = self.tests.get(&node).copied().filter(|_| is_before_test);
        holds.then(|| test.unwrap_or(node))
    }

    /// Position in the function: a test is in front of the rest of its merge block.
    fn order(&self, node: Node) -> (Node, bool) {
        self.merges.get(&node).map_or((node, true), |merge| (*merge, false))
    }

    /// A value at the end of a block that its definition dominated before: the value itself, or a phi. The phi belongs into
    /// the last block on the dominator tree's path from the root that the definition dominated before: higher up, its
    /// invocations and those that left have not met.
    fn value_at(&mut self, id: Id, node: Node) -> Option<Id> {
        let definition = self.definition(id)?;
        if self.dominators.dominates(definition, node) {
            return Some(id);
        }
        // Both dominated `node` before the new edges, so the one that comes first dominated the other.
        let mut at = node;
        while let Some(above) = self
            .dominators
            .parent(at)
            .filter(|above| self.order(*above) > self.order(definition))
        {
            at = above;
        }
        let at = self.merges.get(&at).copied().unwrap_or(at);
        if let Some(result) = self.results.get(&(at, id)) {
            return Some(*result);
        }
        let result = self.out.fresh();
        self.derived.push((id, result));
        self.results.insert((at, id), result);
        self.worklist.push((at, id));
        Some(result)
    }

    /// Computes a pointer or handle again for a use in `node`.
    fn compute_again(&mut self, id: Id, node: Node, code: &mut Code, copied: &mut usize) -> Option<Id> {
        *copied += 1;
        let index = self.flow.index;
        let inst = index.def(id)?;
        if !is_repeatable(index, &inst) || *copied > MAX_COPIES {
            return None;
        }
        let mut words = Vec::new();
        operands::visit_ids(&inst, 1, |word| words.push(word));
        let mut copy = inst.words.to_vec();
        for word in words {
            let operand = inst.id(word);
            let Some(from) = self.definition(operand) else { continue };
            let new = if self.dominators.dominates(from, node) {
                operand
            } else if self.placeholders.can_select(index, index.type_of(operand)) {
                self.value_at(operand, node)?
            } else {
                self.compute_again(operand, node, code, copied)?
            };
            *copy.get_mut(word)? = new.word();
        }
        let result = self.out.fresh();
        self.derived.push((id, result));
        *copy.get_mut(operands::result_index(inst.opcode())?)? = result.word();
        code.copy_words(&inst, &copy);
        Some(result)
    }
}
