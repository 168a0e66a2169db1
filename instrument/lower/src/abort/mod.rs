//! Lowers `OpAbortKHR`: the invocation leaves its functions, and its message is written into the arena.
//!
//! ```text
//! AbortKHR %type %message           becomes
//!
//! stores of the message's values and of its key, or of the message itself (see `site`)
//! Store %aborted true, Return       the way out of the function (see `unwind`)
//! ```
//!
//! and the entry point writes the record and ends the invocation as its stage demands (see `entry`).
//!
//! SPV_KHR_abort: only instructions executed before `OpAbortKHR` have side effects. Helper invocations of a fragment shader
//! cannot write; they only end. The passes `loop_normalize` and `outline` run before: every abort is where an invocation can
//! return.
//!
//! Phases: (1) in each function that an invocation may leave early, aborts are lowered (`site`, `message`) and exits are
//! written (`unwind`); (2) entry points get new functions that write the records (`entry`, `runtime`); (3) capabilities and
//! interfaces are declared; (4) definitions that only aborts used are stripped.
//!
//! Not handled, and reported as errors: message types without a size (`analysis::message_layout`), parts of a message
//! computed by unknown instructions, and large arrays that can be neither indexed in memory nor put into a variable.
//!
//! The decisions and their reasons: `docs/design/ending.md`.

mod code_limit;
mod entry;
mod exit_branches;
mod function;
mod message;
mod planted_bodies;
mod site;
mod unwind;

use super::site_numbering::Sites;
use super::strip;
use entry::{AffectedEntry, write_entries, write_interface};
use exit_branches::called_in_loops;
use rustc_hash::FxHashSet as HashSet;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::{iter, mem};
use vkabort_analysis::exit_plan::{ExitBlock, ExitPlan};
use vkabort_options::Options;
use vkabort_record::site::{EntryPoint, SiteId};
use vkabort_record::template::Template;
use vkabort_runtime::{DeferredRecord, EntryInterface, EntryRecords, Runtime};
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_flag::AbortFlag;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::origins::Origins;
use vkabort_spirv::edit::physical_addressing::declare_physical_addressing;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::edit::planted_aborts::{Leaving, PlantedAborts};
use vkabort_spirv::error::Result;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, Table};

/// Words that a short message and its exit take, to reserve memory.
const WORDS_PER_ABORT: usize = 64;
/// The edits of a lowered module.
pub struct LoweredAborts {
    pub edits: Edits,
    /// Whether the module still uses constant data.
    pub uses_constant_data: bool,
    /// `SpecId` of the constant for the key of the pipeline's specialisation.
    pub key_spec_id: Option<u32>,
    /// How the compact records of sites are read.
    pub templates: BTreeMap<SiteId, Template>,
    /// If any loop polls: the blocks that leave functions because of an abort, and the flag that is set there.
    pub exits: Vec<ExitBlock>,
    pub flag: Option<AbortFlag>,
}

/// Lowers every abort of a module, lets invocations unwind, and strips definitions that only aborts used. `origins` leads to the module
/// in which the sites were numbered.
///
/// # Errors
///
/// A message that does not match its type or that no code can write, or too long an interface.
pub fn lower(
    index: &Index<'_>,
    plan: &ExitPlan,
    options: &Options,
    sites: &Sites,
    origins: &Origins,
    planted: &PlantedAborts,
) -> Result<LoweredAborts> {
    let mut lowering = Lowering::new(index, plan, options, sites, origins);
    lowering.runtime.end = planted.hooks.end;
    lowering.runtime.leave = planted.hooks.leave;
    for (number, function) in plan.functions_with_exits(index) {
        lowering.lower_function(number, function)?;
    }
    let templates = lowering.templates();
    let entries = lowering.write_entry_points();
    lowering.write_planted(&planted.hooks);
    lowering.declare(entries)?;
    Ok(LoweredAborts {
        templates,
        ..lowering.strip()
    })
}

/// A module being lowered.
struct Lowering<'a, 'w> {
    index: &'a Index<'w>,
    plan: &'a ExitPlan,
    options: &'a Options,
    sites: &'a Sites,
    origins: &'a Origins,
    out: Emitter,
    placeholders: Placeholders,
    runtime: Runtime,
    edits: Edits,
    /// Functions that loops call, if exits get branches of their own.
    called_in_loops: Option<Table<FunctionIndex, bool>>,
    /// Whether each entry point reaches a loop that polls.
    polling: Vec<bool>,
    /// Messages of aborts, and their types.
    maybe_dead: Vec<Id>,
    exits: Vec<ExitBlock>,
    deferred: Vec<DeferredRecord>,
    /// Words of the deferred messages, once for each value.
    deferred_words: usize,
    deferred_values: HashSet<Id>,
    /// By entry point.
    records: Vec<EntryRecords>,
}

impl<'a, 'w> Lowering<'a, 'w> {
    fn new(
        index: &'a Index<'w>,
        plan: &'a ExitPlan,
        options: &'a Options,
        sites: &'a Sites,
        origins: &'a Origins,
    ) -> Self {
        let polled = plan.functions_with_exits(index);
        let polled = polled.filter(|(_, function)| plan.has_polled_loop(function));
        let polling = entry_points_of(index, plan, polled.map(|(number, _)| number));
        let all = &sites.table.sites;
        let single_site = sites.get(0).filter(|_| all.len() == 1).is_some_and(|only| {
            is_recorded(options, only.site.id) && only.leaving != Leaving::MayWait && !polling.contains(&true)
        });
        // Where loops poll, `reconverge` knows every exit.
        let adds_branches = options.branches_at_exits && !plan.polls();
        Self {
            index,
            called_in_loops: adds_branches.then(|| called_in_loops(index, &plan.graph)),
            plan,
            options,
            sites,
            origins,
            out: Emitter::new(index),
            placeholders: Placeholders::default(),
            runtime: Runtime::new(index, options, sites.table.code(), single_site),
            edits: Edits::with_room(1024 + all.len() * WORDS_PER_ABORT),
            polling,
            maybe_dead: Vec::new(),
            exits: Vec::new(),
            deferred: Vec::new(),
            deferred_words: 0,
            deferred_values: HashSet::default(),
            records: vec![EntryRecords::default(); index.entry_points.len()],
        }
    }

    /// How the compact records of sites are read. There are none if a copy of a site sends other words: copies share the site's
    /// number.
    fn templates(&mut self) -> BTreeMap<SiteId, Template> {
        let mut templates = BTreeMap::new();
        if !self.runtime.compact_records {
            return templates;
        }
        for record in &self.deferred {
            let template = record.template();
            match templates.entry(SiteId(record.site)) {
                Entry::Vacant(entry) => drop(entry.insert(template)),
                Entry::Occupied(entry) if *entry.get() == template => {}
                Entry::Occupied(_) => {
                    self.runtime.compact_records = false;
                    return BTreeMap::new();
                }
            }
        }
        templates
    }

    /// Phase 2: writes the functions of the entry points whose invocations may leave early.
    fn write_entry_points(&mut self) -> Vec<AffectedEntry<'w>> {
        let (index, plan) = (self.index, self.plan);
        let affected = plan.functions_with_exits(index).map(|(number, _)| number);
        let is_affected = entry_points_of(index, plan, affected);
        let sizes = self
            .sites
            .table
            .entry_points
            .iter()
            .map(EntryPoint::constant_local_size);
        let sizes = sizes.chain(iter::repeat(None));
        let records = mem::take(&mut self.records);
        let entries = (0..).zip(&index.entry_points).zip(sizes).zip(records).zip(is_affected);
        let all = self.runtime.leave.is_some();
        let entries = entries.filter(|(_, is_affected)| all || *is_affected);
        let entries = entries.map(|((((number, entry), workgroup_size), records), _)| AffectedEntry {
            interface: EntryInterface {
                entry: *entry,
                number,
                workgroup_size,
                added: SmallVec::new(),
            },
            records,
        });
        let mut entries: Vec<_> = entries.collect();
        let (runtime, out) = (&mut self.runtime, &mut self.out);
        write_entries(index, &mut entries, &self.deferred, runtime, out, &mut self.edits);
        entries
    }

    /// Phase 3: declares capabilities and interfaces.
    fn declare(&mut self, entries: Vec<AffectedEntry<'w>>) -> Result<()> {
        declare_physical_addressing(self.index, &mut self.out, &mut self.edits);
        let mut entries = entries.into_iter();
        entries.try_for_each(|entry| write_interface(self.index, entry.interface, &self.runtime, &mut self.edits))
    }

    /// Phase 4: removes definitions that only aborts used. The shared functions use ids of the module only through `out`, or variables,
    /// which stay.
    fn strip(mut self) -> LoweredAborts {
        let (index, mut edits) = (self.index, self.edits);
        let flag = (!self.exits.is_empty()).then(|| self.runtime.flag(&mut self.out));
        let (declarations, reused) = (self.out.declarations(), self.out.reused());
        let uses_constant_data = strip::strip(index, &self.maybe_dead, &mut edits, declarations, reused);
        edits.insert(index.new_functions(), &self.runtime.functions);
        self.out.finish(index, &mut edits);
        LoweredAborts {
            edits,
            uses_constant_data,
            key_spec_id: self.runtime.key_spec_id,
            templates: BTreeMap::new(),
            exits: self.exits,
            flag,
        }
    }
}

/// Whether an abort sends its message, as far as `max_sites` goes.
fn is_recorded(options: &Options, site: SiteId) -> bool {
    options.max_sites.is_none_or(|max| site.0 < max)
}

/// Whether each entry point reaches one of the functions.
fn entry_points_of(index: &Index<'_>, plan: &ExitPlan, functions: impl Iterator<Item = FunctionIndex>) -> Vec<bool> {
    let mut reaches = vec![false; index.entry_points.len()];
    for function in functions {
        let reach = plan.graph.reach.get(function);
        for entry in reach.iter().flat_map(|r| &r.entry_points) {
            if let Some(slot) = reaches.get_mut(*entry as usize) {
                *slot = true;
            }
        }
    }
    reaches
}
