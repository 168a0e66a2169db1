//! Removes what the driver must not see and what nothing uses any more.
//!
//! The capabilities and extensions that were lowered go, and so do the values and types that only aborts used: message
//! types, strings, loads and composites built for a message. `Int8` goes with the last 8-bit type, so that messages with
//! strings run on devices without `shaderInt8`. Everything else that the application left unused stays: only what the
//! candidates lead to is looked at.

use super::constant_data;
use crate::edit::{Code, Edits};
use crate::index::Index;
use crate::spv::op::capability;
use crate::spv::{Id, Inst, literal, op, operands};

/// Extensions whose capabilities are lowered.
const LOWERED: [&str; 3] = ["SPV_KHR_abort", "SPV_KHR_constant_data", "SPV_KHR_poison_freeze"];

/// Strips a module. `candidates` are ids that lost a use. Says whether something still uses constant data.
pub(crate) fn strip(index: &Index<'_>, candidates: &[Id]) -> (Edits, bool) {
    let mut edits = Edits::default();
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
    let uses = Uses::without(index, candidates, &mut edits);
    remove_annotations(index, &uses, &mut edits);
    let narrow = |i: &Inst<'_>| i.opcode() == op::TypeInt && i.word(2) == 8 && !uses.removed(i.word(1));
    let mut bytes = index
        .capabilities
        .iter()
        .filter(|i| i.word(1) == capability::Int8)
        .peekable();
    if bytes.peek().is_some() && !index.globals().any(|i| narrow(&i)) {
        bytes.for_each(|inst| edits.remove(inst.offset, inst.words.len()));
    }
    let tables = index.has_capability(capability::ConstantDataKHR)
        && index
            .globals()
            .any(|i| constant_data::is_data(&i) && !uses.removed(i.result()));
    (edits, tables)
}

/// How often each id is used, up to [`Uses::MANY`].
struct Uses(Vec<u16>);

impl Uses {
    /// In place of a count: the definition is removed.
    const REMOVED: u16 = u16::MAX;
    /// This often or more: not counted any further, in neither direction.
    const MANY: u16 = Self::REMOVED - 1;

    /// Removes candidates that nothing uses, and what they lead to.
    fn without(index: &Index<'_>, candidates: &[Id], edits: &mut Edits) -> Self {
        let mut uses = Self(vec![0; index.bound as usize]);
        for inst in index.insts(index.sections.memory_model, index.words.len()) {
            if is_annotation(inst.opcode()) {
                continue;
            }
            let known = operands::visit_ids(&inst, index.selector_words(&inst), |i| uses.add(inst.word(i)));
            if !known {
                // Any word may be an id.
                inst.from(1).iter().for_each(|word| uses.add(*word));
            }
        }
        let mut open = candidates.to_vec();
        while let Some(id) = open.pop() {
            let Some(count) = uses.0.get_mut(id as usize).filter(|count| **count == 0) else {
                continue;
            };
            let Some(inst) = index.def(id).filter(is_removable) else {
                continue;
            };
            *count = Self::REMOVED;
            edits.remove(inst.offset, inst.words.len());
            operands::visit_ids(&inst, 1, |i| {
                let operand = inst.word(i);
                if let Some(count) = uses.0.get_mut(operand as usize).filter(|count| **count < Self::MANY) {
                    *count = count.saturating_sub(1);
                }
                open.push(operand);
            });
        }
        uses
    }

    fn add(&mut self, id: Id) {
        if let Some(count) = self.0.get_mut(id as usize) {
            *count = (*count + 1).min(Self::MANY);
        }
    }

    fn removed(&self, id: Id) -> bool {
        self.0.get(id as usize) == Some(&Self::REMOVED)
    }
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
            | op::DecorateString
            | op::MemberDecorateString
            | op::GroupDecorate
            | op::GroupMemberDecorate
    )
}

fn remove_annotations(index: &Index<'_>, uses: &Uses, edits: &mut Edits) {
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
            if uses.removed(inst.word(1)) || decoration && kind == op::decoration::UTFEncodedKHR {
                edits.remove(inst.offset, inst.words.len());
            }
            continue;
        }
        let kept: Vec<u32> = inst
            .from(2)
            .chunks(group)
            .filter(|t| !uses.removed(t[0]))
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
