//! Stores the words of a payload: frames, addresses, stores.
//!
//! Stores are of words or of units of four words, whatever the widths in the message, so they need no 8- or 16-bit storage
//! feature.

use super::frame::{Base, Frame};
use super::pending::{Bits, Word, byte_mask};
use super::source::Sources;
use std::ops::Range;
use vkabort_analysis::deferral::MAX_VALUES;
use vkabort_options::Options;
use vkabort_record::layout::{HEADER_UNITS, UNIT_WORDS, header};
use vkabort_runtime::{Extent, Runtime};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::error::{Error, ErrorKind};
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, op};

/// The record being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRecord {
    /// Its unit in the record area.
    pub(super) unit: Id,
    /// Pointer to it.
    pub(super) pointer: Id,
    /// Pointer to the record area, valid in blocks that the defining block dominates.
    pub(super) area: Option<Id>,
}

/// Writes the message of one abort. Its code begins in an open block and leaves another one open.
///
/// | file | adds |
/// | --- | --- |
/// | `writer` | words and units: assembled, addressed, stored |
/// | `parts` | the walk over the message type, deferral |
/// | `array_loop` | arrays written by a loop |
/// | `scalar` | scalars: read, converted to words |
/// | `size` | sizes that the shader computes |
/// | `variable` | array values in variables |
pub(crate) struct MessageWriter<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) options: &'a Options,
    pub(super) sources: Sources<'a, 'w>,
    pub(super) runtime: &'a mut Runtime,
    pub(crate) out: &'a mut Emitter,
    /// Label of the open block, for the phis of loops.
    pub(super) label: Id,
    /// Function variables to declare: (pointer type, id).
    pub(crate) variables: Vec<(Id, Id)>,
    pub(super) record: OpenRecord,
    pub(super) frames: Vec<Frame>,
    /// Whether the words are collected instead of stored.
    pub(super) deferral: Option<Deferral>,
}

/// How far the message can be deferred.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deferral {
    /// Values put so far.
    pub(super) values: usize,
    /// Whether it needs a loop or has too many values.
    pub(super) fails: bool,
}

impl<'a, 'w> MessageWriter<'a, 'w> {
    /// Begins in the block `label`.
    pub(crate) fn new(
        sources: Sources<'a, 'w>,
        options: &'a Options,
        runtime: &'a mut Runtime,
        out: &'a mut Emitter,
        label: Id,
    ) -> Self {
        Self {
            index: sources.index,
            options,
            sources,
            runtime,
            out,
            label,
            variables: Vec::new(),
            record: OpenRecord {
                unit: Id::NONE,
                pointer: Id::NONE,
                area: None,
            },
            frames: Vec::new(),
            deferral: None,
        }
    }

    /// Begins the record at unit `unit`, with the first unit of its header.
    pub(super) fn open_record(&mut self, unit: Id, extent: Extent) {
        let pointer = self.runtime.record(self.out, unit);
        self.record = OpenRecord {
            unit,
            pointer,
            area: None,
        };
        self.runtime.store_extent(self.out, pointer, extent);
    }

    /// An error at the abort.
    pub(super) fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        Error::new(kind, "abort", self.sources.block.terminator as u32, message)
    }

    /// Whether a part at byte `offset` of the frame may overlap an earlier one.
    pub(super) fn may_overlap(&self, offset: u32) -> bool {
        self.frames.last().is_some_and(|frame| frame.may_overlap(offset))
    }

    /// Index in the record area of word `word` of the frame.
    pub(super) fn word_at(&mut self, word: u32) -> Id {
        let (base, more) = match self.frames.last().map(|f| f.base) {
            Some(Base::Words(base)) => (base, word),
            _ => {
                let four = self.out.constant(UNIT_WORDS);
                (
                    self.out.calculate(op::IMul, (self.record.unit, four)),
                    word + header::WORDS,
                )
            }
        };
        self.add(base, more)
    }

    /// Index in the record area of byte `byte` of the frame.
    pub(super) fn byte_at(&mut self, byte: u32) -> Id {
        let base = match self.frames.last().map(|f| f.base) {
            Some(Base::Bytes(base)) => base,
            _ => {
                let word = self.word_at(0);
                let four = self.out.constant(4);
                self.out.calculate(op::IMul, (word, four))
            }
        };
        self.add(base, byte)
    }

    /// `base` plus a constant.
    pub(super) fn add(&mut self, base: Id, more: u32) -> Id {
        if more == 0 {
            return base;
        }
        let more = self.out.constant(more);
        self.out.calculate(op::IAdd, (base, more))
    }

    /// Pointer to the record area as an array of words.
    fn area(&mut self) -> Id {
        let area = &mut self.record.area;
        *area.get_or_insert_with(|| self.runtime.words(self.out))
    }

    fn id_of(&mut self, bits: Bits) -> Id {
        match bits {
            Bits::Constant(value) => self.out.constant(value),
            Bits::Value(id) => id,
        }
    }

    /// Puts `count` bytes (1 to 4) at byte `offset` of the frame.
    pub(super) fn put(&mut self, offset: u32, count: u32, bits: Bits) {
        if let (Some(deferral), Bits::Value(_)) = (&mut self.deferral, bits) {
            deferral.values += 1;
            // Each word has at most four of them.
            deferral.fails |= deferral.values > 4 * MAX_VALUES;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        let end = offset.saturating_add(count);
        frame.extend_to(end);
        if !matches!(frame.base, Base::Bytes(_)) {
            frame.pending.put(offset, count, bits);
            return;
        }
        let at = self.byte_at(offset);
        let value = self.id_of(bits);
        let mask = self.out.constant(byte_mask(((1u32 << count) - 1) as u8));
        let function = self.runtime.put_bytes(self.out);
        let void = self.out.void();
        self.out.emit(op::FunctionCall, void, (function, at, value, mask));
    }

    /// Ends the frame and returns its words by index: each is a constant or one value.
    pub(super) fn take_words(&mut self) -> Vec<(u32, Bits)> {
        let words = self.frames.pop().map(|mut frame| frame.pending.take());
        let words = words.unwrap_or_default();
        words
            .iter()
            .map(|(index, word)| (*index, self.assemble(word)))
            .collect()
    }

    /// Stores the pending words of the frame. Several words of a unit are stored as a unit if none of it is stored yet.
    pub(super) fn flush(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let words = frame.pending.take();
        let is_payload = matches!(frame.base, Base::Payload);
        for in_unit in words.chunk_by(|(a, _), (b, _)| a / UNIT_WORDS == b / UNIT_WORDS) {
            let unit = in_unit.first().map_or(0, |(index, _)| index / UNIT_WORDS);
            let range = unit * UNIT_WORDS..(unit + 1) * UNIT_WORDS;
            let is_untouched = |frame: &Frame| range.clone().all(|word| !frame.is_stored(word));
            if is_payload && in_unit.len() > 1 && self.frames.last().is_some_and(is_untouched) {
                self.store_unit(unit, in_unit);
                self.mark_stored(range);
                continue;
            }
            for (index, word) in in_unit {
                self.store_word(*index, word);
                self.mark_stored(*index..index + 1);
            }
        }
    }

    fn mark_stored(&mut self, words: Range<u32>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.mark_words_stored(words);
        }
    }

    /// The value of a word, with zero for the bytes that no part has put.
    fn assemble(&mut self, word: &Word) -> Bits {
        let mut value = None;
        for fragment in &word.fragments {
            let mut part = fragment.value;
            if fragment.shift != 0 {
                let opcode = if fragment.shift > 0 {
                    op::ShiftLeftLogical
                } else {
                    op::ShiftRightLogical
                };
                let by = self.out.constant(fragment.shift.unsigned_abs());
                part = self.out.calculate(opcode, (part, by));
            }
            if fragment.needs_mask {
                let mask = self.out.constant(byte_mask(fragment.bytes));
                part = self.out.calculate(op::BitwiseAnd, (part, mask));
            }
            value = Some(value.map_or(part, |v| self.out.calculate(op::BitwiseOr, (v, part))));
        }
        match (value, word.constant) {
            (None, constant) => Bits::Constant(constant),
            (Some(value), 0) => Bits::Value(value),
            (Some(value), constant) => {
                let constant = self.out.constant(constant);
                Bits::Value(self.out.calculate(op::BitwiseOr, (value, constant)))
            }
        }
    }

    fn store_unit(&mut self, unit: u32, words: &[(u32, Word)]) {
        let values: [Bits; UNIT_WORDS as usize] = [0, 1, 2, 3].map(|i| {
            let word = words.iter().find(|(index, _)| index % UNIT_WORDS == i);
            word.map_or(Bits::Constant(0), |(_, word)| self.assemble(word))
        });
        let (record, number) = (self.record.pointer, HEADER_UNITS + unit);
        if let [
            Bits::Constant(a),
            Bits::Constant(b),
            Bits::Constant(c),
            Bits::Constant(d),
        ] = values
        {
            let value = self.out.constant4([a, b, c, d]);
            self.runtime.store_unit(self.out, record, number, value);
            return;
        }
        let words = values.map(|bits| self.id_of(bits));
        self.runtime.store_words(self.out, record, number, words);
    }

    fn store_word(&mut self, index: u32, word: &Word) {
        let bits = self.assemble(word);
        let value = self.id_of(bits);
        let in_payload = self
            .frames
            .last()
            .is_some_and(|frame| matches!(frame.base, Base::Payload));
        let pointer = if in_payload {
            let (record, word) = (self.record.pointer, header::WORDS + index);
            self.runtime.record_word(self.out, record, word)
        } else {
            let area = self.area();
            let at = self.word_at(index);
            self.runtime.word_pointer(self.out, area, at)
        };
        let may_hold_bytes = |frame: &Frame| frame.may_hold_earlier_bytes(index);
        if word.bytes != 0xF && self.frames.last().is_some_and(may_hold_bytes) {
            let mask = self.out.constant(byte_mask(word.bytes));
            self.runtime.merge_word(self.out, pointer, value, mask);
        } else {
            let access = self.runtime.access(4);
            self.out.op(op::Store, (pointer, value, access));
        }
    }
}
