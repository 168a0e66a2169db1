//! Writes scalars: reads them where they are and makes words of them.

use super::payload::PASS;
use super::pending::Bits;
use super::source::{Place, Source, scalar_access};
use super::writer::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::op::storage_class;
use crate::spv::{Id, op};
use smallvec::SmallVec;
use vkabort_record::site::Type;

impl<'w> Writer<'_, 'w> {
    /// Writes a scalar as words or as less than a word.
    pub(in crate::pass::abort) fn scalar(&mut self, ty: &Type, source: &Source<'w>, offset: u32) -> Result<()> {
        let size = ty.size();
        let bits = match source {
            Source::Zero => [Bits::Known(0); 2],
            Source::Literal(bits) => {
                let bits = if size < 4 {
                    bits & ((1 << (8 * size)) - 1)
                } else {
                    *bits
                };
                [Bits::Known(bits as u32), Bits::Known((bits >> 32) as u32)]
            }
            Source::Unknown => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    self.offset,
                    "a part of the message is made by an instruction that is not known",
                ));
            }
            Source::Data { .. } | Source::Parts(_) => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    PASS,
                    self.offset,
                    "the message and its type do not match",
                ));
            }
            Source::Value {
                id,
                path,
                ty: value_type,
            } if path.is_empty() => self.as_words(ty, *id, *value_type),
            Source::Value {
                id,
                path,
                ty: value_type,
            } => {
                let value = self.emit2(op::CompositeExtract, *value_type, *id, path);
                self.as_words(ty, value, *value_type)
            }
            Source::Memory {
                place,
                path,
                ty: value_type,
            } => {
                let value = self.read(*place, path, *value_type, size);
                self.as_words(ty, value, *value_type)
            }
        };
        self.put(offset, size.min(4), bits[0]);
        if size == 8 {
            self.put(offset + 4, 4, bits[1]);
        }
        Ok(())
    }

    /// Reads a scalar out of a place in memory.
    fn read(&mut self, place: Place, path: &[Id], ty: Id, size: u32) -> Id {
        let (base, class, access) = match place {
            Place::Variable(variable) => (variable, storage_class::Function, SmallVec::new()),
            Place::Load(offset) => {
                let load = self.index.inst(offset);
                let pointer = load.word(3);
                let class = self.index.storage_class(self.index.type_of(pointer));
                (
                    pointer,
                    class.unwrap_or(storage_class::Function),
                    scalar_access(&load, size),
                )
            }
        };
        let pointer_type = self.globals.pointer(class, ty);
        let pointer = self.emit2(op::AccessChain, pointer_type, base, path);
        let value = self.emit2(op::Load, ty, pointer, &access);
        // What differs between invocations must say so at every step.
        self.globals.inherit_non_uniform(self.index, base, &[pointer, value]);
        value
    }

    /// A scalar value as one or two `uint`s, narrower ones zero-extended.
    fn as_words(&mut self, ty: &Type, value: Id, value_type: Id) -> [Bits; 2] {
        let uint = self.uint();
        let one = |id| [Bits::Value(id), Bits::Known(0)];
        match ty {
            Type::Bool => {
                let (zero, unit) = (self.constant(0), self.constant(1));
                one(self.calculate(op::Select, &[value, unit, zero]))
            }
            Type::Int { bits: 8 | 16, .. } => one(self.calculate(op::UConvert, &[value])),
            Type::Float { bits: 16 } | Type::EncodedFloat { .. } => {
                // Two halves or four quarters are a word: no narrow integers are needed.
                let count = 4 / ty.size().max(1);
                let vector = self.globals.vector(value_type, count);
                let none = self.globals.null(value_type);
                let parts = [value, none, none, none];
                let parts = parts.get(..count as usize).unwrap_or(&parts);
                let all = self.emit(op::CompositeConstruct, vector, parts);
                one(self.calculate(op::Bitcast, &[all]))
            }
            _ if ty.size() == 8 => {
                let uvec2 = self.globals.vector(uint, 2);
                let both = self.emit(op::Bitcast, uvec2, &[value]);
                [0, 1].map(|i| Bits::Value(self.calculate(op::CompositeExtract, &[both, i])))
            }
            _ if value_type == uint => one(value),
            _ => one(self.calculate(op::Bitcast, &[value])),
        }
    }
}
