//! Functions of scopes; files, lines and texts that `OpLine`, `OpSource` and `DebugSource` name.

use super::Index;
use super::debug::Position;
use super::source_text::Texts;
use crate::spv::debug_set::debug_info::operand;
use crate::spv::debug_set::{DebugSet, debug_info};
use crate::spv::{Id, Inst, literal, op};
use vkabort_record::site::{Location, Snippet};

impl Index<'_> {
    /// The name of the function that a scope is in.
    pub(super) fn function_of_scope(&self, scope: Id) -> Option<String> {
        let function = self
            .scopes(scope)
            .find(|inst| inst.ext_inst() == debug_info::FUNCTION)?;
        self.string(function.id(operand::FUNCTION_NAME))
            .filter(|name| !name.is_empty())
    }

    /// The `DebugSource` of a scope.
    pub(super) fn source_of_scope(&self, scope: Id) -> Option<Id> {
        self.scopes(scope).find_map(|inst| match inst.ext_inst() {
            debug_info::FUNCTION => Some(inst.id(operand::FUNCTION_SOURCE)),
            debug_info::LEXICAL_BLOCK => Some(inst.id(operand::BLOCK_SOURCE)),
            _ => None,
        })
    }

    /// A number among the operands of debug information.
    pub(super) fn number(&self, set: DebugSet, operand: u32) -> u32 {
        match set {
            DebugSet::OpenCl => operand,
            _ => self
                .def(Id::new(operand))
                .filter(|i| i.opcode() == op::Constant)
                .map_or(0, |i| i.constant_bits() as u32),
        }
    }

    /// The source position that an `OpLine` or `DebugLine` names.
    pub(super) fn location(&self, line: &Inst<'_>, texts: &mut Texts) -> Option<Location> {
        if line.opcode() == op::Line {
            let file = self.string(line.line_file())?;
            let source = texts.line(line.line_file(), line.line_number(), || {
                self.source_of_file(line.line_file())
            });
            return Some(Location {
                file,
                line: line.line_number(),
                column: line.line_column(),
                source,
            });
        }
        let number = |word| self.number(DebugSet::Shader, word);
        self.location_in(
            line.id(operand::LINE_SOURCE),
            number(line.word(operand::LINE_START)),
            number(line.word(operand::COLUMN_START)),
            texts,
        )
    }

    /// The source text around a position whose `location` is [`Inlined::location`] of its innermost function. A location
    /// without a column moves to the start of its statement.
    pub(crate) fn snippet(
        &self,
        position: &Position<'_>,
        location: &mut Option<Location>,
        texts: &Texts,
    ) -> Option<Snippet> {
        let line = position.line?;
        let id = match line.opcode() {
            op::Line => line.line_file(),
            _ => line.id(operand::LINE_SOURCE),
        };
        texts.snippet(id, location.as_mut()?)
    }

    /// A position in a `DebugSource`.
    pub(super) fn location_in(&self, source: Id, line: u32, column: u32, texts: &mut Texts) -> Option<Location> {
        let (_, source) = self
            .debug_def(source)
            .filter(|(_, i)| i.ext_inst() == debug_info::SOURCE)?;
        Some(Location {
            file: self.string(source.id(operand::SOURCE_FILE))?,
            line,
            column,
            source: texts.line(source.result(), line, || self.text_of_source(&source)),
        })
    }

    /// Text of an `OpString`.
    pub(crate) fn string(&self, id: Id) -> Option<String> {
        let inst = self.def(id).filter(|i| i.opcode() == op::String)?;
        Some(literal::string(inst.from(2)))
    }

    /// Text of a `DebugSource` and of the `DebugSourceContinued` that follow it.
    fn text_of_source(&self, source: &Inst<'_>) -> Option<String> {
        let mut text = self.string(source.id(operand::SOURCE_TEXT))?;
        let more = self
            .insts(source.end(), self.sections.globals)
            .take_while(|inst| self.debug_set(inst) == Some(DebugSet::Shader))
            .take_while(|inst| inst.ext_inst() == debug_info::SOURCE_CONTINUED);
        text.extend(more.filter_map(|inst| self.string(inst.id(operand::CONTINUED_TEXT))));
        Some(text)
    }

    /// Text of the `OpSource` and `OpSourceContinued` of a file, else of its `DebugSource`.
    fn source_of_file(&self, file: Id) -> Option<String> {
        let mut text = None;
        for inst in self.insts(self.sections.extensions, self.sections.annotations) {
            match (inst.opcode(), &mut text) {
                (op::Source, None) if inst.id(3) == file && inst.words.len() > 4 => {
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
                && inst.ext_inst() == debug_info::SOURCE
                && inst.id(operand::SOURCE_FILE) == file
        })?;
        self.text_of_source(&source)
    }
}
