//! Removes declarations that only prints used: strings, the import of their instructions, and the extension for such imports.

use super::find::{FORMAT, arguments};
use rustc_hash::FxHashSet as HashSet;
use std::iter;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::index::Index;
use vkabort_spirv::lowered::PRINTS;
use vkabort_spirv::words::HEADER_WORDS;
use vkabort_spirv::{Id, Inst, literal, op, operands};

const EXTENSION: &str = "SPV_KHR_non_semantic_info";

/// Removes the declarations that only these prints used, and the names of them and of the ids in `removed`.
pub(super) fn remove_unused(index: &Index<'_>, prints: &[Inst<'_>], removed: &[Id], edits: &mut Edits) {
    let offsets: HashSet<usize> = prints.iter().map(|print| print.offset).collect();
    let texts = prints
        .iter()
        .flat_map(|print| iter::once(print.id(FORMAT)).chain(arguments(print)));
    let texts = texts.filter(|id| index.opcode(*id) == op::String);
    let mut unused: HashSet<Id> = texts.chain(index.sets(PRINTS)).collect();
    // Instructions that can use a string or a set.
    let users = [op::ExtInst, op::Line, op::Source];
    for inst in index.insts(HEADER_WORDS, index.words.len()) {
        if users.contains(&inst.opcode()) && !offsets.contains(&inst.offset) {
            if inst.opcode() == op::ExtInst {
                unused.remove(&inst.ext_inst_set());
            }
            let has_known_operands = operands::visit_ids(&inst, index.selector_words(&inst), |i| {
                unused.remove(&inst.id(i));
            });
            if !has_known_operands {
                inst.ids(1).for_each(|id| {
                    unused.remove(&id);
                });
            }
        }
    }
    unused.extend(removed);
    let mut has_other_set = false;
    for inst in index.insts(HEADER_WORDS, index.sections.annotations.max(index.sections.names)) {
        let is_unused = unused.contains(&inst.result());
        match inst.opcode() {
            op::String | op::ExtInstImport if is_unused => edits.remove_inst(&inst),
            op::Name if unused.contains(&inst.target()) => edits.remove_inst(&inst),
            op::ExtInstImport => has_other_set |= literal::string(inst.from(2)).starts_with("NonSemantic."),
            _ => {}
        }
    }
    if !has_other_set {
        let extensions = index
            .extensions
            .iter()
            .filter(|inst| literal::is(inst.from(1), EXTENSION));
        extensions.for_each(|inst| edits.remove_inst(inst));
    }
}
