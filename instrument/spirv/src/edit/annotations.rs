//! Names and decorations of removed definitions.

use crate::edit::Edits;
use crate::index::Index;
use crate::op_sets::is_decoration;
use crate::{Id, Inst, Words, op};

/// Removes the names and decorations of the ids that `is_removed` selects, and all `UTFEncodedKHR` decorations.
pub fn remove_annotations(index: &Index<'_>, is_removed: impl Fn(Id) -> bool, edits: &mut Edits) {
    for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
        let target_words = match inst.opcode() {
            op::GroupDecorate => 1,
            op::GroupMemberDecorate => 2,
            opcode if is_decoration(opcode) || matches!(opcode, op::Name | op::MemberName) => {
                if is_removed(inst.target()) || is_utf_encoding(&inst) {
                    edits.remove_inst(&inst);
                }
                continue;
            }
            _ => continue,
        };
        let kept: Vec<u32> = inst
            .from(2)
            .chunks(target_words)
            .filter(|target| !is_removed(Id::new(target[0])))
            .flatten()
            .copied()
            .collect();
        if kept.len() + 2 < inst.words.len() {
            edits.replace_by(&inst, inst.opcode(), (inst.target(), Words(&kept)));
        }
    }
}

fn is_utf_encoding(inst: &Inst<'_>) -> bool {
    matches!(inst.opcode(), op::Decorate | op::MemberDecorate) && inst.decoration() == op::decoration::UTFEncodedKHR
}
