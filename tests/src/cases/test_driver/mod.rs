//! Cases on the test driver, which loses the device, hangs, refuses calls and returns wrong answers on demand. Each case
//! quotes the rule of the specification that it checks.

mod binaries;
mod commands;
mod deferred;
mod descriptor_heap;
mod identifiers;
mod in_flight;
mod loss;
mod memory;
mod native;
mod partial;
mod pipeline_binaries;
mod prints;
mod protected;
mod refused;
mod reports;
mod sanitize;
#[cfg(unix)]
mod secure_execution;
mod stress;
mod submissions;
mod support;
mod traps;
mod undrained;
mod untouched;

use crate::case::Case;

/// Every case.
pub(super) fn all() -> Vec<Case> {
    [
        binaries::CASES,
        commands::CASES,
        deferred::CASES,
        descriptor_heap::CASES,
        identifiers::CASES,
        in_flight::CASES,
        loss::CASES,
        &memory::cases(),
        traps::CASES,
        &native::cases(),
        partial::CASES,
        pipeline_binaries::CASES,
        prints::CASES,
        protected::CASES,
        refused::CASES,
        reports::CASES,
        sanitize::CASES,
        #[cfg(unix)]
        secure_execution::CASES,
        stress::CASES,
        submissions::CASES,
        undrained::CASES,
        untouched::CASES,
    ]
    .concat()
}
