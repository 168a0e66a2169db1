//! Ends entry points in one place.
//!
//! ```text
//! EntryPoint %main                  becomes   EntryPoint %main
//! %main: code, Return                         %body: code, Return
//!                                             %main: FunctionCall %body, and of `vkabort_leave` if it is planted
//!                                                    %a = Load %aborted, or whether the key is not 0
//!                                                    SelectionMerge %end, BranchConditional %a %left %end
//!                                             %left: FunctionCall %write_record STAGE %identity
//!                                                    Branch %end, or Kill or TerminateRay by stage
//!                                             %end:  Return
//! ```
//!
//! A site whose invocation may not come that far calls `vkabort_write_now`, which writes the record and leaves the key of none.
//!
//! The new function takes the id of the old one, so names, execution modes and interfaces stay. Every entry point has its own,
//! also where several share a function, since each has its own stage and built-ins.
//!
//! A task shader must say how many workgroups follow, in uniform control flow (SPV_EXT_mesh_shader); RADV of Mesa 25.0 asserts
//! on a shader with two `OpEmitMeshTasksEXT`. So its body stores their number, which is zero until then, and the new function
//! ends with the only `OpEmitMeshTasksEXT`. Not handled: one in a function that the entry point calls. It stays where it is.

use vkabort_record::stage::{Stage, StageEnd};
use vkabort_runtime::{
    AddedBuiltIns, DeferredRecord, EntryInterface, EntryRecords, Runtime, load_identity, record_key,
};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op::capability;
use vkabort_spirv::words::{MAX_INST_WORDS, version};
use vkabort_spirv::{Code, Id, Literal, Words, op};

/// An entry point whose invocations may leave early.
pub(super) struct AffectedEntry<'w> {
    pub(super) interface: EntryInterface<'w>,
    /// Its records.
    pub(super) records: EntryRecords,
}

/// How a stage ends for an invocation that has aborted.
fn stage_end(index: &Index<'_>, execution_model: u32) -> StageEnd {
    // Any-hit shaders of `SPV_NV_ray_tracing` share the execution model and lack the terminator.
    let ends_rays = index.has_capability(capability::RayTracingKHR) || !index.has_capability(capability::RayTracingNV);
    match Stage::of(execution_model).map(|stage| stage.end) {
        Some(end) if end != StageEnd::TerminateRay || ends_rays => end,
        _ => StageEnd::Return,
    }
}

/// Writes the new functions of the entry points that need one: those that leave records or whose stage needs another end than
/// a return.
pub(super) fn write_entries(
    index: &Index<'_>,
    entries: &mut [AffectedEntry<'_>],
    deferred: &[DeferredRecord],
    runtime: &mut Runtime,
    out: &mut Emitter,
    edits: &mut Edits,
) {
    let mut added = AddedBuiltIns::new();
    // Functions of entry points and their new ids.
    let mut bodies: Vec<(Id, Id)> = Vec::new();
    let leaves = runtime.leave.is_some();
    let needs_end = |entry: &AffectedEntry<'_>| {
        leaves || !entry.records.is_empty() || stage_end(index, entry.interface.entry.model) != StageEnd::Return
    };
    let ended: Vec<Id> = entries
        .iter()
        .filter(|entry| needs_end(entry))
        .map(|entry| entry.interface.entry.function)
        .collect();
    for entry in entries {
        let old = entry.interface.entry.function;
        if !ended.contains(&old) {
            continue;
        }
        let function = index.function_of(old).and_then(|f| index.functions.get(f));
        let Some(function) = function else { continue };
        let end = stage_end(index, entry.interface.entry.model);
        let body = match bodies.iter().find(|(id, _)| *id == old) {
            Some((_, body)) => {
                let function = out.fresh();
                entry.interface.entry.function = function;
                copy_execution_modes(index, old, function, edits);
                *body
            }
            None => {
                let body = out.fresh();
                bodies.push((old, body));
                rename_body(index, function, body, out, edits);
                if end == StageEnd::EmitNoTasks {
                    store_task_groups(index, function, runtime, out, edits);
                }
                body
            }
        };
        write_entry(index, entry, function, body, end, deferred, &mut added, runtime, out);
    }
}

#[expect(clippy::too_many_arguments, reason = "phases of one function")]
fn write_entry(
    index: &Index<'_>,
    entry: &mut AffectedEntry<'_>,
    function: &Function,
    body: Id,
    end: StageEnd,
    deferred: &[DeferredRecord],
    added: &mut AddedBuiltIns,
    runtime: &mut Runtime,
    out: &mut Emitter,
) {
    let (void, uint) = (out.void(), out.uint());
    let compact = runtime.compact_shape(&entry.interface, &entry.records, deferred);
    let (shape, tag) = compact.unzip();
    let writer = (!entry.records.is_empty()).then(|| runtime.record_writer(out, &entry.records, deferred, shape));
    let entry_function = entry.interface.entry.function;
    let write_now = runtime.write_now.zip(writer);
    let mut load_origin = |out: &mut Emitter| {
        let identity = load_identity(index, &mut entry.interface, tag.is_some(), added, out);
        let stage = out.constant(tag.unwrap_or(entry.interface.entry.model));
        (stage, identity)
    };
    if let Some((function, writer)) = write_now {
        runtime.with_functions(|runtime, functions| {
            out.continue_code(functions, |out| {
                out.name(function, "vkabort_write_now");
                out.begin_function(function, (void, &[]));
                let origin = load_origin(out);
                out.emit(op::FunctionCall, void, (writer, origin));
                let none = out.constant(record_key::NONE);
                runtime.store_key(out, none);
                out.op(op::Return, ());
                out.op(op::FunctionEnd, ());
            });
        });
    }
    let flag = runtime.flag(out);
    runtime.with_functions(|runtime, functions| {
        out.continue_code(functions, |out| {
            out.begin_function(entry_function, (void, &[]));
            let [done, left, exit, written] = [(); 4].map(|()| out.fresh());
            out.op(op::FunctionCall, (function.result_type, done, body));
            if let Some(leave) = runtime.leave {
                out.emit(op::FunctionCall, void, leave);
            }
            let aborted = flag.load(out);
            out.branch_if(aborted, left, exit, exit);
            out.label(left);
            if let Some(writer) = writer {
                let origin = load_origin(out);
                out.op(op::FunctionCall, (void, written, writer, origin));
            }
            match end {
                StageEnd::Kill => out.op(op::Kill, ()),
                StageEnd::TerminateRay => out.op(op::TerminateRayKHR, ()),
                StageEnd::Return | StageEnd::EmitNoTasks => out.branch(exit),
            }
            out.label(exit);
            match end {
                StageEnd::EmitNoTasks => {
                    let uvec3 = out.vector(uint, 3);
                    let (groups, count) = (runtime.task_groups(out), out.fresh());
                    out.op(op::Load, (uvec3, count, groups));
                    let counts = [0, 1, 2].map(|i| out.emit(op::CompositeExtract, uint, (count, Literal(i))));
                    let payload = task_payload(index, function);
                    out.op(op::EmitMeshTasksEXT, (counts, payload));
                }
                _ => out.op(op::Return, ()),
            }
            out.op(op::FunctionEnd, ());
        });
    });
}

/// Gives the function of an entry point another id.
fn rename_body(index: &Index<'_>, function: &Function, body: Id, out: &mut Emitter, edits: &mut Edits) {
    out.name(body, "vkabort_body");
    let inst = index.inst(function.offset);
    edits.replace_by(&inst, op::Function, (function.result_type, body, Words(inst.from(3))));
}

fn copy_execution_modes(index: &Index<'_>, from: Id, to: Id, edits: &mut Edits) {
    for mode in index.execution_modes.iter().filter(|mode| mode.target() == from) {
        let mut code = Code::default();
        code.op(mode.opcode(), (to, Words(mode.from(2))));
        edits.insert(mode.end(), &code);
    }
}

/// Replaces the ends of a task shader by stores of the numbers of workgroups.
fn store_task_groups(
    index: &Index<'_>,
    function: &Function,
    runtime: &mut Runtime,
    out: &mut Emitter,
    edits: &mut Edits,
) {
    let uint = out.uint();
    let uvec3 = out.vector(uint, 3);
    let groups = runtime.task_groups(out);
    for block in index.blocks_of(function) {
        let end = index.terminator(block);
        if end.opcode() != op::EmitMeshTasksEXT {
            continue;
        }
        let count = out.emit(op::CompositeConstruct, uvec3, [1, 2, 3].map(|i| end.id(i)));
        out.op(op::Store, (groups, count));
        out.op(op::Return, ());
        edits.replace_inst(&end, &out.take_code());
    }
}

/// The payload variable of a task shader, if it has one.
fn task_payload(index: &Index<'_>, function: &Function) -> Option<Id> {
    let ends = index.blocks_of(function).iter().map(|block| index.terminator(block));
    let mut ends = ends.filter(|end| end.opcode() == op::EmitMeshTasksEXT);
    ends.find_map(|end| end.ids(4).next())
}

/// Adds the variables that this pass declared to the interface of an entry point, and names its function.
///
/// # Errors
///
/// [`ErrorKind::Limit`] if the interface is too long.
pub(super) fn write_interface(
    index: &Index<'_>,
    interface: EntryInterface<'_>,
    runtime: &Runtime,
    edits: &mut Edits,
) -> Result<()> {
    let EntryInterface { entry, mut added, .. } = interface;
    if index.version >= version(1, 4) {
        // OpEntryPoint: from SPIR-V 1.4 on, an interface lists every global variable that the entry point references.
        added.extend(runtime.variables());
    }
    let count = added.len();
    if entry.inst.words.len() + count > MAX_INST_WORDS {
        let message = format!(
            "the interface of entry point {} has no room for {count} more variables",
            entry.function
        );
        return Err(Error::new(ErrorKind::Limit, "abort", None, message));
    }
    if !added.is_empty() || entry.function != entry.inst.entry_function() {
        let (model, name_and_interface) = (Literal(entry.model), Words(entry.inst.from(3)));
        let operands = (model, entry.function, name_and_interface, added.as_slice());
        edits.replace_by(&entry.inst, op::EntryPoint, operands);
    }
    Ok(())
}
