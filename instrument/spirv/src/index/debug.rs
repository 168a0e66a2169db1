//! Source positions and inlined functions, from `OpLine`, `NonSemantic.Shader.DebugInfo` and `OpenCL.DebugInfo.100`, which
//! glslang, Slang and DXC emit.

use super::source_text::Texts;
use super::{Block, Index};
use crate::debug_set::debug_info::operand;
use crate::debug_set::{DebugSet, debug_info};
use crate::{Code, Id, Inst, Words, op};
use vkabort_record::site::Location;

/// Limit on a chain of scopes or inlined calls; the rest is left out.
const MAX_CHAIN: usize = 64;

/// The debug instructions in force at a point of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position<'a> {
    /// `OpLine` or `DebugLine` in force.
    pub(super) line: Option<Inst<'a>>,
    /// `DebugScope` in force.
    pub(super) scope: Option<Inst<'a>>,
}

impl Position<'_> {
    /// Whether a source line is in force.
    pub fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// Word offset of the instruction that sets the line.
    pub fn line_offset(&self) -> Option<usize> {
        self.line.map(|line| line.offset)
    }

    /// The `DebugInlinedAt` of the function here, if it is inlined.
    pub fn inlined_at(&self) -> Id {
        self.scope.map_or(Id::NONE, |scope| scope.id(operand::SCOPE_INLINED_AT))
    }

    /// Repeats the position at the start of a new block. Copies of `OpExtInst` get fresh result ids.
    pub(crate) fn write(&self, code: &mut Code, mut fresh: impl FnMut() -> Id) {
        for inst in self.scope.iter().chain(&self.line) {
            match inst.words {
                [_, ty, _, operands @ ..] if inst.opcode() == op::ExtInst => {
                    code.op(op::ExtInst, (Id::new(*ty), fresh(), Words(operands)));
                }
                _ => code.copy(inst),
            }
        }
    }
}

/// A function that was inlined into the next one, or the last one itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedFunction {
    /// Its name, if the debug information has one.
    pub function: Option<String>,
    /// For the first, where the position is; for the others, where they call the one before.
    pub location: Option<Location>,
}

impl<'a> Index<'a> {
    /// The descriptive instruction set that an instruction belongs to. `None` for other instructions.
    pub(super) fn debug_set(&self, inst: &Inst<'_>) -> Option<DebugSet> {
        if inst.opcode() != op::ExtInst {
            return None;
        }
        let found = self.debug_sets.iter().find(|(id, _)| *id == inst.ext_inst_set());
        found.map(|(_, set)| *set)
    }

    /// The signature of the compiler in `DebugEntryPoint`.
    pub fn compiler_signature(&self) -> Option<String> {
        let mut debug = self
            .globals()
            .filter(|inst| self.debug_set(inst) == Some(DebugSet::Shader));
        let entry_point = debug.find(|inst| inst.ext_inst() == debug_info::ENTRY_POINT)?;
        let signature = self.string(entry_point.id(operand::COMPILER_SIGNATURE));
        signature.filter(|text| !text.is_empty())
    }

    /// Whether an instruction only describes the module: it may come between variables and may be removed.
    pub fn is_debug_inst(&self, inst: &Inst<'_>) -> bool {
        self.debug_set(inst).is_some()
    }

    /// Whether an instruction is debug information, without effect at run time. Other `NonSemantic` sets may print.
    pub fn is_debug_info(&self, inst: &Inst<'_>) -> bool {
        matches!(self.debug_set(inst), Some(DebugSet::Shader | DebugSet::OpenCl))
    }

    /// Whether an instruction ends SwiftShader's process in a function that is not an entry point: a `DebugFunctionDefinition`, which
    /// links the function that it is in to its description, and a `DebugValue` whose expression has an operation.
    pub fn is_fragile_debug_inst(&self, inst: &Inst<'_>) -> bool {
        match (self.debug_set(inst), inst.ext_inst()) {
            (Some(DebugSet::Shader), debug_info::FUNCTION_DEFINITION) => true,
            (Some(DebugSet::Shader | DebugSet::OpenCl), debug_info::VALUE) => {
                let expression = self.debug_def(inst.id(operand::DESCRIBED_EXPRESSION));
                expression.is_some_and(|(_, expression)| expression.words.len() > operand::EXPRESSION_OPERATIONS)
            }
            _ => false,
        }
    }

    /// Every instruction that [`Self::is_fragile_debug_inst`]. O(words of functions) in modules with debug information.
    pub fn fragile_debug_insts(&self) -> impl Iterator<Item = Inst<'a>> {
        let is_debug_info = |set: &DebugSet| matches!(set, DebugSet::Shader | DebugSet::OpenCl);
        let has_them = self.debug_sets.iter().any(|(_, set)| is_debug_info(set));
        let functions = self.functions.values().iter().filter(move |_| has_them);
        let blocks = functions.flat_map(|function| self.blocks_of(function));
        let insts = blocks.flat_map(|block| self.body(block));
        insts.filter(|inst| self.is_fragile_debug_inst(inst))
    }

    /// The instruction with this id, if it is of a debug-information set.
    pub(super) fn debug_def(&self, id: Id) -> Option<(DebugSet, Inst<'a>)> {
        let inst = self.def(id)?;
        let set = self.debug_set(&inst).filter(|set| *set != DebugSet::Other)?;
        Some((set, inst))
    }

    /// The position in force before `offset` in a block. Optimizers give merge instructions no scope: a `DebugNoScope` right before
    /// `offset` ends none.
    pub fn position(&self, block: &Block, offset: usize) -> Position<'a> {
        let mut position = Position::default();
        let is_end = |inst: &Inst<'_>| inst.opcode() == op::ExtInst && inst.ext_inst() == debug_info::NO_SCOPE;
        let last = self.insts(block.offset, offset).last().filter(is_end);
        let last = last.filter(|inst| matches!(self.debug_set(inst), Some(DebugSet::Shader | DebugSet::OpenCl)));
        self.advance(&mut position, block.offset, last.map_or(offset, |inst| inst.offset));
        position
    }

    /// Updates a position in force at word offset `from` with the debug instructions up to `offset`, in the same block.
    pub fn advance(&self, position: &mut Position<'a>, from: usize, offset: usize) {
        for inst in self.insts(from, offset) {
            match inst.opcode() {
                op::Line => position.line = Some(inst),
                op::NoLine => position.line = None,
                op::ExtInst => match (self.debug_set(&inst), inst.ext_inst()) {
                    (Some(DebugSet::Shader), debug_info::LINE) => position.line = Some(inst),
                    (Some(DebugSet::Shader), debug_info::NO_LINE) => position.line = None,
                    (Some(DebugSet::Shader | DebugSet::OpenCl), debug_info::SCOPE) => position.scope = Some(inst),
                    (Some(DebugSet::Shader | DebugSet::OpenCl), debug_info::NO_SCOPE) => position.scope = None,
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// The functions around a position, innermost first: the inlined ones, and last the function that has the block.
    pub fn inlined(&self, position: &Position<'_>, texts: &mut Texts) -> Vec<InlinedFunction> {
        let scope = |operand| position.scope.map_or(Id::NONE, |inst| inst.id(operand));
        let mut chain = vec![InlinedFunction {
            function: self.function_of_scope(scope(operand::SCOPE)),
            location: self.location_of(position, texts),
        }];
        let mut next = scope(operand::SCOPE_INLINED_AT);
        while chain.len() < MAX_CHAIN
            && let Some((set, at)) = self.debug_def(next)
            && at.ext_inst() == debug_info::INLINED_AT
        {
            let line = self.number(set, at.word(operand::INLINED_LINE));
            chain.push(InlinedFunction {
                function: self.function_of_scope(at.id(operand::INLINED_SCOPE)),
                location: self
                    .source_of_scope(at.id(operand::INLINED_SCOPE))
                    .and_then(|source| self.location_in(source, line, 0, texts)),
            });
            next = at.id(operand::INLINED_AT);
        }
        chain
    }

    /// The scopes of a position and of the calls that were inlined around it, innermost first, each with its `DebugInlinedAt`.
    pub(super) fn frames_of(&self, position: &Position<'_>) -> impl Iterator<Item = (Id, Id)> {
        let first = position.scope;
        let first = first.map(|scope| (scope.id(operand::SCOPE), scope.id(operand::SCOPE_INLINED_AT)));
        std::iter::successors(first, |(_, at)| {
            let (_, at) = self.debug_def(*at)?;
            let is_inlined = at.ext_inst() == debug_info::INLINED_AT;
            is_inlined.then(|| (at.id(operand::INLINED_SCOPE), at.id(operand::INLINED_AT)))
        })
        .take(MAX_CHAIN)
    }

    /// The enclosing scopes of a scope, itself first.
    pub(super) fn scopes(&self, scope: Id) -> impl Iterator<Item = Inst<'a>> {
        let debug_inst = |id| self.debug_def(id).map(|(_, inst)| inst);
        std::iter::successors(debug_inst(scope), move |inst| match inst.ext_inst() {
            debug_info::LEXICAL_BLOCK => debug_inst(inst.id(operand::BLOCK_PARENT)),
            debug_info::LEXICAL_BLOCK_DISCRIMINATOR => debug_inst(inst.id(operand::DISCRIMINATOR_PARENT)),
            _ => None,
        })
        .take(MAX_CHAIN)
    }

    /// Whether the compiler describes the lexical blocks of variables.
    pub fn has_lexical_blocks(&self) -> bool {
        let blocks = [debug_info::LEXICAL_BLOCK, debug_info::LEXICAL_BLOCK_DISCRIMINATOR];
        let is_block = |inst: Inst<'_>| {
            let set = self.debug_set(&inst).filter(|set| *set != DebugSet::Other);
            set.is_some() && blocks.contains(&inst.ext_inst())
        };
        self.has_debug_info() && self.globals().any(is_block)
    }

    /// Whether the module has debug information that describes variables.
    pub fn has_debug_info(&self) -> bool {
        self.debug_sets.iter().any(|(_, set)| *set != DebugSet::Other)
    }
}
