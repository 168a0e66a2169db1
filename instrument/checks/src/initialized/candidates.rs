//! Loads that may read uninitialised memory, and where the value is used.

use super::super::accesses::{Step, indices};
use super::super::workgroup::size::is_in_workgroups;
use super::layout::{Layout, MAX_BITS, MAX_SHARED_BITS};
use super::loads::{CheckedLoad, CheckedPart};
use super::stores::stored_place;
use crate::module::ModulePlanter;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_analysis::effects::{Carrier, Effects, Source, ValuePart, leaves};
use vkabort_analysis::unstored::{Stored, Unstored};
use vkabort_analysis::view::path::{Path, type_at};
use vkabort_analysis::view::{Access, AccessKind, FunctionView, ModuleView, ObjectClass};
use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{DefIndex, FunctionIndex, Table};
use vkabort_spirv::{Id, op, op_sets};

/// Most bits in shared memory that one instruction sets.
const MOST_SHARED_BITS: u32 = 64;

/// Loads that may read uninitialised memory, and the bit layouts of their variables.
#[derive(Debug, Default)]
pub(super) struct Candidates<'w> {
    pub(super) loads: BTreeMap<FunctionIndex, Vec<CheckedLoad<'w>>>,
    /// The layouts of the variables of which bits are tested.
    pub(super) layouts: BTreeMap<Id, Layout>,
    pub(super) warnings: Vec<String>,
}

impl<'w> Candidates<'w> {
    pub(super) fn find<'v, 'a>(
        view: &'v ModuleView<'a, 'w>,
        module: &ModulePlanter<'_, 'w>,
        effects: &mut Effects<'v, 'a, 'w>,
    ) -> Self {
        let mut finder = Finder {
            view,
            unstored: Unstored::new(view),
            effects,
            layouts: layouts(view, module.options),
            too_large: BTreeSet::new(),
            too_many_parts: 0,
        };
        let mut found = Self::default();
        for number in reached(view) {
            if let Some(function) = view.function(number) {
                let loads = finder.loads(function);
                if !loads.is_empty() {
                    found.loads.insert(number, loads);
                }
            }
        }
        finder.keep_travelling(&mut found.loads, &|number| module.is_planted(number));
        let all = found.loads.values().flatten();
        let tested: BTreeSet<Id> = all
            .filter(|load| load.bits.is_some())
            .map(|load| load.variable)
            .collect();
        found.layouts = std::mem::take(&mut finder.layouts)
            .into_iter()
            .filter_map(|(variable, layout)| Some((variable, layout?)))
            .filter(|(variable, _)| tested.contains(variable))
            .collect();
        if !finder.too_large.is_empty() {
            let count = finder.too_large.len();
            found.warnings.push(format!(
                "variables of which not all stores are followed, by their pointers or by the number of their parts: {count}"
            ));
        }
        if finder.too_many_parts > 0 {
            let count = finder.too_many_parts;
            found.warnings.push(format!(
                "loads of more parts than are followed, of variables without a value: {count}"
            ));
        }
        found
    }
}

/// The functions that entry points reach.
pub(super) fn reached(view: &ModuleView<'_, '_>) -> Vec<FunctionIndex> {
    let reach = view.graph.reach.iter();
    let reached = reach.filter(|(_, reach)| !reach.entry_points.is_empty());
    reached.map(|(number, _)| number).collect()
}

/// The layouts of the variables that are followed, by the pointers of all accesses; `None` for those that cannot be.
fn layouts(view: &ModuleView<'_, '_>, options: &Options) -> HashMap<Id, Option<Layout>> {
    let index = view.index;
    let mut layouts: HashMap<Id, Option<Layout>> = HashMap::default();
    let mut escaped = BTreeSet::new();
    let is_shared_followed = view
        .graph
        .reach
        .values()
        .iter()
        .all(|reach| is_in_workgroups(index, reach));
    let mut divided = BTreeSet::new();
    for number in reached(view) {
        let (Some(accesses), Some(function)) = (view.accesses(number), index.functions.get(number)) else {
            continue;
        };
        for (_, object) in accesses.objects.iter() {
            if object.is_escaped {
                escaped.insert(object.pointer);
            }
            let is_followed = match object.class {
                ObjectClass::Function | ObjectClass::Private => true,
                ObjectClass::Output => !index.is_built_in(object.pointer) && !view.shares_outputs(number),
                ObjectClass::Workgroup => is_shared_followed,
                ObjectClass::Parameter(_) | ObjectClass::Described(_) => false,
            };
            let limit = match object.class {
                ObjectClass::Workgroup => MAX_SHARED_BITS,
                _ => MAX_BITS,
            };
            let layout = (is_followed && object.initializer.is_none()).then(|| Layout::new(object.ty, limit));
            let entry = layouts.entry(object.pointer).or_insert_with(|| layout.clone());
            if layout.is_none() {
                *entry = None;
            }
        }
        for block in index.blocks_of(function) {
            for inst in index.insts(block.offset, block.end) {
                if op_sets::base_pointer(&inst).is_none() || !divided.insert(inst.result()) {
                    continue;
                }
                let Some(found) = indices(index, inst.result()) else {
                    continue;
                };
                if let Some(slot) = layouts.get_mut(&found.base)
                    && let Some(layout) = slot
                    && layout.divide(index, options, &found.steps).is_none()
                {
                    *slot = None;
                }
            }
        }
    }
    for (variable, slot) in &mut layouts {
        let is_numbered = slot.as_mut().is_some_and(|layout| layout.number_bits().is_some());
        if escaped.contains(variable) || !is_numbered {
            *slot = None;
        }
    }
    drop_large_stores(view, &mut layouts);
    layouts
}

/// Drops the layouts of variables in shared memory of which an instruction stores very much at once, or it is not known what.
fn drop_large_stores(view: &ModuleView<'_, '_>, layouts: &mut HashMap<Id, Option<Layout>>) {
    for number in reached(view) {
        let Some(accesses) = view.accesses(number) else {
            continue;
        };
        for access in accesses.accesses.values() {
            let object = accesses.objects.get(access.place.object);
            let Some(object) = object.filter(|object| object.class == ObjectClass::Workgroup) else {
                continue;
            };
            let inst = view.index.inst(access.offset);
            if let Some(slot) = layouts.get_mut(&object.pointer)
                && let Some(layout) = slot
                && let Some(place) = stored_place(view, layout, access, &inst)
                && place.bits > MOST_SHARED_BITS
            {
                *slot = None;
            }
        }
    }
}

struct Finder<'e, 'v, 'a, 'w> {
    view: &'v ModuleView<'a, 'w>,
    unstored: Unstored,
    effects: &'e mut Effects<'v, 'a, 'w>,
    layouts: HashMap<Id, Option<Layout>>,
    /// Variables that are read too early, perhaps, and have no bits.
    too_large: BTreeSet<Id>,
    /// Loads of more scalars than are followed.
    too_many_parts: usize,
}

impl<'w> Finder<'_, '_, '_, 'w> {
    /// Leaves out the loads of which no fault comes to an effect.
    fn keep_travelling(
        &mut self,
        loads: &mut BTreeMap<FunctionIndex, Vec<CheckedLoad<'w>>>,
        is_planted: &dyn Fn(FunctionIndex) -> bool,
    ) {
        let travelling = loads.iter().flat_map(|(function, loads)| {
            let travelling = loads.iter().filter(|load| !load.travelling.is_empty());
            travelling.map(|load| (*function, load.inst.result()))
        });
        let sources: Vec<Source> = travelling.collect();
        let carriers = self.effects.flow(&sources, is_planted).carriers;
        for (function, loads) in loads.iter_mut() {
            for load in &mut *loads {
                if !carriers.contains(&Carrier::Value(*function, load.inst.result())) {
                    load.travelling.clear();
                }
            }
            loads.retain(|load| !load.at_once.is_empty() || !load.travelling.is_empty());
        }
    }

    fn loads(&mut self, function: &FunctionView<'_, 'w>) -> Vec<CheckedLoad<'w>> {
        let states = self.unstored.states(self.view, function);
        if states.values().iter().all(|stored| *stored == Stored::Always) {
            return Vec::new();
        }
        let accesses = function.accesses.accesses.iter();
        let loads = accesses.filter(|(_, access)| matches!(access.kind, AccessKind::Load(_)));
        let mut found = Vec::new();
        for (number, access) in loads {
            let read: Vec<DefIndex> = function.memory.read(number).collect();
            let is_stored = |definition: &DefIndex| states.get(*definition).is_none_or(|s| *s == Stored::Always);
            if !read.iter().all(is_stored) {
                found.extend(self.load(function, access, &read, &states));
            }
        }
        found
    }

    fn load(
        &mut self,
        function: &FunctionView<'_, 'w>,
        access: &Access,
        read: &[DefIndex],
        states: &Table<DefIndex, Stored>,
    ) -> Option<CheckedLoad<'w>> {
        let index = function.index;
        let inst = index.inst(access.offset);
        let variable = function.accesses.objects.get(access.place.object)?.pointer;
        let Some(mut paths) = leaves(index, inst.result_type()) else {
            self.too_many_parts += 1;
            return None;
        };
        paths.sort_unstable();
        let mut parts: Vec<(Path, Stored, bool)> = Vec::new();
        for path in paths {
            if !is_scalar(index, type_at(index, inst.result_type(), &path)) {
                continue;
            }
            let stored = state_of(function, access, &path, read, states);
            if stored == Stored::Always {
                continue;
            }
            let id = inst.result();
            let part = ValuePart { id, path };
            let is_observed = self.effects.is_observed(function.number, &part);
            parts.push((part.path, stored, is_observed));
        }
        if parts.is_empty() {
            return None;
        }
        let is_certain = parts.iter().all(|(_, stored, _)| *stored == Stored::Never);
        let steps: Option<Vec<Step>> = indices(index, inst.pointer()).map(|found| found.steps);
        let layout = self.layouts.get(&variable)?.as_ref();
        let bits = layout
            .zip(steps)
            .and_then(|(layout, steps)| layout.place(index, &steps));
        if !is_certain && bits.is_none() {
            self.too_large.insert(variable);
        }
        let mut load = CheckedLoad {
            block: access.block,
            inst,
            variable,
            bits: None,
            at_once: Vec::new(),
            travelling: Vec::new(),
        };
        for (path, stored, is_observed) in parts {
            let bit = match stored {
                Stored::Never => None,
                _ => match layout
                    .zip(bits.as_ref())
                    .and_then(|(layout, bits)| layout.bit(bits, &path))
                {
                    Some(bit) => Some(bit),
                    None => continue,
                },
            };
            let part = CheckedPart { path, bit };
            match is_observed {
                true => load.at_once.push(part),
                false => load.travelling.push(part),
            }
        }
        load.bits = bits.filter(|_| !is_certain);
        (!load.at_once.is_empty() || !load.travelling.is_empty()).then_some(load)
    }
}

/// Whether arithmetic takes values of a type. Instructions for other types may take an object that nothing has stored, such as the
/// clipping value of `OpCooperativeMatrixLoadTensorNV`.
fn is_scalar(index: &Index<'_>, ty: Id) -> bool {
    matches!(
        index.opcode(ty),
        op::TypeBool | op::TypeInt | op::TypeFloat | op::TypePointer
    )
}

/// State of a part of the memory that a load reads.
fn state_of(
    function: &FunctionView<'_, '_>,
    access: &Access,
    path: &Path,
    read: &[DefIndex],
    states: &Table<DefIndex, Stored>,
) -> Stored {
    let state = |definition: DefIndex| states.get(definition).copied().unwrap_or(Stored::Always);
    let place = &access.place;
    let full: Path = match place.is_exact {
        true => place.path.iter().chain(path).copied().collect(),
        false => place.path.clone(),
    };
    let cells = function.cells.at(place.object, &full);
    let of_cells = read.iter().copied().filter(|definition| {
        let definition = function.memory.definitions.get(*definition);
        definition.is_some_and(|definition| cells.iter().any(|cell| cell == definition.cell))
    });
    let mut found = of_cells.map(state);
    let first = found.next().unwrap_or(Stored::Always);
    found.fold(first, |one, other| if one == other { one } else { Stored::Perhaps })
}
