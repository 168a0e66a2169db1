//! Expressions for memory: variables, and their parts by the indices of pointers.

use super::vocabulary::{built_in_name, is_made_up};
use super::{COMPONENTS, Expressions, MAX_LENGTH};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::op_sets::is_untyped_chain;
use vkabort_spirv::{Id, Inst, op};

impl Expressions<'_, '_> {
    /// The memory that a pointer points to, without its last indices: `words[i]`, `pc.count`.
    ///
    /// Follows the pointer to smaller offsets only: in an invalid module it may be loaded from itself.
    pub(super) fn pointer(&self, id: Id, left_out: usize, depth: u32) -> Option<String> {
        let mut at = self.index.def(id)?;
        let mut left_out = left_out;
        // Access chains, the last one first, with the number of their last indices that are left out.
        let mut chains = Vec::new();
        let mut name = loop {
            let base = match at.opcode() {
                op::Variable | op::FunctionParameter | op::UntypedVariableKHR => break self.root(&at)?,
                op::CopyObject => at.id(3),
                op::AccessChain | op::InBoundsAccessChain => {
                    chains.push((at, std::mem::take(&mut left_out)));
                    at.id(3)
                }
                opcode if is_untyped_chain(opcode) => {
                    chains.push((at, std::mem::take(&mut left_out)));
                    at.id(4)
                }
                // A pointer that was loaded: a buffer reference.
                op::Load => {
                    left_out = 0;
                    at.pointer()
                }
                _ => return None,
            };
            at = self.index.def(base).filter(|def| def.offset < at.offset)?;
        };
        for (chain, left_out) in chains.into_iter().rev() {
            let (ty, first) = match is_untyped_chain(chain.opcode()) {
                true => (chain.id(3), 5),
                false => (self.pointee(chain.id(3))?, 4),
            };
            let count = chain.ids(first).len().saturating_sub(left_out);
            name = self.path(name, ty, chain.ids(first).take(count).map(Step::Value), depth)?;
        }
        Some(name)
    }

    /// The name of a variable or parameter; empty for a block whose members are named alone.
    fn root(&self, variable: &Inst<'_>) -> Option<String> {
        let id = variable.result();
        let class = self.index.storage_class(variable.result_type());
        if let Some(name) = self.names.name(self.index, id) {
            return (!is_made_up(&name, self.index.generator())).then_some(name);
        }
        if class == Some(storage_class::Input)
            && let Some(built_in) = self.index.decoration(id, decoration::BuiltIn)
        {
            return built_in_name(built_in).map(str::to_owned);
        }
        let is_block = matches!(
            class,
            Some(storage_class::PushConstant | storage_class::Uniform | storage_class::StorageBuffer)
        );
        let names_members = || {
            let block = self.index.under_arrays(self.pointee(id)?);
            self.names.member(self.index, block, 0)
        };
        (is_block && names_members().is_some()).then(String::new)
    }

    pub(super) fn pointee(&self, pointer: Id) -> Option<Id> {
        let ty = self.index.def(self.index.type_of(pointer))?;
        (ty.opcode() == op::TypePointer).then(|| ty.pointee())
    }

    /// A part of `base`, which has the type `ty`, by literal indices.
    pub(super) fn part(&self, base: String, ty: Id, indices: &[u32], depth: u32) -> Option<String> {
        self.path(base, ty, indices.iter().map(|index| Step::Literal(*index)), depth)
    }

    /// A part of `base`, which has the type `ty`.
    fn path(&self, base: String, ty: Id, indices: impl Iterator<Item = Step>, depth: u32) -> Option<String> {
        let (mut text, mut ty) = (base, ty);
        for index in indices {
            let number = match index {
                Step::Literal(number) => Some(number),
                Step::Value(id) => self.index.def(id).and_then(|inst| match inst.opcode() {
                    op::Constant => self.index.literal(&inst).and_then(|value| u32::try_from(value).ok()),
                    _ => None,
                }),
            };
            let of = self.index.def(ty)?;
            match (of.opcode(), number) {
                (op::TypeStruct, Some(number)) => {
                    let member = self.names.member(self.index, ty, number);
                    // The only member of a block that its variable names: naga's, Slang's and DXC's buffers.
                    let is_hidden = of.words.len() == 3
                        && member.as_ref().is_none_or(|member| member.starts_with(['_', '@', '$']))
                        && !text.is_empty();
                    match (is_hidden, text.is_empty()) {
                        (true, _) => {}
                        (false, true) => text = member?,
                        (false, false) => text = format!("{text}.{}", member?),
                    }
                }
                (op::TypeVector, Some(number)) => {
                    let component = COMPONENTS.get(number as usize)?;
                    text = format!("{text}.{component}");
                }
                (_, Some(number)) => text = format!("{text}[{number}]"),
                (_, None) => {
                    let Step::Value(id) = index else { return None };
                    let index = self.describe(id, depth.checked_sub(1)?);
                    let index = index.map_or_else(|| "..".to_owned(), |index| index.text);
                    text = format!("{text}[{index}]");
                }
            }
            ty = self.index.part_type(ty, number.unwrap_or(0));
        }
        (!text.is_empty() && text.len() <= MAX_LENGTH).then_some(text)
    }
}

/// An index into a composite.
#[derive(Clone, Copy)]
enum Step {
    Literal(u32),
    Value(Id),
}
