//! Access chains, loads and stores.

use super::error::{Result, undefined, unsupported};
use super::machine::Machine;
use super::types::Type;
use super::value::{MatrixLayout, Pointer, Scalar, Space, Value};
use crate::module::Id;

/// Memory operand `Aligned`.
const ALIGNED: u32 = 2;

impl Machine<'_> {
    pub(super) fn pointer(&self, id: Id) -> Result<Pointer> {
        match self.value(id)? {
            Value::Pointer(pointer) => Ok(pointer.clone()),
            other => unsupported(format!("%{id} is not a pointer: {other:?}")),
        }
    }

    /// Evaluates `OpAccessChain`. `ty` is the pointer type of `base`.
    pub(super) fn chain(&self, base: Id, ty: Id, indices: &[Id]) -> Result<Pointer> {
        let Type::Pointer { mut pointee, .. } = *self.types.get(ty) else {
            return unsupported("an access chain into a value that is not a pointer");
        };
        let mut pointer = self.pointer(base)?;
        for id in indices {
            let index = self.defined_scalar(*id, "an address")?;
            let count = match self.types.get(pointee) {
                Type::RuntimeArray { .. } => u64::MAX,
                _ => u64::from(self.types.parts(pointee)),
            };
            if index >= count {
                return undefined(format!("index {index} of {count}"));
            }
            match &mut pointer {
                Pointer::Logical { path, .. } => path.push(index as u32),
                Pointer::Bytes { at, matrix, step, .. } => {
                    let Some((offset, inner, inner_step)) = self.types.place(pointee, index, *matrix, *step) else {
                        return unsupported("an index into a scalar");
                    };
                    *at = at.wrapping_add(offset);
                    *matrix = inner;
                    *step = inner_step;
                }
            }
            let Some(part) = self.types.part(pointee, index as u32) else {
                return unsupported("an index into a scalar");
            };
            pointee = part;
        }
        Ok(pointer)
    }

    /// Evaluates `OpLoad`.
    pub(super) fn load(&self, ty: Id, pointer: &Pointer, access: &[u32]) -> Result<Value> {
        match pointer {
            Pointer::Logical { variable, path } => {
                let contents = self.variables.get(*variable as usize).and_then(Option::as_ref);
                match contents.and_then(|v| v.at(path)) {
                    Some(value) => Ok(value.clone()),
                    None => undefined(format!("a load from %{variable}, which does not exist")),
                }
            }
            Pointer::Bytes {
                space,
                at,
                matrix,
                step,
            } => {
                check_alignment(*space, *at, access)?;
                self.load_bytes(ty, *space, *at, *matrix, *step)
            }
        }
    }

    fn load_bytes(&self, ty: Id, space: Space, at: u64, matrix: MatrixLayout, step: Option<u64>) -> Result<Value> {
        match self.types.get(ty) {
            Type::Int { bits, .. } | Type::Float { bits } => self.read(space, at, bits / 8).map(Value::Scalar),
            Type::Pointer { .. } => Ok(Value::Pointer(Pointer::Bytes {
                space: Space::Physical,
                at: self.read(space, at, 8)?.bits,
                matrix: MatrixLayout::default(),
                step: None,
            })),
            Type::Vector { .. } | Type::Matrix { .. } | Type::Array { .. } | Type::Struct { .. } => {
                let parts = (0..self.types.parts(ty)).map(|number| {
                    let part = self.types.part(ty, number);
                    match (part, self.types.place(ty, u64::from(number), matrix, step)) {
                        (Some(part), Some((offset, matrix, step))) => {
                            self.load_bytes(part, space, at.wrapping_add(offset), matrix, step)
                        }
                        _ => unsupported("a part without an offset"),
                    }
                });
                parts.collect::<Result<Vec<Value>>>().map(Value::Composite)
            }
            other => unsupported(format!("a load of {other:?}")),
        }
    }

    /// Executes `OpStore`. `ty` is the type of the value.
    pub(super) fn store(&mut self, ty: Id, pointer: &Pointer, value: Value, access: &[u32]) -> Result<()> {
        match pointer {
            Pointer::Logical { variable, path } => {
                let contents = self.variables.get_mut(*variable as usize).and_then(Option::as_mut);
                match contents.and_then(|v| v.at_mut(path)) {
                    Some(slot) => *slot = value,
                    None => return undefined(format!("a store to %{variable}, which does not exist")),
                }
                Ok(())
            }
            Pointer::Bytes {
                space,
                at,
                matrix,
                step,
            } => {
                check_alignment(*space, *at, access)?;
                let mut leaves = Vec::new();
                self.types
                    .leaves::<()>(ty, &value, *at, *matrix, *step, &mut |at, size, scalar| {
                        leaves.push((at, size, scalar));
                        Ok(())
                    })
                    .unwrap_or(());
                for (at, size, scalar) in leaves {
                    self.write(*space, at, size, scalar)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn read(&self, space: Space, at: u64, size: u32) -> Result<Scalar> {
        let found = match space {
            Space::Buffer(id) => self.buffers.get(&id).and_then(|region| region.read(at, size)),
            Space::Physical => self
                .physical
                .iter()
                .find_map(|p| p.region.read(at.checked_sub(p.address)?, size)),
        };
        match found {
            Some(scalar) => Ok(scalar),
            None => undefined(format!("a read of {size} bytes at {at:#x}, outside {space:?}")),
        }
    }

    pub(super) fn write(&mut self, space: Space, at: u64, size: u32, value: Scalar) -> Result<()> {
        let done = match space {
            Space::Buffer(id) => self
                .buffers
                .get_mut(&id)
                .and_then(|region| region.write(at, size, value)),
            Space::Physical => self
                .physical
                .iter_mut()
                .find_map(|p| p.region.write(at.checked_sub(p.address)?, size, value)),
        };
        match done {
            Some(()) => Ok(()),
            None => undefined(format!("a write of {size} bytes at {at:#x}, outside {space:?}")),
        }
    }
}

/// Checks that an access to a physical address has an alignment and respects it.
fn check_alignment(space: Space, at: u64, access: &[u32]) -> Result<()> {
    if space != Space::Physical {
        return Ok(());
    }
    match access {
        [mask, alignment, ..] if mask & ALIGNED != 0 => {
            if at.is_multiple_of(u64::from((*alignment).max(1))) {
                Ok(())
            } else {
                undefined(format!("an access at {at:#x} that is not aligned to {alignment}"))
            }
        }
        _ => undefined("an access to a physical address without Aligned"),
    }
}
