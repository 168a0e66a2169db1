//! Writes arrays: constant data by words, short ones element by element, the others by loops.

use super::payload::{PASS, Part};
use super::pending::{Bits, byte_mask};
use super::source::{Source, longer};
use super::writer::{Base, Frame, Writer};
use crate::analysis::message_layout::holds_scalar;
use crate::edit::phi::phi;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::op;
use std::iter;
use vkabort_record::site::{Length, Type};

/// Longest array that is written element by element.
pub(crate) const UNROLLED: u32 = 16;
/// Longest array value that is written element by element because it cannot be put into a variable.
const MAX_EXTRACTED: u32 = 4096;

/// An array that is a part of a message.
#[derive(Clone, Copy)]
pub(in crate::pass::abort) struct Array<'t> {
    pub(in crate::pass::abort) part: Part<'t>,
    pub(in crate::pass::abort) length: Length,
    pub(in crate::pass::abort) stride: u32,
    pub(in crate::pass::abort) element: &'t Type,
}

impl Array<'_> {
    /// Whether its elements are scalars of so many bytes, one right behind the other.
    fn is_packed(&self, bytes: u32) -> bool {
        let scalar = matches!(
            self.element,
            Type::Int { .. } | Type::Float { .. } | Type::EncodedFloat { .. }
        );
        scalar && self.stride == bytes && self.element.size() == bytes
    }
}

impl<'w> Writer<'_, 'w> {
    pub(in crate::pass::abort) fn array(&mut self, array: Array<'_>, source: &Source<'w>) -> Result<()> {
        if !holds_scalar(array.element) {
            // There may be very many elements, and nothing in any of them.
            return Ok(());
        }
        let specialised = matches!(array.length, Length::Specialised { .. });
        let count = array.length.default_value();
        match source {
            // As many zero bytes as there may be: what is not written is zero.
            Source::Zero if specialised && !self.lies_over(array.part.offset) => Ok(()),
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
                self.within(array.part, 0, array.element, number.saturating_mul(array.stride)),
                &source,
            )?;
        }
        Ok(())
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
        let over = stride < element.size() || self.lies_over(part.offset);
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
                // The last element may reach beyond its stride.
                Length::Constant(count) => {
                    let last = part
                        .offset
                        .saturating_add(count.saturating_sub(1).saturating_mul(stride));
                    last.saturating_add(stride.max(element.size()))
                }
                Length::Specialised { .. } => u32::MAX,
            };
            frame.given(end);
            frame.written.push(part.offset / 4..end.div_ceil(4));
        }
        Ok(())
    }
}
