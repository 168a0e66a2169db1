//! Runs cases on a Vulkan device, each in a child process with a time limit, and reports their verdicts.
//!
//! A [`Case`] is a row of a table: a name, a function, its requirements, and optionally the sentence of a specification that it
//! tests, which makes it a conformance check. A case that measures prints its measurements. A [`Launch`] starts the processes of
//! cases on a driver, with layers: that of `vkabort conform` on the machine's driver, that of the end-to-end tests on every driver
//! and in every order of the layers, and in the bundle on a machine without this repository.
//!
//! The child: [`in_process`] runs one case, [`serve`] several. The parent: [`Runner`] starts children, which [`supervise`]
//! waits for, and judges their output. [`table`] and [`junit`] show the results.

mod case;
mod finding;
pub mod in_process;
mod judge;
pub mod junit;
mod launch;
pub mod measurements;
mod needs;
mod result;
mod runner;
pub mod scratch;
mod serve;
mod streams;
pub mod supervise;
pub mod table;
mod verdict;
mod workers;

pub use case::{Case, Rule};
pub use finding::{Finding, Measurement, Warning};
pub use launch::Launch;
pub use needs::{Ends, Layers, Log, Process, Schedule};
pub use result::CaseResult;
pub use runner::Runner;
pub use serve::{SERVE, serve};
pub use verdict::{Outcome, Verdict};
pub use vkabort_gpu::{Context, Skip};
