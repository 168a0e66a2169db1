//! Words of instructions to insert.

use super::{Id, Inst, literal, op, operands};

/// Instructions being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) words: Vec<u32>,
}

impl Code {
    /// With room for `words` words.
    pub(crate) fn with_room(words: usize) -> Self {
        Self {
            words: Vec::with_capacity(words),
        }
    }

    /// Adds an instruction with a fixed number of operands. Cheaper than [`Code::op2`], and frequent.
    pub(crate) fn op<const N: usize>(&mut self, opcode: u16, operands: &[u32; N]) {
        self.words.reserve(N + 1);
        self.words.push((N as u32 + 1) << 16 | u32::from(opcode));
        self.words.extend_from_slice(operands);
    }

    /// Adds an instruction whose operands are `operands`, then `more`.
    pub(crate) fn op2(&mut self, opcode: u16, operands: &[u32], more: &[u32]) {
        let length = (operands.len() + more.len() + 1) as u32;
        debug_assert!(
            length <= u16::MAX.into(),
            "callers keep instructions below 65,536 words"
        );
        self.words.push(length << 16 | u32::from(opcode));
        self.words.extend_from_slice(operands);
        self.words.extend_from_slice(more);
    }

    /// Adds an instruction that ends in a string.
    pub(crate) fn text(&mut self, opcode: u16, operands: &[u32], text: &str) {
        let words = literal::words(text);
        let length = (operands.len() + words.clone().count() + 1) as u32;
        self.words.push(length << 16 | u32::from(opcode));
        self.words.extend_from_slice(operands);
        self.words.extend(words);
    }

    pub(crate) fn label(&mut self, id: Id) {
        self.op(op::Label, &[id]);
    }

    pub(crate) fn branch(&mut self, target: Id) {
        self.op(op::Branch, &[target]);
    }

    /// Adds a selection: branches to `yes` if `condition`, else to `no`; both meet at `merge`.
    pub(crate) fn branch_if(&mut self, condition: Id, yes: Id, no: Id, merge: Id) {
        self.op(op::SelectionMerge, &[merge, 0]);
        self.op(op::BranchConditional, &[condition, yes, no]);
    }

    /// A copy of an instruction.
    pub(crate) fn copy(&mut self, inst: &Inst<'_>) {
        self.words.extend_from_slice(inst.words);
    }

    /// A copy of an instruction with its ids, the result included, passed through `map`.
    pub(crate) fn copy_mapped(&mut self, inst: &Inst<'_>, selector_words: usize, map: impl Fn(Id) -> Id) {
        let start = self.words.len();
        self.words.extend_from_slice(inst.words);
        let Some(copy) = self.words.get_mut(start..) else {
            return;
        };
        operands::visit_ids(inst, selector_words, |i| {
            if let Some(word) = copy.get_mut(i) {
                *word = map(*word);
            }
        });
        if let Some(word) = operands::result_index(inst.opcode()).and_then(|i| copy.get_mut(i)) {
            *word = map(*word);
        }
    }
}
