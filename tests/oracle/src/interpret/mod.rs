//! A small SPIR-V interpreter for generated modules and their rewrites.
//!
//! It runs one invocation after another, or a workgroup in random order ([`run_workgroup`]), and supports `OpAbortKHR` natively: [`types`] lays out messages. It follows the
//! specification and shares nothing with the rewriter. Undefined behaviour is an error.

pub mod arithmetic;
mod compute;
mod error;
mod execute;
mod loop_budget;
mod machine;
mod memory;
mod outcome;
mod pointer;
mod reconvergence;
pub mod types;
pub mod value;
mod workgroup;
mod writers;

pub use error::{InterpretError, Result};
pub use loop_budget::LoopBudget;
pub use machine::{Frame, Machine, PrintCall, Setup, UndefinedValues};
pub use memory::{Physical, Region};
pub use outcome::InvocationEnd;
pub use workgroup::{Access, AccessKind, Arrivals, Race, WorkgroupRun, run_workgroup};
