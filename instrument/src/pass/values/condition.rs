//! Finds the branch that led to an abort: the nearest edge that every path to it takes.
//!
//! The exit of a loop that does not have the abort decides nothing: every invocation takes it. Such loops are skipped.

use super::function::FunctionFlow;
use crate::analysis::index::typed::Node;
use crate::spv::{Id, Inst, op};

/// The edge that was taken.
#[derive(Clone, Copy)]
pub(super) struct Edge<'w> {
    /// `OpBranchConditional` or `OpSwitch`.
    pub(super) branch: Inst<'w>,
    /// Its target on the way to the abort.
    pub(super) target: Id,
}

/// The branch that decided about the abort at the end of `abort`.
pub(super) fn deciding_edge<'w>(flow: &FunctionFlow<'_, 'w>, abort: Node) -> Option<Edge<'w>> {
    let mut node = abort;
    // Every step leads to a dominator.
    for _ in 0..flow.function.blocks.len() {
        if let Some(header) = flow.left_loop(node, abort).filter(|header| *header != node) {
            node = header;
            continue;
        }
        if flow.predecessors(node).is_empty() {
            return None;
        }
        let Some(before) = flow.only_predecessor(node) else {
            node = flow.dominators.parent(node)?;
            continue;
        };
        if flow.left_loop(before, abort).is_none() {
            let (block, target) = (flow.block(before)?, flow.block(node)?.label);
            let branch = flow.index.terminator(block);
            let decides = match branch.opcode() {
                op::BranchConditional => branch.true_label() != branch.false_label(),
                op::Switch => branch.default_label() != target || selects_default(flow, &branch, target),
                _ => false,
            };
            if decides {
                return Some(Edge { branch, target });
            }
        }
        node = before;
    }
    None
}

/// Whether only the default of a switch leads to `target`.
fn selects_default(flow: &FunctionFlow<'_, '_>, switch: &Inst<'_>, target: Id) -> bool {
    cases(flow, switch).all(|(_, label)| label != target) && cases(flow, switch).next().is_some()
}

/// The cases of a switch: the words of the literal, and the target.
pub(super) fn cases<'w>(flow: &FunctionFlow<'_, 'w>, switch: &Inst<'w>) -> impl Iterator<Item = (u64, Id)> + use<'w> {
    let width = flow.index.selector_words(switch);
    let cases = switch.from(3).chunks_exact(width + 1);
    cases.filter_map(|case| match *case {
        [low, label] => Some((u64::from(low), Id::new(label))),
        [low, high, label] => Some((u64::from(low) | u64::from(high) << 32, Id::new(label))),
        _ => None,
    })
}
