//! Puts words of a payload where they belong: frames, addresses, stores.
//!
//! Everything goes out in words or units of four words, whatever the widths in the message, so no 8- or 16-bit storage is
//! needed.

use super::pending::{Bits, Pending, Word, byte_mask};
use super::source::Sources;
use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::options::Options;
use crate::pass::abort::runtime::Runtime;
use crate::spv::{Code, Id, op};
use std::ops::Range;
use vkabort_record::layout::{HEADER_UNITS, UNIT_BYTES, UNIT_WORDS, header};

/// Where the bytes of a frame go.
#[derive(Clone, Copy, Debug)]
pub(in crate::pass::abort) enum Base {
    /// The record's payload.
    Payload,
    /// An element whose first byte is on a word: its word index in the record area.
    Words(Id),
    /// An element at any byte: its byte index in the record area.
    Bytes(Id),
}

/// A stretch of straight-line writing: the payload, or one element in a loop.
#[derive(Debug)]
pub(in crate::pass::abort) struct Frame {
    pub(in crate::pass::abort) base: Base,
    /// Its words may hold bytes of earlier parts, which lie under it.
    over: bool,
    /// Byte offset behind all that has been given.
    end: u32,
    pending: Pending,
    /// Words that have been written, so that parts of them must be merged.
    pub(in crate::pass::abort) written: Vec<Range<u32>>,
}

impl Frame {
    pub(in crate::pass::abort) fn new(base: Base, over: bool) -> Self {
        Self {
            base,
            over,
            end: 0,
            pending: Pending::default(),
            written: Vec::new(),
        }
    }

    fn was_written(&self, word: u32) -> bool {
        self.written.iter().any(|range| range.contains(&word))
    }

    /// Whether a part at a byte offset may lie over bytes that were given before it.
    pub(in crate::pass::abort) fn lies_over(&self, offset: u32) -> bool {
        self.over || offset < self.end
    }

    /// Bytes up to an offset have been given.
    pub(in crate::pass::abort) fn given(&mut self, end: u32) {
        self.end = self.end.max(end);
    }
}

/// Writes the payload of one abort. The code begins in a block that is open and ends in another.
pub(crate) struct Writer<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) options: &'a Options,
    pub(crate) sources: Sources<'a, 'w>,
    pub(crate) runtime: &'a mut Runtime,
    pub(crate) globals: &'a mut Globals,
    pub(crate) code: Code,
    /// Label of the block being written, for the phis of loops.
    pub(crate) label: Id,
    /// Variables of class Function that the function needs: (pointer type, id).
    pub(crate) variables: Vec<(Id, Id)>,
    /// Word offset of the abort in the module as given, for errors.
    pub(crate) offset: u32,
    pub(in crate::pass::abort) record: Id,
    pub(in crate::pass::abort) bases: Bases,
    pub(in crate::pass::abort) frames: Vec<Frame>,
}

/// What a [`Writer`] needs to begin.
pub(crate) struct Start<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) options: &'a Options,
    pub(crate) sources: Sources<'a, 'w>,
    pub(crate) runtime: &'a mut Runtime,
    pub(crate) globals: &'a mut Globals,
    pub(crate) label: Id,
    pub(crate) offset: u32,
}

/// Base pointers of the record area made so far, valid where the block that made them dominates.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pass::abort) struct Bases {
    units: Option<Id>,
    words: Option<Id>,
}

impl<'a, 'w> Writer<'a, 'w> {
    pub(crate) fn new(start: Start<'a, 'w>) -> Self {
        let Start {
            index,
            options,
            sources,
            runtime,
            globals,
            label,
            offset,
        } = start;
        Self {
            index,
            options,
            sources,
            runtime,
            globals,
            code: Code::with_room(128),
            label,
            variables: Vec::new(),
            offset,
            record: 0,
            bases: Bases::default(),
            frames: Vec::new(),
        }
    }

    pub(in crate::pass::abort) fn uint(&mut self) -> Id {
        self.globals.uint()
    }

    pub(in crate::pass::abort) fn constant(&mut self, value: u32) -> Id {
        self.globals.constant(value)
    }

    /// An instruction with a `uint` result.
    pub(in crate::pass::abort) fn calculate(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let uint = self.uint();
        self.emit(opcode, uint, operands)
    }

    pub(in crate::pass::abort) fn emit(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let result = self.globals.fresh();
        self.code.op2(opcode, &[ty, result], operands);
        result
    }

    /// The same with the first operand apart.
    pub(in crate::pass::abort) fn emit2(&mut self, opcode: u16, ty: Id, first: u32, operands: &[u32]) -> Id {
        let result = self.globals.fresh();
        self.code.op2(opcode, &[ty, result, first], operands);
        result
    }

    /// Whether a part at a byte offset of the frame may lie over bytes that were given before it.
    pub(in crate::pass::abort) fn lies_over(&self, offset: u32) -> bool {
        self.frames.last().is_some_and(|frame| frame.lies_over(offset))
    }

    /// Word index in the record area of word `word` of the frame.
    pub(in crate::pass::abort) fn word_at(&mut self, word: u32) -> Id {
        let (base, more) = match self.frames.last().map(|f| f.base) {
            Some(Base::Words(base)) => (base, word),
            _ => {
                let four = self.constant(UNIT_WORDS);
                (self.calculate(op::IMul, &[self.record, four]), word + header::WORDS)
            }
        };
        if more == 0 {
            return base;
        }
        let more = self.constant(more);
        self.calculate(op::IAdd, &[base, more])
    }

    /// Byte index in the record area of byte `byte` of the frame.
    pub(in crate::pass::abort) fn byte_at(&mut self, byte: u32) -> Id {
        let base = match self.frames.last().map(|f| f.base) {
            Some(Base::Bytes(base)) => base,
            _ => {
                let word = self.word_at(0);
                let four = self.constant(4);
                self.calculate(op::IMul, &[word, four])
            }
        };
        if byte == 0 {
            return base;
        }
        let byte = self.constant(byte);
        self.calculate(op::IAdd, &[base, byte])
    }

    pub(in crate::pass::abort) fn units_base(&mut self) -> Id {
        if let Some(id) = self.bases.units {
            return id;
        }
        let id = self.runtime.units(&mut self.code, self.globals);
        self.bases.units = Some(id);
        id
    }

    pub(in crate::pass::abort) fn words_base(&mut self) -> Id {
        if let Some(id) = self.bases.words {
            return id;
        }
        let id = self.runtime.words(&mut self.code, self.globals);
        self.bases.words = Some(id);
        id
    }

    pub(in crate::pass::abort) fn put(&mut self, offset: u32, count: u32, bits: Bits) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.given(offset.saturating_add(count));
        if !matches!(frame.base, Base::Bytes(_)) {
            frame.pending.put(offset, count, bits);
            return;
        }
        let at = self.byte_at(offset);
        let value = match bits {
            Bits::Known(value) => self.constant(value),
            Bits::Value(id) => id,
        };
        let mask = self.constant(byte_mask(((1u32 << count) - 1) as u8));
        let function = self.runtime.put_bytes(self.globals);
        let void = self.globals.void();
        self.emit(op::FunctionCall, void, &[function, at, value, mask]);
    }

    /// Writes what is pending in the frame.
    pub(in crate::pass::abort) fn flush(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let words = frame.pending.take();
        let payload = matches!(frame.base, Base::Payload);
        for mates in words.chunk_by(|(a, _), (b, _)| a / UNIT_WORDS == b / UNIT_WORDS) {
            let unit = mates.first().map_or(0, |(index, _)| index / UNIT_WORDS);
            let range = unit * UNIT_WORDS..(unit + 1) * UNIT_WORDS;
            let fresh = |frame: &Frame| range.clone().all(|word| !frame.was_written(word));
            if payload && mates.len() > 1 && self.frames.last().is_some_and(fresh) {
                self.write_unit(unit, mates);
                self.wrote(range);
                continue;
            }
            for (index, word) in mates {
                self.write_word(*index, word);
                self.wrote(*index..index + 1);
            }
        }
    }

    /// Words of the frame have been written.
    fn wrote(&mut self, range: Range<u32>) {
        let Some(frame) = self.frames.last_mut() else { return };
        match frame.written.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => frame.written.push(range),
        }
    }

    /// The value of a word: bytes that were not given are zero.
    fn word_value(&mut self, word: &Word) -> Bits {
        let mut value = None;
        for share in &word.shares {
            let mut part = share.value;
            if share.shift != 0 {
                let opcode = if share.shift > 0 {
                    op::ShiftLeftLogical
                } else {
                    op::ShiftRightLogical
                };
                let by = self.constant(share.shift.unsigned_abs());
                part = self.calculate(opcode, &[part, by]);
            }
            if share.masked {
                let mask = self.constant(byte_mask(share.bytes));
                part = self.calculate(op::BitwiseAnd, &[part, mask]);
            }
            value = Some(value.map_or(part, |v| self.calculate(op::BitwiseOr, &[v, part])));
        }
        match (value, word.known) {
            (None, known) => Bits::Known(known),
            (Some(value), 0) => Bits::Value(value),
            (Some(value), known) => {
                let known = self.constant(known);
                Bits::Value(self.calculate(op::BitwiseOr, &[value, known]))
            }
        }
    }

    fn write_unit(&mut self, unit: u32, words: &[(u32, Word)]) {
        let values: [Bits; 4] = [0, 1, 2, 3].map(|i| {
            let word = words.iter().find(|(index, _)| index % UNIT_WORDS == i);
            word.map_or(Bits::Known(0), |(_, word)| self.word_value(word))
        });
        let value = match values {
            [Bits::Known(a), Bits::Known(b), Bits::Known(c), Bits::Known(d)] => self.globals.constant4([a, b, c, d]),
            _ => {
                let parts = values.map(|v| match v {
                    Bits::Known(known) => self.constant(known),
                    Bits::Value(id) => id,
                });
                let ty = self.runtime.views(self.globals).unit_type;
                self.emit(op::CompositeConstruct, ty, &parts)
            }
        };
        let base = self.units_base();
        let pointer = self
            .runtime
            .unit_pointer(&mut self.code, self.globals, base, self.record, HEADER_UNITS + unit);
        let access = self.runtime.access(UNIT_BYTES);
        self.code.op2(op::Store, &[pointer, value], &access);
    }

    fn write_word(&mut self, index: u32, word: &Word) {
        let value = match self.word_value(word) {
            Bits::Known(known) => self.constant(known),
            Bits::Value(id) => id,
        };
        let base = self.words_base();
        let at = self.word_at(index);
        let pointer = self.runtime.word_pointer(&mut self.code, self.globals, base, at);
        let held = |frame: &Frame| frame.over || frame.was_written(index);
        if word.bytes != 0xF && self.frames.last().is_some_and(held) {
            let mask = self.constant(byte_mask(word.bytes));
            self.runtime
                .merge_word(&mut self.code, self.globals, pointer, value, mask);
        } else {
            let access = self.runtime.access(4);
            self.code.op2(op::Store, &[pointer, value], &access);
        }
    }
}
