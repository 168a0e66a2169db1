//! SPIR-V at the level of words: instructions, opcodes, where operands are ids.

mod accessors;
mod code;
pub(crate) mod debug_set;
mod id;
pub(crate) mod literal;
pub(crate) mod op;
pub(crate) mod op_sets;
mod operand;
mod operand_table;
pub(crate) mod operands;
pub(crate) mod words;

pub(crate) use code::Code;
pub(crate) use id::Id;
pub(crate) use operand::{Literal, Operands, Words};
pub(crate) use words::Inst;
