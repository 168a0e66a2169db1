//! Lowers `OpAbortKHR`: writes the message into the arena and ends the invocation.
//!
//! ```text
//! AbortKHR %type %message           becomes
//!
//! %record = FunctionCall %reserve %units %size %site
//! %room = INotEqual %record NO_RECORD
//! SelectionMerge %end, BranchConditional %room %write %end
//! %write: stores of the payload, FunctionCall %commit %record, Branch %end
//! %end:   the way out (see `unwind`)
//! ```
//!
//! Stores before the abort stand; nothing of the invocation follows it. Helper invocations of a fragment shader cannot
//! write: they only end. The passes `loops` and `outline` have made every abort's surroundings such that it can leave.

mod message;
mod rematerialize_handles;
mod runtime;
mod unwind;

use super::site_numbering::SiteOperand;
use super::strip;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::index::{Block, Function, Index};
use crate::edit::globals::Globals;
use crate::edit::placeholder::Placeholders;
use crate::edit::{Edits, Rank};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::{addressing_model, capability};
use crate::spv::words::{MAX_INST_WORDS, version};
use crate::spv::{Code, Id, op};
use unwind::{Leaving, Unwinder};

use message::source::Sources;
use message::writer::{Start, Writer};
use runtime::Runtime;
use runtime::functions::NO_RECORD;
use runtime::identity::{self, Interface};
use smallvec::SmallVec;
use vkabort_record::site::{Site, SiteId, SiteTable};

/// What lowering makes of a module.
pub(crate) struct Lowered {
    pub(crate) edits: Edits,
    /// Something still uses constant data.
    pub(crate) tables: bool,
}

/// Lowers every abort of a module, lets invocations unwind, and strips what only aborts used.
pub(crate) fn lower(
    index: &Index<'_>,
    plan: &ExitPlan,
    options: &Options,
    sites: &SiteTable,
    numbers: SiteOperand,
) -> Result<Lowered> {
    let mut edits = Edits::with_room(1024 + sites.sites.len() * WORDS_OF_AN_ABORT);
    let mut globals = Globals::new(index);
    let mut placeholders = Placeholders::default();
    let mut runtime = Runtime::new(index, options, sites.module_hash);
    let mut recording = false;
    let mut lowered = 0;
    // Ids that lose a use.
    let mut lost = Vec::new();
    for (number, function) in plan.touched(index) {
        let unwinder = &mut Unwinder {
            index,
            plan,
            runtime: &mut runtime,
            globals: &mut globals,
            placeholders: &mut placeholders,
            edits: &mut edits,
        };
        let mut variables = Vec::new();
        for block in index.blocks_of(function) {
            let abort = index.terminator(block);
            if abort.opcode() != op::AbortKHR {
                continue;
            }
            let site = match numbers {
                SiteOperand::InOrder => lowered,
                SiteOperand::Marked => abort.word(3),
            };
            lowered += 1;
            lost.extend([abort.word(2), abort.word(1)]);
            let within = options.max_sites.is_none_or(|max| site < max);
            let site = sites.site(SiteId(site)).filter(|_| within);
            recording |= site.is_some();
            lower_one(unwinder, options, site, number, function, block, &mut variables)?;
        }
        unwinder.run(number, function);
        declare(index, function, &variables, &mut edits);
    }
    let mut interfaces = reaching_entry_points(index, plan);
    if recording {
        identity::store(index, &mut interfaces, &mut runtime, &mut globals, &mut edits);
    }
    require(index, &mut globals, &mut edits);
    for Interface { entry, mut added } in interfaces {
        if index.version >= version(1, 4) {
            // From SPIR-V 1.4 on an interface lists every global variable that its entry point reaches.
            added.extend(runtime.variables());
        }
        if entry.inst.words.len() + added.len() > MAX_INST_WORDS {
            return Err(Error::new(
                ErrorKind::Limit,
                "abort",
                None,
                format!(
                    "the interface of the entry point %{} has no room for {} more variables",
                    entry.function,
                    added.len()
                ),
            ));
        }
        if !added.is_empty() {
            let mut code = Code::with_room(entry.inst.words.len() + added.len());
            code.op2(op::EntryPoint, entry.inst.from(1), &added);
            edits.replace(entry.inst.offset, entry.inst.words.len(), &code.words);
        }
    }
    // The shared functions use nothing of the module but what `globals` gave them.
    let tables = strip::strip(index, &lost, &mut edits, globals.declarations(), globals.given());
    edits.insert(index.words.len(), &runtime.functions.words);
    globals.finish(index, &mut edits);
    Ok(Lowered { edits, tables })
}

/// Words that writing a message of a few parts takes, and leaving its function.
const WORDS_OF_AN_ABORT: usize = 128;

/// Lowers the abort that ends `block`: with a record of its site if it has one.
fn lower_one(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: Option<&Site>,
    number: FunctionIndex,
    function: &Function,
    block: &Block,
    variables: &mut Vec<(Id, Id)>,
) -> Result<()> {
    let index = unwinder.index;
    let abort = index.terminator(block);
    let (ty, message) = (abort.word(1), abort.word(2));
    let mut code = Code::default();
    if let Some(Site {
        id: SiteId(id),
        message: layout,
        word_offset,
        ..
    }) = site
    {
        let site = unwinder.globals.constant(*id);
        let none = unwinder.globals.constant(NO_RECORD);
        let (uint, bool) = (unwinder.globals.uint(), unwinder.globals.bool());
        let void = unwinder.globals.void();
        let reserve = unwinder.runtime.reserve(unwinder.globals);
        let commit = unwinder.runtime.commit(unwinder.globals);
        let [record, room, write, end, done] = [(); 5].map(|()| unwinder.globals.fresh());
        let mut writer = Writer::new(Start {
            index,
            options,
            sources: Sources { index, block },
            runtime: unwinder.runtime,
            globals: unwinder.globals,
            label: write,
            offset: *word_offset,
        });
        let size = writer.size(layout, ty);
        let (units, bytes) = writer.extent(size);
        writer
            .code
            .op(op::FunctionCall, &[uint, record, reserve, units, bytes, site]);
        writer.code.op(op::INotEqual, &[bool, room, record, none]);
        writer.code.branch_if(room, write, end, end);
        writer.code.label(write);
        writer.write(record, layout, ty, message)?;
        writer.code.op(op::FunctionCall, &[void, done, commit, record]);
        writer.code.branch(end);
        writer.code.label(end);
        variables.append(&mut writer.variables);
        code = writer.code;
    }
    unwinder.leave(&mut code, number, function, Leaving::Begins);
    unwinder.edits.replace(abort.offset, abort.words.len(), &code.words);
    Ok(())
}

/// Declares variables at the start of a function.
fn declare(index: &Index<'_>, function: &Function, variables: &[(Id, Id)], edits: &mut Edits) {
    let Some(first) = index.blocks_of(function).first() else {
        return;
    };
    let mut code = Code::default();
    for (pointer, variable) in variables {
        code.op(op::Variable, &[*pointer, *variable, op::storage_class::Function]);
    }
    edits.insert_ranked(first.offset + 2, Rank::Variables, &code.words);
}

/// Entry points from which an abort or a polling loop can be reached.
fn reaching_entry_points<'w>(index: &Index<'w>, plan: &ExitPlan) -> Vec<Interface<'w>> {
    let mut reached = vec![false; index.entry_points.len()];
    for (number, _) in plan.touched(index) {
        let reach = plan.graph.reach.get(number);
        for entry in reach.iter().flat_map(|r| &r.entry_points) {
            if let Some(slot) = reached.get_mut(*entry as usize) {
                *slot = true;
            }
        }
    }
    index
        .entry_points
        .iter()
        .zip(reached)
        .filter(|(_, reached)| *reached)
        .map(|(entry, _)| Interface {
            entry: *entry,
            added: SmallVec::new(),
        })
        .collect()
}

/// What the accesses to the arena need: physical storage buffers.
fn require(index: &Index<'_>, globals: &mut Globals, edits: &mut Edits) {
    if !index.has_capability(capability::PhysicalStorageBufferAddresses) {
        globals.capability(capability::PhysicalStorageBufferAddresses);
    }
    const EXTENSION: &str = "SPV_KHR_physical_storage_buffer";
    if index.version < version(1, 5) && !index.has_extension(EXTENSION) {
        globals.extension(EXTENSION);
    }
    let model = index.inst(index.sections.memory_model);
    if model.word(1) == addressing_model::Logical {
        let mut code = Code::default();
        code.op(
            op::MemoryModel,
            &[addressing_model::PhysicalStorageBuffer64, model.word(2)],
        );
        edits.replace(model.offset, model.words.len(), &code.words);
    }
}
