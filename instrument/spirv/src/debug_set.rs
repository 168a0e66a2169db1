//! Instruction sets that only describe a module.

use super::literal;

/// An imported instruction set that only describes the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DebugSet {
    /// `NonSemantic.Shader.DebugInfo`: numbers are constants, lines are `DebugLine`.
    Shader,
    /// `OpenCL.DebugInfo.100`: numbers are literals, lines are `OpLine`.
    OpenCl,
    /// Another `NonSemantic` set.
    Other,
}

impl DebugSet {
    /// The set of a name, if it is one.
    pub(crate) fn of_name(words: &[u32]) -> Option<Self> {
        if literal::begins(words, "NonSemantic.Shader.DebugInfo.") {
            Some(Self::Shader)
        } else if literal::is(words, "OpenCL.DebugInfo.100") {
            Some(Self::OpenCl)
        } else {
            literal::begins(words, "NonSemantic.").then_some(Self::Other)
        }
    }
}

/// Numbers of the instructions that are read. Both debug-information sets use the same numbers.
pub mod debug_info {
    pub(crate) const TYPE_ARRAY: u32 = 5;
    pub(crate) const TYPE_COMPOSITE: u32 = 10;
    pub(crate) const TYPE_MEMBER: u32 = 11;
    pub(crate) const FUNCTION: u32 = 20;
    pub(crate) const LEXICAL_BLOCK: u32 = 21;
    pub(crate) const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
    pub const SCOPE: u32 = 23;
    pub const NO_SCOPE: u32 = 24;
    pub(crate) const INLINED_AT: u32 = 25;
    pub(crate) const LOCAL_VARIABLE: u32 = 26;
    pub(crate) const DECLARE: u32 = 28;
    pub(crate) const VALUE: u32 = 29;
    pub(crate) const EXPRESSION: u32 = 31;
    pub(crate) const SOURCE: u32 = 35;
    pub(crate) const FUNCTION_DEFINITION: u32 = 101;
    pub(crate) const SOURCE_CONTINUED: u32 = 102;
    pub const LINE: u32 = 103;
    pub const NO_LINE: u32 = 104;
    pub(crate) const ENTRY_POINT: u32 = 107;

    /// Word positions of operands.
    pub(crate) mod operand {
        pub(crate) const FUNCTION_NAME: usize = 5;
        pub(crate) const FUNCTION_SOURCE: usize = 7;
        pub(crate) const FUNCTION_LINE: usize = 8;
        pub(crate) const BLOCK_SOURCE: usize = 5;
        pub(crate) const BLOCK_PARENT: usize = 8;
        pub(crate) const DISCRIMINATOR_PARENT: usize = 7;
        pub(crate) const SCOPE: usize = 5;
        pub(crate) const SCOPE_INLINED_AT: usize = 6;
        pub(crate) const INLINED_LINE: usize = 5;
        pub(crate) const INLINED_SCOPE: usize = 6;
        pub(crate) const INLINED_AT: usize = 7;
        pub(crate) const COMPOSITE_MEMBERS: usize = 14;
        pub(crate) const MEMBER_NAME: usize = 5;
        pub(crate) const MEMBER_TYPE: usize = 6;
        pub(crate) const VARIABLE_NAME: usize = 5;
        pub(crate) const VARIABLE_TYPE: usize = 6;
        pub(crate) const VARIABLE_SOURCE: usize = 7;
        pub(crate) const VARIABLE_LINE: usize = 8;
        pub(crate) const VARIABLE_COLUMN: usize = 9;
        pub(crate) const VARIABLE_PARENT: usize = 10;
        /// Its position among the parameters; other variables do not have the word.
        pub(crate) const VARIABLE_PARAMETER: usize = 12;
        /// Variable, value and expression of `DebugDeclare` and `DebugValue`; then the indices of `DebugValue`.
        pub(crate) const DESCRIBED_VARIABLE: usize = 5;
        pub(crate) const DESCRIBED_VALUE: usize = 6;
        pub(crate) const DESCRIBED_EXPRESSION: usize = 7;
        pub(crate) const DESCRIBED_PART: usize = 8;
        pub(crate) const EXPRESSION_OPERATIONS: usize = 5;
        pub(crate) const SOURCE_FILE: usize = 5;
        pub(crate) const SOURCE_TEXT: usize = 6;
        pub(crate) const CONTINUED_TEXT: usize = 5;
        pub(crate) const LINE_SOURCE: usize = 5;
        pub(crate) const LINE_START: usize = 6;
        pub(crate) const COLUMN_START: usize = 8;
        pub(crate) const COMPILER_SIGNATURE: usize = 7;
    }
}
