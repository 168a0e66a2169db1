//! Groups the parts of a checked load into checks, and composes their messages.

use super::super::message::Message;
use super::super::scalars::conversion;
use super::loads::{CheckedLoad, CheckedPart};
use std::collections::BTreeMap;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::view::path::{Path, type_at};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, op};

/// Most checks of one load at one place. If it needs more, one check is of all.
const MAX_UNITS: usize = 4;

/// Parts of a loaded value that one check tests.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) parts: Vec<CheckedPart>,
    /// The common prefix of the parts.
    common: Path,
    /// The last index of the pointer, if it is not constant: the message shows it.
    element: Option<(Id, &'static str)>,
    /// The message shows which component of a vector fails.
    names_component: bool,
}

impl Unit {
    /// Whether bits tell if it fails; else it always does.
    pub(super) fn is_tested_by_bits(&self) -> bool {
        self.parts.iter().all(|part| part.bit.is_some())
    }

    /// Whether the message shows the index of an element.
    pub(super) fn has_element(&self) -> bool {
        self.element.is_some()
    }

    /// Whether the message shows which component fails.
    pub(super) fn names_component(&self) -> bool {
        self.names_component
    }

    /// A part for each bit; one part if it always fails.
    pub(super) fn bits(&self) -> Vec<&CheckedPart> {
        let mut bits: Vec<&CheckedPart> = self.parts.iter().collect();
        if !self.names_component {
            bits.dedup_by_key(|part| part.bit);
        }
        bits
    }

    /// Adds the values of the message. `tests`: whether each of [`Unit::bits`] fails.
    pub(super) fn with_values(&self, index: &Index<'_>, out: &mut Emitter, message: Message, tests: &[Id]) -> Message {
        if let Some((element, _)) = self.element {
            return message.with(index.type_of(element), element);
        }
        if !self.names_component {
            return message;
        }
        let uint = out.uint();
        let mut which = None;
        for (part, test) in self.bits().into_iter().zip(tests).rev() {
            let number = out.constant(part.path.last().copied().unwrap_or(0));
            which = Some(match which {
                None => number,
                Some(other) => out.emit(op::Select, uint, (*test, number, other)),
            });
        }
        message.with(uint, which.unwrap_or_default())
    }
}

/// The checks of the parts that have an effect at one place: one for each scalar or vector.
pub(super) fn units(index: &Index<'_>, load: &CheckedLoad<'_>, parts: &[CheckedPart]) -> Vec<Unit> {
    let mut groups: BTreeMap<(bool, Path), Vec<CheckedPart>> = BTreeMap::new();
    for part in parts {
        let around = part.path.len().checked_sub(1).and_then(|end| part.path.get(..end));
        let around =
            around.filter(|path| index.opcode(type_at(index, load.inst.result_type(), path)) == op::TypeVector);
        let of: Path = around.unwrap_or(&part.path).into();
        groups.entry((part.bit.is_some(), of)).or_default().push(part.clone());
    }
    if groups.len() > MAX_UNITS {
        let mut by_certainty: BTreeMap<(bool, Path), Vec<CheckedPart>> = BTreeMap::new();
        for ((is_tested, _), parts) in groups {
            by_certainty.entry((is_tested, Path::new())).or_default().extend(parts);
        }
        groups = by_certainty;
    }
    let element = dynamic_element(index, load);
    let units = groups.into_values().map(|parts| {
        let first = parts.first().map(|part| part.path.clone()).unwrap_or_default();
        let common = parts.iter().fold(first, |common, part| {
            let same = common.iter().zip(&part.path).take_while(|(one, other)| one == other);
            same.map(|(one, _)| *one).collect()
        });
        let is_vector = index.opcode(type_at(index, load.inst.result_type(), &common)) == op::TypeVector;
        let has_many_bits = parts
            .iter()
            .any(|part| part.bit != parts.first().and_then(|first| first.bit));
        Unit {
            common,
            names_component: is_vector && has_many_bits && element.is_none(),
            element,
            parts,
        }
    });
    units.collect()
}

/// The last index of a load's pointer if it is not constant, and the kind of part that it selects.
fn dynamic_element(index: &Index<'_>, load: &CheckedLoad<'_>) -> Option<(Id, &'static str)> {
    let pointer = index.def(load.inst.pointer())?;
    let last = pointer
        .ids(4)
        .last()
        .filter(|_| matches!(pointer.opcode(), op::AccessChain | op::InBoundsAccessChain))?;
    let place = load.bits.as_ref()?;
    place.dynamic.last().filter(|dynamic| dynamic.index == last)?;
    let is_component = index.opcode(load.inst.result_type()) != op::TypeVector && is_vector_chain(index, &pointer);
    Some((last, if is_component { "component" } else { "element" }))
}

/// Whether the last index of an access chain selects a component.
fn is_vector_chain(index: &Index<'_>, chain: &vkabort_spirv::Inst<'_>) -> bool {
    let base = index
        .def(index.type_of(chain.id(3)))
        .map_or(Id::NONE, |ty| ty.pointee());
    let indices: Vec<Id> = chain.ids(4).collect();
    let Some((_, above)) = indices.split_last() else {
        return false;
    };
    let ty = above.iter().fold(base, |ty, id| {
        let number = index.def(*id).filter(|inst| inst.opcode() == op::Constant);
        index.part_type(ty, number.map_or(0, |inst| inst.constant_bits() as u32))
    });
    index.opcode(ty) == op::TypeVector
}

/// The text of a unit's message, with the index of an element only if `has_index`.
pub(super) fn message(names: &Expressions<'_, '_>, load: &CheckedLoad<'_>, unit: &Unit, has_index: bool) -> Message {
    let mut message = Message::default();
    let pointer = load.inst.pointer();
    if let Some((element, kind)) = unit.element {
        if has_index {
            message.push_literal(&format!("{kind} "));
            message.push_text(conversion(names.index, element));
        } else {
            message.push_literal(&format!("a{} {kind}", if kind == "element" { "n" } else { "" }));
        }
        let whole = names
            .memory(pointer, 1)
            .map_or_else(|| "an array".to_owned(), |name| format!("`{name}`"));
        message.push_literal(&format!(" of {whole} is read, but nothing has stored it"));
        return message;
    }
    let name = names.memory_part(pointer, load.inst.result_type(), &unit.common);
    let name = name.map_or_else(|| "a variable".to_owned(), |name| format!("`{name}`"));
    if unit.names_component {
        message.push_text("component %u of ");
    } else if unit.bits().len() > 1 {
        message.push_literal("a part of ");
    }
    message.push_literal(&format!("{name} is read, but nothing has stored it"));
    message
}
