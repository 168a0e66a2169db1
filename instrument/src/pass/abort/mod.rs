//! Lowers `OpAbortKHR`: writes the message into the arena and ends the invocation.
//!
//! ```text
//! AbortKHR %type %message           becomes
//!
//! %record = FunctionCall %reserve %units %size %site
//! %room = INotEqual %record NO_RECORD
//! SelectionMerge %end, BranchConditional %room %write %end
//! %write: stores of the payload, FunctionCall %commit %record, Branch %end
//! %end:   the way out of the function (see `unwind`)
//! ```
//!
//! SPV_KHR_abort: only instructions executed before `OpAbortKHR` have side effects. Helper invocations of a fragment shader
//! cannot write; they only end. The passes `loop_normalize` and `outline` run before: every abort is where an invocation can
//! return.
//!
//! Phases: (1) in each function that an abort concerns, aborts are lowered (`message`), exits are written (`unwind`), and a
//! task shader gets a single end (`task_exit`); (2) entry points store the invocation's identity (`runtime`); (3)
//! capabilities and interfaces are declared; (4) what only aborts used is stripped.
//!
//! Not handled, and reported as errors: message types without a size (`analysis::message_layout`), parts of a message
//! computed by unknown instructions, and large arrays that can be neither indexed in memory nor put into a variable.

mod message;
mod rematerialize_handles;
mod runtime;
mod task_exit;
mod unwind;

use super::site_numbering::SiteOperand;
use super::strip;
use crate::analysis::exit_plan::{Exit, ExitBlock, ExitKind, ExitPlan};
use crate::analysis::index::{Block, Function, Index};
use crate::edit::globals::Globals;
use crate::edit::physical_addressing::declare_physical_addressing;
use crate::edit::placeholder::Placeholders;
use crate::edit::{Edits, Rank};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::storage_class;
use crate::spv::words::{MAX_INST_WORDS, version};
use crate::spv::{Code, Id, Literal, Words, op};
use message::{MessageWriter, Sources};
use runtime::{EntryInterface, NO_RECORD, Runtime, store_identity};
use smallvec::SmallVec;
use task_exit::move_task_exit;
use unwind::{FlagState, Unwinder};
use vkabort_record::site::{Site, SiteId, SiteTable};

const PASS: &str = "abort";

/// Words that a short message and its exit take, to reserve memory.
const WORDS_PER_ABORT: usize = 128;

/// The edits of a lowered module.
pub(crate) struct Lowered {
    pub(crate) edits: Edits,
    /// Whether the module still uses constant data.
    pub(crate) uses_constant_data: bool,
    /// If any loop polls: the blocks that leave functions because of an abort, and the flag that is set there.
    pub(crate) exits: Vec<ExitBlock>,
    pub(crate) flag: Option<Id>,
}

/// Lowers every abort of a module, lets invocations unwind, and strips what only aborts used. `site_operand` says how the
/// aborts name their sites in `sites`.
///
/// # Errors
///
/// A message that does not match its type or that no code can write, or too long an interface.
pub(crate) fn lower(
    index: &Index<'_>,
    plan: &ExitPlan,
    options: &Options,
    sites: &SiteTable,
    site_operand: SiteOperand,
) -> Result<Lowered> {
    let mut edits = Edits::with_room(1024 + sites.sites.len() * WORDS_PER_ABORT);
    let mut globals = Globals::new(index);
    let mut placeholders = Placeholders::default();
    let mut runtime = Runtime::new(index, options, sites.module_hash);
    // Phase 1.
    let mut writes_records = false;
    let mut lowered = 0;
    let mut lost_use = Vec::new();
    let mut exits = Vec::new();
    // Pairs of a task shader's function and the function that ends it.
    let mut tasks = Vec::new();
    for (number, function) in plan.touched(index) {
        let first_exit = exits.len();
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
            let site = match site_operand {
                SiteOperand::InOrder => lowered,
                SiteOperand::Marked => abort.site(),
            };
            lowered += 1;
            lost_use.extend([abort.message(), abort.message_type()]);
            let is_recorded = options.max_sites.is_none_or(|max| site < max);
            let site = sites.site(SiteId(site)).filter(|_| is_recorded);
            writes_records |= site.is_some();
            lower_abort(unwinder, options, site, block, &mut variables)?;
        }
        unwinder.run(first_exit);
        if plan.exit(number) == Exit::ReturnFromTask {
            let task = move_task_exit(index, function, &mut runtime, &mut globals, &mut edits);
            tasks.push((function.id, task));
        }
        declare_variables(index, function, &variables, &mut edits);
    }
    // Phase 2.
    let mut interfaces = affected_entry_points(index, plan);
    if writes_records {
        store_identity(index, &mut interfaces, &mut runtime, &mut globals, &mut edits);
    }
    // Phase 3.
    declare_physical_addressing(index, &mut globals, &mut edits);
    write_entry_points(index, interfaces, &tasks, &runtime, &mut edits)?;
    // Phase 4. The shared functions use ids of the module only through `globals`.
    let flag = (!exits.is_empty()).then(|| runtime.flag(&mut globals));
    let uses_constant_data = strip::strip(index, &lost_use, &mut edits, globals.declarations(), globals.reused());
    edits.insert(index.words.len(), &runtime.functions.words);
    globals.finish(index, &mut edits);
    Ok(Lowered {
        edits,
        uses_constant_data,
        exits,
        flag,
    })
}

/// Lowers the abort that ends `block`. It writes a record if `site` is given. Adds to `variables` the (pointer type, id) of
/// those that the function has to declare.
fn lower_abort(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: Option<&Site>,
    block: &Block,
    variables: &mut Vec<(Id, Id)>,
) -> Result<()> {
    let abort = unwinder.index.terminator(block);
    let mut code = match site {
        Some(site) => write_record(unwinder, options, site, block, variables)?,
        None => Code::default(),
    };
    unwinder.write_recorded_exit(&mut code, FlagState::Unset, block.label, ExitKind::Abort);
    unwinder.edits.replace_inst(&abort, &code);
    Ok(())
}

/// Code that writes the record of the abort that ends `block`. It leaves a block open.
fn write_record(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: &Site,
    block: &Block,
    variables: &mut Vec<(Id, Id)>,
) -> Result<Code> {
    let index = unwinder.index;
    let abort = index.terminator(block);
    let (ty, message) = (abort.message_type(), abort.message());
    let (runtime, globals) = (&mut *unwinder.runtime, &mut *unwinder.globals);
    let site_id = globals.constant(site.id.0);
    let none = globals.constant(NO_RECORD);
    let (uint, bool, void) = (globals.uint(), globals.bool(), globals.void());
    let reserve = runtime.reserve(globals);
    let commit = runtime.commit(globals);
    let [record, has_room, write, end, done] = [(); 5].map(|()| globals.fresh());
    let sources = Sources { index, block };
    let mut writer = MessageWriter::new(sources, options, runtime, globals, write, site.word_offset);
    let size = writer.message_size(&site.message, ty);
    let (units, bytes) = writer.record_extent(size);
    let code = &mut writer.code;
    code.op(op::FunctionCall, (uint, record, reserve, units, bytes, site_id));
    code.op(op::INotEqual, (bool, has_room, record, none));
    code.branch_if(has_room, write, end, end);
    code.label(write);
    writer.write_message(record, &site.message, ty, message)?;
    let code = &mut writer.code;
    code.op(op::FunctionCall, (void, done, commit, record));
    code.branch(end);
    code.label(end);
    variables.append(&mut writer.variables);
    Ok(writer.code)
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
    edits.insert_ranked(first.offset + 2, Rank::Variables, &code.words);
}

/// Entry points from which an invocation can reach an abort or a polling loop.
fn affected_entry_points<'w>(index: &Index<'w>, plan: &ExitPlan) -> Vec<EntryInterface<'w>> {
    let mut is_affected = vec![false; index.entry_points.len()];
    for (number, _) in plan.touched(index) {
        let reach = plan.graph.reach.get(number);
        for entry in reach.iter().flat_map(|r| &r.entry_points) {
            if let Some(slot) = is_affected.get_mut(*entry as usize) {
                *slot = true;
            }
        }
    }
    let entries = index.entry_points.iter().zip(is_affected);
    entries
        .filter(|(_, is_affected)| *is_affected)
        .map(|(entry, _)| EntryInterface {
            entry: *entry,
            added: SmallVec::new(),
        })
        .collect()
}

/// Adds the variables that this pass declared to the interfaces of entry points, and replaces the functions of task shaders.
fn write_entry_points(
    index: &Index<'_>,
    interfaces: Vec<EntryInterface<'_>>,
    tasks: &[(Id, Id)],
    runtime: &Runtime,
    edits: &mut Edits,
) -> Result<()> {
    for EntryInterface { entry, mut added } in interfaces {
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
        let task = tasks.iter().find(|(function, _)| *function == entry.function);
        if !added.is_empty() || task.is_some() {
            let function = task.map_or(entry.function, |(_, task)| *task);
            let mut code = Code::with_room(words + count);
            let name_and_interface = Words(entry.inst.from(3));
            code.op(
                op::EntryPoint,
                (Literal(entry.model), function, name_and_interface, added.as_slice()),
            );
            edits.replace(entry.inst.offset, words, &code.words);
        }
    }
    Ok(())
}
