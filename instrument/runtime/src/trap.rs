//! Writes the trap: code that an aborting invocation executes once its record is available, so that the driver loses the device.
//!
//! ```text
//! return   nothing: the layer reports the loss
//! fault    a barrier, then a volatile store to an address that no driver maps
//! hang     ABORTED = 1, a barrier, then for (i = 0; i < hang_iterations; ++i) { if (atomicLoad(ABORTED) == 0) break; }
//! ```
//!
//! Nothing orders later accesses after the stores of the record: without the barrier the faulting store could
//! overtake them, and no cache is written back after a fault.
//! `Device` is the widest scope of Vulkan; the host sees the stores too, since the arena is in memory that the device does
//! not cache.
//!
//! The loop ends when the host clears ABORTED, and at last by its counter: a device without a watchdog, or an orphaned
//! process, would run it forever. No compiler can decide its condition, and neither outcome is undefined, so the code after
//! it, by which the invocation leaves, stays.

use super::arena::ABORTED;
use super::state::Runtime;
use vkabort_options::Trap;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_operands::VOLATILE;
use vkabort_spirv::{Id, Literal, op};

/// In the page at address zero, which drivers leave unmapped so that null pointers fault.
const FAULT_ADDRESS: u64 = 0x10;

/// Writes the trap into the open block `block`; another block may be open afterwards.
pub(super) fn write_trap(runtime: &mut Runtime, out: &mut Emitter, block: Id) {
    if runtime.trap == Trap::Hang {
        runtime.set_aborted(out);
    }
    if runtime.trap != Trap::Return {
        runtime.barrier(out);
    }
    match runtime.trap {
        Trap::Return => {}
        Trap::Fault => {
            let ty = runtime.types(out).uint_pointer;
            let pointer = runtime.pointer_to(out, ty, FAULT_ADDRESS);
            let one = out.constant(1);
            let [Literal(mask), alignment] = runtime.access(4);
            out.op(op::Store, (pointer, one, Literal(mask | VOLATILE), alignment));
        }
        Trap::Hang => write_hang(runtime, out, block),
    }
}

fn write_hang(runtime: &mut Runtime, out: &mut Emitter, block: Id) {
    let (uint, bool) = (out.uint(), out.bool());
    let [zero, one, iterations, scope] =
        [0, 1, runtime.hang_iterations, runtime.scope].map(|value| out.constant(value));
    let stays = |out: &mut Emitter, [round]: [Id; 1]| {
        let pointer = runtime.control(out, ABORTED);
        let aborted = out.calculate(op::AtomicLoad, (pointer, scope, zero));
        let is_aborted = out.emit(op::INotEqual, bool, (aborted, zero));
        let has_rounds = out.emit(op::ULessThan, bool, (round, iterations));
        (out.emit(op::LogicalAnd, bool, (is_aborted, has_rounds)), ())
    };
    out.loop_(block, [(uint, zero)], stays, |out, [round], ()| {
        [out.calculate(op::IAdd, (round, one))]
    });
}
