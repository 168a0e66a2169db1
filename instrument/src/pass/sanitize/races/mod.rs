//! Data races in shared memory: two invocations of a workgroup access one scalar between two barriers, and one of them stores to it
//! without an atomic.
//!
//! "If two operations access the same memory location, at least one is a write, one of them is not atomic, and neither happens before
//! the other, there is a data race" (Vulkan specification, Memory Model, Data Races). Each access is recorded in the shadow of its
//! scalars (`functions`), right before it is made:
//!
//! ```text
//! %at = number of the scalar
//! %old = FunctionCall %vkabort_write %at %site, %failed = INotEqual %old 0
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

mod accesses;
mod epochs;
mod functions;
#[cfg(test)]
mod protocol_tests;
pub(super) mod records;
mod sites;
mod synchronization;
mod uniform_values;
mod word;

pub(super) use sites::prepare;

use super::message::Message;
use super::module::ModulePlanter;
use super::place::Place;
use super::planter::Planter;
use super::scalars::{find, quote};
use crate::edit::emitter::Emitter;
use crate::sanitize::Check;
use crate::spv::{Id, op};
use records::RecordedAccess;
use word::{Kind, write_is, write_is_store_at, write_who};

/// Plants the check into a function.
pub(super) fn plant(planter: &mut Planter<'_, '_, '_>) {
    if planter.module.races.functions.is_none() {
        return;
    }
    let found = find(planter.index, planter.function, |inst| {
        let accesses = planter.module.races.accesses.get(&inst.offset)?;
        Some((*inst, accesses.clone()))
    });
    for (block, (inst, accesses)) in found {
        let position = planter
            .selected_position(block, &inst)
            .filter(|_| planter.is_plantable(block));
        let Some(position) = position else { continue };
        for recorded in accesses {
            let place = Place {
                block,
                offset: inst.offset,
                guarded: inst,
                position,
            };
            plant_access(planter, &place, &recorded);
        }
    }
}

/// What the message of a race says, by the access before.
#[derive(Clone, Copy)]
struct Variant {
    before: Kind,
    text: &'static str,
}

/// Plants the record of an access, and an abort for each kind of access that it may race with.
fn plant_access<'w>(planter: &mut Planter<'_, '_, 'w>, place: &Place<'w>, recorded: &RecordedAccess) {
    let variants: Vec<Variant> = [
        (Kind::Store, "is stored by"),
        (Kind::Atomic, "is changed by an atomic of"),
        (Kind::Load, "is read by"),
        (Kind::Loads, "is read by several, one of them"),
    ]
    .into_iter()
    .filter(|(before, _)| recorded.can_race_with(*before))
    .map(|(before, text)| Variant { before, text })
    .collect();
    let name = planter.expressions().memory(recorded.access.pointer, 0);
    let name = name.map_or_else(|| "an element of shared memory".to_owned(), |name| format!("`{name}`"));
    let index = planter.index;
    let ModulePlanter {
        out,
        shadow,
        guards,
        races,
        ..
    } = &mut *planter.module;
    let invocation = shadow.invocation(out);
    let Some(functions) = &mut races.functions else { return };
    let (kind, scalars) = (recorded.access.kind, recorded.access.scalars);
    let recorder = functions.recorder((&mut *out, shadow, &mut *guards), (kind, recorded.home), scalars);
    let text = Text {
        name,
        kind,
        line: recorded.line,
        line_of: (!races.lines.is_empty()).then(|| functions.line(out, guards, &races.lines)),
        who: if races.by_subgroup { "subgroup" } else { "invocation" },
        invocation,
        quoted: recorded.line.is_none().then(|| quote(&place.guarded)),
    };
    let write_failed = |out: &mut Emitter| {
        let at = recorded.access.write_first(out, index, recorded.base);
        let old = recorder.write(out, at, recorded.site);
        let (bool, zero) = (out.bool(), out.constant(0));
        let races = out.emit(op::INotEqual, bool, (old, zero));
        match recorded.same.filter(|_| kind == Kind::Store) {
            Some(sites) => {
                let is_same = write_is_store_at(out, old, sites);
                let differs = out.emit(op::LogicalNot, bool, is_same);
                (out.emit(op::LogicalAnd, bool, (races, differs)), old)
            }
            None => (races, old),
        }
    };
    planter.plant_variants(
        (Check::Races, place),
        &variants,
        write_failed,
        |out, variant, old| write_is(out, old, variant.before),
        |out, variant, old| text.message(out, variant, old),
    );
}

/// The parts of the messages of an access.
struct Text {
    name: String,
    kind: Kind,
    line: Option<u32>,
    /// The function that returns the line of the other access.
    line_of: Option<Id>,
    who: &'static str,
    /// The private variable with the number of the invocation.
    invocation: Id,
    quoted: Option<String>,
}

impl Text {
    /// The message of a race with the access in `old`.
    fn message(&self, out: &mut Emitter, variant: &Variant, old: Id) -> Message {
        let uint = out.uint();
        let who = write_who(out, old);
        let mut message = Message::default();
        message.push_literal(&format!("{} {} ", self.name, variant.text));
        message.push_text(&format!("{} %u", self.who));
        message = message.with(uint, who);
        if let Some(line_of) = self.line_of {
            let line = out.calculate(op::FunctionCall, (line_of, old));
            message.push_text(" at line %u");
            message = message.with(uint, line);
        }
        let verb = match (self.kind, variant.before) {
            (Kind::Store, Kind::Store) => "by",
            (Kind::Store, _) => "stored by",
            (Kind::Atomic, _) => "changed by an atomic of",
            (Kind::Load | Kind::Loads, _) => "read by",
        };
        let invocation = out.calculate(op::Load, self.invocation);
        message.push_text(&format!(" and {verb} invocation %u"));
        message = message.with(uint, invocation);
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
