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
//! interfaces are declared; (4) what only aborts used is stripped.
//!
//! Not handled, and reported as errors: message types without a size (`analysis::message_layout`), parts of a message
//! computed by unknown instructions, and large arrays that can be neither indexed in memory nor put into a variable.

mod entry;
mod message;
mod rematerialize_handles;
mod runtime;
mod site;
mod unwind;

use super::site_numbering::Sites;
use super::strip;
use crate::analysis::exit_plan::{ExitBlock, ExitKind, ExitPlan};
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::index::{Function, Index};
use crate::edit::abort_flag::AbortFlag;
use crate::edit::globals::Globals;
use crate::edit::origins::Origins;
use crate::edit::physical_addressing::declare_physical_addressing;
use crate::edit::placeholder::Placeholders;
use crate::edit::{Edits, Rank};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::storage_class;
use crate::spv::words::{MAX_INST_WORDS, version};
use crate::spv::{Code, Id, Literal, Words, op};
use entry::{AffectedEntry, write_entries};
use runtime::{DeferredRecord, EntryInterface, EntryRecords, Runtime};
use site::write_site;
use smallvec::SmallVec;
use std::iter;
use unwind::{FlagState, Unwinder};
use vkabort_record::site::{EntryPoint, SiteTable};

const PASS: &str = "abort";

/// Words that a short message and its exit take, to reserve memory.
const WORDS_PER_ABORT: usize = 64;

/// The edits of a lowered module.
pub(crate) struct Lowered {
    pub(crate) edits: Edits,
    /// Whether the module still uses constant data.
    pub(crate) uses_constant_data: bool,
    /// `SpecId` of the constant for the key of the pipeline's specialisation.
    pub(crate) key_spec_id: Option<u32>,
    /// If any loop polls: the blocks that leave functions because of an abort, and the flag that is set there.
    pub(crate) exits: Vec<ExitBlock>,
    pub(crate) flag: Option<AbortFlag>,
}

/// Lowers every abort of a module, lets invocations unwind, and strips what only aborts used. `origins` leads to the module
/// in which the sites were numbered.
///
/// # Errors
///
/// A message that does not match its type or that no code can write, or too long an interface.
pub(crate) fn lower(
    index: &Index<'_>,
    plan: &ExitPlan,
    options: &Options,
    sites: &Sites,
    origins: &Origins,
) -> Result<Lowered> {
    let table = &sites.table;
    let mut edits = Edits::with_room(1024 + table.sites.len() * WORDS_PER_ABORT);
    let mut globals = Globals::new(index);
    let mut placeholders = Placeholders::default();
    let polls = |function: &Function| plan.has_polled_loop(function);
    let polled = plan.touched(index).filter(|(_, function)| polls(function));
    let polling = entry_points_of(index, plan, polled.map(|(number, _)| number));
    let is_recorded = |site: u32| options.max_sites.is_none_or(|max| site < max);
    let has_single_way_out = table.sites.len() == 1 && is_recorded(0) && !polling.contains(&true);
    let mut runtime = Runtime::new(index, options, table.module_hash, has_single_way_out);
    // Phase 1.
    let mut lost_use = Vec::new();
    let mut exits = Vec::new();
    let mut deferred: Vec<DeferredRecord> = Vec::new();
    let mut records = vec![EntryRecords::default(); index.entry_points.len()];
    for (number, function) in plan.touched(index) {
        let first_exit = exits.len();
        let reach = plan
            .graph
            .reach
            .get(number)
            .map_or(&[][..], |reach| &reach.entry_points);
        let reach: Vec<usize> = reach.iter().map(|entry| *entry as usize).collect();
        let announces = reach.iter().any(|entry| polling.get(*entry) == Some(&true));
        let mut of_function = EntryRecords {
            silent: polls(function),
            ..EntryRecords::default()
        };
        let unwinder = &mut Unwinder {
            index,
            plan,
            runtime: &mut runtime,
            globals: &mut globals,
            placeholders: &mut placeholders,
            edits: &mut edits,
            function,
            number,
            exits: &mut exits,
        };
        let mut variables = Vec::new();
        for block in index.blocks_of(function) {
            let abort = index.terminator(block);
            if abort.opcode() != op::AbortKHR {
                continue;
            }
            lost_use.extend([abort.message(), abort.message_type()]);
            let mut code = Code::default();
            let mut flag_state = FlagState::Set;
            match sites.of(&abort, origins).filter(|site| is_recorded(site.id.0)) {
                None => {
                    of_function.silent = true;
                    flag_state = FlagState::Unset;
                }
                Some(site) => {
                    let mut lowered = write_site(unwinder, options, site, block, announces)?;
                    code = lowered.code;
                    variables.append(&mut lowered.variables);
                    match lowered.deferred {
                        None => of_function.in_place = true,
                        Some(record) => {
                            of_function.deferred.push(deferred.len() as u32);
                            deferred.push(record);
                        }
                    }
                }
            }
            unwinder.write_recorded_exit(&mut code, flag_state, block.label, ExitKind::Abort);
            unwinder.edits.replace_inst(&abort, &code);
        }
        unwinder.run(first_exit);
        declare_variables(index, function, &variables, &mut edits);
        for entry in reach {
            if let Some(records) = records.get_mut(entry) {
                records.extend(&of_function);
            }
        }
    }
    // Phase 2.
    let mut entries = affected_entry_points(index, plan, table, records);
    write_entries(index, &mut entries, &deferred, &mut runtime, &mut globals, &mut edits);
    // Phase 3.
    declare_physical_addressing(index, &mut globals, &mut edits);
    write_entry_points(index, entries, &runtime, &mut edits)?;
    // Phase 4. The shared functions use ids of the module only through `globals`, or variables, which stay.
    let flag = (!exits.is_empty()).then(|| runtime.flag(&mut globals));
    let uses_constant_data = strip::strip(index, &lost_use, &mut edits, globals.declarations(), globals.reused());
    edits.insert(index.words.len(), &runtime.functions);
    globals.finish(index, &mut edits);
    Ok(Lowered {
        edits,
        uses_constant_data,
        key_spec_id: runtime.key_spec_id,
        exits,
        flag,
    })
}

/// Declares variables, (pointer type, id), at the start of a function.
fn declare_variables(index: &Index<'_>, function: &Function, variables: &[(Id, Id)], edits: &mut Edits) {
    let Some(first) = index.blocks_of(function).first() else {
        return;
    };
    let mut code = Code::default();
    for (pointer_type, variable) in variables {
        code.op(
            op::Variable,
            (*pointer_type, *variable, Literal(storage_class::Function)),
        );
    }
    edits.insert_ranked(first.offset + 2, Rank::Variables, &code);
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

/// Entry points whose invocations may leave early, with their records.
fn affected_entry_points<'w>(
    index: &Index<'w>,
    plan: &ExitPlan,
    sites: &SiteTable,
    records: Vec<EntryRecords>,
) -> Vec<AffectedEntry<'w>> {
    let is_affected = entry_points_of(index, plan, plan.touched(index).map(|(number, _)| number));
    let sizes = sites.entry_points.iter().map(EntryPoint::constant_local_size);
    let sizes = sizes.chain(iter::repeat(None));
    let entries = index.entry_points.iter().zip(sizes).zip(records).zip(is_affected);
    entries
        .filter(|(_, is_affected)| *is_affected)
        .map(|(((entry, workgroup_size), records), _)| AffectedEntry {
            interface: EntryInterface {
                entry: *entry,
                workgroup_size,
                added: SmallVec::new(),
            },
            records,
        })
        .collect()
}

/// Adds the variables that this pass declared to the interfaces of entry points, and names their functions.
fn write_entry_points(
    index: &Index<'_>,
    entries: Vec<AffectedEntry<'_>>,
    runtime: &Runtime,
    edits: &mut Edits,
) -> Result<()> {
    for entry in entries {
        let EntryInterface { entry, mut added, .. } = entry.interface;
        if index.version >= version(1, 4) {
            // OpEntryPoint: from SPIR-V 1.4 on, an interface lists every global variable that the entry point references.
            added.extend(runtime.variables());
        }
        let (words, count) = (entry.inst.words.len(), added.len());
        if words + count > MAX_INST_WORDS {
            let message = format!(
                "the interface of entry point {} has no room for {count} more variables",
                entry.function
            );
            return Err(Error::new(ErrorKind::Limit, PASS, None, message));
        }
        if !added.is_empty() || entry.function != entry.inst.entry_function() {
            let mut code = Code::with_room(words + count);
            let name_and_interface = Words(entry.inst.from(3));
            code.op(
                op::EntryPoint,
                (
                    Literal(entry.model),
                    entry.function,
                    name_and_interface,
                    added.as_slice(),
                ),
            );
            edits.replace_inst(&entry.inst, &code);
        }
    }
    Ok(())
}
