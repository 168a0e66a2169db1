//! Walks a message type and writes its parts.
//!
//! Arrays, and vectors as arrays of their components, are written element by element, or by a loop (`array_loop`) if they are
//! longer than [`MAX_UNROLLED`] or their length is a specialisation constant.
//!
//! Constant data goes out as constant words, never by a loop: llvmpipe compiles dynamically indexed constant tables in
//! quadratic time.

use super::frame::{Base, Frame};
use super::pending::{Bits, byte_mask};
use super::source::{Source, extend, whole_value};
use super::writer::{Deferral, MessageWriter};
use std::iter;
use vkabort_analysis::deferral::{MAX_UNROLLED, MAX_VALUES};
use vkabort_analysis::message_layout::holds_scalar;
use vkabort_record::message_type::{Length, Type};
use vkabort_runtime::Extent;
use vkabort_spirv::error::{ErrorKind, Result};
use vkabort_spirv::{Id, op};

/// Longest array value that is written element by element because no variable can hold it.
const MAX_EXTRACTED: u32 = 4096;
/// Largest array, in bytes, that is written from the values that it was constructed of. A larger one is copied from a variable:
/// it may be the message of many sites, whose code would all have every value.
const MAX_CONSTRUCTED: u32 = 1024;

/// A part of a message.
#[derive(Clone, Copy)]
pub(super) struct Part<'t> {
    pub(super) layout: &'t Type,
    /// Its type in the message type.
    pub(super) ty: Id,
    /// Byte offset in the frame.
    pub(super) offset: u32,
}

/// A part that is an array or a vector.
#[derive(Clone, Copy)]
pub(super) struct Array<'t> {
    pub(super) part: Part<'t>,
    pub(super) length: Length,
    /// In bytes.
    pub(super) stride: u32,
    pub(super) element: &'t Type,
}

impl Array<'_> {
    /// Whether its elements are scalars of `bytes` bytes without gaps.
    fn is_packed(&self, bytes: u32) -> bool {
        let is_scalar = matches!(self.element, Type::Scalar(ty) if ty.is_number());
        is_scalar && self.stride == bytes && self.element.size() == bytes
    }

    /// Byte offset in the frame of the end of its elements.
    pub(super) fn end(&self) -> u32 {
        match self.length {
            // The last element may be larger than the stride.
            Length::Constant(count) => {
                let last = count.saturating_sub(1).saturating_mul(self.stride);
                let end = self.part.offset.saturating_add(last);
                end.saturating_add(self.stride.max(self.element.size()))
            }
            Length::Specialised { .. } => u32::MAX,
        }
    }
}

impl<'w> MessageWriter<'_, 'w> {
    /// The words of a message of type `ty` by index, each a constant or one value, if code without loops can read it and it
    /// has few values. Otherwise `None`: the code so far is then of no use.
    ///
    /// # Errors
    ///
    /// As [`write_message`](Self::write_message).
    pub(crate) fn deferred_words(&mut self, layout: &Type, ty: Id, message: Id) -> Result<Option<Vec<(u32, Bits)>>> {
        self.deferral = Some(Deferral::default());
        self.frames.push(Frame::new(Base::Payload, false));
        let source = self.sources.source_of(message);
        self.write_part(Part { layout, ty, offset: 0 }, &source)?;
        if self.is_not_deferrable() {
            return Ok(None);
        }
        let words = self.take_words();
        let mut values: Vec<Id> = words.iter().filter_map(|(_, bits)| bits.value()).collect();
        values.sort_unstable();
        values.dedup();
        Ok((values.len() <= MAX_VALUES).then_some(words))
    }

    fn is_not_deferrable(&self) -> bool {
        self.deferral.is_some_and(|deferral| deferral.fails)
    }

    /// Writes a message of type `ty` into the record at unit `unit`.
    ///
    /// # Errors
    ///
    /// The message does not match its type, or a part of it cannot be read.
    pub(crate) fn write_message(&mut self, unit: Id, extent: Extent, layout: &Type, ty: Id, message: Id) -> Result<()> {
        self.open_record(unit, extent);
        let source = self.sources.source_of(message);
        self.write_frame(
            Frame::new(Base::Payload, false),
            Part { layout, ty, offset: 0 },
            &source,
        )
    }

    /// Writes a part into a frame of its own.
    pub(super) fn write_frame(&mut self, frame: Frame, part: Part<'_>, source: &Source<'w>) -> Result<()> {
        self.frames.push(frame);
        self.write_part(part, source)?;
        self.flush();
        self.frames.pop();
        Ok(())
    }

    fn write_part(&mut self, part: Part<'_>, source: &Source<'w>) -> Result<()> {
        if self.is_not_deferrable() {
            return Ok(());
        }
        match part.layout {
            Type::Struct { members, .. } => {
                for (number, member) in (0..).zip(members) {
                    let source = self.part_source(source, number);
                    let member = self.sub_part(part, number, &member.ty, member.offset);
                    self.write_part(member, &source)?;
                }
                Ok(())
            }
            Type::Array {
                length,
                stride,
                element,
                ..
            } => {
                let (length, stride) = (*length, *stride);
                let array = Array {
                    part,
                    length,
                    stride,
                    element,
                };
                self.write_array(array, source)
            }
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                for column in 0..*columns {
                    let column_source = self.part_source(source, column);
                    for row in 0..*rows {
                        let source = self.part_source(&column_source, row);
                        let (major, minor) = if *row_major { (row, column) } else { (column, row) };
                        let line = part.offset.saturating_add(major.saturating_mul(*stride));
                        let offset = line.saturating_add(minor.saturating_mul(component.bytes()));
                        self.write_scalar(*component, &source, offset)?;
                    }
                }
                Ok(())
            }
            Type::Vector { count, component } => {
                let array = Array {
                    part,
                    length: Length::Constant(*count),
                    stride: component.bytes(),
                    element: &Type::Scalar(*component),
                };
                self.write_array(array, source)
            }
            Type::Scalar(ty) => self.write_scalar(*ty, source, part.offset),
        }
    }

    /// Part `number` of a part, with the layout `layout`, at byte `offset` in it.
    pub(super) fn sub_part<'t>(&self, part: Part<'_>, number: u32, layout: &'t Type, offset: u32) -> Part<'t> {
        Part {
            layout,
            ty: self.index.part_type(part.ty, number),
            offset: part.offset.saturating_add(offset),
        }
    }

    /// The source of part `number` of a value.
    fn part_source(&mut self, source: &Source<'w>, number: u32) -> Source<'w> {
        match source {
            Source::Memory { .. } => {
                let index = self.out.constant(number);
                self.indexed_source(source, number, index)
            }
            _ => self.sources.part(source, number),
        }
    }

    /// The source of part `number` of a value, which `index` selects if the value is in memory.
    pub(super) fn indexed_source(&self, source: &Source<'w>, number: u32, index: Id) -> Source<'w> {
        match source {
            Source::Memory { place, path, ty } => Source::Memory {
                place: *place,
                path: extend(path, index),
                ty: self.index.part_type(*ty, number),
            },
            other => other.clone(),
        }
    }

    fn write_array(&mut self, array: Array<'_>, source: &Source<'w>) -> Result<()> {
        if !holds_scalar(array.element) {
            // There may be very many empty elements.
            return Ok(());
        }
        let is_specialised = matches!(array.length, Length::Specialised { .. });
        let count = array.length.default_value();
        let needs_loop = is_specialised || count > MAX_UNROLLED;
        match source {
            // Bytes that no part puts are zero.
            Source::Zero if is_specialised && !self.may_overlap(array.part.offset) => Ok(()),
            Source::Zero if is_specialised => self.write_by_loop(array, source),
            // The number of elements of constant data does not change with the specialised length.
            Source::Data { offset, element_bytes } if array.is_packed(*element_bytes) => {
                self.put_constant_data(*offset, array.part.offset, count.saturating_mul(*element_bytes));
                Ok(())
            }
            Source::Data { .. } => self.unroll(array, source, count),
            Source::Parts { id, ty, .. } if needs_loop && self.is_long_construct(array, *id) => {
                let whole = whole_value(*id, *ty);
                if self.deferral.is_some() {
                    return self.write_array(array, &whole);
                }
                match self.store_in_variable(&whole) {
                    Some(variable) => self.write_by_loop(array, &variable),
                    None => self.unroll(array, source, count),
                }
            }
            Source::Memory { .. } | Source::Value { .. } if needs_loop && self.deferral.is_some() => {
                self.deferral = Some(Deferral {
                    fails: true,
                    ..Deferral::default()
                });
                Ok(())
            }
            Source::Memory { .. } if needs_loop => self.write_by_loop(array, source),
            Source::Value { .. } if needs_loop => match self.store_in_variable(source) {
                Some(variable) => self.write_by_loop(array, &variable),
                None if !is_specialised && count <= MAX_EXTRACTED => self.unroll(array, source, count),
                None => Err(self.error(
                    ErrorKind::UnsupportedArray,
                    format!(
                        "the message holds an array value of {count} elements whose type has a layout; load it in \
                         the block of the abort"
                    ),
                )),
            },
            _ => self.unroll(array, source, count),
        }
    }

    /// Whether a value that is not constant and larger than [`MAX_CONSTRUCTED`] has been constructed of its elements.
    fn is_long_construct(&self, array: Array<'_>, id: Id) -> bool {
        self.index.opcode(id) == op::CompositeConstruct && array.part.layout.size() > MAX_CONSTRUCTED
    }

    /// Puts the first `bytes` bytes of the constant data at word offset `data` at byte `offset` of the frame.
    fn put_constant_data(&mut self, data: usize, offset: u32, bytes: u32) {
        let words = self.index.inst(data).from(3);
        let words = words.iter().copied().chain(iter::repeat(0));
        for (start, word) in (0..bytes).step_by(4).zip(words) {
            let count = (bytes - start).min(4);
            let word = word & byte_mask(((1u32 << count) - 1) as u8);
            self.put(offset + start, count, Bits::Constant(word));
        }
    }

    fn unroll(&mut self, array: Array<'_>, source: &Source<'w>, count: u32) -> Result<()> {
        for number in 0..count {
            let source = self.part_source(source, number);
            let element = self.sub_part(array.part, 0, array.element, number.saturating_mul(array.stride));
            self.write_part(element, &source)?;
        }
        Ok(())
    }
}
