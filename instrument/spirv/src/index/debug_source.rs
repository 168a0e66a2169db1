//! Functions of scopes; files, lines and texts that `OpLine`, `OpSource` and `DebugSource` name.

use super::Index;
use super::debug::Position;
use super::source_text::Texts;
use crate::debug_set::debug_info::operand;
use crate::debug_set::{DebugSet, debug_info};
use crate::{Id, Inst, literal, op};
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::site::Location;

impl Index<'_> {
    /// The location of a position.
    pub fn location_of(&self, position: &Position<'_>, texts: &mut Texts) -> Option<Location> {
        self.location(&position.line?, texts)
    }

    /// Location of the start of the innermost function at a position.
    pub fn function_location(&self, position: &Position<'_>, texts: &mut Texts) -> Option<Location> {
        let mut scopes = self.scopes(position.scope?.id(operand::SCOPE));
        let function = scopes.find(|inst| inst.ext_inst() == debug_info::FUNCTION)?;
        let line = self.number(self.debug_set(&function)?, function.word(operand::FUNCTION_LINE));
        self.location_in(function.id(operand::FUNCTION_SOURCE), line, 0, texts)
    }

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
            let source = texts.line(&file, line.line_number(), || self.source_texts());
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

    /// A position in a `DebugSource`.
    pub(super) fn location_in(&self, source: Id, line: u32, column: u32, texts: &mut Texts) -> Option<Location> {
        let (_, source) = self
            .debug_def(source)
            .filter(|(_, i)| i.ext_inst() == debug_info::SOURCE)?;
        let file = self.string(source.id(operand::SOURCE_FILE))?;
        let source = texts.line(&file, line, || self.source_texts());
        Some(Location {
            file,
            line,
            column,
            source,
        })
    }

    /// Text of an `OpString`.
    pub fn string(&self, id: Id) -> Option<String> {
        let inst = self.def(id).filter(|i| i.opcode() == op::String)?;
        Some(literal::string(inst.from(2)))
    }

    /// Names and texts of the source files, from `OpSource` and `DebugSource` and the instructions that continue them, each once.
    pub(super) fn source_texts(&self) -> Vec<(String, String)> {
        let is_source = |inst: &Inst<'_>| {
            matches!(self.debug_set(inst), Some(DebugSet::Shader | DebugSet::OpenCl))
                && inst.ext_inst() == debug_info::SOURCE
        };
        let is_continued = |inst: &Inst<'_>| {
            self.debug_set(inst) == Some(DebugSet::Shader) && inst.ext_inst() == debug_info::SOURCE_CONTINUED
        };
        let mut found: Vec<(String, String)> = Vec::new();
        // Whether the last instruction belongs to the last text.
        let mut continues = false;
        for inst in self.insts(self.sections.extensions, self.sections.globals) {
            let file = match inst.opcode() {
                op::Source => self.string(inst.id(3)).zip(Some(literal::string(inst.from(4)))),
                _ if is_source(&inst) => self
                    .string(inst.id(operand::SOURCE_FILE))
                    .zip(self.string(inst.id(operand::SOURCE_TEXT))),
                op::SourceContinued if continues => {
                    if let Some((_, text)) = found.last_mut() {
                        text.push_str(&literal::string(inst.from(1)));
                    }
                    continue;
                }
                _ if continues && is_continued(&inst) => {
                    let more = self.string(inst.id(operand::CONTINUED_TEXT)).unwrap_or_default();
                    if let Some((_, text)) = found.last_mut() {
                        text.push_str(&more);
                    }
                    continue;
                }
                _ => None,
            };
            continues = file.is_some();
            found.extend(file);
        }
        let mut seen = HashSet::default();
        found.retain(|(name, text)| !text.is_empty() && seen.insert((name.clone(), text.clone())));
        found
    }
}
