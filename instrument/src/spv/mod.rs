//! SPIR-V at the level of words: instructions, opcodes, where operands are ids.

mod accessors;
mod code;
pub(crate) mod debug_set;
pub(crate) mod literal;
pub(crate) mod op;
pub(crate) mod op_sets;
mod operand_table;
pub(crate) mod operands;
pub(crate) mod words;

pub(crate) use code::Code;
pub(crate) use words::{Id, Inst};
