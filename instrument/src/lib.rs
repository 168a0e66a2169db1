//! SPIR-V words in, SPIR-V words and a site table out.
//!
//! [`instrument`] rewrites a module that uses `SPV_KHR_abort`, `SPV_KHR_constant_data` or `SPV_KHR_poison_freeze` into
//! one that uses none of them and does the same on any driver with buffer device addresses. It is a pure
//! function: no Vulkan, no files, no logger, no global state; the same words and options give the same output on
//! every machine. It never panics, and its output is valid whenever its input is.
#![forbid(unsafe_code)]

mod analysis;
mod edit;
mod error;
mod options;
mod outcome;
mod pass;
mod pipeline;
mod spv;

pub use error::{Error, ErrorKind, Result};
pub use options::{Arena, DEFAULT_HANG_ITERATIONS, LoopPoll, Options, Trap};
pub use outcome::{Instrumented, Outcome};
use vkabort_record::site::SiteTable;

/// The abort sites of a module that a driver runs as it is: none if it declares no aborts. The module is only read, and
/// specialisation data is not applied to it.
///
/// # Errors
///
/// An [`Error`] when the module is malformed or uses something unsupported.
pub fn sites(words: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    pipeline::sites(words, options)
}

/// Rewrites a module.
///
/// `words` is a whole module in host byte order, as `VkShaderModuleCreateInfo::pCode` gives it. Modules that declare none
/// of the capabilities `AbortKHR`, `ConstantDataKHR`, `PoisonFreezeKHR` are [`Outcome::Unchanged`] after a look at their
/// capability section alone.
///
/// # Errors
///
/// An [`Error`] with the step and the word offset when the module is malformed, breaks a rule that the rewrite relies on,
/// exceeds a limit or uses something unsupported.
pub fn instrument(words: &[u32], options: &Options) -> Result<Outcome> {
    pipeline::run(words, options)
}
