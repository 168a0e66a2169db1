//! Data races in shared memory: two invocations of a workgroup access one scalar between two barriers, and one of them stores to it
//! without an atomic.
//!
//! "If two operations access the same memory location, at least one is a write, one of them is not atomic, and neither happens before
//! the other, there is a data race" (Vulkan specification, Memory Model, Data Races). Each access is recorded in the shadow of its
//! scalars (`functions`), before it is made, or with others behind it (`stretch`, `log`):
//!
//! ```text
//! %at = number of the scalar
//! %other = FunctionCall %vkabort_record %at %description, %failed = INotEqual %other 0
//! Store %pointer %value
//! ```
//!
//! Epochs, which each invocation counts at the barriers of the workgroup, make it unnecessary to clear the shadow. It is in shared memory;
//! that of arrays which it has no room for is in a block of device memory, if the workgroup gets one.
//!
//! Silent, since it may be ordered: an invocation that has executed an atomic or an acquire since its last barrier reports nothing until
//! the next one; a plain load beside an atomic; in modules with subgroup operations, invocations of one subgroup. Also silent is one
//! constant, or one value that is the same in the workgroup, which several invocations store by one instruction or as one constant:
//! that is a race by the specification, but leaves the same memory in any order, and programs rely on it (the Vulkan conformance
//! tests clear counters so).
//!
//! Accesses that are volatile or make their memory available are as others: neither orders anything. Not seen, which loses reports but
//! makes none: accesses by pointers that are selected or passed to functions, and by cooperative matrices; elements out of bounds; a
//! load by an invocation that then stores such a constant to the same scalar, where others store it later.
//! Not planted: modules whose shared memory is laid out explicitly, has sizes that a pipeline may
//! specialise; those with barriers of a scope that is not constant; workgroups of more than 1,024 invocations.
//!
//! The decisions and their reasons: `docs/design/memory-checks.md`.

mod accesses;
mod epochs;
mod functions;
mod inlined;
mod log;
#[cfg(test)]
mod protocol_tests;
pub(super) mod records;
mod sites;
mod stretch;
mod synchronization;
mod uniform_values;
mod word;

use super::message::Message;
use super::module::ModulePlanter;
use super::module_facts::ModuleFacts;
use super::place::Place;
use super::planter::Planter;
use super::rule::CheckRule;
use super::scalars::{find, quote};
use log::{MAX_WORDS, element};
use stretch::{Entry, Stretches};
use vkabort_options::Check;
use vkabort_record::shared_access::{ACCESS, ACCESSED, OTHERS};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};
use word::{Kind, write_is, write_site, write_who};

/// Most accesses of a stretch that are recorded each by itself: for so few, drivers compile calls in less time than a loop.
const MAX_APART: usize = 1;

/// The check `races`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn prepare<'w>(&self, module: &mut ModulePlanter<'_, 'w>, _: &mut ModuleFacts<'_, '_, 'w>) {
        sites::prepare(module);
    }

    fn plant<'w>(&self, planter: &mut Planter<'_, '_, 'w>) {
        plant(planter);
    }
}

fn plant(planter: &mut Planter<'_, '_, '_>) {
    if planter.module.states.races.functions.is_none() {
        return;
    }
    let found = find(planter.index, planter.function, |inst| {
        let accesses = planter.module.states.races.accesses.get(&inst.offset)?;
        Some((*inst, accesses.clone()))
    });
    let mut stretches = Stretches::new(planter.index, planter.options().sanitize.recorded_together);
    for (block, (inst, accesses)) in found {
        let position = planter
            .selected_position(block, &inst)
            .filter(|_| planter.is_plantable(block));
        let Some(position) = position else { continue };
        for recorded in accesses {
            let place = Place::new(block, inst.offset, (inst, position));
            stretches.add(place, recorded);
        }
    }
    for entries in stretches.finish() {
        let is_one_scalar = |entry: &Entry<'_>| entry.recorded.access.scalars == 1;
        match entries.len() <= MAX_APART && entries.iter().all(is_one_scalar) {
            true => entries.iter().for_each(|entry| plant_access(planter, entry)),
            false => plant_stretch(planter, &entries),
        }
    }
}

/// Plants the record of an access to one scalar.
fn plant_access<'w>(planter: &mut Planter<'_, '_, 'w>, entry: &Entry<'w>) {
    let text = Text::new(planter, entry);
    let (index, recorded) = (planter.index, &entry.recorded);
    let ModulePlanter {
        out,
        shared_words,
        guards,
        states,
        ..
    } = &mut *planter.module;
    let Some(functions) = &mut states.races.functions else {
        return;
    };
    let record = functions.record((out, shared_words, guards), recorded.location);
    let write_failed = |out: &mut Emitter| {
        let bases = (recorded.base, MAX_WORDS);
        let element = recorded.access.write_first(out, index, bases);
        let [description, zero] = [recorded.description(), 0].map(|value| out.constant(value));
        let other = out.calculate(op::FunctionCall, (record, element, description));
        let bool = out.bool();
        (out.emit(op::INotEqual, bool, (other, zero)), other)
    };
    planter.plant_with(Check::Races, &entry.place, write_failed, |out, other| {
        text.message(out, other)
    });
}

/// Plants the record of several accesses in front of the last one, and an abort for each.
fn plant_stretch<'w>(planter: &mut Planter<'_, '_, 'w>, entries: &[Entry<'w>]) {
    let Some((last, before)) = entries.split_last() else {
        return;
    };
    let texts: Vec<Text> = entries.iter().map(|entry| Text::new(planter, entry)).collect();
    let index = planter.index;
    let ModulePlanter {
        out,
        shared_words,
        guards,
        states,
        ..
    } = &mut *planter.module;
    let Some(functions) = &mut states.races.functions else {
        return;
    };
    let log = functions.log((out, shared_words, guards), last.recorded.location);
    let write_entry = |out: &mut Emitter, number: u32, Entry { recorded, .. }: &Entry<'_>| {
        let base = element(recorded.base, recorded.access.scalars);
        let element = recorded.access.write_first(out, index, (base, MAX_WORDS));
        log.write_entry(out, number, element, recorded.description());
    };
    for (number, entry) in (0..).zip(before) {
        planter.insert(entry.place.offset, |out| write_entry(out, number, entry));
    }
    let write_failed = |out: &mut Emitter| {
        write_entry(out, before.len() as u32, last);
        let (bool, zero) = (out.bool(), out.constant(0));
        let number = log.write_record(out, entries.len() as u32);
        (out.emit(op::INotEqual, bool, (number, zero)), number)
    };
    let aborts: Vec<(&Place<'w>, &Text)> = entries.iter().map(|entry| &entry.place).zip(&texts).collect();
    planter.plant_numbered((Check::Races, &last.place), &aborts, write_failed, |out, text| {
        let other = log.write_other(out);
        text.message(out, other)
    });
}

/// The parts of the messages of an access.
struct Text {
    name: String,
    kind: Kind,
    /// Whether it may race with anything but stores.
    has_others: bool,
    line: Option<u32>,
    /// The private variable with the number of the invocation, and that of the subgroup if the shadow names subgroups.
    invocation: Id,
    subgroup: Option<Id>,
    quoted: Option<String>,
}

impl Text {
    fn new(planter: &mut Planter<'_, '_, '_>, Entry { place, recorded, named }: &Entry<'_>) -> Self {
        let name = planter.expressions().memory(*named, 0);
        let ModulePlanter {
            out,
            shared_words,
            states,
            ..
        } = &mut *planter.module;
        Self {
            name: name.map_or_else(|| "an element of shared memory".to_owned(), |name| format!("`{name}`")),
            kind: recorded.access.kind,
            has_others: recorded.races_with_others(),
            line: recorded.line,
            invocation: shared_words.invocation(out),
            subgroup: states.races.by_subgroup.then(|| shared_words.subgroup(out)),
            quoted: recorded.line.is_none().then(|| quote(&place.guarded)),
        }
    }

    /// The message of a race with the access in `other`. The host replaces parts of it (`vkabort_report`).
    fn message(&self, out: &mut Emitter, other: Id) -> Message {
        let uint = out.uint();
        let (who, site) = (write_who(out, other), write_site(out, other));
        let invocation = out.calculate(op::Load, self.invocation);
        let mut message = Message::default();
        message.push_literal(&self.name);
        let verb = if self.has_others { ACCESSED } else { "is stored by" };
        let by = if self.subgroup.is_some() {
            "subgroup"
        } else {
            "invocation"
        };
        message.push_text(&format!(" {verb} {by} %u{ACCESS}"));
        message = message.with(uint, who).with(uint, site);
        if self.has_others {
            let is_many = write_is(out, other, Kind::Loads);
            let [one, zero] = [1, 0].map(|value| out.constant(value));
            let others = out.calculate(op::Select, (is_many, one, zero));
            message.push_text(OTHERS);
            message = message.with(uint, others);
        } else {
            message.push_text(match self.kind {
                Kind::Store => " and by",
                Kind::Atomic => " and changed by an atomic of",
                Kind::Load | Kind::Loads => " and read by",
            });
        }
        message.push_text(" invocation %u");
        message = message.with(uint, invocation);
        if let Some(subgroup) = self.subgroup {
            let subgroup = out.calculate(op::Load, subgroup);
            message.push_text(" of subgroup %u");
            message = message.with(uint, subgroup);
        }
        if let Some(line) = self.line {
            message.push_literal(&format!(" at line {line}"));
        }
        message.push_literal(", without a barrier between them");
        if let Some(quoted) = &self.quoted {
            message.push_literal(&format!(" ({quoted})"));
        }
        message
    }
}
