//! Data races in shared memory: two invocations of a workgroup access one scalar between two barriers, and one of them stores to it
//! without an atomic.
//!
//! "If two operations access the same memory location, at least one is a write, one of them is not atomic, and neither happens before
//! the other, there is a data race" (Vulkan specification, Memory Model, Data Races). Each access is recorded in the shadow of its
//! scalars (`race_functions`), right before it is made:
//!
//! ```text
//! %at = number of the scalar
//! %old = FunctionCall %vkabort_write %at %site, %failed = INotEqual %old 0
//! Store %pointer %value
//! ```
//!
//! Epochs, which each invocation counts at the barriers of the workgroup, make it unnecessary to clear the shadow.
//!
//! Silent, since it may be ordered: an invocation that has executed an atomic or an acquire since its last barrier reports nothing until
//! the next one; a plain load beside an atomic; in modules with subgroup operations, invocations of one subgroup. Also silent is one
//! constant, or one value that is the same in the workgroup, which several invocations store by one instruction or as one constant:
//! that is a race by the specification, but leaves the same memory in any order, and programs rely on it (the Vulkan conformance
//! tests clear counters so).
//!
//! Accesses that are volatile or make their memory available are as others: neither orders anything. Not seen, which loses reports but
//! makes none: accesses by pointers that are selected or passed to functions, and by cooperative matrices; elements out of bounds.
//! Not planted: modules whose shared memory is laid out explicitly, has no room for the shadow or has sizes that a pipeline may
//! specialise; those with barriers of a scope that is not constant; workgroups of more than 1,024 invocations.

use super::barriers::{is_workgroup_barrier, literal};
use super::message::Message;
use super::module::ModulePlanter;
use super::place::Place;
use super::planter::Planter;
use super::race_functions::{Kind, MAX_INVOCATIONS, RaceFunctions, SITES};
use super::scalars::{find, quote};
use super::shared_accesses::{SharedAccess, is_shared, memory_accesses};
use super::shared_layout::SharedLayout;
use super::uniform_values::UniformValues;
use super::workgroup_shadow::is_in_workgroups;
use super::workgroup_size::WorkgroupSize;
use crate::analysis::index::Index;
use crate::analysis::index::debug::Position;
use crate::edit::emitter::Emitter;
use crate::sanitize::Check;
use crate::spv::op::capability;
use crate::spv::{Id, op, op_sets};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The accesses of a module that are recorded.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// By word offset of their instruction.
    accesses: HashMap<usize, Vec<RecordedAccess>>,
    functions: Option<RaceFunctions>,
    /// Lines by site, unless a site has none.
    lines: Vec<u32>,
    by_subgroup: bool,
}

#[derive(Clone, Debug)]
struct RecordedAccess {
    access: SharedAccess,
    /// The first word of its variable.
    base: u32,
    site: u32,
    line: Option<u32>,
    /// The sites that store the same value as this one.
    same: Option<(u32, u32)>,
    /// What others do to the variable.
    kinds: Vec<Kind>,
}

/// What a module says about the order of its invocations.
struct Synchronization {
    by_subgroup: bool,
    /// Behind which an invocation may know what others have done: offsets of the next instructions.
    acquires: Vec<usize>,
    /// The same of workgroup barriers.
    barriers: Vec<usize>,
}

impl Races {
    /// Finds the accesses to record, and plants what counts epochs.
    pub(super) fn prepare(module: &mut ModulePlanter<'_, '_>) {
        if !module.options.sanitize.checks.contains(Check::Races) {
            return;
        }
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
        let words = bases
            .values()
            .map(|(first, scalars)| first + scalars)
            .max()
            .unwrap_or(0);
        let ModulePlanter {
            out,
            shadow,
            guards,
            edits,
            graph,
            ..
        } = &mut *module;
        let size = shadow.size(out);
        let who = match synchronization.by_subgroup {
            true => shadow.subgroup(out),
            false => shadow.invocation(out),
        };
        let functions = RaceFunctions::new(out, shadow, guards, (who, size), words);
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
            shadow.is_used(reach);
        }
        module.races.functions = Some(functions);
        module.races.by_subgroup = synchronization.by_subgroup;
        number_sites(module, accesses, &bases);
    }
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

/// Reserves the shadow of variables, small ones first. Returns the first word and the scalars of each that has one.
fn reserve(
    module: &mut ModulePlanter<'_, '_>,
    layout: &SharedLayout,
    accesses: &[SharedAccess],
) -> HashMap<Id, (u32, u32)> {
    let index = module.index;
    let variables: BTreeSet<Id> = accesses.iter().map(|access| access.variable).collect();
    let scalars = |variable: &Id| {
        let pointee = index.def(index.type_of(*variable))?.pointee();
        Some((layout.scalars(pointee)?, *variable))
    };
    let by_size: BTreeSet<(u32, Id)> = variables.iter().filter_map(scalars).collect();
    let mut bases = HashMap::default();
    for (scalars, variable) in by_size {
        match module.shadow.reserve(scalars) {
            Some(first) => {
                bases.insert(variable, (first, scalars));
            }
            None => {
                let name = module.places.expressions.names.name(index, variable);
                let name = name.map_or_else(|| variable.to_string(), |name| format!("`{name}`"));
                let text = format!(
                    "races on {name} are not checked: {} ({scalars} words)",
                    module.shadow.obstacle
                );
                module.planted.warnings.push(text);
            }
        }
    }
    bases
}

/// Numbers the sites of accesses: one for each line and, of stores, value. Sites that store the same value have consecutive numbers.
fn number_sites(module: &mut ModulePlanter<'_, '_>, accesses: Vec<SharedAccess>, bases: &HashMap<Id, (u32, u32)>) {
    let index = module.index;
    let mut uniform = UniformValues::new(index);
    let mut keyed = Vec::new();
    // In module order, so that positions are found in one walk over each block.
    let mut position: (usize, usize, Position<'_>) = Default::default();
    for access in accesses {
        let Some(function) = index.functions.get(access.function) else {
            continue;
        };
        let blocks = index.blocks_of(function);
        let block = blocks
            .partition_point(|block| block.offset <= access.offset)
            .checked_sub(1);
        let Some(block) = block.and_then(|block| blocks.get(block)) else {
            continue;
        };
        if position.0 != block.offset {
            position = (block.offset, block.offset, Position::default());
        }
        index.advance(&mut position.2, position.1, access.offset);
        position.1 = access.offset;
        let line = module
            .places
            .location(function, &position.2)
            .map(|location| location.line);
        let value = access.value.filter(|value| uniform.is_uniform(*value));
        keyed.push(((value.unwrap_or(Id::NONE), line.unwrap_or(0)), access));
    }
    let keys: BTreeSet<(Id, u32)> = keyed.iter().map(|(key, _)| *key).collect();
    let numbers: BTreeMap<(Id, u32), u32> = keys
        .iter()
        .copied()
        .zip((0..SITES - 1).chain(std::iter::repeat(SITES - 1)))
        .collect();
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
    let has_lines = keys.len() < SITES as usize && keys.iter().all(|(_, line)| *line != 0);
    if has_lines {
        module.races.lines = keys.iter().map(|(_, line)| *line).collect();
    }
    for ((value, line), access) in keyed {
        let recorded = RecordedAccess {
            base: bases.get(&access.variable).map_or(0, |(first, _)| *first),
            site: numbers.get(&(value, line)).copied().unwrap_or(SITES - 1),
            line: (line != 0).then_some(line),
            same: same.get(&value).copied().filter(|_| value.is_some()),
            kinds: kinds.get(&access.variable).cloned().unwrap_or_default(),
            access,
        };
        module
            .races
            .accesses
            .entry(recorded.access.offset)
            .or_default()
            .push(recorded);
    }
}

impl Synchronization {
    /// # Errors
    ///
    /// Why races cannot be found.
    fn new(index: &Index<'_>, module: &ModulePlanter<'_, '_>) -> Result<Self, &'static str> {
        let graph = &module.graph;
        if index.has_capability(capability::WorkgroupMemoryExplicitLayoutKHR) {
            return Err("shared memory is laid out explicitly, so that variables may share it");
        }
        if !graph.reach.values().iter().all(|reach| is_in_workgroups(index, reach)) {
            return Err("other stages than compute, task and mesh shaders are in the module");
        }
        let mut sizes = index
            .entry_points
            .iter()
            .filter_map(|entry| WorkgroupSize::of(index, entry.function));
        if sizes.any(|size| size.invocations().is_some_and(|count| count > MAX_INVOCATIONS)) {
            return Err("a workgroup has more than 1,024 invocations");
        }
        let mut capabilities = index.capabilities.iter().map(|inst| inst.capability());
        let by_subgroup = capabilities.clone().any(is_subgroup_capability);
        if !by_subgroup && capabilities.any(is_old_subgroup_capability) {
            return Err("the module orders invocations by subgroup operations without subgroup numbers");
        }
        let mut found = Self {
            by_subgroup,
            acquires: Vec::new(),
            barriers: Vec::new(),
        };
        let mut has_acquire = false;
        let mut subgroup_operations = Vec::new();
        for (number, function) in index.functions.iter() {
            if graph
                .reach
                .get(number)
                .is_none_or(|reach| reach.entry_points.is_empty())
            {
                continue;
            }
            for inst in index.insts(function.offset, function.end) {
                match inst.opcode() {
                    opcode if op_sets::is_unknown(opcode) || op_sets::is_split_barrier(opcode) => {
                        return Err("an instruction is not known to order invocations or not");
                    }
                    op::ControlBarrier => match literal(index, inst.id(1)) {
                        None => return Err("the scope of a barrier is not a constant"),
                        Some(_) if is_workgroup_barrier(index, &inst) => found.barriers.push(inst.end()),
                        Some(_) if !by_subgroup => {
                            return Err("the module has barriers of subgroups without subgroup numbers");
                        }
                        Some(_) => subgroup_operations.push(inst.end()),
                    },
                    op::MemoryBarrier => {
                        has_acquire = true;
                        found.acquires.push(inst.end());
                    }
                    opcode if op_sets::is_atomic_read(opcode) => {
                        has_acquire = true;
                        found.acquires.push(inst.end());
                    }
                    opcode if op_sets::is_subgroup_operation(opcode) => subgroup_operations.push(inst.end()),
                    _ => {}
                }
            }
        }
        // One invocation of the subgroup may know, and tell the others.
        if has_acquire {
            found.acquires.extend(subgroup_operations);
        }
        Ok(found)
    }
}

/// Whether a capability comes with subgroup operations and `SubgroupId`.
fn is_subgroup_capability(number: u32) -> bool {
    (capability::GroupNonUniform..=capability::GroupNonUniformQuad).contains(&number)
        || [
            capability::GroupNonUniformPartitionedNV,
            capability::GroupNonUniformRotateKHR,
        ]
        .contains(&number)
}

/// Whether a capability comes with operations of subgroups or quads alone.
fn is_old_subgroup_capability(number: u32) -> bool {
    const ALL: [u32; 10] = [
        capability::Groups,
        capability::SubgroupBallotKHR,
        capability::SubgroupVoteKHR,
        capability::CooperativeMatrixKHR,
        capability::CooperativeMatrixNV,
        capability::ComputeDerivativeGroupQuadsKHR,
        capability::ComputeDerivativeGroupLinearKHR,
        capability::GroupUniformArithmeticKHR,
        capability::QuadControlKHR,
        capability::SubgroupShuffleINTEL,
    ];
    ALL.contains(&number)
}

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
        (Kind::Loads, "is read by others and by"),
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
    let recorder = functions.recorder((&mut *out, shadow, &mut *guards), kind, scalars);
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
                let is_same = RaceFunctions::write_is_store_at(out, old, sites);
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
        |out, variant, old| RaceFunctions::write_is(out, old, variant.before),
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
        let who = RaceFunctions::write_who(out, old);
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

impl RecordedAccess {
    /// Whether an earlier access of this kind may race with it.
    fn can_race_with(&self, before: Kind) -> bool {
        let exists = match before {
            Kind::Loads => self.kinds.contains(&Kind::Load),
            _ => self.kinds.contains(&before),
        };
        exists && (self.access.kind == Kind::Store || before == Kind::Store)
    }
}
