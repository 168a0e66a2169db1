//! What an aborting invocation does once its record is available, so that the driver itself loses the device.
//!
//! ```text
//! return   nothing: the layer reports the loss
//! fault    a barrier, then a volatile store to an address that no driver maps
//! hang     a barrier, then for (i = 0; i < hang_iterations; ++i) { if (atomicLoad(ABORTED) == 0) break; }
//! ```
//!
//! The stores of COMMIT and ABORTED have release semantics, which order what is before them and nothing behind: without
//! the barrier the faulting store could overtake them, and no cache is written back after it. `Device` is the largest scope
//! that Vulkan has: memory that the device does not cache makes it the host's as well.
//!
//! The loop ends when the host clears ABORTED, and at last by itself: on a device without a watchdog, or with the host's
//! process gone, nothing else would end it. Its condition is one that no compiler can decide, and neither way is
//! undefined, so the code after it, by which the invocation leaves, stays right.

use super::Runtime;
use crate::edit::globals::Globals;
use crate::edit::phi::phi;
use crate::options::Trap;
use crate::spv::op::memory_operands::VOLATILE;
use crate::spv::{Code, Id, op};

/// In the page at zero, which drivers leave unmapped so that null pointers fault.
const FAULT_ADDRESS: u64 = 0x10;

/// Adds the trap to a block that is open with the label `block`; another block may be open afterwards.
pub(in crate::pass::abort) fn spring(
    trap: Trap,
    runtime: &mut Runtime,
    code: &mut Code,
    globals: &mut Globals,
    block: Id,
) {
    if trap != Trap::Return {
        runtime.barrier(code, globals);
    }
    match trap {
        Trap::Return => {}
        Trap::Fault => {
            let ty = runtime.views(globals).uint_pointer;
            let pointer = runtime.address(code, globals, ty, FAULT_ADDRESS);
            let one = globals.constant(1);
            let [mask, alignment] = runtime.access(4);
            code.op(op::Store, &[pointer, one, mask | VOLATILE, alignment]);
        }
        Trap::Hang => hang(runtime, code, globals, block),
    }
}

fn hang(runtime: &mut Runtime, code: &mut Code, globals: &mut Globals, block: Id) {
    let (uint, bool) = (globals.uint(), globals.bool());
    let (zero, one, last) = (
        globals.constant(0),
        globals.constant(1),
        globals.constant(runtime.hang_iterations),
    );
    let (device, relaxed) = (globals.constant(runtime.scope()), zero);
    let [header, test, next, out, i, after, word, set, more, stay] = [(); 10].map(|()| globals.fresh());
    code.branch(header);
    code.label(header);
    phi(code, uint, i, &[(zero, block), (after, next)]);
    code.op(op::LoopMerge, &[out, next, 0]);
    code.branch(test);
    code.label(test);
    let aborted = runtime.control(code, globals, 0);
    code.op(op::AtomicLoad, &[uint, word, aborted, device, relaxed]);
    code.op(op::INotEqual, &[bool, set, word, zero]);
    code.op(op::ULessThan, &[bool, more, i, last]);
    code.op(op::LogicalAnd, &[bool, stay, set, more]);
    code.op(op::BranchConditional, &[stay, next, out]);
    code.label(next);
    code.op(op::IAdd, &[uint, after, i, one]);
    code.branch(header);
    code.label(out);
}
