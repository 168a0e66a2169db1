//! Holds the rewriter with an oracle that needs no driver.
//!
//! [`generate`] makes valid modules of every shape, [`plant`] puts aborts into any module, and [`interpret`] runs a module
//! and its rewrite, so that [`check`] can compare what they do, invocation by invocation and byte by byte.
#![forbid(unsafe_code)]

pub mod check;
pub mod choices;
pub mod generate;
pub mod interpret;
pub mod module;
pub mod op;
pub mod plant;
pub mod targets;
pub mod words;
