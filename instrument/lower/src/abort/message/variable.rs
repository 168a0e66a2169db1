//! Puts array values into variables so that a loop can index them.

use super::source::{Path, Place, Source};
use super::writer::MessageWriter;
use vkabort_analysis::message_layout::MAX_DEPTH;
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::words::version;
use vkabort_spirv::{Id, op};

/// Types visited per value, since small types may repeat others very often.
const MAX_TYPES: u32 = 1 << 13;

impl<'w> MessageWriter<'_, 'w> {
    /// Puts an array value into a variable; `None` if that is not possible. The Function storage class does not allow types
    /// with a layout: they are copied to types without one, which needs `OpCopyLogical` of SPIR-V 1.4.
    pub(super) fn store_in_variable(&mut self, source: &Source<'w>) -> Option<Source<'w>> {
        let &Source::Value { id, ref path, ty } = source else {
            return None;
        };
        let plain = self.type_without_layout(ty, MAX_DEPTH, &mut 0)?;
        if plain != ty && self.index.version < version(1, 4) {
            return None;
        }
        let pointer_type = self.out.pointer(storage_class::Function, plain);
        let variable = self.out.fresh();
        self.variables.push((pointer_type, variable));
        if self.index.opcode(self.index.under_arrays(ty)) == op::TypePointer {
            self.out.decorate(variable, decoration::AliasedPointer, &[]);
        }
        let mut value = self.extract(id, path, ty);
        if plain != ty {
            value = self.out.emit(op::CopyLogical, plain, value);
        }
        self.out.op(op::Store, (variable, value));
        // `plain` is not in the index, but its scalars are those of `ty`.
        Some(Source::Memory {
            place: Place::Variable(variable),
            path: Path::new(),
            ty,
        })
    }

    /// A type without a layout that logically matches `ty`: `ty` itself if it has none.
    fn type_without_layout(&mut self, ty: Id, depth: u32, visited: &mut u32) -> Option<Id> {
        *visited += 1;
        if *visited > MAX_TYPES {
            return None;
        }
        let (inst, depth) = (self.index.def(ty)?, depth.checked_sub(1)?);
        let count = match inst.opcode() {
            op::TypeStruct => inst.words.len() - 2,
            op::TypeArray => 1,
            _ => return Some(ty),
        };
        let parts = inst.ids(2).take(count);
        let plain: Vec<Id> = parts
            .clone()
            .map(|part| self.type_without_layout(part, depth, visited))
            .collect::<Option<_>>()?;
        if plain.iter().copied().eq(parts) && self.index.decorations_of(ty).next().is_none() {
            return Some(ty);
        }
        Some(match plain.as_slice() {
            [element] if inst.opcode() == op::TypeArray => self.out.array(*element, inst.array_length()),
            members => self.out.structure(members),
        })
    }
}
