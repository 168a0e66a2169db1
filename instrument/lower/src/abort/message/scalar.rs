//! Reads scalars from their sources and converts them to words.

use super::pending::Bits;
use super::source::{Place, Source, scalar_access};
use super::writer::MessageWriter;
use smallvec::SmallVec;
use vkabort_record::scalar_type::ScalarType;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Words, op};

impl<'w> MessageWriter<'_, 'w> {
    /// Writes a scalar at byte `offset` of the frame.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`] if the module does not define the source, [`ErrorKind::Invalid`] if it has another type.
    pub(super) fn write_scalar(&mut self, ty: ScalarType, source: &Source<'w>, offset: u32) -> Result<()> {
        let size = ty.bytes();
        let bits = match source {
            Source::Zero => [Bits::Constant(0); 2],
            Source::Literal(bits) => {
                let bits = if size < 4 {
                    bits & ((1 << (8 * size)) - 1)
                } else {
                    *bits
                };
                [Bits::Constant(bits as u32), Bits::Constant((bits >> 32) as u32)]
            }
            Source::Unknown => {
                return Err(self.error(
                    ErrorKind::Unsupported,
                    "an unknown instruction defines a part of the message",
                ));
            }
            // Only in an invalid module.
            Source::Value { ty: from, .. } | Source::Memory { ty: from, .. }
                if self.index.scalar_type(*from) != Some(ty) =>
            {
                return Err(self.mismatch());
            }
            Source::OtherType | Source::Data { .. } | Source::Parts { .. } => return Err(self.mismatch()),
            &Source::Value { id, ref path, ty: from } => {
                let value = self.extract(id, path, from);
                self.convert_to_words(ty, value, from)
            }
            &Source::Memory {
                place,
                ref path,
                ty: from,
            } => {
                let value = self.load_scalar(place, path, from, size);
                self.convert_to_words(ty, value, from)
            }
        };
        self.put(offset, size.min(4), bits[0]);
        if size == 8 {
            self.put(offset + 4, 4, bits[1]);
        }
        Ok(())
    }

    fn mismatch(&self) -> Error {
        let message = "a constituent of the message does not have the type of its place in the message type; report this to \
                       the authors of the compiler";
        self.error(ErrorKind::Invalid, message)
    }

    /// The part of a value at `path`, of type `ty`.
    pub(super) fn extract(&mut self, id: Id, path: &[u32], ty: Id) -> Id {
        match path {
            [] => id,
            _ => self.out.emit(op::CompositeExtract, ty, (id, Words(path))),
        }
    }

    /// Loads a scalar of `size` bytes from memory.
    fn load_scalar(&mut self, place: Place, path: &[Id], ty: Id, size: u32) -> Id {
        let (base, class, access) = match place {
            Place::Variable(variable) => (variable, storage_class::Function, SmallVec::new()),
            Place::Load(offset) => {
                let load = self.index.inst(offset);
                let pointer = load.pointer();
                let class = self.index.storage_class(self.index.type_of(pointer));
                (
                    pointer,
                    class.unwrap_or(storage_class::Function),
                    scalar_access(&load, size),
                )
            }
        };
        let pointer_type = self.out.pointer(class, ty);
        let pointer = self.out.emit(op::AccessChain, pointer_type, (base, path));
        let value = self.out.emit(op::Load, ty, (pointer, Words(&access)));
        // A non-uniform access has to be decorated at every step.
        self.out.inherit_non_uniform(self.index, base, &[pointer, value]);
        value
    }

    /// A scalar as one or two words; a narrower one is zero-extended.
    fn convert_to_words(&mut self, ty: ScalarType, value: Id, value_type: Id) -> [Bits; 2] {
        let (low, high) = self.out.scalar_words(ty, value, value_type);
        [Bits::Value(low), high.map_or(Bits::Constant(0), Bits::Value)]
    }
}
