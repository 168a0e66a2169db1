//! Reports: built from the arena's records, delivered to the log, the messengers, the dump and the fault queries.

mod build;
pub mod driver_fault;
mod dump;
pub mod fault_queue;
pub mod log;
mod native;

pub use build::{Cause, conclude, go_on};
