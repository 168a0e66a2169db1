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
//! one by one. To those of Workgroup any invocation may store; once one has ended that has read too early, or that might have stored yet,
//! its workgroup is silent.
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

use super::faults::{FaultClass, Faulty, Found, Origin, write_number};
use super::message::Message;
use super::module::ModulePlanter;
use super::module_facts::ModuleFacts;
use super::operand_checks::ValueFacts;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::workgroup::count_ends::count_ends;
use super::workgroup::shared_words::SharedWords;
use candidates::{Candidates, reached};
use init_bits::{InitBits, Sample};
use init_bits_declarations::InitBitsDeclarations;
use loads::{CheckedLoad, CheckedPart};
use message::{Unit, message, units};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::rc::Rc;
use stores::stored_place;
use vkabort_analysis::effects::{EffectPoint, Effects};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::points_before::PointsBefore;
use vkabort_analysis::view::path::Path;
use vkabort_analysis::view::{FunctionAccesses, ModuleView, ObjectClass};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::op::{scope, storage_class};
use vkabort_spirv::{Id, op};

/// The check `initialized`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn prepare<'w>(&self, module: &mut ModulePlanter<'_, 'w>, facts: &mut ModuleFacts<'_, '_, 'w>) {
        prepare(module, facts.view, &mut facts.values.unstored);
    }

    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        plant(planter, facts);
    }

    fn properties(&self) -> Properties {
        Properties {
            travels: true,
            // One reads shared memory too early, which another check then explains to the others.
            is_missed_at: Some(|index, place| {
                let guarded = &place.guarded;
                guarded.opcode() == op::Load
                    && index.storage_class(index.type_of(guarded.pointer())) == Some(storage_class::Workgroup)
            }),
            ..Properties::PLAIN
        }
    }
}

/// Finds the loads, and writes the bits of their variables in all functions.
fn prepare<'v, 'a, 'w>(
    module: &mut ModulePlanter<'_, 'w>,
    view: &'v ModuleView<'a, 'w>,
    effects: &mut Effects<'v, 'a, 'w>,
) {
    let found = Candidates::find(view, module, effects);
    let warnings = found.warnings.into_iter();
    let warnings = warnings.map(|text| format!("checks are left out: {text}"));
    module.planted.warnings.extend(warnings);
    module.states.initialized.loads = found.loads;
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
    module.states.initialized.ends = ends;
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
                    .states
                    .initialized
                    .init_bits
                    .extend(bits.map(|bits| (object.pointer, bits)));
            }
            let (Some(bits), Some(reach)) = (
                module.states.initialized.init_bits.get(&object.pointer),
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
        awaited.extend(module.states.barriers.barriers());
        let points = PointsBefore::new(module.index, &module.graph, &awaited);
        module.ended.count_before(points);
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
        let Some(bits) = object.and_then(|object| module.states.initialized.init_bits.get(&object.pointer)) else {
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

fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
    let number = facts.function.number;
    if planter.module.is_collecting {
        let loads = planter.module.states.initialized.loads.get(&number).cloned();
        for load in loads.into_iter().flatten().filter(|load| !load.travelling.is_empty()) {
            collect_load(planter, number, &load);
        }
        return;
    }
    let loads = planter.module.states.initialized.loads.remove(&number);
    for load in loads.into_iter().flatten().filter(|load| !load.at_once.is_empty()) {
        plant_load(planter, facts, &load);
    }
}

fn collect_load<'w>(planter: &mut Planter<'_, '_, 'w>, function: FunctionIndex, load: &CheckedLoad<'w>) {
    let index = planter.index;
    let Some(position) = planter.selected_position(load.block, &load.inst) else {
        return;
    };
    let bits = planter.module.states.initialized.init_bits.get(&load.variable).cloned();
    let ends = ends(planter, load);
    for unit in units(index, load, &load.travelling) {
        if unit.is_tested_by_bits() && bits.is_none() {
            continue;
        }
        planter.module.faults.add(Faulty {
            function,
            block: load.block,
            inst: load.inst,
            check: Check::Initialized,
            position,
            class: FaultClass::Unstored,
            origin: Rc::new(TravellingUnit {
                load: load.clone(),
                unit,
                bits: bits.clone(),
                ends,
            }),
        });
    }
}

/// Parts of a load whose faults travel.
struct TravellingUnit<'w> {
    load: CheckedLoad<'w>,
    unit: Unit,
    bits: Option<InitBits>,
    ends: Option<(Id, u32)>,
}

impl<'w> Origin<'w> for TravellingUnit<'w> {
    fn parts(&self) -> Vec<Path> {
        self.unit.parts.iter().map(|part| part.path.clone()).collect()
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>) -> Vec<Id> {
        let sample = self.bits.as_ref().zip(self.load.bits.as_ref());
        let sample = sample.filter(|_| self.unit.is_tested_by_bits());
        let sample = sample.map(|(bits, place)| bits.write_sample(index, out, place));
        let tests = write_tests(out, &self.unit.parts, sample.as_ref());
        let guards = write_guards(out, sample.as_ref(), self.ends);
        let bool = out.bool();
        let guarded = tests.into_iter().map(|test| {
            guards
                .iter()
                .fold(test, |test, guard| out.emit(op::LogicalAnd, bool, (test, *guard)))
        });
        guarded.collect()
    }

    fn text(&self, names: &Expressions<'_, '_>, is_direct: bool) -> Message {
        message(names, &self.load, &self.unit, is_direct)
    }

    fn numbers(&self) -> Vec<u32> {
        let is_named = self.unit.names_component() && !self.unit.has_element();
        let parts = self.unit.parts.iter().filter(|_| is_named);
        parts.map(|part| part.path.last().copied().unwrap_or(0)).collect()
    }

    fn with_values(&self, out: &mut Emitter, index: &Index<'_>, message: Message, found: Found) -> Message {
        if self.unit.has_element() {
            return match found.is_direct {
                true => self.unit.with_values(index, out, message, &[]),
                false => message,
            };
        }
        match self.numbers().as_slice() {
            [] => message,
            numbers => {
                let which = write_number(out, found, numbers);
                message.with(out.uint(), which)
            }
        }
    }
}

fn plant_load<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &ValueFacts<'_, '_, '_, 'w>, load: &CheckedLoad<'w>) {
    let index = planter.index;
    let Some(position) = planter.selected_position(load.block, &load.inst) else {
        return;
    };
    let point = EffectPoint {
        block: load.block,
        offset: load.inst.offset,
    };
    let mut sample = None;
    let ends = ends(planter, load);
    for unit in units(index, load, &load.at_once) {
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
        let mut text = message(planter.expressions(), load, &unit, true);
        if !position.has_line() {
            text.push_literal(&format!(" ({})", super::scalars::quote(&load.inst)));
        }
        planter.plant_with(
            Check::Initialized,
            &place,
            |out| write_failed(out, &unit, (sample.as_ref(), ends)),
            |out, tests| unit.with_values(index, out, text, &tests),
        );
        planter.add_tested(facts.function, key, &point);
    }
}

/// The shared memory of checks, and the word with the number of invocations that have ended, for a load of shared memory.
fn ends(planter: &mut Planter<'_, '_, '_>, load: &CheckedLoad<'_>) -> Option<(Id, u32)> {
    let bits = planter.module.states.initialized.init_bits.get(&load.variable);
    let word = planter
        .module
        .states
        .initialized
        .ends
        .filter(|_| bits.is_some_and(InitBits::is_shared))?;
    Some((planter.module.shared_words.variable(&mut planter.module.out), word))
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
    let bits = planter.module.states.initialized.init_bits.get(&load.variable)?.clone();
    let place = load.bits.as_ref()?;
    Some(planter.insert(load.inst.offset, |out| bits.write_sample(index, out, place)))
}

/// Writes whether a unit has a part that is not stored, and the same of each bit of it. `ends`: the shared memory of checks, and the word
/// with the number of invocations that have ended, of a variable there.
fn write_failed(out: &mut Emitter, unit: &Unit, (sample, ends): (Option<&Sample>, Option<(Id, u32)>)) -> (Id, Vec<Id>) {
    let bool = out.bool();
    let tests = write_tests(out, unit.bits(), sample);
    let any = tests
        .iter()
        .copied()
        .reduce(|one, other| out.emit(op::LogicalOr, bool, (one, other)));
    let guards = write_guards(out, sample.filter(|_| unit.is_tested_by_bits()), ends);
    let failed = guards.into_iter().fold(any.unwrap_or_default(), |failed, guard| {
        out.emit(op::LogicalAnd, bool, (failed, guard))
    });
    (failed, tests)
}

/// Writes whether each part is not stored.
fn write_tests<'p>(
    out: &mut Emitter,
    parts: impl IntoIterator<Item = &'p CheckedPart>,
    sample: Option<&Sample>,
) -> Vec<Id> {
    let bool = out.bool();
    let tests = parts.into_iter().map(|part| {
        let (Some(sample), Some(bit)) = (sample, part.bit) else {
            return out.value(op::ConstantTrue, bool, ());
        };
        let uint = out.uint();
        let (word, mask) = sample.word(bit);
        let (mask, zero) = (out.constant(mask), out.constant(0));
        let stored = out.emit(op::BitwiseAnd, uint, (word, mask));
        out.emit(op::IEqual, bool, (stored, zero))
    });
    tests.collect()
}

/// Writes what else has to hold: the indices are inside, and no invocation of the workgroup has ended.
fn write_guards(out: &mut Emitter, sample: Option<&Sample>, ends: Option<(Id, u32)>) -> SmallVec<[Id; 2]> {
    let mut guards: SmallVec<[Id; 2]> = sample.and_then(|sample| sample.is_inside).into_iter().collect();
    if let Some((shared_words, word)) = ends {
        let (bool, uint) = (out.bool(), out.uint());
        let [workgroup, zero, word] = [scope::Workgroup, 0, word].map(|value| out.constant(value));
        let pointer = SharedWords::word_of(out, shared_words, word);
        let ended = out.emit(op::AtomicLoad, uint, (pointer, workgroup, zero));
        guards.push(out.emit(op::IEqual, bool, (ended, zero)));
    }
    guards
}
