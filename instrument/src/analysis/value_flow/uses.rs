//! Uses of the values of a function.

use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// The block of the instruction; for phis the predecessor of which the value comes.
    pub(super) block: BlockIndex,
    /// Word offset of the instruction.
    pub(super) offset: usize,
    /// Word of the operand.
    pub(super) word: usize,
}

/// The uses of the values of a function, in module order.
#[derive(Debug, Default)]
pub(super) struct Uses {
    uses: HashMap<Id, Vec<Use>>,
}

impl Uses {
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut uses = Self::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                uses.read(index, function, number, &inst);
            }
        }
        uses
    }

    fn read(&mut self, index: &Index<'_>, function: &Function, block: BlockIndex, inst: &Inst<'_>) {
        if index.is_debug_inst(inst) {
            return;
        }
        let offset = inst.offset;
        let mut add = |block, word| {
            let id = inst.id(word);
            if index.def(id).is_some_and(|def| def.offset >= function.offset) {
                self.uses.entry(id).or_default().push(Use { block, offset, word });
            }
        };
        if inst.opcode() == op::Phi {
            for (pair, (_, predecessor)) in inst.phi_pairs().enumerate() {
                if let Some(block) = index.block_of_label(function, predecessor) {
                    add(block, 3 + 2 * pair);
                }
            }
        } else if !operands::visit_ids(inst, index.selector_words(inst), |word| add(block, word)) {
            (1..inst.words.len()).for_each(|word| add(block, word));
        }
    }

    pub(super) fn of(&self, value: Id) -> SmallVec<[Use; 4]> {
        self.uses
            .get(&value)
            .map(|uses| uses.as_slice().into())
            .unwrap_or_default()
    }
}
