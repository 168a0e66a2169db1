//! Removes what the driver must not see and what nothing uses any more.
//!
//! The capabilities and extensions that were lowered go, and so do the values and types that only aborts used: message
//! types, strings, loads and composites built for a message. `Int8` goes with the last 8-bit type, so that messages with
//! strings run on devices without `shaderInt8`. Everything else that the application left unused stays: only what has
//! lost a use, and what that leads to, is looked at.

use crate::analysis::index::Index;
use crate::edit::Edits;
use crate::spv::op::capability;
use crate::spv::words::Insts;
use crate::spv::{Code, Id, Inst, literal, op, operands};
use std::ops::Range;

/// Extensions whose capabilities are lowered.
const LOWERED: [&str; 3] = ["SPV_KHR_abort", "SPV_KHR_constant_data", "SPV_KHR_poison_freeze"];

/// Strips a module of which `edits` were made, adding to them. The ids in `lost` have lost a use; constant data may have.
/// `more` is what is yet to be inserted, and `used` are ids that other words to be inserted use. Says whether something
/// still uses constant data.
pub(crate) fn strip(index: &Index<'_>, lost: &[Id], edits: &mut Edits, more: &[u32], used: &[Id]) -> bool {
    for inst in &index.capabilities {
        let lowered = [
            capability::AbortKHR,
            capability::ConstantDataKHR,
            capability::PoisonFreezeKHR,
        ];
        if lowered.contains(&inst.word(1)) {
            edits.remove(inst.offset, inst.words.len());
        }
    }
    for inst in &index.extensions {
        if LOWERED.iter().any(|name| literal::is(inst.from(1), name)) {
            edits.remove(inst.offset, inst.words.len());
        }
    }
    let has_data = index.has_capability(capability::ConstantDataKHR);
    let data = index.constant_data.iter().filter(|_| has_data);
    let open = lost.iter().copied().chain(data.clone().map(|i| i.result())).collect();
    let dead = Dead::new(index, open, edits, more, used);
    dead.remove(index, edits);
    remove_annotations(index, &dead, edits);
    // Passes declare no 8-bit types.
    if index.byte_types.iter().all(|ty| dead.is_dead(*ty)) {
        let bytes = index.capabilities.iter().filter(|i| i.word(1) == capability::Int8);
        bytes.for_each(|inst| edits.remove(inst.offset, inst.words.len()));
    }
    data.into_iter().any(|i| !dead.is_dead(i.result()))
}

/// What goes: the definitions that lead to nothing but each other.
struct Dead {
    /// By id.
    dead: Vec<bool>,
    /// The same, in the order in which they were found.
    ids: Vec<Id>,
    /// The least of them, and how far the greatest is from it.
    first: Id,
    span: u32,
    /// Ids of it that are found to be used, with what they use in turn still to be looked at.
    used: Vec<Id>,
}

impl Dead {
    /// Everything that the ids in `lost` lead to, less what the rest of the module and what is inserted use.
    fn new(index: &Index<'_>, lost: Vec<Id>, edits: &Edits, more: &[u32], given: &[Id]) -> Self {
        let gone = edits.removed();
        let mut dead = Self {
            dead: vec![false; index.bound as usize],
            ids: Vec::with_capacity(lost.len() * 4),
            first: Id::MAX,
            span: 0,
            used: Vec::new(),
        };
        dead.follow(index, lost, &gone);
        given.iter().for_each(|id| dead.keep(*id));
        for inserted in [edits.inserted(), more] {
            dead.keep_what_is_used(index);
            let mut insts = Insts::new(inserted, 0);
            while let Some(inst) = dead.next_naming(inserted, &mut insts) {
                dead.keep_operands(index, &inst);
            }
        }
        // To be named or decorated is no use in general, but to be an operand of a decoration or of an execution mode is one.
        // Nothing else that stands before the declarations uses any.
        index
            .execution_modes
            .iter()
            .for_each(|mode| dead.keep_operands(index, mode));
        for inst in &index.decorate_ids {
            inst.from(3).iter().for_each(|operand| dead.keep(*operand));
        }
        // A constant that is the workgroup's size is one by its decoration alone.
        let built_ins = index.decorations.iter().filter(|d| d.kind == op::decoration::BuiltIn);
        built_ins.for_each(|d| dead.keep(d.target));
        dead.keep_what_is_used(index);
        let mut insts = Insts::new(index.words, index.globals_start());
        while let Some(inst) = dead.next_naming(index.words, &mut insts) {
            // What goes uses nothing.
            if !dead.is_dead(inst.result()) && !contains(&gone, &inst) {
                dead.keep_operands(index, &inst);
            }
        }
        dead.keep_what_is_used(index);
        dead
    }

    /// What is used uses what it is made of.
    fn keep_what_is_used(&mut self, index: &Index<'_>) {
        while let Some(id) = self.used.pop() {
            if let Some(inst) = index.def(id) {
                self.keep_operands(index, &inst);
            }
        }
        let dead = self.ids.iter().filter(|id| self.is_dead(**id));
        let (first, last) = dead.fold((Id::MAX, 0), |(first, last), id| (first.min(*id), last.max(*id)));
        (self.first, self.span) = (first, last.saturating_sub(first));
    }

    /// Takes ids and what they lead to, as far as it can be removed.
    fn follow(&mut self, index: &Index<'_>, mut open: Vec<Id>, gone: &[Range<u32>]) {
        while let Some(id) = open.pop() {
            let Some(slot) = self.dead.get_mut(id as usize).filter(|dead| !**dead) else {
                continue;
            };
            let removable = index.def(id).filter(|inst| is_removable(inst) && !contains(gone, inst));
            let Some(inst) = removable else { continue };
            *slot = true;
            self.ids.push(id);
            operands::visit_ids(&inst, 1, |i| open.push(inst.word(i)));
        }
    }

    /// The next of `insts`, which are those of `words`, with a word that could be an id of it. Few have one, so that is
    /// looked for first, and what instruction it belongs to then.
    fn next_naming<'w>(&self, words: &'w [u32], insts: &mut Insts<'w>) -> Option<Inst<'w>> {
        let rest = words.get(insts.offset()..)?;
        insts.holding(insts.offset() + self.position(rest)?)
    }

    /// Where the first word stands that could be an id of it. Compilers number what belongs together in a row, so most words
    /// are out of question by their size, several at a time.
    fn position(&self, words: &[u32]) -> Option<usize> {
        const WORDS: usize = 8;
        let mut chunks = words.chunks_exact(WORDS);
        let in_range = |word: &u32| word.wrapping_sub(self.first) <= self.span;
        let dead = |words: &[u32]| words.iter().position(|word| self.is_dead(*word));
        for (number, chunk) in chunks.by_ref().enumerate() {
            if chunk.iter().fold(false, |any, word| any | in_range(word))
                && let Some(found) = dead(chunk)
            {
                return Some(number * WORDS + found);
            }
        }
        let rest = chunks.remainder();
        Some(words.len() - rest.len() + dead(rest)?)
    }

    fn keep_operands(&mut self, index: &Index<'_>, inst: &Inst<'_>) {
        let known = operands::visit_ids(inst, index.selector_words(inst), |i| self.keep(inst.word(i)));
        if !known {
            // Any word may be an id.
            inst.from(1).iter().for_each(|word| self.keep(*word));
        }
    }

    fn keep(&mut self, id: Id) {
        if let Some(dead) = self.dead.get_mut(id as usize).filter(|dead| **dead) {
            *dead = false;
            self.used.push(id);
        }
    }

    fn is_dead(&self, id: Id) -> bool {
        self.dead.get(id as usize) == Some(&true)
    }

    fn remove(&self, index: &Index<'_>, edits: &mut Edits) {
        let dead = self.ids.iter().filter(|id| self.is_dead(**id));
        for inst in dead.filter_map(|id| index.def(*id)) {
            edits.remove(inst.offset, inst.words.len());
        }
    }
}

/// Whether an instruction stands in one of the ranges, which are sorted.
fn contains(ranges: &[Range<u32>], inst: &Inst<'_>) -> bool {
    let offset = inst.offset as u32;
    let after = ranges.partition_point(|range| range.start <= offset);
    let last = after.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| range.contains(&offset))
}

/// Instructions without an effect but their result.
fn is_removable(inst: &Inst<'_>) -> bool {
    let value = matches!(
        inst.opcode(),
        op::CompositeConstruct
            | op::CompositeExtract
            | op::CopyObject
            | op::CopyLogical
            | op::AccessChain
            | op::InBoundsAccessChain
            | op::Undef
    );
    let load = inst.opcode() == op::Load && inst.word(4) & op::memory_operands::VOLATILE == 0;
    // Types, constants and constant data.
    let declaration = matches!(inst.opcode(), 19..=23 | 28 | 30 | 32 | 41..=46 | 48..=52)
        || matches!(inst.opcode(), op::ConstantDataKHR | op::SpecConstantDataKHR);
    value || load || declaration
}

fn is_annotation(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Name
            | op::MemberName
            | op::Decorate
            | op::MemberDecorate
            | op::DecorateId
            | op::MemberDecorateIdEXT
            | op::DecorateString
            | op::MemberDecorateString
            | op::GroupDecorate
            | op::GroupMemberDecorate
    )
}

fn remove_annotations(index: &Index<'_>, dead: &Dead, edits: &mut Edits) {
    for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
        let group = match inst.opcode() {
            op::GroupDecorate => 1,
            op::GroupMemberDecorate => 2,
            opcode if is_annotation(opcode) => 0,
            _ => continue,
        };
        let decoration = matches!(inst.opcode(), op::Decorate | op::MemberDecorate);
        let kind = inst.word(if inst.opcode() == op::Decorate { 2 } else { 3 });
        if group == 0 {
            if dead.is_dead(inst.word(1)) || decoration && kind == op::decoration::UTFEncodedKHR {
                edits.remove(inst.offset, inst.words.len());
            }
            continue;
        }
        let kept: Vec<u32> = inst
            .from(2)
            .chunks(group)
            .filter(|t| !dead.is_dead(t[0]))
            .flatten()
            .copied()
            .collect();
        if kept.len() + 2 < inst.words.len() {
            let mut code = Code::default();
            code.op2(inst.opcode(), &[inst.word(1)], &kept);
            edits.replace(inst.offset, inst.words.len(), &code.words);
        }
    }
}
