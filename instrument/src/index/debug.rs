//! Names and source positions, from `OpName`, `OpLine` and `NonSemantic.Shader.DebugInfo`.

use super::Index;
use super::function::Block;
use crate::spv::{Id, Inst, literal, op};
use vkabort_record::site::Location;

/// Instructions of `NonSemantic.Shader.DebugInfo.100` that are read here.
mod debug_info {
    pub(super) const SOURCE: u32 = 35;
    pub(super) const SCOPE: u32 = 23;
    pub(super) const NO_SCOPE: u32 = 24;
    pub(super) const LINE: u32 = 103;
    pub(super) const NO_LINE: u32 = 104;
}

/// Names by id. Built once per module that has sites.
#[derive(Debug)]
pub(crate) struct Names {
    /// (target, member or `u32::MAX`, offset of the instruction), sorted.
    names: Vec<(Id, u32, usize)>,
}

impl Names {
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let mut names: Vec<_> = index
            .insts(index.sections.memory_model, index.sections.annotations)
            .filter_map(|i| match i.opcode() {
                op::Name => Some((i.word(1), u32::MAX, i.offset)),
                op::MemberName => Some((i.word(1), i.word(2), i.offset)),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        Self { names }
    }

    fn find(&self, index: &Index<'_>, target: Id, member: u32) -> Option<String> {
        let at = self.names.partition_point(|n| (n.0, n.1) < (target, member));
        let &(_, _, offset) = self.names.get(at).filter(|n| (n.0, n.1) == (target, member))?;
        let text = literal::string(index.inst(offset).from(if member == u32::MAX { 2 } else { 3 }));
        (!text.is_empty()).then_some(text)
    }

    /// `OpName` of an id.
    pub(crate) fn name(&self, index: &Index<'_>, id: Id) -> Option<String> {
        self.find(index, id, u32::MAX)
    }

    /// `OpMemberName` of a structure's member.
    pub(crate) fn member(&self, index: &Index<'_>, structure: Id, member: u32) -> Option<String> {
        self.find(index, structure, member)
    }

    /// A function's name as people know it: `OpName` without glslang's parameter mangling, else `%id`.
    pub(crate) fn function(&self, index: &Index<'_>, id: Id) -> String {
        match self.name(index, id) {
            Some(name) => name
                .split('(')
                .next()
                .filter(|n| !n.is_empty())
                .unwrap_or(&name)
                .to_string(),
            None => format!("%{id}"),
        }
    }
}

/// The instructions that say where in the source a point of a block is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position<'a> {
    /// `OpLine` or `DebugLine` in force.
    pub(crate) line: Option<Inst<'a>>,
    /// `DebugScope` in force.
    pub(crate) scope: Option<Inst<'a>>,
}

impl<'a> Index<'a> {
    /// Whether an instruction belongs to a non-semantic set: it may stand among variables and be dropped freely.
    pub(crate) fn is_debug_inst(&self, inst: &Inst<'_>) -> bool {
        inst.opcode() == op::ExtInst && self.nonsemantic.contains(&inst.word(3))
    }

    /// The position in force before `offset` in a block.
    pub(crate) fn position(&self, block: &Block, offset: usize) -> Position<'a> {
        let mut position = Position::default();
        for inst in self.insts(block.offset, offset) {
            match inst.opcode() {
                op::Line => position.line = Some(inst),
                op::NoLine => position.line = None,
                op::ExtInst if self.is_debug_inst(&inst) => match inst.word(4) {
                    debug_info::LINE => position.line = Some(inst),
                    debug_info::NO_LINE => position.line = None,
                    debug_info::SCOPE => position.scope = Some(inst),
                    debug_info::NO_SCOPE => position.scope = None,
                    _ => {}
                },
                _ => {}
            }
        }
        position
    }

    /// The source position that an `OpLine` or `DebugLine` names.
    pub(crate) fn location(&self, line: &Inst<'_>) -> Option<Location> {
        if line.opcode() == op::Line {
            let file = self.string(line.word(1))?;
            let source = self
                .source_of_file(line.word(1))
                .and_then(|text| nth_line(&text, line.word(2)));
            return Some(Location {
                file,
                line: line.word(2),
                column: line.word(3),
                source,
            });
        }
        let number = |id| {
            self.def(id)
                .filter(|i| i.opcode() == op::Constant)
                .map_or(0, |i| i.word(3))
        };
        let source = self
            .def(line.word(5))
            .filter(|i| i.opcode() == op::ExtInst && i.word(4) == debug_info::SOURCE)?;
        let (first, column) = (number(line.word(6)), number(line.word(8)));
        let text = self.string(source.word(6)).and_then(|text| nth_line(&text, first));
        Some(Location {
            file: self.string(source.word(5))?,
            line: first,
            column,
            source: text,
        })
    }

    /// Text of an `OpString`.
    fn string(&self, id: Id) -> Option<String> {
        let inst = self.def(id).filter(|i| i.opcode() == op::String)?;
        Some(literal::string(inst.from(2)))
    }

    /// Text of the `OpSource` and `OpSourceContinued` of a file.
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
        text
    }
}

fn nth_line(text: &str, number: u32) -> Option<String> {
    let line = text.lines().nth((number as usize).checked_sub(1)?)?;
    Some(line.trim_end().to_string())
}
