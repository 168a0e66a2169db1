//! The items that an index finds, as word offsets and ids.

use super::typed::{BlockIndex, FunctionIndex, Run};
use crate::spv::{Id, Inst, literal};

/// A decoration with at most one literal that matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoration {
    pub(crate) target: Id,
    /// Member number, for `OpMemberDecorate`.
    pub(crate) member: Option<u32>,
    pub(crate) kind: u32,
    /// First literal, 0 if there is none.
    pub(crate) value: u32,
}

/// An `OpEntryPoint`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryPoint<'a> {
    pub(crate) inst: Inst<'a>,
    pub(crate) model: u32,
    pub(crate) function: Id,
}

impl<'a> EntryPoint<'a> {
    pub(crate) fn name(&self) -> String {
        literal::string(self.inst.from(3))
    }

    /// Whether a variable is in its interface.
    pub(crate) fn has_in_interface(&self, variable: Id) -> bool {
        self.interface().any(|id| id == variable)
    }

    /// Ids of its interface variables.
    pub(crate) fn interface(&self) -> impl Iterator<Item = Id> + use<'a> {
        self.inst.ids(3 + literal::length(self.inst.from(3)))
    }
}

/// Word offsets at which declarations can be inserted, each after the last instruction of its section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sections {
    pub(crate) capabilities: usize,
    pub(crate) extensions: usize,
    /// The offset of `OpMemoryModel` itself.
    pub(crate) memory_model: usize,
    pub(crate) names: usize,
    pub(crate) annotations: usize,
    /// Types, constants, global variables: the first function starts here.
    pub(crate) globals: usize,
    /// Where functions are added, if not at the end of the module.
    pub(crate) new_functions: Option<usize>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) id: Id,
    pub(crate) result_type: Id,
    /// Offset of `OpFunction`.
    pub(crate) offset: usize,
    /// Offset after `OpFunctionEnd`.
    pub(crate) end: usize,
    /// Its blocks, in module order.
    pub(crate) blocks: Run<BlockIndex>,
}

/// A basic block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    pub(crate) label: Id,
    /// Offset of `OpLabel`.
    pub(crate) offset: usize,
    /// Offset of its merge instruction, 0 if it has none.
    pub(crate) merge: usize,
    /// Offset of its terminator.
    pub(crate) terminator: usize,
    /// Offset after the terminator.
    pub(crate) end: usize,
}

impl Block {
    /// Word offset before the instructions that end the block.
    pub(crate) fn before_end(&self) -> usize {
        match self.merge {
            0 => self.terminator,
            merge => merge,
        }
    }
}

/// An `OpFunctionCall`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Call {
    pub(crate) caller: FunctionIndex,
    pub(crate) block: BlockIndex,
    pub(crate) offset: usize,
    pub(crate) callee: Id,
}
