//! Which continue constructs can stay where they are.

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::{Decoration, Index};
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Whether a region can stay where it is: one block, in which an invocation that has aborted in a call can go on to the
/// back edge to `header`. What follows the call must then do nothing that anyone else sees, and nothing that is undefined
/// for the null value that the call gives back. What an outlined region leaves behind is such a block too.
pub(super) fn may_stay(
    index: &Index<'_>,
    plan: &ExitPlan,
    function: usize,
    header: Id,
    blocks: &BTreeSet<usize>,
    outlined: &HashSet<Id>,
) -> bool {
    let mut blocks = blocks.iter();
    let (Some(number), None) = (blocks.next(), blocks.next()) else {
        return false;
    };
    let Some(block) = index.blocks.get(*number).filter(|_| !plan.polled(*number)) else {
        return false;
    };
    // In a valid module it does; in another one, many headers may name the same block.
    if !index.successors(block).contains(&header) {
        return false;
    }
    let checked = plan.checked_calls(index, function, *number);
    let mut calls = checked.iter().filter_map(|call| index.calls.get(*call));
    if calls.clone().all(|call| outlined.contains(&call.callee)) {
        return true;
    }
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return false;
    };
    let after = index.inst(call.offset).end();
    index
        .insts(after, block.terminator)
        .all(|inst| is_harmless(index, &inst))
}

/// Whether an instruction computes something that is defined whatever its operands are, or reads or writes a variable that
/// is the invocation's own.
fn is_harmless(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    // Left out: what divides, shifts, picks by an index or makes integers of floats, and what is decorated as never to
    // overflow or to give NaN. There are operands for which compilers may do anything.
    const TOTAL: [RangeInclusive<u16>; 12] = [
        op::VectorShuffle..=op::CopyObject,
        op::ConvertSToF..=op::FConvert,
        op::Bitcast..=op::Bitcast,
        op::SNegate..=op::FMul,
        op::FDiv..=op::FDiv,
        op::VectorTimesScalar..=op::SMulExtended,
        op::Any..=op::IsInf,
        op::LogicalEqual..=op::FUnordGreaterThanEqual,
        op::BitwiseOr..=op::Not,
        op::Line..=op::Line,
        op::NoLine..=op::NoLine,
        op::CopyLogical..=op::CopyLogical,
    ];
    let own = |pointer| {
        let variable = index.def(pointer).filter(|def| def.opcode() == op::Variable);
        let class = variable.map(|def| def.word(3));
        matches!(class, Some(storage_class::Function | storage_class::Private))
    };
    match inst.opcode() {
        op::Load => own(inst.word(3)),
        op::Store => own(inst.word(1)),
        opcode => {
            let total = TOTAL.iter().any(|opcodes| opcodes.contains(&opcode));
            let promised = |d: &Decoration| {
                matches!(
                    d.kind,
                    decoration::NoSignedWrap | decoration::NoUnsignedWrap | decoration::FPFastMathMode
                )
            };
            total && !index.decorations_of(inst.result()).any(promised) || index.is_debug_info(inst)
        }
    }
}
