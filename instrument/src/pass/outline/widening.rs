//! Values of 8 and 16 bits in modules that may only load, store and convert them.
//!
//! Without `Float16`, `Int16` or `Int8` no function takes or gives them. They cross the border of a region as 32 bits:
//!
//! ```text
//! %wide = FConvert %float %half, call %outlined(%wide)        %outlined: %half = FConvert %half_type %wide, ..
//! ```
//!
//! which gives the same number back, since every narrow number is one of 32 bits.

use super::PASS;
use super::outline_region::Outliner;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::{Code, Id, op};

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
        if !self.types.are_narrow(ty) {
            return Ok(None);
        }
        let scalar = match self.index.opcode(ty) {
            op::TypeVector => self.index.part_type(ty, 0),
            _ => ty,
        };
        let (mut wide, opcode) = match self.index.opcode(scalar) {
            op::TypeFloat => (self.globals.float(32), op::FConvert),
            op::TypeInt => (self.globals.uint(), op::SConvert),
            _ => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    offset as u32,
                    "a composite of 8- or 16-bit values that the module may only store is made on one side of a continue construct \
                     in which an invocation may abort and used on the other",
                ));
            }
        };
        if scalar != ty {
            let count = self.index.def(ty).map_or(0, |vector| vector.word(3));
            wide = self.globals.vector(wide, count);
        }
        Ok(Some(Narrow { ty, wide, opcode }))
    }

    /// An undefined value of a type.
    pub(super) fn undefined(&mut self, code: &mut Code, ty: Id, id: Id) -> Result<()> {
        let Some(narrow) = self.narrow(ty, self.function.offset)? else {
            code.op(op::Undef, &[ty, id]);
            return Ok(());
        };
        let wide = self.globals.fresh();
        code.op(op::Undef, &[narrow.wide, wide]);
        narrow.narrow(code, wide, id);
        Ok(())
    }
}
