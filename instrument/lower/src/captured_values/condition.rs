//! Finds the branch that led to an abort: the nearest edge that every path to it takes.
//!
//! The exit of a loop that does not have the abort decides nothing: every invocation takes it. Such loops are skipped.

use vkabort_analysis::loop_nest::Loop;
use vkabort_analysis::view::FunctionView;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, Inst, op};

/// The edge that was taken.
#[derive(Clone, Copy)]
pub(super) struct Edge<'w> {
    /// `OpBranchConditional` or `OpSwitch`.
    pub(super) branch: Inst<'w>,
    /// Its target on the way to the abort.
    pub(super) target: Id,
}

/// The branch that decided about the abort at the end of `abort`.
pub(super) fn deciding_edge<'w>(flow: &FunctionView<'_, 'w>, abort: BlockIndex) -> Option<Edge<'w>> {
    let mut at = abort;
    // Every step leads to a dominator.
    for _ in 0..flow.function.blocks.count() {
        if let Some(left) = left_loop(flow, at, abort).filter(|left| left.header != at) {
            at = left.header;
            continue;
        }
        let before = match flow.graph.predecessors(at) {
            [] => return None,
            [only] => *only,
            _ => {
                at = flow.graph.immediate_dominator(at)?;
                continue;
            }
        };
        if left_loop(flow, before, abort).is_none() {
            let target = flow.index.blocks.get(at)?.label;
            let branch = flow.index.terminator(flow.index.blocks.get(before)?);
            let decides = match branch.opcode() {
                op::BranchConditional => branch.true_label() != branch.false_label(),
                op::Switch => branch.default_label() != target || selects_default(flow, &branch, target),
                _ => false,
            };
            if decides {
                return Some(Edge { branch, target });
            }
        }
        at = before;
    }
    None
}

/// The outermost loop that has `block` but not `other`.
pub(super) fn left_loop<'f>(flow: &'f FunctionView<'_, '_>, block: BlockIndex, other: BlockIndex) -> Option<&'f Loop> {
    let nest = flow.loops();
    let inner = nest.loops().get(nest.innermost(block)?)?;
    let loops = std::iter::once(inner).chain(nest.around(inner));
    loops.take_while(|l| !l.blocks.contains(&other)).last()
}

/// Whether only the default of a switch leads to `target`.
fn selects_default(flow: &FunctionView<'_, '_>, switch: &Inst<'_>, target: Id) -> bool {
    cases(flow, switch).all(|(_, label)| label != target) && cases(flow, switch).next().is_some()
}

/// The cases of a switch: the words of the literal, and the target.
pub(super) fn cases<'w>(flow: &FunctionView<'_, 'w>, switch: &Inst<'w>) -> impl Iterator<Item = (u64, Id)> + use<'w> {
    let width = flow.index.selector_words(switch);
    let cases = switch.from(3).chunks_exact(width + 1);
    cases.filter_map(|case| match *case {
        [low, label] => Some((u64::from(low), Id::new(label))),
        [low, high, label] => Some((u64::from(low) | u64::from(high) << 32, Id::new(label))),
        _ => None,
    })
}
