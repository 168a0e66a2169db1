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
mod pass;
mod pipeline;
mod spv;

pub use error::{Error, ErrorKind, Result};
pub use options::{Arena, DEFAULT_HANG_ITERATIONS, LoopPoll, Options, Trap};
use vkabort_record::site::{ModuleHash, SiteTable};

/// What became of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The module declares none of the capabilities that are lowered: pass it on as it is.
    Unchanged,
    /// The module was rewritten.
    Instrumented(Instrumented),
}

/// A rewritten module.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrumented {
    /// The new module.
    pub words: Vec<u32>,
    /// Hash of the module as given, as it stands in records.
    pub module_hash: ModuleHash,
    /// Its abort sites.
    pub sites: SiteTable,
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module: if a pipeline specialises one of them, the module has to
    /// be rewritten again with that data in [`Options::specialization`].
    pub data_spec_ids: Vec<u32>,
}

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
