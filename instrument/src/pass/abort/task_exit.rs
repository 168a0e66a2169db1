//! Makes a task shader end in one place.
//!
//! ```text
//! %main: ..                                 becomes   %main: ..
//!   EmitMeshTasksEXT %x %y %z %payload                  %g = CompositeConstruct %x %y %z
//!                                                       Store %groups %g, Return
//!                                                     %task: FunctionCall %main, %h = Load %groups
//!                                                       EmitMeshTasksEXT %h.x %h.y %h.z %payload
//! ```
//!
//! and `%task` becomes the entry point. An invocation that aborts returns from `%main` while `%groups` is still zero. So
//! `OpEmitMeshTasksEXT` stays in uniform control flow, where SPV_EXT_mesh_shader requires it. RADV of Mesa 25.0 asserts on a
//! shader with two of them.
//!
//! Not handled: an `OpEmitMeshTasksEXT` in a function that the entry point calls. It stays where it is.

use super::runtime::Runtime;
use crate::analysis::index::{Function, Index};
use crate::edit::Edits;
use crate::edit::globals::Globals;
use crate::spv::{Code, Id, Literal, Words, op};

/// Moves the end of the task shader `function` into a new function. Returns the new function, the entry point's.
pub(super) fn move_task_exit(
    index: &Index<'_>,
    function: &Function,
    runtime: &mut Runtime,
    globals: &mut Globals,
    edits: &mut Edits,
) -> Id {
    let uint = globals.uint();
    let uvec3 = globals.vector(uint, 3);
    let groups = runtime.task_groups(globals);
    let mut payload = None;
    for block in index.blocks_of(function) {
        let end = index.terminator(block);
        if end.opcode() != op::EmitMeshTasksEXT {
            continue;
        }
        payload = payload.or_else(|| end.ids(4).next());
        let count = globals.fresh();
        let mut code = Code::default();
        code.op(op::CompositeConstruct, (uvec3, count, [1, 2, 3].map(|i| end.id(i))));
        code.op(op::Store, (groups, count));
        code.op(op::Return, ());
        edits.replace_inst(&end, &code);
    }
    let void = globals.void();
    let mut task = runtime.begin_function(globals, "vkabort_task", void, []);
    let [done, count] = [(); 2].map(|()| globals.fresh());
    task.code.op(op::FunctionCall, (void, done, function.id));
    task.code.op(op::Load, (uvec3, count, groups));
    let counts = [0, 1, 2].map(|i| {
        let part = globals.fresh();
        task.code.op(op::CompositeExtract, (uint, part, count, Literal(i)));
        part
    });
    task.code.op(op::EmitMeshTasksEXT, (counts, payload.as_slice()));
    runtime.end_function(task.code);
    for mode in index.execution_modes.iter().filter(|mode| mode.id(1) == function.id) {
        let mut code = Code::default();
        code.op(mode.opcode(), (task.function, Words(mode.from(2))));
        edits.replace_inst(mode, &code);
    }
    task.function
}
