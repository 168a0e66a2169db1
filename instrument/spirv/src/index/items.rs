//! The items that an index finds, as word offsets and ids.

use super::typed::{BlockIndex, FunctionIndex, Run};
use crate::{Id, Inst, literal};

/// A decoration with at most one literal that matters here.
#[derive(Clone, Copy, Debug)]
pub struct Decoration {
    pub target: Id,
    /// Member number, for `OpMemberDecorate`.
    pub member: Option<u32>,
    pub kind: u32,
    /// First literal, 0 if there is none.
    pub value: u32,
}

/// An `OpEntryPoint`.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoint<'a> {
    pub inst: Inst<'a>,
    pub model: u32,
    pub function: Id,
}

impl<'a> EntryPoint<'a> {
    pub fn name(&self) -> String {
        literal::string(self.inst.from(3))
    }

    /// Whether a variable is in its interface.
    pub fn has_in_interface(&self, variable: Id) -> bool {
        self.interface().any(|id| id == variable)
    }

    /// Ids of its interface variables.
    pub fn interface(&self) -> impl Iterator<Item = Id> + use<'a> {
        self.inst.ids(3 + literal::length(self.inst.from(3)))
    }
}

/// Word offsets at which declarations can be inserted, each after the last instruction of its section.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sections {
    pub(crate) capabilities: usize,
    pub extensions: usize,
    /// The offset of `OpMemoryModel` itself.
    pub memory_model: usize,
    pub names: usize,
    pub annotations: usize,
    /// Types, constants, global variables: the first function starts here.
    pub globals: usize,
    /// Word offset at which functions are added, if not at the end of the module.
    pub(crate) new_functions: Option<usize>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    pub id: Id,
    pub result_type: Id,
    /// Offset of `OpFunction`.
    pub offset: usize,
    /// Offset after `OpFunctionEnd`.
    pub end: usize,
    /// Its blocks, in module order.
    pub blocks: Run<BlockIndex>,
}

/// A basic block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    pub label: Id,
    /// Offset of `OpLabel`.
    pub offset: usize,
    /// Offset of its merge instruction, 0 if it has none.
    pub merge: usize,
    /// Offset of its terminator.
    pub terminator: usize,
    /// Offset after the terminator.
    pub end: usize,
}

impl Block {
    /// Word offset before the instructions that end the block.
    pub fn before_end(&self) -> usize {
        match self.merge {
            0 => self.terminator,
            merge => merge,
        }
    }
}

/// An `OpFunctionCall`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    pub caller: FunctionIndex,
    pub block: BlockIndex,
    pub offset: usize,
    pub callee: Id,
}
