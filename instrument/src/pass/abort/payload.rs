//! Writes one message into its record, part by part.
//!
//! Arrays longer than [`UNROLLED`] elements, and those whose length is a specialisation constant, are written by loops;
//! constant bytes always as words.

use super::pending::{Bits, byte_mask};
use super::source::{Path, Place, Source, longer, scalar_access};
use super::writer::{Base, Frame, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::pass::phi::phi;
use crate::spv::op::storage_class;
use crate::spv::words::version;
use crate::spv::{Id, op};
use smallvec::SmallVec;
use std::iter;
use vkabort_record::site::{Length, Type};

/// Longest array that is written element by element.
pub(crate) const UNROLLED: u32 = 16;
/// Longest array value that is written element by element because it cannot be put into a variable.
const MAX_EXTRACTED: u32 = 4096;
/// Nesting of types that is followed; layouts are refused beyond less.
const MAX_NESTING: u32 = 65;

const PASS: &str = "abort";

/// A part of a message.
#[derive(Clone, Copy)]
struct Part<'t> {
    /// Its layout.
    layout: &'t Type,
    /// Its type in the message type.
    ty: Id,
    /// Byte offset in the frame.
    offset: u32,
}

/// An array that is a part of a message.
#[derive(Clone, Copy)]
struct Array<'t> {
    part: Part<'t>,
    length: Length,
    stride: u32,
    element: &'t Type,
}

impl Array<'_> {
    /// Whether its elements are scalars of so many bytes, one right behind the other.
    fn is_packed(&self, bytes: u32) -> bool {
        let scalar = matches!(self.element, Type::Int { .. } | Type::Float { .. });
        scalar && self.stride == bytes && self.element.size() == bytes
    }
}

impl<'w> Writer<'_, 'w> {
    /// Writes a message of type `ty` into the record at unit `record`.
    pub(crate) fn write(&mut self, record: Id, layout: &Type, ty: Id, message: Id) -> Result<()> {
        self.record = record;
        self.frames.push(Frame::new(Base::Payload, false));
        let source = self.sources.of(message);
        self.part(Part { layout, ty, offset: 0 }, &source)?;
        self.flush();
        self.frames.pop();
        Ok(())
    }

    /// Part `number` of a part, laid out as `layout`, `offset` bytes into it.
    fn within<'t>(&self, part: Part<'_>, number: u32, layout: &'t Type, offset: u32) -> Part<'t> {
        Part {
            layout,
            ty: self.index.part_type(part.ty, number),
            offset: part.offset + offset,
        }
    }

    fn part(&mut self, part: Part<'_>, source: &Source<'w>) -> Result<()> {
        match part.layout {
            Type::Struct { members, .. } => {
                for (number, member) in (0..).zip(members) {
                    let source = self.step(source, number);
                    self.part(self.within(part, number, &member.ty, member.offset), &source)?;
                }
                Ok(())
            }
            Type::Array {
                length,
                stride,
                element,
                ..
            } => self.array(
                Array {
                    part,
                    length: *length,
                    stride: *stride,
                    element,
                },
                source,
            ),
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                for column in 0..*columns {
                    let column_source = self.step(source, column);
                    for row in 0..*rows {
                        let source = self.step(&column_source, row);
                        let (major, minor) = if *row_major { (row, column) } else { (column, row) };
                        let at = part.offset + major * stride + minor * component.size();
                        self.scalar(component, &source, at)?;
                    }
                }
                Ok(())
            }
            Type::Vector { count, component } => {
                for number in 0..*count {
                    let source = self.step(source, number);
                    self.scalar(component, &source, part.offset + number * component.size())?;
                }
                Ok(())
            }
            scalar => self.scalar(scalar, source, part.offset),
        }
    }

    /// Part `number` of a source.
    fn step(&mut self, source: &Source<'w>, number: u32) -> Source<'w> {
        match source {
            Source::Memory { place, path, ty } => {
                let ty = self.index.part_type(*ty, number);
                let index = self.constant(number);
                Source::Memory {
                    place: *place,
                    path: longer(path, index),
                    ty,
                }
            }
            _ => self.sources.part(source, number),
        }
    }

    fn array(&mut self, array: Array<'_>, source: &Source<'w>) -> Result<()> {
        let specialised = matches!(array.length, Length::Specialised { .. });
        let count = array.length.default_value();
        match source {
            // As many zero bytes as there may be: what is not written is zero.
            Source::Zero if specialised && !self.written_from(array.part.offset) => Ok(()),
            Source::Zero if specialised => self.loop_over(array, source),
            // Constant data has as many elements as it has, whatever its length is specialised to later.
            Source::Data { offset, element } if array.is_packed(*element) => {
                self.packed(*offset, array.part.offset, count.saturating_mul(*element));
                Ok(())
            }
            Source::Data { .. } => self.unroll(array, source, count),
            Source::Memory { .. } if specialised || count > UNROLLED => self.loop_over(array, source),
            Source::Value { .. } if specialised || count > UNROLLED => match self.in_variable(source) {
                Some(variable) => self.loop_over(array, &variable),
                None if !specialised && count <= MAX_EXTRACTED => self.unroll(array, source, count),
                None => Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    self.offset,
                    format!(
                        "an array of {count} elements is passed by value with a type that has a layout; \
                             load it in the block of the abort"
                    ),
                )),
            },
            _ => self.unroll(array, source, count),
        }
    }

    /// Writes constant data, of which `bytes` bytes are wanted, as it stands in its instruction: by words.
    fn packed(&mut self, data: usize, at: u32, bytes: u32) {
        let words = self.index.inst(data).from(3);
        let words = words.iter().copied().chain(iter::repeat(0));
        for (start, word) in (0..bytes).step_by(4).zip(words) {
            let count = (bytes - start).min(4);
            let word = word & byte_mask(((1u32 << count) - 1) as u8);
            self.put(at + start, count, Bits::Known(word));
        }
    }

    fn unroll(&mut self, array: Array<'_>, source: &Source<'w>, count: u32) -> Result<()> {
        for number in 0..count {
            let source = self.step(source, number);
            self.part(
                self.within(array.part, 0, array.element, number * array.stride),
                &source,
            )?;
        }
        Ok(())
    }

    /// Puts an array value into a variable so that it can be indexed. Types with a layout, which the Function storage
    /// class must not have, are copied to types without one, from SPIR-V 1.4 on.
    fn in_variable(&mut self, source: &Source<'w>) -> Option<Source<'w>> {
        let Source::Value {
            id,
            path,
            ty: value_type,
        } = source
        else {
            return None;
        };
        let value_type = *value_type;
        let plain = self.plain_type(value_type, MAX_NESTING)?;
        if plain != value_type && self.index.version < version(1, 4) {
            return None;
        }
        let pointer = self.globals.pointer(storage_class::Function, plain);
        let variable = self.globals.fresh();
        self.variables.push((pointer, variable));
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
    fn plain_type(&mut self, ty: Id, depth: u32) -> Option<Id> {
        let (inst, depth) = (self.index.def(ty)?, depth.checked_sub(1)?);
        let parts: &[Id] = match inst.opcode() {
            op::TypeStruct => inst.from(2),
            op::TypeArray => inst.from(2).get(..1)?,
            _ => return Some(ty),
        };
        let plain: Vec<Id> = parts
            .iter()
            .map(|part| self.plain_type(*part, depth))
            .collect::<Option<_>>()?;
        if plain == parts && self.index.decorations_of(ty).next().is_none() {
            return Some(ty);
        }
        Some(match plain.as_slice() {
            [element] if inst.opcode() == op::TypeArray => self.globals.array(*element, inst.word(3)),
            members => self.globals.structure(members),
        })
    }

    fn loop_over(&mut self, array: Array<'_>, source: &Source<'w>) -> Result<()> {
        self.flush();
        let Array {
            part,
            length,
            stride,
            element,
        } = array;
        let count = match length {
            Length::Constant(count) => self.constant(count),
            Length::Specialised { .. } => self.count(part.ty, stride),
        };
        let in_bytes = matches!(self.frames.last().map(|f| f.base), Some(Base::Bytes(_)));
        let by_word = !in_bytes && part.offset.is_multiple_of(4) && stride.is_multiple_of(4);
        let (uint, bool) = (self.uint(), self.globals.bool());
        let (zero, one) = (self.constant(0), self.constant(1));
        // Everything that does not change goes before the loop.
        let start = if by_word {
            self.word_at(part.offset / 4)
        } else {
            self.byte_at(part.offset)
        };
        let step = self.constant(if by_word { stride / 4 } else { stride });
        let [header, test, body, next, merge, i, more, after] = [(); 8].map(|()| self.globals.fresh());
        self.code.branch(header);
        self.code.label(header);
        phi(&mut self.code, uint, i, &[(zero, self.label), (after, next)]);
        self.code.op(op::LoopMerge, &[merge, next, 0]);
        self.code.branch(test);
        self.code.label(test);
        self.code.op(op::ULessThan, &[bool, more, i, count]);
        self.code.op(op::BranchConditional, &[more, body, merge]);
        self.code.label(body);
        self.label = body;
        let before = self.calculate(op::IMul, &[i, step]);
        let at = self.calculate(op::IAdd, &[start, before]);
        let base = if by_word { Base::Words(at) } else { Base::Bytes(at) };
        let over = stride < element.size() || self.frames.last().is_some_and(|frame| frame.lies_over(part.offset));
        self.frames.push(Frame::new(base, over));
        let source = match source {
            Source::Memory { place, path, ty } => {
                let ty = self.index.part_type(*ty, 0);
                Source::Memory {
                    place: *place,
                    path: longer(path, i),
                    ty,
                }
            }
            other => other.clone(),
        };
        // Base pointers found inside the loop must not be used after it.
        let bases = self.bases;
        self.part(
            Part {
                offset: 0,
                ..self.within(part, 0, element, 0)
            },
            &source,
        )?;
        self.flush();
        self.bases = bases;
        self.frames.pop();
        self.code.branch(next);
        self.code.label(next);
        self.code.op(op::IAdd, &[uint, after, i, one]);
        self.code.branch(header);
        self.code.label(merge);
        self.label = merge;
        if let Some(frame) = self.frames.last_mut() {
            let end = match length {
                Length::Constant(count) => part.offset.saturating_add(count.saturating_mul(stride)),
                Length::Specialised { .. } => u32::MAX,
            };
            frame.given(end);
            frame.written.push(part.offset / 4..end.div_ceil(4));
        }
        Ok(())
    }

    /// Writes a scalar as words or as less than a word.
    fn scalar(&mut self, ty: &Type, source: &Source<'w>, offset: u32) -> Result<()> {
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
        self.emit2(op::Load, ty, pointer, &access)
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
            Type::Float { bits: 16 } => {
                // Two halves are a word: no 16-bit integers are needed.
                let pair = self.globals.vector(value_type, 2);
                let none = self.globals.null(value_type);
                let both = self.emit(op::CompositeConstruct, pair, &[value, none]);
                one(self.calculate(op::Bitcast, &[both]))
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
