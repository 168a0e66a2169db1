//! Decides which continue constructs stay in place.
//!
//! A construct of one block stays if an invocation that aborts in a call of it can run on to the back edge: what follows
//! the call has no visible effect, and no undefined behaviour for the placeholder that the call returns. `unwind` then takes
//! the back edge. A region that was outlined leaves such a block behind.

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex};
use crate::analysis::index::{Decoration, Index};
use crate::spv::op::{decoration, storage_class};
use crate::spv::op_sets::is_total;
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeSet;

/// Whether the continue construct with `blocks`, of the loop with header `header`, can stay in place. `outlined` holds the
/// functions made by earlier rounds.
pub(super) fn can_stay(
    index: &Index<'_>,
    plan: &ExitPlan,
    function: FunctionIndex,
    header: Id,
    blocks: &BTreeSet<BlockIndex>,
    outlined: &HashSet<Id>,
) -> bool {
    let mut blocks = blocks.iter();
    let (Some(number), None) = (blocks.next(), blocks.next()) else {
        return false;
    };
    let Some(block) = index.blocks.get(*number).filter(|_| !plan.polled(*number)) else {
        return false;
    };
    // Always true in a valid module. In others, many headers may name the same block as their continue target.
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

/// Whether an instruction is total, and not decorated to be undefined on overflow or NaN, or accesses a variable of the
/// invocation.
fn is_harmless(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_own_variable = |pointer| {
        let variable = index.def(pointer).filter(|def| def.opcode() == op::Variable);
        let class = variable.map(|def| def.storage_class());
        matches!(class, Some(storage_class::Function | storage_class::Private))
    };
    match inst.opcode() {
        op::Load | op::Store => is_own_variable(inst.pointer()),
        opcode => {
            let restricts_operands = |d: &Decoration| {
                matches!(
                    d.kind,
                    decoration::NoSignedWrap | decoration::NoUnsignedWrap | decoration::FPFastMathMode
                )
            };
            is_total(opcode) && !index.decorations_of(inst.result()).any(restricts_operands)
                || index.is_debug_info(inst)
        }
    }
}
