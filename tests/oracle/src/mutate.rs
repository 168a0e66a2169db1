//! Mutates words so that a module is invalid, but often keeps its form: an analysis could follow it without end, or collect without
//! a limit.

use crate::choices::Choices;
use crate::op;
use crate::words::{HEADER_WORDS, Inst, instructions};

/// Opcodes that take the place of others: those with ids that analyses follow.
const OPCODES: [u16; 14] = [
    op::Load,
    op::Store,
    op::AccessChain,
    op::CompositeExtract,
    op::CompositeConstruct,
    op::Phi,
    op::SelectionMerge,
    op::LoopMerge,
    op::BranchConditional,
    op::Switch,
    op::Bitcast,
    op::IAdd,
    op::CopyObject,
    op::FunctionCall,
];

/// Literals, and ids beyond the module's.
const LITERALS: [u32; 6] = [0, 1, 2, 0xFFFF, 0x7FFF_FFFF, u32::MAX];

/// A change of one word.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// Selects an instruction, or a word of the module.
    at: u32,
    /// Selects an operand.
    operand: u32,
    kind: u32,
    value: u32,
}

impl Mutation {
    /// A mutation by choices.
    pub fn choose(choices: &mut Choices) -> Self {
        Self {
            at: choices.word(),
            operand: choices.word(),
            kind: choices.below(8),
            value: choices.word(),
        }
    }

    /// Changes a word, or the operand of an instruction of the unchanged module.
    fn apply(self, words: &mut [u32], all: &[Inst]) {
        let pick = |length: usize, number: u32| number as usize % length.max(1);
        let any = pick(words.len(), self.at);
        let bound = words.get(3).copied().unwrap_or(1).max(1);
        let (index, result) = (pick(all.len(), self.at), |inst: &Inst| inst.word(1));
        let Some(inst) = all.get(index) else { return };
        let of_inst = inst.offset + 1 + pick(inst.operands.len(), self.operand);
        let later = all.get(index + pick(all.len() - index, self.value)).map_or(0, result);
        let (at, new) = match self.kind {
            0 => (any, self.value),
            1 => (any, words[any] ^ 1 << (self.value % 32)),
            2 => (any, words[any].wrapping_add(1)),
            3 => (any, self.value % bound),
            4 => (of_inst, result(inst)),
            5 => (of_inst, later),
            6 => (of_inst, LITERALS[pick(LITERALS.len(), self.value)]),
            _ => {
                let opcode = OPCODES[pick(OPCODES.len(), self.value)];
                (inst.offset, words[inst.offset] & 0xFFFF_0000 | u32::from(opcode))
            }
        };
        if let Some(word) = words.get_mut(at) {
            *word = new;
        }
    }
}

/// Changes a module.
pub fn mutate(words: &mut [u32], mutations: &[Mutation]) {
    let all = instructions(words).unwrap_or_default();
    if words.len() > HEADER_WORDS {
        mutations.iter().for_each(|mutation| mutation.apply(words, &all));
    }
}
