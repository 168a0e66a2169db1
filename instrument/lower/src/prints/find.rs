//! The instructions of prints.

use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::lowered::PRINTS;
use vkabort_spirv::{Id, Inst, op};

/// `DebugPrintf` of its set.
const DEBUG_PRINTF: u32 = 1;
/// Word of an `OpExtInst` with the format.
pub(super) const FORMAT: usize = 5;

/// The prints of a module in its order, with their functions.
pub(super) fn prints<'w>(index: &Index<'w>) -> Vec<(FunctionIndex, Inst<'w>)> {
    let sets = index.sets(PRINTS);
    let mut prints = Vec::new();
    for (number, function) in index.functions.iter() {
        for block in index.blocks_of(function) {
            let insts = index.insts(block.offset, block.end);
            let of_block = insts.filter(|inst| {
                inst.opcode() == op::ExtInst && sets.contains(&inst.ext_inst_set()) && inst.ext_inst() == DEBUG_PRINTF
            });
            prints.extend(of_block.map(|inst| (number, inst)));
        }
    }
    prints
}

/// The operands behind the format.
pub(super) fn arguments<'i>(print: &'i Inst<'_>) -> impl Iterator<Item = Id> + use<'i> {
    print.ids(FORMAT + 1)
}
