//! Functions, blocks and calls.

use super::{Index, PASS, cut_short};
use crate::error::{Error, ErrorKind, Result};
use crate::spv::words::Insts;
use crate::spv::{Id, Inst, op};
use std::ops::Range;

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: Id,
    pub(crate) result_type: Id,
    /// Offset of `OpFunction`.
    pub(crate) offset: usize,
    /// Offset after `OpFunctionEnd`.
    pub(crate) end: usize,
    /// Its blocks in [`Index::blocks`].
    pub(crate) blocks: Range<usize>,
}

/// A basic block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) label: Id,
    /// Offset of `OpLabel`.
    pub(crate) offset: usize,
    /// Offset of its merge instruction, 0 if it has none.
    pub(crate) merge: usize,
    /// Offset of the instruction that ends it.
    pub(crate) terminator: usize,
    /// Offset after that instruction.
    pub(crate) end: usize,
}

/// An `OpFunctionCall`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Caller, in [`Index::functions`].
    pub(crate) caller: usize,
    /// Block of the call, in [`Index::blocks`].
    pub(crate) block: usize,
    pub(crate) offset: usize,
    pub(crate) callee: Id,
}

impl<'a> Index<'a> {
    pub(super) fn read_functions(&mut self, insts: &mut Insts<'a>) -> Result<()> {
        let invalid = |offset: usize, what: &str| Error::new(ErrorKind::Invalid, PASS, offset as u32, what);
        let mut function: Option<Function> = None;
        let mut block: Option<Block> = None;
        loop {
            let offset = insts.offset();
            let Some(inst) = insts.next() else {
                if offset < self.words.len() {
                    return Err(cut_short(offset));
                }
                break;
            };
            Self::define(&mut self.defs, &inst)?;
            // Passes insert behind these: they must end where everybody thinks that they do.
            let exact = match inst.opcode() {
                op::Label => 2,
                op::Function => 5,
                op::FunctionEnd => 1,
                _ => inst.words.len(),
            };
            if inst.words.len() != exact {
                return Err(invalid(
                    offset,
                    "an instruction of this kind does not have so many words",
                ));
            }
            match inst.opcode() {
                op::Function => {
                    if function.is_some() {
                        return Err(invalid(offset, "OpFunction inside a function"));
                    }
                    let first = self.blocks.len();
                    function = Some(Function {
                        id: inst.word(2),
                        result_type: inst.word(1),
                        offset,
                        end: 0,
                        blocks: first..first,
                    });
                }
                op::FunctionEnd => {
                    if block.is_some() {
                        return Err(invalid(offset, "OpFunctionEnd in a block that does not end"));
                    }
                    let Some(mut done) = function.take() else {
                        return Err(invalid(offset, "OpFunctionEnd outside a function"));
                    };
                    done.end = inst.end();
                    done.blocks.end = self.blocks.len();
                    self.functions.push(done);
                }
                op::Label => {
                    if function.is_none() || block.is_some() {
                        return Err(invalid(offset, "OpLabel outside a function or inside a block"));
                    }
                    block = Some(Block {
                        label: inst.word(1),
                        offset,
                        merge: 0,
                        terminator: 0,
                        end: 0,
                    });
                }
                op::SelectionMerge | op::LoopMerge => {
                    if let Some(block) = &mut block {
                        block.merge = offset;
                    }
                }
                op::FunctionCall => {
                    let call = Call {
                        caller: self.functions.len(),
                        block: self.blocks.len(),
                        offset,
                        callee: inst.word(3),
                    };
                    self.calls.push(call);
                }
                opcode if op::is_terminator(opcode) => {
                    let Some(mut done) = block.take() else {
                        return Err(invalid(offset, "a block ends where none has begun"));
                    };
                    done.terminator = offset;
                    done.end = inst.end();
                    self.blocks.push(done);
                }
                _ => {}
            }
        }
        match function {
            Some(open) => Err(invalid(open.offset, "the module ends inside this function")),
            None => Ok(()),
        }
    }

    /// The blocks of a function.
    pub(crate) fn blocks_of(&self, function: &Function) -> &[Block] {
        self.blocks.get(function.blocks.clone()).unwrap_or(&[])
    }

    /// The block with a label, among those of a function.
    pub(crate) fn block_of_label(&self, function: &Function, label: Id) -> Option<usize> {
        let offset = self.def(label)?.offset;
        let blocks = self.blocks_of(function);
        let found = blocks.binary_search_by_key(&offset, |b| b.offset).ok()?;
        Some(function.blocks.start + found)
    }

    /// The instruction that ends a block.
    pub(crate) fn terminator(&self, block: &Block) -> Inst<'a> {
        self.inst(block.terminator)
    }

    /// Where the aborts stand, in order.
    pub(crate) fn aborts(&self) -> impl Iterator<Item = usize> {
        let aborts = self
            .blocks
            .iter()
            .filter(|b| self.terminator(b).opcode() == op::AbortKHR);
        aborts.map(|b| b.terminator)
    }

    /// The merge instruction of a block.
    pub(crate) fn merge(&self, block: &Block) -> Option<Inst<'a>> {
        (block.merge != 0).then(|| self.inst(block.merge))
    }

    /// The instruction at an offset that this index knows to hold one.
    pub(crate) fn inst(&self, offset: usize) -> Inst<'a> {
        Insts::new(self.words, offset)
            .next()
            .unwrap_or(Inst { offset, words: &[] })
    }

    /// Instructions of a block between its label and its merge instruction or terminator.
    pub(crate) fn body(&self, block: &Block) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        let end = if block.merge != 0 {
            block.merge
        } else {
            block.terminator
        };
        self.insts(block.offset, end).skip(1)
    }

    /// Labels that a block's terminator can branch to, in operand order.
    pub(crate) fn successors(&self, block: &Block) -> Vec<Id> {
        let inst = self.terminator(block);
        match inst.opcode() {
            op::Branch => vec![inst.word(1)],
            op::BranchConditional => vec![inst.word(2), inst.word(3)],
            op::Switch => {
                let width = self.selector_words(&inst);
                let cases = inst.from(3).chunks_exact(width + 1).filter_map(|c| c.last().copied());
                std::iter::once(inst.word(2)).chain(cases).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Words in each literal of an `OpSwitch`; 1 for other instructions.
    pub(crate) fn selector_words(&self, inst: &Inst<'_>) -> usize {
        if inst.opcode() != op::Switch {
            return 1;
        }
        let selector = self.def(inst.word(1)).and_then(|d| self.def(d.result_type()));
        selector.map_or(1, |ty| (ty.word(2).div_ceil(32) as usize).clamp(1, 2))
    }

    /// Where code may be inserted at the start of a function: after the variables of its first block.
    pub(crate) fn after_variables(&self, function: &Function) -> Option<usize> {
        let first = self.blocks_of(function).first()?;
        let is_variable = |i: &Inst<'_>| matches!(i.opcode(), op::Variable | op::UntypedVariableKHR);
        let is_header =
            |i: &Inst<'_>| is_variable(i) || matches!(i.opcode(), op::Line | op::NoLine) || self.is_debug_inst(i);
        // Debug instructions between and after the variables stay with them; what follows is code.
        let last = self.body(first).take_while(is_header).filter(is_variable).last();
        Some(last.map_or(first.offset + 2, |i| i.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spv::Code;
    use crate::spv::op::storage_class;

    #[test]
    fn code_starts_behind_untyped_variables() {
        let mut code = Code::default();
        code.words.extend([0x0723_0203, 0x10600, 0, 20, 0]);
        code.op(op::MemoryModel, &[0, 1]);
        code.op(op::TypeVoid, &[1]);
        code.op(op::TypeFunction, &[2, 1]);
        code.op(op::TypeUntypedPointerKHR, &[3, storage_class::Function]);
        code.op(op::Function, &[1, 4, 0, 2]);
        code.label(5);
        code.op(op::UntypedVariableKHR, &[3, 6, storage_class::Function]);
        let after = code.words.len();
        code.op(op::Return, &[]);
        code.op(op::FunctionEnd, &[]);
        let index = Index::new(&code.words).expect("a module");
        assert_eq!(index.after_variables(&index.functions[0]), Some(after));
        assert!(index.is_logical_pointer(3));
    }
}
