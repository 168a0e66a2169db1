//! Writes arrays by a loop:
//!
//! ```text
//! for (i = 0; i < count; ++i) { element = array[i]; stores of its words at start + i * stride }
//! ```

use super::frame::{Base, Frame};
use super::parts::Array;
use super::source::Source;
use super::writer::MessageWriter;
use vkabort_record::layout::{UNIT_BYTES, UNIT_WORDS};
use vkabort_record::message_type::Length;
use vkabort_spirv::error::Result;
use vkabort_spirv::op::loop_control;
use vkabort_spirv::{Id, op};

/// Unit of the offset of an element.
#[derive(Clone, Copy)]
enum Step {
    /// Units, as in the payload: the stores of an element are those of a record that begins there.
    Units,
    Words,
    Bytes,
}

impl Step {
    fn bytes(self) -> u32 {
        match self {
            Self::Units => UNIT_BYTES,
            Self::Words => UNIT_BYTES / UNIT_WORDS,
            Self::Bytes => 1,
        }
    }
}

impl<'w> MessageWriter<'_, 'w> {
    /// Writes an array by a loop.
    ///
    /// # Errors
    ///
    /// An element does not match its type, or a part of it cannot be read.
    pub(super) fn write_by_loop(&mut self, array: Array<'_>, source: &Source<'w>) -> Result<()> {
        self.flush();
        let (part, element) = (array.part, array.element);
        let count = match array.length {
            Length::Constant(count) => self.out.constant(count),
            Length::Specialised { .. } => self.element_count(part.ty, array.stride),
        };
        let overlaps = array.stride < element.size() || self.may_overlap(part.offset);
        let step = self.step(array, overlaps);
        let (uint, bool) = (self.out.uint(), self.out.bool());
        let (zero, one) = (self.out.constant(0), self.out.constant(1));
        // Loop invariants.
        let start = match step {
            Step::Units => self.add(self.record.unit, part.offset / UNIT_BYTES),
            Step::Words => self.word_at(part.offset / step.bytes()),
            Step::Bytes => self.byte_at(part.offset),
        };
        let steps = array.stride / step.bytes();
        let open = self.out.begin_loop(self.label, [(uint, zero)]);
        let [i] = open.state;
        // Unrolled, the loop would be most of the shader's code; but compilers keep an indexed variable in registers only if they
        // unroll the loop.
        let control = match self.sources.is_in_variable(source) {
            true => 0,
            false => loop_control::DONT_UNROLL,
        };
        let has_more = self.out.emit(op::ULessThan, bool, (i, count));
        self.out.begin_body(&open, has_more, control);
        self.label = open.first;
        let mut distance = i;
        if steps != 1 {
            let steps = self.out.constant(steps);
            distance = self.out.calculate(op::IMul, (i, steps));
        }
        let at = self.out.calculate(op::IAdd, (start, distance));
        // Pointers defined in the loop do not dominate the code after it.
        let record = self.record;
        let frame = Frame::new(self.base_at(step, at), overlaps);
        let mut element = self.sub_part(part, 0, element, 0);
        element.offset = 0;
        self.write_frame(frame, element, &self.indexed_source(source, 0, i))?;
        self.record = record;
        let next = self.out.calculate(op::IAdd, (i, one));
        self.label = self.out.end_loop(&open, [next]);
        if let Some(frame) = self.frames.last_mut() {
            frame.mark_bytes_stored(part.offset, array.end());
        }
        Ok(())
    }

    /// The largest step that all elements begin at. A unit is stored as a whole, with zeros for the bytes between the elements, so
    /// it must not hold bytes of an earlier part.
    fn step(&self, array: Array<'_>, overlaps: bool) -> Step {
        let divides = |step: Step| {
            let bytes = step.bytes();
            array.part.offset.is_multiple_of(bytes) && array.stride.is_multiple_of(bytes)
        };
        match self.frames.last().map(|frame| frame.base) {
            Some(Base::Payload) if divides(Step::Units) && !overlaps => Step::Units,
            Some(Base::Payload | Base::Words(_)) if divides(Step::Words) => Step::Words,
            _ => Step::Bytes,
        }
    }

    /// The base of the frame of an element at step `at`.
    fn base_at(&mut self, step: Step, at: Id) -> Base {
        match step {
            Step::Units => {
                self.record.pointer = self.runtime.record(self.out, at);
                self.record.unit = at;
                Base::Payload
            }
            Step::Words => Base::Words(at),
            Step::Bytes => Base::Bytes(at),
        }
    }
}
