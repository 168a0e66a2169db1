//! Values and pointers as expressions of their source, by the names of variables and members.
//!
//! ```text
//! Load of AccessChain %block 0 %i     words[i]
//! CompositeExtract %velocity 1        velocity.y
//! ```

use super::index::Index;
use super::index::names::Names;
use crate::spv::{Id, Inst, op};

/// Limits on nested expressions, and on the length of one in bytes.
const MAX_DEPTH: u32 = 6;
const MAX_BYTES: usize = 80;

/// Names of the components of vectors.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Names the values and pointers of a module.
#[derive(Clone, Copy)]
pub(crate) struct Expressions<'e, 'w> {
    pub(crate) index: &'e Index<'w>,
    pub(crate) names: &'e Names,
}

impl Expressions<'_, '_> {
    /// The expression of a value. `None` if nothing in it has a name.
    pub(crate) fn value(&self, id: Id) -> Option<String> {
        self.value_at(id, 0).filter(|text| text.len() <= MAX_BYTES)
    }

    /// The expression of a component of a vector, or of a scalar.
    pub(crate) fn component(&self, id: Id, component: Option<u32>) -> Option<String> {
        let value = self.value(id)?;
        Some(component.map_or(value.clone(), |component| value + &component_suffix(component)))
    }

    /// The expression of what a pointer points to, without the last `left_out` indices.
    pub(crate) fn pointer(&self, id: Id, left_out: usize) -> Option<String> {
        self.pointer_at(id, left_out, 0).filter(|text| text.len() <= MAX_BYTES)
    }

    fn value_at(&self, id: Id, depth: u32) -> Option<String> {
        let inst = self.index.def(id).filter(|_| depth < MAX_DEPTH)?;
        if let Some(name) = self.name(id) {
            return Some(name);
        }
        match inst.opcode() {
            op::Load => self.pointer_at(inst.pointer(), 0, depth + 1),
            op::CopyObject | op::CopyLogical | op::Bitcast | op::UConvert | op::SConvert => {
                self.value_at(inst.first_operand(), depth + 1)
            }
            op::CompositeExtract => {
                let composite = self.value_at(inst.id(3), depth + 1)?;
                let mut ty = self.index.type_of(inst.id(3));
                inst.from(4).iter().try_fold(composite, |text, index| {
                    let text = text + &self.part(ty, *index);
                    ty = self.index.part_type(ty, *index);
                    Some(text)
                })
            }
            _ => None,
        }
    }

    fn pointer_at(&self, id: Id, left_out: usize, depth: u32) -> Option<String> {
        let inst = self.index.def(id).filter(|_| depth < MAX_DEPTH)?;
        match inst.opcode() {
            op::AccessChain | op::InBoundsAccessChain => {
                let count = inst.ids(4).len().saturating_sub(left_out);
                let base = self.pointer_at(inst.id(3), 0, depth + 1);
                self.chain(base, &inst, count, depth)
            }
            _ => self.name(id),
        }
    }

    /// An access chain with its first `count` indices. Blocks without a name leave the names of their members.
    fn chain(&self, base: Option<String>, chain: &Inst<'_>, count: usize, depth: u32) -> Option<String> {
        let pointer = self.index.def(self.index.type_of(chain.id(3)))?;
        let (mut text, mut ty) = (base, pointer.pointee());
        for index in chain.ids(4).take(count) {
            let constant = self.constant(index);
            if self.index.opcode(ty) == op::TypeStruct {
                let member = constant?;
                let part = self.part(ty, member);
                text = match text {
                    Some(text) => Some(text + &part),
                    None => self.names.member(self.index, ty, member),
                };
            } else {
                let part = match constant {
                    Some(index) => self.part(ty, index),
                    None => format!(
                        "[{}]",
                        self.value_at(index, depth + 1).unwrap_or_else(|| "..".to_owned())
                    ),
                };
                text = text.map(|text| text + &part);
            }
            ty = self.index.part_type(ty, constant.unwrap_or(0));
        }
        text
    }

    /// The name of an id. Compilers write empty ones, and numbers for what has none in the source.
    fn name(&self, id: Id) -> Option<String> {
        let name = self.names.name(self.index, id)?;
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            .then_some(name)
    }

    /// The part `index` of a composite, after its expression.
    fn part(&self, ty: Id, index: u32) -> String {
        match self.index.opcode(ty) {
            op::TypeStruct => match self.names.member(self.index, ty, index) {
                Some(name) => format!(".{name}"),
                None => format!(".{index}"),
            },
            op::TypeVector => component_suffix(index),
            _ => format!("[{index}]"),
        }
    }

    fn constant(&self, id: Id) -> Option<u32> {
        let inst = self.index.def(id).filter(|inst| inst.opcode() == op::Constant)?;
        u32::try_from(self.index.literal(&inst)?).ok()
    }
}

fn component_suffix(component: u32) -> String {
    match COMPONENTS.get(component as usize) {
        Some(name) => format!(".{name}"),
        None => format!("[{component}]"),
    }
}
