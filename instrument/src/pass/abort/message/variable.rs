//! Arrays that are values are put into variables, so that a loop can index them.

use super::source::{Path, Place, Source};
use super::writer::Writer;
use crate::spv::op::{decoration, storage_class};
use crate::spv::words::version;
use crate::spv::{Id, op};

/// Nesting of types that is followed; layouts are refused beyond less.
const MAX_NESTING: u32 = 65;
/// Types that are looked at for one value: types may hold others many times over.
const MAX_STEPS: u32 = 1 << 13;

impl<'w> Writer<'_, 'w> {
    /// Puts an array value into a variable so that it can be indexed. Types with a layout, which the Function storage
    /// class must not have, are copied to types without one, from SPIR-V 1.4 on.
    pub(in crate::pass::abort) fn in_variable(&mut self, source: &Source<'w>) -> Option<Source<'w>> {
        let Source::Value {
            id,
            path,
            ty: value_type,
        } = source
        else {
            return None;
        };
        let value_type = *value_type;
        let plain = self.plain_type(value_type, MAX_NESTING, &mut 0)?;
        if plain != value_type && self.index.version < version(1, 4) {
            return None;
        }
        let pointer = self.globals.pointer(storage_class::Function, plain);
        let variable = self.globals.fresh();
        self.variables.push((pointer, variable));
        if self.index.opcode(self.index.under_arrays(value_type)) == op::TypePointer {
            self.globals.decorate(variable, decoration::AliasedPointer, &[]);
        }
        let mut value = *id;
        if !path.is_empty() {
            value = self.emit2(op::CompositeExtract, value_type, *id, path);
        }
        if plain != value_type {
            value = self.emit(op::CopyLogical, plain, &[value]);
        }
        self.code.op(op::Store, &[variable, value]);
        // Its parts have the same scalars as those of the type that the index knows.
        Some(Source::Memory {
            place: Place::Variable(variable),
            path: Path::new(),
            ty: value_type,
        })
    }

    /// A type that logically matches `ty` and has no layout: itself if it has none.
    fn plain_type(&mut self, ty: Id, depth: u32, steps: &mut u32) -> Option<Id> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let (inst, depth) = (self.index.def(ty)?, depth.checked_sub(1)?);
        let parts: &[Id] = match inst.opcode() {
            op::TypeStruct => inst.from(2),
            op::TypeArray => inst.from(2).get(..1)?,
            _ => return Some(ty),
        };
        let plain: Vec<Id> = parts
            .iter()
            .map(|part| self.plain_type(*part, depth, steps))
            .collect::<Option<_>>()?;
        if plain == parts && self.index.decorations_of(ty).next().is_none() {
            return Some(ty);
        }
        Some(match plain.as_slice() {
            [element] if inst.opcode() == op::TypeArray => self.globals.array(*element, inst.word(3)),
            members => self.globals.structure(members),
        })
    }
}
