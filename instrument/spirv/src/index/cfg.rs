//! The control flow graph: blocks, their terminators, merge instructions and successors, and the continue constructs of loops.

use crate::index::typed::{BlockIndex, FunctionIndex, Node, Table};
use crate::index::{Block, Function, Index};
use crate::words::Insts;
use crate::{Id, Inst, op};
use std::collections::BTreeSet;

impl<'a> Index<'a> {
    /// The function with the result id `id`.
    pub fn function_of(&self, id: Id) -> Option<FunctionIndex> {
        let offset = self.def(id)?.offset;
        let position = self.functions.values().binary_search_by_key(&offset, |f| f.offset);
        Some(FunctionIndex::from_usize(position.ok()?))
    }

    /// The function that contains the definition of an id. O(log(functions)).
    pub fn function_with(&self, id: Id) -> Option<FunctionIndex> {
        let offset = self.def(id)?.offset;
        let behind = self.functions.values().partition_point(|f| f.offset <= offset);
        behind.checked_sub(1).map(FunctionIndex::from_usize)
    }

    /// The blocks of a function.
    pub fn blocks_of(&self, function: &Function) -> &[Block] {
        self.blocks.run(function.blocks)
    }

    /// The block with a label, among those of a function.
    pub fn block_of_label(&self, function: &Function, label: Id) -> Option<BlockIndex> {
        let offset = self.def(label)?.offset;
        let blocks = self.blocks_of(function);
        let found = blocks.binary_search_by_key(&offset, |b| b.offset).ok()?;
        function.blocks.at(found)
    }

    /// The block with a label, by its position in its function.
    pub fn node_of(&self, function: &Function, label: Id) -> Option<Node> {
        let block = self.block_of_label(function, label)?;
        function.blocks.offset_of(block).map(Node::from_usize)
    }

    /// The block of a function that contains a word offset. O(log(blocks)).
    pub fn block_at(&self, function: &Function, offset: usize) -> Option<BlockIndex> {
        let blocks = self.blocks_of(function);
        let position = blocks.partition_point(|block| block.offset <= offset).checked_sub(1)?;
        let holds = blocks.get(position).is_some_and(|block| offset < block.end);
        function.blocks.at(position).filter(|_| holds)
    }

    /// As [`Self::block_at`], by its position in its function.
    pub fn node_at(&self, function: &Function, offset: usize) -> Option<Node> {
        let block = self.block_at(function, offset)?;
        function.blocks.offset_of(block).map(Node::from_usize)
    }

    /// Successors of the blocks of a function.
    pub fn successor_nodes(&self, function: &Function) -> Table<Node, Vec<Node>> {
        let of = |block: &Block| {
            let labels = self.successors(block).into_iter();
            let mut nodes: Vec<Node> = labels.filter_map(|label| self.node_of(function, label)).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        self.blocks_of(function).iter().map(of).collect::<Vec<_>>().into()
    }

    /// The instruction that ends a block.
    pub fn terminator(&self, block: &Block) -> Inst<'a> {
        self.inst(block.terminator)
    }

    /// Whether a block ends in `OpAbortKHR`.
    pub fn ends_in_abort(&self, block: BlockIndex) -> bool {
        let block = self.blocks.get(block);
        block.is_some_and(|b| self.terminator(b).opcode() == op::AbortKHR)
    }

    /// Offsets of the aborts, in module order.
    pub fn aborts(&self) -> impl Iterator<Item = usize> {
        let aborts = self.blocks.keys().filter(|b| self.ends_in_abort(*b));
        aborts.filter_map(|b| self.blocks.get(b)).map(|b| b.terminator)
    }

    /// The merge instruction of a block.
    pub fn merge(&self, block: &Block) -> Option<Inst<'a>> {
        (block.merge != 0).then(|| self.inst(block.merge))
    }

    /// Merge block and continue target of a loop header.
    pub fn loop_merge(&self, block: &Block) -> Option<(Id, Id)> {
        let merge = self.merge(block).filter(|i| i.opcode() == op::LoopMerge)?;
        Some((merge.merge_block(), merge.continue_target()))
    }

    /// Blocks of the continue construct of a loop, in module order: those that its continue target reaches without passing
    /// the header or the merge block, by branches or as the merge block or continue target of a nested construct. In a valid
    /// module these are the blocks that the continue target structurally dominates (SPIR-V specification, "Structured Control
    /// Flow"). Unreachable blocks may come anywhere in the function, also before the continue target.
    pub fn continue_blocks(&self, function: &Function, header: Id, merge: Id, target: Id) -> BTreeSet<BlockIndex> {
        let mut found = BTreeSet::new();
        let mut worklist = vec![target];
        while let Some(label) = worklist.pop() {
            let Some(number) = self.block_of_label(function, label).filter(|b| found.insert(*b)) else {
                continue;
            };
            let Some(block) = self.blocks.get(number) else {
                continue;
            };
            let nested = self.merge(block).map_or([None; 2], |inst| match inst.opcode() {
                op::LoopMerge => [Some(inst.merge_block()), Some(inst.continue_target())],
                _ => [Some(inst.merge_block()), None],
            });
            let next = self.successors(block).into_iter().chain(nested.into_iter().flatten());
            worklist.extend(next.filter(|label| *label != header && *label != merge));
        }
        found
    }

    /// The instruction at an offset taken from this index.
    pub fn inst(&self, offset: usize) -> Inst<'a> {
        Insts::new(self.words, offset)
            .next()
            .unwrap_or(Inst { offset, words: &[] })
    }

    /// Instructions of a block between its label and its merge instruction or terminator.
    pub fn body(&self, block: &Block) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        self.insts(block.offset, block.before_end()).skip(1)
    }

    /// Labels that a block's terminator can branch to, in operand order.
    pub fn successors(&self, block: &Block) -> Vec<Id> {
        let inst = self.terminator(block);
        match inst.opcode() {
            op::Branch => vec![inst.branch_target()],
            op::BranchConditional => vec![inst.true_label(), inst.false_label()],
            op::Switch => {
                let width = self.selector_words(&inst);
                let cases = inst
                    .from(3)
                    .chunks_exact(width + 1)
                    .filter_map(|c| c.last().map(|label| Id::new(*label)));
                std::iter::once(inst.default_label()).chain(cases).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Words in each literal of an `OpSwitch`; 1 for other instructions.
    pub fn selector_words(&self, inst: &Inst<'_>) -> usize {
        if inst.opcode() != op::Switch {
            return 1;
        }
        let selector = self.def(inst.condition()).and_then(|d| self.def(d.result_type()));
        selector.map_or(1, |ty| (ty.width().div_ceil(32) as usize).clamp(1, 2))
    }

    /// Word offset at which code may be inserted at the start of a function: after the variables of its first block.
    pub fn after_variables(&self, function: &Function) -> Option<usize> {
        let first = self.blocks_of(function).first()?;
        let is_variable = |i: &Inst<'_>| matches!(i.opcode(), op::Variable | op::UntypedVariableKHR);
        let is_header =
            |i: &Inst<'_>| is_variable(i) || matches!(i.opcode(), op::Line | op::NoLine) || self.is_debug_inst(i);
        // Debug instructions between variables stay with them; code follows the last variable.
        let last = self.body(first).take_while(is_header).filter(is_variable).last();
        Some(last.map_or(first.offset + 2, |i| i.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::storage_class;
    use crate::{Code, Literal, Words};

    #[test]
    fn code_starts_behind_untyped_variables() {
        let mut code = Code::default();
        code.words.extend([0x0723_0203, 0x10600, 0, 20, 0]);
        code.op(op::MemoryModel, Words(&[0, 1]));
        let [void, ty, pointer, function, block, variable] = [1, 2, 3, 4, 5, 6].map(Id::new);
        code.op(op::TypeVoid, void);
        code.op(op::TypeFunction, (ty, void));
        code.op(op::TypeUntypedPointerKHR, (pointer, Literal(storage_class::Function)));
        code.op(op::Function, (void, function, Literal(0), ty));
        code.label(block);
        code.op(
            op::UntypedVariableKHR,
            (pointer, variable, Literal(storage_class::Function)),
        );
        let after = code.words.len();
        code.op(op::Return, ());
        code.op(op::FunctionEnd, ());
        let index = Index::new(&code.words).expect("a module");
        assert_eq!(index.after_variables(&index.functions.values()[0]), Some(after));
        assert!(index.is_logical_pointer(pointer));
    }
}
