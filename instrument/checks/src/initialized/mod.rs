//! Checks that a variable is stored to before it is read.
//!
//! ```text
//! float sum;                          %sum_stored = Variable %uint 0
//! if (c) sum = 1.0;                   Store %sum %one, Store %sum_stored 1
//! words[0] = sum;                     %bits = Load %sum_stored, %value = Load %sum
//!                                     the abort if %bits is 0
//! ```
//!
//! A variable without an initialiser holds an undefined value until it is stored. Reading it is not a fault, but the value is one where
//! it has an effect (`analysis::effects`). Checked are loads of scalars, vectors, structures and arrays of up to 64 scalars from variables
//! of the storage classes Function, Private, Output and Workgroup, by parts: members, elements, and components of vectors that are stored
//! one by one. To those of Workgroup any invocation may store; once one has ended by a failed check or an abort that such a
//! store may have followed, its workgroup is silent.
//! The view knows which stores reach a load (`analysis::unstored`): nothing is planted where one does on every path, and nothing has to
//! be counted where none does on any. Else each part has a bit ([`layout`]), which every store sets ([`init_bits`]) and the load reads.
//!
//! These count as stored: variables with an initialiser; what a call may store through a pointer, a copy (`OpCopyMemory`), an atomic or
//! any instruction that is not known; all of a variable through a pointer that is not formed by access chains. Not checked: pointer
//! parameters; built-in outputs, and those of stages that share them (tessellation control, mesh); variables of more than
//! [`MAX_BITS`](layout::MAX_BITS) parts or of a specialised length; `OpUndef`, by which compilers replace loads of what was never
//! stored. Not effects: a structure or array that is copied as a whole with a part that is not stored, components of outputs and texels
//! that the next stage or the format need not have (`analysis::effects::copies`).

mod candidates;
mod init_bits;
mod init_bits_declarations;
mod layout;
pub(super) mod loads;
mod message;
mod stores;

use super::barriers::count_ends;
use super::module::ModulePlanter;
use super::operand_checks::ValueFacts;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::scalars::{are_scalars, write_conditions};
use super::workgroup::shared_words::SharedWords;
use candidates::{Candidates, reached};
use init_bits::{InitBits, Sample};
use init_bits_declarations::InitBitsDeclarations;
use loads::{CheckedLoad, CheckedPart};
use message::{Unit, message, units};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use stores::stored_place;
use vkabort_analysis::effects::EffectPoint;
use vkabort_analysis::points_before::PointsBefore;
use vkabort_analysis::view::{FunctionAccesses, ModuleView, ObjectClass};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{scope, storage_class};
use vkabort_spirv::{Id, op};

/// Finds the loads, and writes the bits of their variables in all functions.
pub(super) fn prepare<'w>(module: &mut ModulePlanter<'_, 'w>, view: &ModuleView<'_, 'w>) {
    let found = Candidates::find(view, module.options);
    let warnings = found.warnings.into_iter();
    let warnings = warnings.map(|text| format!("checks are left out: {text}"));
    module.planted.warnings.extend(warnings);
    module.unstored.loads = found.loads;
    let mut layouts = found.layouts;
    let is_shared = |variable: &Id| {
        let ty = module.index.type_of(*variable);
        module.index.storage_class(ty) == Some(storage_class::Workgroup)
    };
    // An invocation that reads what an ended one would have stored has no fault.
    let ends = match layouts.keys().any(is_shared) {
        true => count_ends(module),
        false => None,
    };
    module.unstored.ends = ends;
    let mut without_room = 0;
    let mut writer = InitBitsDeclarations::default();
    // Stores to shared memory, and checked barriers.
    let mut awaited = BTreeSet::new();
    for number in reached(view) {
        let (Some(accesses), Some(function)) = (view.accesses(number), module.index.functions.get(number)) else {
            continue;
        };
        for (_, object) in accesses.objects.iter() {
            if let Some(layout) = layouts.remove(&object.pointer) {
                let bits = match object.class {
                    ObjectClass::Function => Some(writer.local(module, function, layout)),
                    ObjectClass::Workgroup => {
                        let bits = writer.shared(module, layout).filter(|_| ends.is_some());
                        without_room += usize::from(bits.is_none());
                        bits
                    }
                    _ => Some(writer.private(&mut module.out, layout)),
                };
                module
                    .unstored
                    .init_bits
                    .extend(bits.map(|bits| (object.pointer, bits)));
            }
            let (Some(bits), Some(reach)) = (
                module.unstored.init_bits.get(&object.pointer),
                view.graph.reach.get(number),
            ) else {
                continue;
            };
            if bits.is_shared() {
                module.shared_words.mark_used(reach);
            } else if object.class.is_variable_of_module() {
                for entry in &reach.entry_points {
                    module.interfaces.entry(*entry).or_default().insert(bits.variable());
                }
            }
        }
        mark_stores(module, view, accesses, &mut awaited);
    }
    if ends.is_some() {
        awaited.extend(module.barriers.counters.keys());
        module.unstored.before_stores = PointsBefore::new(module.index, &module.graph, &awaited);
    }
    if without_room > 0 {
        let text = format!("checks are left out: shared memory has no room for the bits of variables: {without_room}");
        module.planted.warnings.push(text);
    }
}

/// Sets the bits of a function's stores. Adds the word offsets of those to shared memory to `shared`.
fn mark_stores(
    module: &mut ModulePlanter<'_, '_>,
    view: &ModuleView<'_, '_>,
    accesses: &FunctionAccesses,
    shared: &mut BTreeSet<usize>,
) {
    let index = module.index;
    for access in accesses.accesses.values() {
        let object = accesses.objects.get(access.place.object);
        let Some(bits) = object.and_then(|object| module.unstored.init_bits.get(&object.pointer)) else {
            continue;
        };
        let inst = index.inst(access.offset);
        if let Some(place) = stored_place(view, &bits.layout, access, &inst) {
            // Behind a barrier of the called function, others may read what it has stored.
            let is_call = bits.is_shared() && inst.opcode() == op::FunctionCall;
            let at = if is_call { inst.offset } else { inst.end() };
            bits.mark(index, &mut module.out, &mut module.edits, at, &place);
            shared.extend(bits.is_shared().then_some(inst.offset));
        }
    }
}

/// Plants the check into a function.
pub(super) fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
    let loads = planter.module.unstored.loads.remove(&facts.function.number);
    for load in loads.into_iter().flatten() {
        plant_load(planter, facts, &load);
    }
}

fn plant_load<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &ValueFacts<'_, '_, '_, 'w>, load: &CheckedLoad<'w>) {
    let index = planter.index;
    let Some(position) = planter.selected_position(load.block, &load.inst) else {
        return;
    };
    let mut by_parts: BTreeMap<&[CheckedPart], Vec<&EffectPoint>> = BTreeMap::new();
    for (point, parts) in load.points.iter().filter(|(point, _)| are_scalars(index, point)) {
        by_parts.entry(parts).or_default().push(point);
    }
    let mut tests = Vec::new();
    for (parts, points) in by_parts {
        for unit in units(index, load, parts) {
            let key = key(load, &unit);
            let untested = points
                .iter()
                .copied()
                .filter(|point| !planter.is_tested(facts.function, &key, point));
            let untested: Vec<EffectPoint> = untested.cloned().collect();
            let points = planter.outside_loops(load.block, untested);
            let unit = Rc::new(unit);
            tests.extend(points.into_iter().map(|point| (point, Rc::clone(&unit))));
        }
    }
    tests.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut sample = None;
    let bits = planter.module.unstored.init_bits.get(&load.variable);
    let ends = match bits.is_some_and(InitBits::is_shared) {
        true => planter.module.unstored.ends,
        false => None,
    };
    let ends = ends.map(|word| (planter.module.shared_words.variable(&mut planter.module.out), word));
    for (point, unit) in tests {
        let key = key(load, &unit);
        if planter.is_tested(facts.function, &key, &point) {
            continue;
        }
        if unit.is_tested_by_bits() && sample.is_none() {
            sample = write_sample(planter, load);
        }
        if unit.is_tested_by_bits() && sample.is_none() {
            continue;
        }
        let place = Place::of_point(&point, load.inst, position);
        let mut text = message(planter.expressions(), load, &unit);
        if !position.has_line() {
            text.push_literal(&format!(" ({})", super::scalars::quote(&load.inst)));
        }
        planter.plant_with(
            Check::Initialized,
            &place,
            |out| write_failed(out, index, &point, &unit, (sample.as_ref(), ends)),
            |out, tests| unit.with_values(index, out, text, &tests),
        );
        planter.add_tested(facts.function, key, &point);
    }
}

/// Key of a test by its bits: the same bits are tested once on a path, since nothing clears them.
fn key(load: &CheckedLoad<'_>, unit: &Unit) -> TestKey {
    let first = load.bits.as_ref().map_or(0, |place| place.first);
    let dynamic = load.bits.iter().flat_map(|place| &place.dynamic);
    let dynamic = dynamic.flat_map(|of| [of.index.word(), of.stride]);
    let mut words: SmallVec<[u32; 8]> = SmallVec::new();
    words.extend([load.variable.word(), first]);
    words.extend(unit.parts.iter().map(|part| part.bit.map_or(u32::MAX, |bit| bit)));
    words.push(u32::MAX);
    words.extend(dynamic);
    (Check::Initialized as u32, words)
}

/// Writes the bits of a load in front of it.
fn write_sample(planter: &mut Planter<'_, '_, '_>, load: &CheckedLoad<'_>) -> Option<Sample> {
    let index = planter.index;
    let bits = planter.module.unstored.init_bits.get(&load.variable)?.clone();
    let place = load.bits.as_ref()?;
    Some(planter.insert(load.inst.offset, |out| bits.write_sample(index, out, place)))
}

/// Writes whether a unit has a part that is not stored, and the same of each bit of it. `ends`: the shared memory of checks, and the word
/// with the number of invocations that have ended, of a variable there.
fn write_failed(
    out: &mut Emitter,
    index: &Index<'_>,
    point: &EffectPoint,
    unit: &Unit,
    (sample, ends): (Option<&Sample>, Option<(Id, u32)>),
) -> (Id, Vec<Id>) {
    let bool = out.bool();
    let mut tests: Vec<Id> = Vec::new();
    for part in unit.bits() {
        let (Some(sample), Some(bit)) = (sample, part.bit) else {
            tests.push(out.value(op::ConstantTrue, bool, ()));
            continue;
        };
        let uint = out.uint();
        let (word, mask) = sample.word(bit);
        let (mask, zero) = (out.constant(mask), out.constant(0));
        let stored = out.emit(op::BitwiseAnd, uint, (word, mask));
        tests.push(out.emit(op::IEqual, bool, (stored, zero)));
    }
    let any = tests
        .iter()
        .copied()
        .reduce(|one, other| out.emit(op::LogicalOr, bool, (one, other)));
    let mut failed = any.unwrap_or_default();
    if let Some(inside) = sample
        .and_then(|sample| sample.is_inside)
        .filter(|_| unit.is_tested_by_bits())
    {
        failed = out.emit(op::LogicalAnd, bool, (failed, inside));
    }
    if let Some((shared_words, word)) = ends {
        let uint = out.uint();
        let [workgroup, zero, word] = [scope::Workgroup, 0, word].map(|value| out.constant(value));
        let pointer = SharedWords::word_of(out, shared_words, word);
        let ended = out.emit(op::AtomicLoad, uint, (pointer, workgroup, zero));
        let has_all = out.emit(op::IEqual, bool, (ended, zero));
        failed = out.emit(op::LogicalAnd, bool, (failed, has_all));
    }
    (write_conditions(out, index, failed, &point.conditions), tests)
}
