//! Names of ids, from `OpName` and `OpMemberName`.

use super::Index;
use crate::{Id, literal, op};

/// Names by id. Built once per module that has sites.
#[derive(Debug)]
pub struct Names {
    /// (target, member or `u32::MAX`, offset of the instruction), sorted.
    names: Vec<(Id, u32, usize)>,
}

impl Names {
    pub fn new(index: &Index<'_>) -> Self {
        let mut names: Vec<_> = index
            .insts(index.sections.memory_model, index.sections.annotations)
            .filter_map(|i| match i.opcode() {
                op::Name => Some((i.target(), u32::MAX, i.offset)),
                op::MemberName => Some((i.target(), i.word(2), i.offset)),
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
    pub fn name(&self, index: &Index<'_>, id: Id) -> Option<String> {
        self.find(index, id, u32::MAX)
    }

    /// `OpMemberName` of a structure's member.
    pub fn member(&self, index: &Index<'_>, structure: Id, member: u32) -> Option<String> {
        self.find(index, structure, member)
    }

    /// A function's name in its source: `OpName` without glslang's parameter mangling, else the name of its only entry
    /// point, else `%id`.
    pub fn function(&self, index: &Index<'_>, id: Id) -> String {
        match self.name(index, id) {
            Some(name) => name
                .split('(')
                .next()
                .filter(|n| !n.is_empty())
                .unwrap_or(&name)
                .to_string(),
            None => {
                let mut entry_points = index.entry_points.iter().filter(|entry| entry.function == id);
                match (entry_points.next(), entry_points.next()) {
                    (Some(only), None) => only.name(),
                    _ => id.to_string(),
                }
            }
        }
    }
}
