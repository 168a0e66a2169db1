//! Accesses through addresses (`PhysicalStorageBuffer`) that are outside of the buffer that the pointer belongs to, or not aligned as
//! they declare; atomics, which declare nothing, as their scalars.
//!
//! ```text
//! %p = Load %pointer ..            becomes   %p = Load %pointer ..
//! loop:                                      %base = Bitcast %uvec2 %p
//!   %q = AccessChain %p .. %i                %buffer = FunctionCall %vkabort_buffer_of %base
//!   %v = Load %float %q Aligned 4            %first, %count = FunctionCall %vkabort_elements_4 %buffer %base 4
//!                                          loop:
//!                                            %q = AccessChain %p .. %i
//!                                            %failed = %i - %first >= %count
//!                                            .. if %failed, an abort for a misaligned address, and one for an access outside
//!                                            %v = Load %float %q Aligned 4
//! ```
//!
//! The decisions and their reasons: `docs/design/memory-checks.md`.
//!
//! Accesses outside of buffers and misaligned ones are undefined (Vulkan specification, "Physical Storage Buffer Access"; SPIR-V
//! specification, Memory Operands, Aligned). The check is planted in front of the access, which a failing invocation does not make. The
//! layer knows the buffers and publishes a table of them (`vkabort_record::buffer_table`). It is searched once for each pointer that
//! access chains begin with; a pointer that is in no buffer, as one of an array whose first index is 1, belongs to the nearest within
//! `NEAR` bytes. Buffers that overlap count as one. `test` writes the test of an access: of its index or, where that has no simple
//! form, its address.
//!
//! On request. Checked are loads, stores, copies and atomics. Not checked: accesses through logical pointers, of which
//! drivers know the buffer; columns of row-major matrices, whose components are apart; cooperative matrices and copies of a computed
//! size; the shader's own constant data, and what acceleration structures or shader records are read through, since they have no
//! pointers. Without emulated aborts, there is no table of buffers and nothing is planted.

mod base;
mod buffer_finder;
mod extent;
mod offset;
mod physical;
mod pointer_bounds;
mod searches;
pub(super) mod state;
mod test;

use super::accesses::{Access, accesses};
use super::message::Message;
use super::module::ModulePlanter;
use super::operand_checks::ValueFacts;
use super::place::Place;
use super::planter::Planter;
use super::rule::CheckRule;
use super::scalars::quote;
use base::Bases;
use physical::{Physical, RequiredTests, physical};
use smallvec::smallvec;
use state::AddressState;
use std::cell::Cell;
use test::{Test, Tests, write_is_misaligned};
use vkabort_analysis::effects::EffectPoint;
use vkabort_options::Check;
use vkabort_record::buffer_table::OUTSIDE;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::lowered::Feature;
use vkabort_spirv::{Id, Inst, op};

/// Fault of an access.
#[derive(Clone, Copy)]
enum Fault {
    Misaligned,
    Outside,
}

/// The check `addresses`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        plant(planter, facts);
    }

    fn finish(&self, module: &mut ModulePlanter<'_, '_>) {
        let AddressState { finder, searches, .. } = &module.states.addresses;
        module.planted.warnings.extend(searches.warning());
        module.planted.hooks.find_buffer = finder.map(|finder| finder.find_buffer);
    }
}

fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
    let options = planter.options();
    if options.sanitize.buffer_table.is_none() || !options.lowers.contains(Feature::Abort) {
        return;
    }
    let accesses = accesses(planter.index, planter.function).into_iter();
    let accesses = accesses.filter(|access| facts.function.graph.is_reachable(access.block));
    let accesses: Vec<Access<'_>> = accesses.collect();
    let (mut bases, mut tests) = (Bases::default(), Tests::default());
    let physical = accesses.into_iter().filter_map(|access| {
        let mut physical = physical(planter, access)?;
        physical.base = bases.original(planter, facts, physical.base);
        tests.count(&physical);
        Some(physical)
    });
    let physical: Vec<Physical<'_>> = physical.collect();
    for access in &physical {
        plant_tests(planter, facts, (&mut bases, &mut tests), access);
    }
}

fn plant_tests<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &ValueFacts<'_, '_, '_, 'w>,
    (bases, tests): (&mut Bases, &mut Tests),
    physical: &Physical<'w>,
) {
    let Physical {
        access: Access { block, inst, .. },
        pointer,
        base,
        bytes,
        alignment,
        ..
    } = *physical;
    let point = EffectPoint {
        block,
        offset: inst.offset,
    };
    let Some(position) = planter.selected_position(block, &inst) else {
        return;
    };
    let key = |number, size| (Check::Addresses as u32, smallvec![number, pointer.word(), size]);
    let keys = [key(0, alignment), key(1, bytes)];
    let [alignment_is_known, bounds_are_known] = [0, 1].map(|number: usize| {
        keys.get(number)
            .is_some_and(|key| planter.is_tested(facts.function, key, &point))
    });
    let required = RequiredTests {
        alignment: alignment > 1 && !alignment_is_known,
        bounds: !bounds_are_known,
    };
    let faults = [
        (Fault::Misaligned, required.alignment),
        (Fault::Outside, required.bounds),
    ];
    let faults: Vec<Fault> = faults
        .into_iter()
        .filter_map(|(fault, is_tested)| is_tested.then_some(fault))
        .collect();
    if faults.is_empty() {
        return;
    }
    let test = if required.bounds {
        let Some(base) = bases.of(planter, facts, base, &point) else {
            return;
        };
        tests.of(planter, physical, required, &base)
    } else {
        Test::Address { range: None }
    };
    let place = Place::of_point(&point, inst, position);
    let name = planter.expressions().memory(pointer, 0);
    let suffix = match (name, position.has_line()) {
        (Some(name), _) => format!(": `{name}`"),
        (None, true) => String::new(),
        (None, false) => format!(" ({})", quote(&inst)),
    };
    let verb = verb(&inst, pointer);
    // What is written first is on every path to the others.
    let written = Cell::new(None);
    let write_words = |out: &mut Emitter| {
        let words = written.get().unwrap_or_else(|| test.write_words(out, physical));
        written.set(Some(words));
        words
    };
    planter.plant_variants(
        (Check::Addresses, &place),
        &faults,
        |out| {
            let failed = test.write(out, physical, required);
            (failed, failed)
        },
        |out, fault, failed| match fault {
            Fault::Misaligned => {
                let [low, _] = write_words(out);
                write_is_misaligned(out, low, alignment)
            }
            // The other one has ended the invocation.
            Fault::Outside => failed,
        },
        |out, fault, _| {
            let uint = out.uint();
            let [low, high] = write_words(out);
            match fault {
                Fault::Misaligned => {
                    let mut text = Message::new("address 0x%08x%08x of ");
                    text.push_literal(&format!("{verb} is not a multiple of {alignment}{suffix}"));
                    text.with(uint, high).with(uint, low)
                }
                Fault::Outside => {
                    let size = out.constant(bytes);
                    let mut text = Message::new(verb);
                    text.push_text(" of %u bytes at address 0x%08x%08x");
                    text.push_literal(&format!("{OUTSIDE}{suffix}"));
                    text.with_constant(uint, size).with(uint, high).with(uint, low)
                }
            }
        },
    );
    for key in keys {
        planter.add_tested(facts.function, key, &point);
    }
}

/// Name of an access in messages.
fn verb(inst: &Inst<'_>, pointer: Id) -> &'static str {
    match inst.opcode() {
        op::Load => "a load",
        op::Store => "a store",
        op::CopyMemory if pointer == inst.id(2) => "a load",
        op::CopyMemory => "a store",
        _ => "an atomic operation",
    }
}
