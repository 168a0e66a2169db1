//! Checks the rewriter against an oracle, without a driver.
//!
//! [`generate`] creates valid modules, [`plant`] adds aborts to any module, and [`interpret`] runs a module and its
//! rewrite, so that [`check`] can compare them invocation by invocation and byte by byte.
//!
//! The decisions and their reasons: `docs/design/testing.md`.
#![forbid(unsafe_code)]

pub mod check;
pub mod choices;
pub mod disassemble;
pub mod generate;
pub mod interpret;
pub mod module;
pub mod mutate;
pub mod plant;
pub mod seeds;
pub mod targets;
pub mod words;

pub use vkabort_spirv_builder::op;
