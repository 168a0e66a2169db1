//! Rewrites SPIR-V: words in, words and a table of abort sites out.
//!
//! [`instrument`] rewrites a module that uses `SPV_KHR_abort`, `SPV_KHR_constant_data` or `SPV_KHR_poison_freeze` into an
//! equivalent one that uses none of them and runs on any driver with buffer device addresses. It is a pure function: no
//! Vulkan, no files, no logger, no global state. The same words and options give the same output on every machine. It
//! never panics, and its output is valid whenever its input is.
//!
//! # Example
//!
//! A compute shader that aborts with the message 7:
//!
//! ```
//! use vkabort_instrument::{Feature, Options, Outcome, instrument, scan};
//! use vkabort_record::scalar_type::ScalarType;
//!
//! // An instruction is its length and opcode in one word, then its operands.
//! let module: Vec<u32> = [
//!     &[0x0723_0203, 0x1_0500, 0, 8, 0][..],       // magic, SPIR-V 1.5, generator, id bound, schema
//!     &[2 << 16 | 17, 1],                          // OpCapability Shader
//!     &[2 << 16 | 17, 5120],                       // OpCapability AbortKHR
//!     &[3 << 16 | 14, 0, 1],                       // OpMemoryModel Logical GLSL450
//!     &[5 << 16 | 15, 5, 1, 0x6e69_616d, 0],       // OpEntryPoint GLCompute %1 "main"
//!     &[6 << 16 | 16, 1, 17, 1, 1, 1],             // OpExecutionMode %1 LocalSize 1 1 1
//!     &[2 << 16 | 19, 2],                          // %2 = OpTypeVoid
//!     &[3 << 16 | 33, 3, 2],                       // %3 = OpTypeFunction %2
//!     &[4 << 16 | 21, 4, 32, 0],                   // %4 = OpTypeInt 32 0
//!     &[4 << 16 | 43, 4, 5, 7],                    // %5 = OpConstant %4 7
//!     &[5 << 16 | 54, 2, 1, 0, 3],                 // %1 = OpFunction %2 None %3
//!     &[2 << 16 | 248, 6],                         // %6 = OpLabel
//!     &[3 << 16 | 5121, 4, 5],                     // OpAbortKHR %4 %5
//!     &[1 << 16 | 56],                             // OpFunctionEnd
//! ]
//! .concat();
//! assert!(scan(&module).contains(Feature::Abort));
//!
//! let Outcome::Instrumented(new) = instrument(&module, &Options::default())? else {
//!     panic!("the module declares AbortKHR");
//! };
//! assert!(scan(&new.words).is_empty());
//! let [site] = new.sites.sites.as_slice() else {
//!     panic!("the module has one abort");
//! };
//! assert_eq!(site.message, ScalarType::U32.into());
//! assert_eq!(new.sites.entry_points[0].name, "main");
//! # Ok::<(), vkabort_instrument::Error>(())
//! ```
#![forbid(unsafe_code)]

mod check;
mod outcome;
mod pipeline;

pub use check::{Checked, Finding, Rule, check};
pub use outcome::{
    AfterPass, ClaimCompact, ClaimPrints, Hooks, Instrumented, NotPrinted, NotSanitized, Outcome, Place, Unplanted,
};
use std::collections::{BTreeMap, BTreeSet};
pub use vkabort_options::{
    Arena, CHECKS, Check, CheckRow, Checks, DEFAULT_HANG_ITERATIONS, DEFAULT_LOOP_BUDGET, DEFAULT_SHARED_MEMORY,
    DEFAULT_VALUES_SIZE, LoopPoll, LoopTimeout, Options, PlantingPlace, PrintNumbers, Prints, Sanitize, SanitizeFilter,
    ShadowArea, Trap, Values,
};
use vkabort_record::site::{ModuleHash, SiteTable};
pub use vkabort_spirv::error::{Error, ErrorKind, Result};
pub use vkabort_spirv::lowered::{Feature, LOWERED, LoweredExtension, LoweredFeatures, has_prints, scan};

/// The abort sites of a module that the driver runs unchanged, without specialisation data. `None` if the module does not
/// declare `AbortKHR`.
///
/// # Errors
///
/// An [`Error`] if the module is malformed or uses something unsupported.
pub fn sites(words: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    pipeline::sites(words, options)
}

/// The stores that each load of memory that only the invocation sees may read, by word offset: the offsets of stores, or of calls whose function
/// stores; `None` for the contents at function entry. Loads of other memory are left out. For tests of the view of values.
///
/// # Errors
///
/// The module is malformed.
#[doc(hidden)]
pub fn sources_of_loads(words: &[u32]) -> Result<BTreeMap<usize, BTreeSet<Option<usize>>>> {
    vkabort_analysis::view::sources_of_loads(words)
}

/// The hash of a module with the specialisation data in `options`, as in reports.
pub fn module_hash(words: &[u32], options: &Options) -> ModuleHash {
    pipeline::module_hash(words, options)
}

/// Rewrites a module.
///
/// `words` is a whole module in host byte order, as in `VkShaderModuleCreateInfo::pCode`. A module that declares none of
/// the capabilities in [`LOWERED`] is [`Outcome::Unchanged`]; only its capability section is read.
///
/// # Errors
///
/// An [`Error`] with the pass and the word offset if the module is malformed, breaks a rule that the rewrite relies on,
/// exceeds a limit or uses something unsupported.
pub fn instrument(words: &[u32], options: &Options) -> Result<Outcome> {
    instrument_with(words, options, Hooks::default())
}

/// Rewrites a module like [`instrument`] and calls the hooks.
///
/// # Errors
///
/// As [`instrument`].
pub fn instrument_with(words: &[u32], options: &Options, hooks: Hooks<'_>) -> Result<Outcome> {
    pipeline::rewrite(words, options, hooks)
}
