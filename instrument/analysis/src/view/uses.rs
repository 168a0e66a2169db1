//! Uses of the values of a function.

use crate::graph::FunctionGraph;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, Inst, op, operands};

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The block of the instruction; for phis the predecessor of which the value comes.
    pub block: BlockIndex,
    /// Word offset of the instruction.
    pub offset: usize,
    /// Word of the operand.
    pub word: usize,
}

/// The uses of the values of a function that are defined in it, in reachable blocks.
#[derive(Debug, Default)]
pub struct Uses {
    /// Sorted by value, then in module order.
    all: Vec<(Id, Use)>,
}

impl Uses {
    /// O(words of the function * log).
    pub(super) fn new(index: &Index<'_>, function: &Function, graph: &FunctionGraph) -> Self {
        let mut uses = Self::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            if !graph.is_reachable(number) {
                continue;
            }
            for inst in index.insts(block.offset, block.end) {
                uses.read(index, function, graph, number, &inst);
            }
        }
        uses.all.sort_by_key(|(value, _)| *value);
        uses
    }

    fn read(
        &mut self,
        index: &Index<'_>,
        function: &Function,
        graph: &FunctionGraph,
        block: BlockIndex,
        inst: &Inst<'_>,
    ) {
        if index.is_debug_inst(inst) {
            return;
        }
        let offset = inst.offset;
        let mut add = |block, word| {
            let id = inst.id(word);
            let is_local = index
                .def(id)
                .is_some_and(|def| def.offset >= function.offset && def.opcode() != op::Label);
            if is_local {
                self.all.push((id, Use { block, offset, word }));
            }
        };
        if inst.opcode() == op::Phi {
            for (pair, (_, predecessor)) in inst.phi_pairs().enumerate() {
                let from = index.block_of_label(function, predecessor);
                if let Some(from) = from.filter(|from| graph.is_reachable(*from)) {
                    add(from, 3 + 2 * pair);
                }
            }
        } else if !operands::visit_ids(inst, index.selector_words(inst), |word| add(block, word)) {
            (1..inst.words.len()).for_each(|word| add(block, word));
        }
    }

    /// The uses of a value.
    pub fn of(&self, value: Id) -> impl Iterator<Item = Use> + '_ {
        let first = self.all.partition_point(|(of, _)| *of < value);
        let from = self.all.get(first..).unwrap_or_default().iter();
        from.take_while(move |(of, _)| *of == value).map(|(_, at)| *at)
    }
}
