//! Finds the accesses that `races` records, gives their variables a shadow, and numbers their sites.

use super::super::module::ModulePlanter;
use super::super::workgroup::block::ShadowBlock;
use super::super::workgroup::layout::SharedLayout;
use super::super::workgroup::shadow_location::ShadowLocation;
use super::super::workgroup::shared_scalar::SharedScalar;
use super::accesses::{SharedAccess, is_shared, memory_accesses};
use super::functions::RaceFunctions;
use super::inlined::too_often_inlined;
use super::log::MAX_WORDS;
use super::records::RecordedAccess;
use super::synchronization::Synchronization;
use super::uniform_values::UniformValues;
use super::word::{Kind, SITES};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_options::ShadowArea;
use vkabort_record::shared_access::{SharedAccess as SiteAccess, SharedAccessKind};
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::lowered::Feature;
use vkabort_spirv::{Id, op, op_sets};

/// Finds the accesses to record, and plants the counter of epochs.
pub(super) fn prepare(module: &mut ModulePlanter<'_, '_>) {
    let layout = SharedLayout::new(module.index, module.options);
    let (accesses, unseen) = find_accesses(module, &layout);
    if accesses.is_empty() && unseen.is_empty() {
        return;
    }
    let mut warn = |text: String| module.planted.warnings.push(text);
    if !unseen.is_empty() {
        warn("races by some accesses to shared memory are not checked: their pointers are computed".to_owned());
    }
    let synchronization = match Synchronization::new(module.index, module) {
        Ok(synchronization) => synchronization,
        Err(reason) => {
            let text = format!("races are not checked: {reason}");
            module.planted.warnings.push(text);
            return;
        }
    };
    let bases = reserve(module, &layout, &accesses);
    let accesses: Vec<SharedAccess> = accesses
        .into_iter()
        .filter(|access| bases.contains_key(&access.variable))
        .collect();
    if accesses.is_empty() {
        return;
    }
    let shared = bases.values().filter(|base| base.location == ShadowLocation::Shared);
    let words = shared.map(|base| base.first + base.scalars).max().unwrap_or(0);
    let ModulePlanter {
        out,
        shared_words,
        guards,
        edits,
        graph,
        options,
        ..
    } = &mut *module;
    let size = shared_words.size(out);
    let who = match synchronization.by_subgroup {
        true => shared_words.subgroup(out),
        false => shared_words.invocation(out),
    };
    let entries = options.sanitize.recorded_together.max(1);
    let functions = RaceFunctions::new(out, shared_words, guards, (who, size), (words, entries));
    let void = out.void();
    for offset in synchronization.barriers {
        out.emit(op::FunctionCall, void, functions.next_epoch);
        out.place(|code| edits.insert(offset, code));
    }
    for offset in synchronization.acquires {
        functions.write_silence(out);
        out.place(|code| edits.insert(offset, code));
    }
    for reach in graph.reach.values() {
        shared_words.mark_used(reach);
    }
    module.states.races.functions = Some(functions);
    module.states.races.by_subgroup = synchronization.by_subgroup;
    number_sites(module, accesses, &bases);
}

/// The accesses to variables in shared memory to which the module stores without an atomic, and the offsets of those that cannot be
/// followed to a variable.
fn find_accesses(module: &ModulePlanter<'_, '_>, layout: &SharedLayout) -> (Vec<SharedAccess>, Vec<usize>) {
    let (index, options) = (module.index, module.options);
    let (mut found, mut unseen) = (Vec::new(), Vec::new());
    for (number, function) in index.functions.iter() {
        if module
            .graph
            .reach
            .get(number)
            .is_none_or(|reach| reach.entry_points.is_empty())
        {
            continue;
        }
        for block in index.blocks_of(function) {
            for inst in index.insts(block.offset, block.end) {
                for access in memory_accesses(&inst) {
                    if is_shared(index, access.1) {
                        match SharedAccess::new((index, options, layout), number, &inst, access) {
                            Some(access) => found.push(access),
                            None => unseen.push(inst.offset),
                        }
                    }
                }
                let takes_pointers = inst.opcode() == op::FunctionCall || op_sets::is_cooperative_access(inst.opcode());
                if takes_pointers && inst.ids(1).any(|id| is_shared(index, id)) {
                    unseen.push(inst.offset);
                }
            }
        }
    }
    let stored: BTreeSet<Id> = found
        .iter()
        .filter(|access| access.kind == Kind::Store)
        .map(|access| access.variable)
        .collect();
    found.retain(|access| stored.contains(&access.variable));
    (found, unseen)
}

/// The shadow of a variable.
#[derive(Clone, Copy)]
struct Base {
    location: ShadowLocation,
    /// Its first word.
    first: u32,
    scalars: u32,
}

/// Reserves the shadow of variables, small ones first: the large ones are in device memory, or have none.
fn reserve(module: &mut ModulePlanter<'_, '_>, layout: &SharedLayout, accesses: &[SharedAccess]) -> HashMap<Id, Base> {
    let index = module.index;
    let variables: BTreeSet<Id> = accesses.iter().map(|access| access.variable).collect();
    let scalars = |variable: &Id| {
        let pointee = index.def(index.type_of(*variable))?.pointee();
        Some((layout.scalars(pointee)?, *variable))
    };
    let by_size: BTreeSet<(u32, Id)> = variables.iter().filter_map(scalars).collect();
    let mut bases = HashMap::default();
    for (scalars, variable) in by_size {
        let is_short = |first: &u32| first.saturating_add(scalars) <= MAX_WORDS;
        let shared = module
            .shared_words
            .reserve(scalars)
            .filter(is_short)
            .map(|first| (ShadowLocation::Shared, first));
        let reserved = shared.or_else(|| Some((ShadowLocation::Block, reserve_in_block(module, variable, scalars)?)));
        if let Some((location, first)) = reserved {
            bases.insert(
                variable,
                Base {
                    location,
                    first,
                    scalars,
                },
            );
            continue;
        }
        let name = module.places.expressions.names.name(index, variable);
        let name = name.map_or_else(|| variable.to_string(), |name| format!("`{name}`"));
        let text = format!(
            "races on {name} are not checked: {} ({scalars} words)",
            module.shared_words.obstacle
        );
        module.planted.warnings.push(text);
    }
    bases
}

/// Reserves words of a block for the shadow of a variable. Returns the first one. `None` if there are no blocks, no room in them, or
/// nothing that passes the number of the block on.
fn reserve_in_block(module: &mut ModulePlanter<'_, '_>, variable: Id, words: u32) -> Option<u32> {
    let ModulePlanter {
        index,
        options,
        out,
        guards,
        shared_words,
        ..
    } = module;
    if shared_words.block.is_none() {
        let has_area = |area: &ShadowArea| options.lowers.contains(Feature::Abort) && words <= area.words;
        let area = options.shadow_area.filter(has_area)?;
        let scalar = match shared_words.reserve_number() {
            true => None,
            // Other entry points may have no room for the variable.
            false if index.entry_points.len() == 1 => Some(SharedScalar::first_of(index, variable)?),
            false => return None,
        };
        let size = shared_words.size(out);
        shared_words.block = Some(ShadowBlock::new((index, options, area), out, guards, scalar, size));
    }
    shared_words.block.as_mut()?.reserve(words)
}

/// Key of a site: the value, if its accesses store one that is the same in the workgroup, and their description in messages.
type SiteKey = (Id, SiteAccess);

/// Numbers the sites of accesses. Sites that store the same value have consecutive numbers.
fn number_sites(module: &mut ModulePlanter<'_, '_>, accesses: Vec<SharedAccess>, bases: &HashMap<Id, Base>) {
    let index = module.index;
    let mut uniform = UniformValues::new(index);
    let mut keyed = Vec::new();
    // In module order, so that positions are found in one walk over each block.
    let mut position: (usize, usize, Position<'_>) = Default::default();
    for access in accesses {
        let Some(function) = index.functions.get(access.function) else {
            continue;
        };
        let block = index.block_at(function, access.offset);
        let Some(block) = block.and_then(|block| index.blocks.get(block)) else {
            continue;
        };
        if position.0 != block.offset {
            position = (block.offset, block.offset, Position::default());
        }
        index.advance(&mut position.2, position.1, access.offset);
        position.1 = access.offset;
        let location = module.places.location(function, &position.2);
        let (file, line) = location.map_or_else(Default::default, |location| (location.file, location.line));
        let kind = match access.kind {
            Kind::Store => SharedAccessKind::Store,
            Kind::Atomic => SharedAccessKind::Atomic,
            Kind::Load | Kind::Loads => SharedAccessKind::Load,
        };
        let value = access.value.filter(|value| uniform.is_uniform(*value));
        keyed.push(((value.unwrap_or(Id::NONE), SiteAccess { kind, file, line }), access));
    }
    let keys: BTreeSet<&SiteKey> = keyed.iter().map(|(key, _)| key).collect();
    let numbers: BTreeMap<&SiteKey, u32> = keys
        .iter()
        .copied()
        .zip((0..SITES - 1).chain(std::iter::repeat(SITES - 1)))
        .collect();
    let named = keys.iter().take(SITES as usize - 1).map(|(_, access)| access.clone());
    module.planted.shared_accesses = named.collect();
    let mut same: HashMap<Id, (u32, u32)> = HashMap::default();
    for ((value, _), number) in &numbers {
        let (first, count) = same.entry(*value).or_insert((*number, 0));
        *count = number - *first + 1;
    }
    let mut kinds: HashMap<Id, Vec<Kind>> = HashMap::default();
    for (_, access) in &keyed {
        let kinds = kinds.entry(access.variable).or_default();
        if !kinds.contains(&access.kind) {
            kinds.push(access.kind);
        }
    }
    let mut all: Vec<RecordedAccess> = Vec::with_capacity(keyed.len());
    for (key, access) in &keyed {
        let (value, SiteAccess { line, .. }) = key;
        let Some(Base { location, first, .. }) = bases.get(&access.variable).copied() else {
            continue;
        };
        all.push(RecordedAccess {
            location,
            base: first,
            site: numbers.get(key).copied().unwrap_or(SITES - 1),
            line: (*line != 0).then_some(*line),
            same: same.get(value).copied().filter(|_| value.is_some()),
            kinds: kinds.get(&access.variable).cloned().unwrap_or_default(),
            access: access.clone(),
        });
    }
    let left_out = too_often_inlined(module, &all);
    for recorded in all {
        if !left_out.contains(&recorded.access.function) {
            let accesses = &mut module.states.races.accesses;
            accesses.entry(recorded.access.offset).or_default().push(recorded);
        }
    }
}
