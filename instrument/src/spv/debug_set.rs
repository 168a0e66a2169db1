//! Instruction sets that only describe a module.

use super::literal;

/// An imported instruction set that only says something about the module.
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

/// Instructions that are read here. Both sets number those alike that both have.
pub(crate) mod debug_info {
    pub(crate) const FUNCTION: u32 = 20;
    pub(crate) const LEXICAL_BLOCK: u32 = 21;
    pub(crate) const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
    pub(crate) const SCOPE: u32 = 23;
    pub(crate) const NO_SCOPE: u32 = 24;
    pub(crate) const INLINED_AT: u32 = 25;
    pub(crate) const SOURCE: u32 = 35;
    pub(crate) const SOURCE_CONTINUED: u32 = 102;
    pub(crate) const LINE: u32 = 103;
    pub(crate) const NO_LINE: u32 = 104;
}
