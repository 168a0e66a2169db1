//! Builds the report of an abort or a loss and delivers it: to the log, to the application's debug-utils messengers, to the
//! dump folder and to the fault queries. The report itself is data of the `record` crate.

mod deliver;
pub mod driver_fault;
mod dump;
pub mod fault_info;
mod loss_report;
mod messengers;
mod native;
mod pending_commands;
mod prints;
mod process_exit;
mod queue_progress;

pub use deliver::closing_text;
pub use loss_report::{Cause, has_losing_abort, report_and_continue, report_loss};
pub use prints::{deliver_last_prints, deliver_prints};
