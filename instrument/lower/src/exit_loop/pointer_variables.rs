//! Lets the variables of a function that is divided hold the words of physical pointers.
//!
//! ```text
//! %p = Load %pointer %variable        becomes   %w = Load %uvec2 %variable, %p = Bitcast %pointer %w
//! Store %variable %p                            %w = Bitcast %uvec2 %p, Store %variable %w
//! ```
//!
//! A store in a section does not dominate the code behind it, so that a driver makes a phi of the variable (`edit::address_words`).
//!
//! Not handled: variables that are used by anything but loads and stores, and composites with pointers.

use super::deep;
use rustc_hash::FxHashSet as HashSet;
use vkabort_options::Options;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::address_words::is_physical_pointer;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Id, Inst, Literal, Words, op, operands};

/// Changes the variables of the module if a function nests too deep. O(words of the module).
pub fn keep_words(index: &Index<'_>, options: &Options, first_blocks: &HashSet<Id>) -> Edits {
    let mut edits = Edits::default();
    if deep(index, options, first_blocks).is_empty() {
        return edits;
    }
    let variables = variables(index);
    if variables.is_empty() {
        return edits;
    }
    let mut out = Emitter::new(index);
    let uvec2 = out.words_type(2);
    for inst in index.insts(index.sections.memory_model, index.words.len()) {
        match inst.opcode() {
            op::Decorate if variables.contains(&inst.target()) && is_of_pointers(&inst) => edits.remove_inst(&inst),
            op::Variable if variables.contains(&inst.result()) => {
                let class = inst.storage_class();
                if class == storage_class::Private {
                    // Its new type is declared behind it.
                    out.variable_as(inst.result(), class, uvec2, None);
                    edits.remove_inst(&inst);
                } else {
                    let ty = out.pointer(class, uvec2);
                    edits.replace_by(&inst, op::Variable, (ty, inst.result(), Literal(class)));
                }
            }
            op::Load if variables.contains(&inst.pointer()) => {
                let words = out.fresh();
                out.op(op::Load, (uvec2, words, inst.pointer(), Words(inst.from(4))));
                out.op(op::Bitcast, (inst.result_type(), inst.result(), words));
                out.place(|code| edits.replace_inst(&inst, code));
            }
            op::Store if variables.contains(&inst.pointer()) => {
                let words = out.emit(op::Bitcast, uvec2, inst.id(2));
                out.op(op::Store, (inst.pointer(), words, Words(inst.from(3))));
                out.place(|code| edits.replace_inst(&inst, code));
            }
            _ => {}
        }
    }
    out.finish(index, &mut edits);
    edits
}

/// Variables without an initializer of physical pointers, which are only loaded and stored.
fn variables(index: &Index<'_>) -> HashSet<Id> {
    let mut found = HashSet::default();
    for inst in index.insts(index.sections.memory_model, index.words.len()) {
        if inst.opcode() != op::Variable || inst.words.len() != 4 {
            continue;
        }
        let is_own = matches!(inst.storage_class(), storage_class::Function | storage_class::Private);
        let pointee = index.def(inst.result_type()).map_or(Id::NONE, |ty| ty.pointee());
        if is_own && is_physical_pointer(index, pointee) {
            found.insert(inst.result());
        }
    }
    if found.is_empty() {
        return found;
    }
    for inst in index.insts(index.sections.memory_model, index.words.len()) {
        let pointer = match inst.opcode() {
            op::Name | op::Decorate | op::EntryPoint => continue,
            op::Load => Some(3),
            op::Store => Some(1),
            _ => None,
        };
        let is_known = operands::visit_ids(&inst, index.selector_words(&inst), |word| {
            if Some(word) != pointer {
                found.remove(&inst.id(word));
            }
        });
        if !is_known {
            for word in inst.words {
                found.remove(&Id::new(*word));
            }
        }
    }
    found
}

/// Whether a decoration is one of variables of pointers.
fn is_of_pointers(inst: &Inst<'_>) -> bool {
    matches!(
        inst.decoration(),
        decoration::AliasedPointer | decoration::RestrictPointer
    )
}
