//! Writes the trap: what an aborting invocation does once its record is available, so that the driver loses the device.
//!
//! ```text
//! return   nothing: the layer reports the loss
//! fault    a barrier, then a volatile store to an address that no driver maps
//! hang     a barrier, then for (i = 0; i < hang_iterations; ++i) { if (atomicLoad(ABORTED) == 0) break; }
//! ```
//!
//! Nothing orders later accesses after the stores of COMMIT and ABORTED: without the barrier the faulting store could
//! overtake them, and no cache is written back after a fault.
//! `Device` is the widest scope of Vulkan; the host sees the stores too, since the arena is in memory that the device does
//! not cache.
//!
//! The loop ends when the host clears ABORTED, and at last by its counter: a device without a watchdog, or an orphaned
//! process, would run it forever. No compiler can decide its condition, and neither outcome is undefined, so the code after
//! it, by which the invocation leaves, stays.

use super::arena::ABORTED;
use super::state::Runtime;
use crate::edit::globals::Globals;
use crate::edit::phi::phi;
use crate::options::Trap;
use crate::spv::op::memory_operands::VOLATILE;
use crate::spv::{Code, Id, Literal, op};

/// In the page at address zero, which drivers leave unmapped so that null pointers fault.
const FAULT_ADDRESS: u64 = 0x10;

/// Writes the trap into the open block `block`; another block may be open afterwards.
pub(super) fn write_trap(runtime: &mut Runtime, code: &mut Code, globals: &mut Globals, block: Id) {
    if runtime.trap != Trap::Return {
        runtime.barrier(code, globals);
    }
    match runtime.trap {
        Trap::Return => {}
        Trap::Fault => {
            let ty = runtime.types(globals).uint_pointer;
            let pointer = runtime.pointer_to(code, globals, ty, FAULT_ADDRESS);
            let one = globals.constant(1);
            let [Literal(mask), alignment] = runtime.access(4);
            code.op(op::Store, (pointer, one, Literal(mask | VOLATILE), alignment));
        }
        Trap::Hang => write_hang(runtime, code, globals, block),
    }
}

fn write_hang(runtime: &mut Runtime, code: &mut Code, globals: &mut Globals, block: Id) {
    let (uint, bool) = (globals.uint(), globals.bool());
    let [zero, one, iterations, scope] =
        [0, 1, runtime.hang_iterations, runtime.scope].map(|value| globals.constant(value));
    let [header, test, next, exit, i, next_i] = [(); 6].map(|()| globals.fresh());
    let [aborted, is_aborted, has_rounds, stays] = [(); 4].map(|()| globals.fresh());
    code.branch(header);
    code.label(header);
    phi(code, uint, i, &[(zero, block), (next_i, next)]);
    code.op(op::LoopMerge, (exit, next, Literal(0)));
    code.branch(test);
    code.label(test);
    let pointer = runtime.control(code, globals, ABORTED);
    code.op(op::AtomicLoad, (uint, aborted, pointer, scope, zero));
    code.op(op::INotEqual, (bool, is_aborted, aborted, zero));
    code.op(op::ULessThan, (bool, has_rounds, i, iterations));
    code.op(op::LogicalAnd, (bool, stays, is_aborted, has_rounds));
    code.op(op::BranchConditional, (stays, next, exit));
    code.label(next);
    code.op(op::IAdd, (uint, next_i, i, one));
    code.branch(header);
    code.label(exit);
}
