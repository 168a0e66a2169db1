//! Reports of aborts and losses, in three steps: `gather` reads the sources, `build` makes the report of them, and `deliver` passes it
//! to the log, the application's debug-utils messengers and the dump folder.
//!
//! The sentences about sites, counts and commands are in the crate `vkabort_report`; those about a lost device in `loss_text`, about
//! pending command buffers in `gather::pending_buffers`, and about the driver's own fault records in `gather::driver_fault`.

mod build;
mod deliver;
pub mod fault_info;
mod gather;
mod loss_report;
mod loss_text;

pub use deliver::closing_text;
pub use deliver::prints::{deliver_last_prints, deliver_prints};
pub use gather::Cause;
pub use loss_report::{has_losing_abort, report_and_continue, report_loss};
