//! Values of 8 and 16 bits in modules that may only load, store and convert them.
//!
//! Without `Float16`, `Int16` or `Int8` no function takes or gives them. They cross the border of a region as 32 bits:
//!
//! ```text
//! %wide = FConvert %float %half, call %outlined(%wide)        %outlined: %half = FConvert %half_type %wide, ..
//! ```
//!
//! which gives the same value back, since every narrow number is one of 32 bits.

use super::PASS;
use super::outliner::Outliner;
use crate::edit::Code;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::op::capability;
use crate::spv::{Id, op};

/// How a narrow value crosses the border.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    /// Its type.
    ty: Id,
    /// The type that it has on the way.
    pub(super) wide: Id,
    opcode: u16,
}

impl Narrow {
    /// Makes it wide.
    pub(super) fn widen(self, code: &mut Code, value: Id, wide: Id) {
        code.op(self.opcode, &[self.wide, wide, value]);
    }

    /// Makes it narrow again.
    pub(super) fn narrow(self, code: &mut Code, wide: Id, value: Id) {
        code.op(self.opcode, &[self.ty, value, wide]);
    }
}

impl Outliner<'_, '_> {
    /// How values of a type cross the border; `None` for types that functions may take.
    ///
    /// # Errors
    ///
    /// The type is a composite that holds narrow values, which can only be stored.
    pub(super) fn narrow(&mut self, ty: Id, offset: usize) -> Result<Option<Narrow>> {
        let scalar = match self.index.opcode(ty) {
            op::TypeVector => self.index.part_type(ty, 0),
            _ => ty,
        };
        if !self.is_narrow(scalar) {
            return match self.holds_narrow(ty) {
                false => Ok(None),
                true => Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    offset as u32,
                    "a composite of 8- or 16-bit values that the module may only store is made on one side of a continue construct \
                     in which an invocation may abort and used on the other",
                )),
            };
        }
        let (mut wide, opcode) = match self.index.opcode(scalar) {
            op::TypeFloat => (self.globals.float(32), op::FConvert),
            _ => (self.globals.uint(), op::SConvert),
        };
        if scalar != ty {
            let count = self.index.def(ty).map_or(0, |vector| vector.word(3));
            wide = self.globals.vector(wide, count);
        }
        Ok(Some(Narrow { ty, wide, opcode }))
    }

    /// Whether a scalar type is one whose values can only be loaded, stored and converted.
    fn is_narrow(&self, ty: Id) -> bool {
        let Some(inst) = self.index.def(ty) else { return false };
        let needed = match (inst.opcode(), inst.word(2)) {
            // Formats with an encoding of their own come with the capability for their type.
            (op::TypeFloat, 16) if inst.words.len() == 3 => capability::Float16,
            (op::TypeInt, 16) => capability::Int16,
            (op::TypeInt, 8) => capability::Int8,
            _ => return false,
        };
        !self.index.has_capability(needed)
    }

    /// Whether a type has a narrow part. A few are looked at: types may hold others many times over.
    fn holds_narrow(&self, ty: Id) -> bool {
        const MAX_STEPS: u32 = 1 << 10;
        let mut open = vec![ty];
        for _ in 0..MAX_STEPS {
            let Some(ty) = open.pop() else { return false };
            let Some(inst) = self.index.def(ty) else { continue };
            match inst.opcode() {
                op::TypeVector | op::TypeMatrix | op::TypeArray => open.push(inst.word(2)),
                op::TypeStruct => open.extend(inst.from(2)),
                _ if self.is_narrow(ty) => return true,
                _ => {}
            }
        }
        false
    }
}
