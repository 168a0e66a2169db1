//! SPIR-V modules as words: instructions, an index of a module, and edits of it. Knows no analysis and no pass.
//!
//! An [`Index`](index::Index) reads a module once and does not change. [`Edits`](edit::Edits) collect what a pass inserts, replaces
//! and removes, by word offset, and make a new module of it.
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "a crate of the rewriter, which others use through vkabort-instrument"
)]

mod accessors;
mod code;
pub mod debug_set;
pub mod edit;
pub mod error;
mod id;
pub mod index;
pub mod literal;
pub mod lowered;
pub mod op;
pub mod op_sets;
mod operand;
mod operand_table;
pub mod operands;
pub mod words;

pub use code::Code;
pub use id::Id;
pub use operand::{Literal, Operands, Words};
pub use words::Inst;
