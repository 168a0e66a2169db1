//! Reads the functions: blocks, merge instructions, terminators and calls.

use super::typed::Run;
use super::{Block, Call, Function, Index, PASS, cut_short};
use crate::error::{Error, ErrorKind, Result};
use crate::op;
use crate::words::Insts;

impl<'a> Index<'a> {
    pub(super) fn read_functions(&mut self, insts: &mut Insts<'a>) -> Result<()> {
        let invalid = |offset: usize, message: &str| Error::new(ErrorKind::Invalid, PASS, offset as u32, message);
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
            // Passes insert code after these instructions, so their lengths must be exact.
            let exact = match inst.opcode() {
                op::Label => 2,
                op::Function => 5,
                op::FunctionEnd => 1,
                _ => inst.words.len(),
            };
            if inst.words.len() != exact {
                return Err(invalid(offset, "the instruction has the wrong number of words"));
            }
            match inst.opcode() {
                op::Function => {
                    if function.is_some() {
                        return Err(invalid(offset, "OpFunction inside a function"));
                    }
                    let start = self.blocks.next_key();
                    function = Some(Function {
                        id: inst.result(),
                        result_type: inst.result_type(),
                        offset,
                        end: 0,
                        blocks: Run { start, end: start },
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
                    done.blocks.end = self.blocks.next_key();
                    self.functions.push(done);
                }
                op::Label => {
                    if function.is_none() || block.is_some() {
                        return Err(invalid(offset, "OpLabel outside a function or inside a block"));
                    }
                    block = Some(Block {
                        label: inst.result(),
                        offset,
                        ..Block::default()
                    });
                }
                op::SelectionMerge | op::LoopMerge => {
                    if let Some(block) = &mut block {
                        block.merge = offset;
                    }
                }
                // It may name a function in front of it, so that no function may move behind it.
                op::ExtInst if function.is_none() => {
                    let end = self.functions.values().last().map(|function| function.end);
                    self.sections.new_functions.get_or_insert(end.unwrap_or(offset));
                }
                op::FunctionCall => {
                    let call = Call {
                        caller: self.functions.next_key(),
                        block: self.blocks.next_key(),
                        offset,
                        callee: inst.callee(),
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
}
