//! Access chains, loads and stores.

use super::error::{Result, undefined, unsupported};
use super::machine::{Machine, UndefinedValues};
use super::types::Type;
use super::value::{BytePointer, Pointer, Scalar, Space, Value};
use crate::module::Id;

/// Memory operand `Aligned`.
const ALIGNED: u32 = 2;

/// An address in no buffer and no memory.
const BEYOND: u64 = 1 << 62;

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
            let mut index = self.defined_scalar(*id, "an address")?;
            if let (Pointer::Bytes(bytes), Type::RuntimeArray { .. }) = (&pointer, self.types.get(pointee))
                && bytes.space == Space::Physical
            {
                // An index has a sign, whatever its type (OpAccessChain).
                let unused = 64 - self.types.width(self.type_of(*id));
                index = ((index << unused) as i64 >> unused) as u64;
            }
            let count = match self.types.get(pointee) {
                Type::RuntimeArray { .. } => u64::MAX,
                _ => u64::from(self.types.parts(pointee)),
            };
            // A pointer beyond a variable is undefined where it is used.
            let is_beyond = index >= count;
            match &mut pointer {
                Pointer::Logical { path, .. } => path.push(index as u32),
                Pointer::Bytes(bytes) => {
                    let Some((offset, layout)) = self.types.place(pointee, index, bytes.layout) else {
                        return unsupported("an index into a scalar");
                    };
                    bytes.at = if is_beyond && count != u64::MAX {
                        BEYOND
                    } else {
                        bytes.at.wrapping_add(offset)
                    };
                    bytes.layout = layout;
                }
            }
            let element = if is_beyond { 0 } else { index as u32 };
            let Some(part) = self.types.part(pointee, element) else {
                return unsupported("an index into a scalar");
            };
            pointee = part;
        }
        Ok(pointer)
    }

    /// Evaluates `OpArrayLength`: the elements of a runtime array, the last member of a block, for which the buffer has room.
    pub(super) fn array_length(&self, block: Id, member: u32) -> Result<Value> {
        let Type::Pointer { pointee, .. } = *self.types.get(self.type_of(block)) else {
            return unsupported("the length of a value that is not a pointer");
        };
        let Pointer::Bytes(BytePointer {
            space: Space::Buffer(id),
            at,
            layout,
        }) = self.pointer(block)?
        else {
            return unsupported("the length of an array that is not in a buffer");
        };
        let size = self.buffers.get(&id).map_or(0, |region| region.bytes().len() as u64);
        let array = self.types.place(pointee, u64::from(member), layout);
        let stride = self
            .types
            .part(pointee, member)
            .and_then(|array| self.types.place(array, 1, layout));
        match (array, stride) {
            (Some((offset, _)), Some((stride @ 1.., _))) => {
                Ok(Value::number(size.saturating_sub(at + offset) / stride))
            }
            _ => unsupported("the length of an array without a layout"),
        }
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
            Pointer::Bytes(bytes) => {
                check_alignment(*bytes, access)?;
                self.load_bytes(ty, *bytes)
            }
        }
    }

    fn load_bytes(&self, ty: Id, pointer: BytePointer) -> Result<Value> {
        match self.types.get(ty) {
            Type::Int { bits, .. } | Type::Float { bits } => self.read(pointer, bits / 8).map(Value::Scalar),
            Type::Pointer { .. } => {
                let address = self.read(pointer, 8)?.bits;
                Ok(Value::Pointer(Pointer::Bytes(BytePointer::new(
                    Space::Physical,
                    address,
                ))))
            }
            Type::Vector { .. } | Type::Matrix { .. } | Type::Array { .. } | Type::Struct { .. } => {
                let parts = (0..self.types.parts(ty)).map(|number| {
                    let place = self.types.place(ty, u64::from(number), pointer.layout);
                    let Some((part, (offset, layout))) = self.types.part(ty, number).zip(place) else {
                        return unsupported("a part without an offset");
                    };
                    let at = pointer.at.wrapping_add(offset);
                    self.load_bytes(part, BytePointer { at, layout, ..pointer })
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
            Pointer::Bytes(bytes) => {
                check_alignment(*bytes, access)?;
                let mut leaves = Vec::new();
                self.types
                    .leaves(ty, &value, bytes.at, bytes.layout, &mut |at, size, scalar| {
                        leaves.push((at, size, scalar));
                        Ok(())
                    })?;
                leaves
                    .into_iter()
                    .try_for_each(|(at, size, scalar)| self.write(BytePointer { at, ..*bytes }, size, scalar))
            }
        }
    }

    fn read(&self, pointer: BytePointer, size: u32) -> Result<Scalar> {
        let BytePointer { space, at, .. } = pointer;
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

    fn write(&mut self, pointer: BytePointer, size: u32, value: Scalar) -> Result<()> {
        let BytePointer { space, at, .. } = pointer;
        if self.undefined == UndefinedValues::Followed && value.undef != 0 {
            return undefined("an undefined value is stored");
        }
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
fn check_alignment(pointer: BytePointer, access: &[u32]) -> Result<()> {
    let BytePointer { space, at, .. } = pointer;
    if space != Space::Physical {
        return Ok(());
    }
    match access {
        [mask, alignment, ..] if mask & ALIGNED != 0 => match at.is_multiple_of(u64::from((*alignment).max(1))) {
            true => Ok(()),
            false => undefined(format!("an access at {at:#x} that is not aligned to {alignment}")),
        },
        _ => undefined("an access to a physical address without Aligned"),
    }
}
