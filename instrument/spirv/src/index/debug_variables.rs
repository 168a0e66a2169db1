//! Local variables that debug information describes.

use super::Index;
use super::debug::Position;
use super::source_text::Texts;
use crate::debug_set::debug_info::operand;
use crate::debug_set::{DebugSet, debug_info};
use crate::{Id, Inst};
use vkabort_record::site::Location;

/// A local variable of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// Its name; with members behind it if this is a part of the variable.
    pub name: String,
    /// Whether it is an element of an array. Stores by an index that is not constant have no description.
    pub is_element: bool,
    /// Its `DebugLocalVariable`.
    pub id: Id,
    /// The scope that declares it.
    scope: Id,
    /// The `DebugInlinedAt` of the function's inlined copy.
    inlined_at: Id,
}

impl LocalVariable {
    /// The name of the variable of which this is a part, if the name has members or elements.
    pub fn whole_name(&self) -> &str {
        self.name.split(['.', '[']).next().unwrap_or(&self.name)
    }

    /// Whether a position is in the variable's scope.
    pub fn is_in_scope(&self, index: &Index<'_>, position: &Position<'_>) -> bool {
        self.is_in_scope_of(index, position, 1)
    }

    /// Whether one of the innermost `frames` of a position is in the variable's scope. Without a scope at the position, a variable of
    /// the whole function is, and one of a lexical block or of an inlined function may have ended.
    fn is_in_scope_of(&self, index: &Index<'_>, position: &Position<'_>, frames: usize) -> bool {
        if position.scope.is_none() {
            let declaring = index.debug_def(self.scope).map(|(_, inst)| inst.ext_inst());
            let blocks = [debug_info::LEXICAL_BLOCK, debug_info::LEXICAL_BLOCK_DISCRIMINATOR];
            return !self.inlined_at.is_some() && !declaring.is_some_and(|scope| blocks.contains(&scope));
        }
        let mut frames = index.frames_of(position).take(frames);
        frames.any(|(scope, inlined_at)| {
            let mut scopes = index.scopes(scope);
            inlined_at == self.inlined_at && scopes.any(|of| of.result() == self.scope)
        })
    }

    /// Whether both are of the same variable in the same call of a function, of which each may be a part.
    pub fn is_of_same(&self, other: &Self) -> bool {
        (self.id, self.inlined_at) == (other.id, other.inlined_at)
    }

    /// Location of its declaration.
    pub fn declaration(&self, index: &Index<'_>, texts: &mut Texts) -> Option<Location> {
        let (set, variable) = index.debug_def(self.id)?;
        let number = |word| index.number(set, variable.word(word));
        let [line, column] = [operand::VARIABLE_LINE, operand::VARIABLE_COLUMN].map(number);
        index.location_in(variable.id(operand::VARIABLE_SOURCE), line, column, texts)
    }

    /// Whether it is a parameter of its function.
    pub fn is_parameter(&self, index: &Index<'_>) -> bool {
        let variable = index.debug_def(self.id);
        variable.is_some_and(|(_, variable)| !variable.from(operand::VARIABLE_PARAMETER).is_empty())
    }

    /// Scopes between a position and the variable's. `None` if it is not in scope, or the position has none.
    pub fn distance(&self, index: &Index<'_>, position: &Position<'_>) -> Option<usize> {
        let (scope, inlined_at) = index.frames_of(position).next()?;
        let mut scopes = index.scopes(scope);
        let distance = scopes.position(|of| of.result() == self.scope)?;
        (inlined_at == self.inlined_at).then_some(distance)
    }
}

/// A variable that debug information describes at a point.
#[derive(Clone, Debug)]
pub struct DescribedVariable {
    pub variable: LocalVariable,
    /// Whether `value` is a pointer to its memory.
    pub is_declaration: bool,
    pub value: Id,
}

impl<'a> Index<'a> {
    /// Member `number` of a `DebugTypeComposite`.
    fn debug_member(&self, ty: Id, number: u32) -> Option<Inst<'a>> {
        let (_, composite) = self
            .debug_def(ty)
            .filter(|(_, ty)| ty.ext_inst() == debug_info::TYPE_COMPOSITE)?;
        let (_, member) = self.debug_def(composite.id(operand::COMPOSITE_MEMBERS + number as usize))?;
        (member.ext_inst() == debug_info::TYPE_MEMBER).then_some(member)
    }

    /// The variable and value of a `DebugDeclare` or `DebugValue`. `None` for other instructions, and if the value has to be computed.
    pub fn described_variable(&self, inst: &Inst<'_>, position: &Position<'_>) -> Option<DescribedVariable> {
        let set = self.debug_set(inst).filter(|set| *set != DebugSet::Other)?;
        let is_declaration = match inst.ext_inst() {
            debug_info::DECLARE => true,
            debug_info::VALUE => false,
            _ => return None,
        };
        let (_, expression) = self.debug_def(inst.id(operand::DESCRIBED_EXPRESSION))?;
        let is_plain = expression.ext_inst() == debug_info::EXPRESSION
            && expression.from(operand::EXPRESSION_OPERATIONS).is_empty();
        let (_, variable) = self.debug_def(inst.id(operand::DESCRIBED_VARIABLE))?;
        if !is_plain || variable.ext_inst() != debug_info::LOCAL_VARIABLE {
            return None;
        }
        let mut name = self
            .string(variable.id(operand::VARIABLE_NAME))
            .filter(|name| !name.is_empty())?;
        let mut ty = variable.id(operand::VARIABLE_TYPE);
        let mut is_element = false;
        for part in inst.from(operand::DESCRIBED_PART) {
            let number = self.number(set, *part);
            is_element |= self
                .debug_def(ty)
                .is_some_and(|(_, ty)| ty.ext_inst() == debug_info::TYPE_ARRAY);
            let member = self.debug_member(ty, number);
            name += &match member.and_then(|member| self.string(member.id(operand::MEMBER_NAME))) {
                Some(member) => format!(".{member}"),
                None => format!("[{number}]"),
            };
            ty = member.map_or(Id::NONE, |member| member.id(operand::MEMBER_TYPE));
        }
        Some(DescribedVariable {
            variable: LocalVariable {
                name,
                is_element,
                id: variable.result(),
                scope: variable.id(operand::VARIABLE_PARENT),
                inlined_at: position.inlined_at(),
            },
            is_declaration,
            value: inst.id(operand::DESCRIBED_VALUE),
        })
    }
}
