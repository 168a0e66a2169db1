//! Inputs of a check.

use crate::interpret::UndefinedValues;
use crate::interpret::{LoopBudget, Physical};
use crate::module::{Id, Module};
use std::collections::HashMap;
use vkabort_instrument::{Checks, ErrorKind, Instrumented, LoweredFeatures, Options, Outcome, instrument};
use vkabort_record::site::SiteTable;

/// Step limit of an invocation of an original module.
pub(super) const STEPS: u64 = 100_000;

/// A module to check.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// SPIR-V of the module.
    pub words: &'a [u32],
    /// Variable that counts the calls of `due`.
    pub ticks: Id,
    /// Loop iterations after which an invocation aborts, if the rewriter plants the check of loops.
    pub loop_budget: Option<u32>,
}

/// Options of the rewrite, its constant data in memory, and specialisation of the run.
#[derive(Clone)]
pub(crate) struct CheckOptions {
    pub(crate) rewrite: Options,
    pub(crate) constants: Vec<Physical>,
    pub(crate) specialization: HashMap<u32, u32>,
    /// Loop budget under which the interpreter runs the original, as the planted checks do; if there are any.
    pub(crate) budget: Option<LoopBudget>,
    /// Whether a run keeps the values of aborted invocations.
    pub(crate) keeps_frames: bool,
    pub(crate) undefined: UndefinedValues,
}

/// A rewrite, and its parsed module. `None` if it changes nothing, or if a message has an array whose elements are not accessible.
pub(super) fn rewrite_once(words: &[u32], options: &Options) -> Result<Option<(Instrumented, Module)>, String> {
    match instrument(words, options) {
        Ok(Outcome::Instrumented(rewritten)) => {
            let module = Module::parse(&rewritten.words).ok_or("the rewrite is malformed")?;
            Ok(Some((rewritten, module)))
        }
        Ok(Outcome::Unchanged) => Ok(None),
        Err(error) if error.kind == ErrorKind::UnsupportedArray => Ok(None),
        Err(error) => Err(format!("the rewriter refuses it: {error}")),
    }
}

/// Options that plant these checks, and lower nothing.
pub(super) fn planting(checks: Checks) -> Options {
    let mut options = Options {
        lowers: LoweredFeatures::default(),
        ..Options::default()
    };
    options.sanitize.checks = checks;
    options
}

/// A module with planted checks, and its sites. The module itself if nothing is planted.
pub(super) fn plant(words: &[u32], options: &Options) -> Result<(Module, SiteTable), String> {
    let (words, sites) = match instrument(words, options) {
        Ok(Outcome::Instrumented(planted)) => (planted.words, planted.sites),
        Ok(Outcome::Unchanged) => (words.to_vec(), SiteTable::default()),
        Err(error) => return Err(format!("the rewriter refuses it: {error}")),
    };
    let module = Module::parse(&words).ok_or("the planted module is malformed")?;
    Ok((module, sites))
}
