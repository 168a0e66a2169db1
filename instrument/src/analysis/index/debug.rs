//! Source positions and the functions that were inlined around them: from `OpLine`, `NonSemantic.Shader.DebugInfo` and
//! `OpenCL.DebugInfo.100`, which is what glslang, Slang and DXC write.

use super::text::Texts;
use super::{Block, Index};
use crate::spv::debug_set::{DebugSet, debug_info};
use crate::spv::{Code, Id, Inst, literal, op};
use vkabort_record::site::Location;

/// A longest chain of scopes or inlined calls: what a module says further is left out.
const MAX_CHAIN: usize = 64;

/// The instructions that say where in the source a point of a block is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position<'a> {
    /// `OpLine` or `DebugLine` in force.
    line: Option<Inst<'a>>,
    /// `DebugScope` in force.
    scope: Option<Inst<'a>>,
}

impl Position<'_> {
    /// Writes the position again, at the start of a new block. The instructions of instruction sets have results: the
    /// copies get ids of their own.
    pub(crate) fn write(&self, code: &mut Code, mut fresh: impl FnMut() -> Id) {
        for inst in self.scope.iter().chain(&self.line) {
            match inst.words {
                [first, ty, _, operands @ ..] if inst.opcode() == op::ExtInst => {
                    code.words.extend([*first, *ty, fresh()]);
                    code.words.extend(operands);
                }
                _ => code.copy(inst),
            }
        }
    }
}

/// A function that was inlined into the next one, or the last one itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inlined {
    /// Its name, if the debug information has one.
    pub(crate) function: Option<String>,
    /// For the first, where the position is; for the others, where they call the one before.
    pub(crate) location: Option<Location>,
}

impl<'a> Index<'a> {
    /// The set that an instruction belongs to, if it is one that says something about the module only.
    fn debug_set(&self, inst: &Inst<'_>) -> Option<DebugSet> {
        if inst.opcode() != op::ExtInst {
            return None;
        }
        let found = self.debug_sets.iter().find(|(id, _)| *id == inst.word(3));
        found.map(|(_, set)| *set)
    }

    /// Whether an instruction only says something about the module: it may stand among variables and be dropped freely.
    pub(crate) fn is_debug_inst(&self, inst: &Inst<'_>) -> bool {
        self.debug_set(inst).is_some()
    }

    /// Whether an instruction is debug information, which nobody sees at run time: other `NonSemantic` sets print.
    pub(crate) fn is_debug_info(&self, inst: &Inst<'_>) -> bool {
        matches!(self.debug_set(inst), Some(DebugSet::Shader | DebugSet::OpenCl))
    }

    /// The instruction with this id, if it is of a debug-information set.
    fn debug_def(&self, id: Id) -> Option<(DebugSet, Inst<'a>)> {
        let inst = self.def(id)?;
        let set = self.debug_set(&inst).filter(|set| *set != DebugSet::Other)?;
        Some((set, inst))
    }

    /// The position in force before `offset` in a block.
    pub(crate) fn position(&self, block: &Block, offset: usize) -> Position<'a> {
        let mut position = Position::default();
        self.advance(&mut position, block.offset, offset);
        position
    }

    /// Brings a position that is in force at `from` up to `offset`, in the same block.
    pub(crate) fn advance(&self, position: &mut Position<'a>, from: usize, offset: usize) {
        for inst in self.insts(from, offset) {
            match inst.opcode() {
                op::Line => position.line = Some(inst),
                op::NoLine => position.line = None,
                op::ExtInst => match (self.debug_set(&inst), inst.word(4)) {
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

    /// The functions around a position, innermost first: those that were inlined, and last the one that has the block.
    pub(crate) fn inlined(&self, position: &Position<'_>, texts: &mut Texts) -> Vec<Inlined> {
        let scope = position.scope.map(|inst| inst.word(5)).unwrap_or_default();
        let mut chain = vec![Inlined {
            function: self.function_of_scope(scope),
            location: position.line.and_then(|line| self.location(&line, texts)),
        }];
        let mut next = position.scope.map(|inst| inst.word(6)).unwrap_or_default();
        while chain.len() < MAX_CHAIN
            && let Some((set, at)) = self.debug_def(next)
            && at.word(4) == debug_info::INLINED_AT
        {
            let line = self.number(set, at.word(5));
            chain.push(Inlined {
                function: self.function_of_scope(at.word(6)),
                location: self
                    .source_of_scope(at.word(6))
                    .and_then(|source| self.place(source, line, 0, texts)),
            });
            next = at.word(7);
        }
        chain
    }

    /// The enclosing scopes of a scope, itself first.
    fn scopes(&self, scope: Id) -> impl Iterator<Item = Inst<'a>> {
        let known = |id| self.debug_def(id).map(|(_, inst)| inst);
        std::iter::successors(known(scope), move |inst| match inst.word(4) {
            debug_info::LEXICAL_BLOCK => known(inst.word(8)),
            debug_info::LEXICAL_BLOCK_DISCRIMINATOR => known(inst.word(7)),
            _ => None,
        })
        .take(MAX_CHAIN)
    }

    /// The name of the function that a scope is in.
    fn function_of_scope(&self, scope: Id) -> Option<String> {
        let function = self.scopes(scope).find(|inst| inst.word(4) == debug_info::FUNCTION)?;
        self.string(function.word(5)).filter(|name| !name.is_empty())
    }

    /// The `DebugSource` of a scope.
    fn source_of_scope(&self, scope: Id) -> Option<Id> {
        self.scopes(scope).find_map(|inst| match inst.word(4) {
            debug_info::FUNCTION => Some(inst.word(7)),
            debug_info::LEXICAL_BLOCK => Some(inst.word(5)),
            _ => None,
        })
    }

    /// A number among the operands of debug information.
    fn number(&self, set: DebugSet, operand: u32) -> u32 {
        match set {
            DebugSet::OpenCl => operand,
            _ => self
                .def(operand)
                .filter(|i| i.opcode() == op::Constant)
                .map_or(0, |i| i.word(3)),
        }
    }

    /// The source position that an `OpLine` or `DebugLine` names.
    fn location(&self, line: &Inst<'_>, texts: &mut Texts) -> Option<Location> {
        if line.opcode() == op::Line {
            let file = self.string(line.word(1))?;
            let source = texts.line(line.word(1), line.word(2), || self.source_of_file(line.word(1)));
            return Some(Location {
                file,
                line: line.word(2),
                column: line.word(3),
                source,
            });
        }
        let number = |id| self.number(DebugSet::Shader, id);
        self.place(line.word(5), number(line.word(6)), number(line.word(8)), texts)
    }

    /// A position in a `DebugSource`.
    fn place(&self, source: Id, line: u32, column: u32, texts: &mut Texts) -> Option<Location> {
        let (_, source) = self
            .debug_def(source)
            .filter(|(_, i)| i.word(4) == debug_info::SOURCE)?;
        Some(Location {
            file: self.string(source.word(5))?,
            line,
            column,
            source: texts.line(source.result(), line, || self.text_of_source(&source)),
        })
    }

    /// Text of an `OpString`.
    fn string(&self, id: Id) -> Option<String> {
        let inst = self.def(id).filter(|i| i.opcode() == op::String)?;
        Some(literal::string(inst.from(2)))
    }

    /// Text of a `DebugSource` and of the `DebugSourceContinued` that follow it.
    fn text_of_source(&self, source: &Inst<'_>) -> Option<String> {
        let mut text = self.string(source.word(6))?;
        let more = self
            .insts(source.end(), self.sections.globals)
            .take_while(|inst| self.debug_set(inst) == Some(DebugSet::Shader))
            .take_while(|inst| inst.word(4) == debug_info::SOURCE_CONTINUED);
        text.extend(more.filter_map(|inst| self.string(inst.word(5))));
        Some(text)
    }

    /// Text of the `OpSource` and `OpSourceContinued` of a file, else of its `DebugSource`.
    fn source_of_file(&self, file: Id) -> Option<String> {
        let mut text = None;
        for inst in self.insts(self.sections.extensions, self.sections.annotations) {
            match (inst.opcode(), &mut text) {
                (op::Source, None) if inst.word(3) == file && inst.words.len() > 4 => {
                    text = Some(literal::string(inst.from(4)));
                }
                (op::SourceContinued, Some(text)) => text.push_str(&literal::string(inst.from(1))),
                (_, Some(_)) => break,
                _ => {}
            }
        }
        if text.is_some() || self.debug_sets.is_empty() {
            return text;
        }
        let source = self.globals().find(|inst| {
            matches!(self.debug_set(inst), Some(DebugSet::Shader | DebugSet::OpenCl))
                && inst.word(4) == debug_info::SOURCE
                && inst.word(5) == file
        })?;
        self.text_of_source(&source)
    }
}
