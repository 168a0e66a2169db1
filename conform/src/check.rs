//! A conformance check.

use crate::gpu::Gpu;
use crate::rules::Rule;
use crate::verdict::CheckOutput;

/// A requirement of the specifications, and the code that tests it.
pub struct Check {
    /// Name: the part of the specifications, a dot, and the requirement.
    pub name: &'static str,
    /// The sentence that requires it.
    pub rule: Rule,
    /// The check violates valid usage, so that the specifications allow any behaviour: a failure is only a warning.
    pub outside_valid_usage: bool,
    /// Two processes run the check and must give the same answer.
    pub twice: bool,
    /// The check needs a device that an abort loses. It is skipped where [`LOSES`] fails.
    pub after_loss: bool,
    /// Runs the check.
    pub(crate) run: fn(&'static Gpu) -> CheckOutput,
}

/// Name of the check on which those with `after_loss` depend.
pub const LOSES: &str = "abort.loses_the_device";

impl Check {
    pub(crate) const fn new(name: &'static str, rule: Rule, run: fn(&'static Gpu) -> CheckOutput) -> Self {
        Self {
            name,
            rule,
            outside_valid_usage: false,
            twice: false,
            after_loss: false,
            run,
        }
    }

    /// A check of a lost device.
    pub(crate) const fn lost(name: &'static str, rule: Rule, run: fn(&'static Gpu) -> CheckOutput) -> Self {
        Self {
            after_loss: true,
            ..Self::new(name, rule, run)
        }
    }
}
