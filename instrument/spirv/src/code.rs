//! Words of instructions to insert.

use super::words::{Insts, MAX_INST_WORDS};
use super::{Id, Inst, Operands, op, operands};
use std::ops::Range;

/// Instructions being written.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub words: Vec<u32>,
    /// Instructions that have an origin, in order: where they begin here, and the word offset of the instruction of the module
    /// that they come from.
    origins: Vec<(u32, u32)>,
}

impl Code {
    /// With room for `words` words.
    pub fn with_room(words: usize) -> Self {
        Self {
            words: Vec::with_capacity(words),
            origins: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.origins.clear();
    }

    /// Adds an instruction.
    #[inline]
    pub fn op(&mut self, opcode: u16, operands: impl Operands) {
        let start = self.words.len();
        self.words.push(0);
        self.words.extend(operands.words());
        let length = self.words.len() - start;
        debug_assert!(length <= MAX_INST_WORDS, "callers keep instructions below 65,536 words");
        if let Some(first) = self.words.get_mut(start) {
            *first = (length as u32) << 16 | u32::from(opcode);
        }
    }

    pub fn label(&mut self, id: Id) {
        self.op(op::Label, id);
    }

    /// The label of the last block that begins in the code.
    pub fn last_label(&self) -> Option<Id> {
        let labels = Insts::new(&self.words, 0).filter(|inst| inst.opcode() == op::Label);
        labels.last().map(|inst| inst.result())
    }

    pub fn branch(&mut self, target: Id) {
        self.op(op::Branch, target);
    }

    /// The next instruction has the origin of `inst`: errors and sites name it.
    pub fn mark_origin(&mut self, inst: &Inst<'_>) {
        self.origins.push((self.words.len() as u32, inst.offset as u32));
    }

    /// Origins of the instructions from word `start` to before `end`: (start of the instruction, offset in the module).
    pub(crate) fn origins(&self, start: usize, end: usize) -> &[(u32, u32)] {
        if self.origins.is_empty() {
            return &[];
        }
        let position = |word: usize| self.origins.partition_point(|(at, _)| (*at as usize) < word);
        self.origins.get(position(start)..position(end)).unwrap_or(&[])
    }

    /// Adds other code.
    pub fn append(&mut self, other: &Self) {
        let before = self.words.len() as u32;
        let origins = other.origins.iter();
        self.origins.extend(origins.map(|(at, origin)| (before + at, *origin)));
        self.words.extend_from_slice(&other.words);
    }

    /// Adds a part of other code, of whole instructions.
    pub(crate) fn append_part(&mut self, other: &Self, part: Range<usize>) {
        let before = self.words.len();
        let origins = other.origins(part.start, part.end).iter();
        let moved = |at: u32| (before + at as usize - part.start) as u32;
        self.origins.extend(origins.map(|(at, origin)| (moved(*at), *origin)));
        self.words.extend_from_slice(other.words.get(part).unwrap_or_default());
    }

    /// Adds a part of other code, of whole instructions, with its operands passed through `map`.
    pub fn append_mapped(&mut self, other: &Self, part: Range<usize>, map: impl Fn(Id) -> Id) {
        let start = self.words.len();
        self.append_part(other, part.clone());
        for inst in Insts::new(other.words.get(part).unwrap_or_default(), 0) {
            operands::visit_ids(&inst, 1, |at| {
                if let Some(word) = self.words.get_mut(start + inst.offset + at) {
                    *word = map(Id::new(*word)).word();
                }
            });
        }
    }

    /// A copy of an instruction.
    pub fn copy(&mut self, inst: &Inst<'_>) {
        self.copy_words(inst, inst.words);
    }

    /// An instruction with the origin of `inst` and the words `words`.
    pub fn copy_words(&mut self, inst: &Inst<'_>, words: &[u32]) {
        self.mark_origin(inst);
        self.words.extend_from_slice(words);
    }

    /// A copy of an instruction with its ids, the result included, passed through `map`.
    pub fn copy_mapped(&mut self, inst: &Inst<'_>, selector_words: usize, map: impl Fn(Id) -> Id) {
        let start = self.words.len();
        self.copy(inst);
        let Some(copy) = self.words.get_mut(start..) else {
            return;
        };
        operands::visit_ids(inst, selector_words, |i| {
            if let Some(word) = copy.get_mut(i) {
                *word = map(Id::new(*word)).word();
            }
        });
        if let Some(word) = operands::result_index(inst.opcode()).and_then(|i| copy.get_mut(i)) {
            *word = map(Id::new(*word)).word();
        }
    }
}
