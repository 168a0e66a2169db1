//! Runs the passes with less and less, until a module can be rewritten: without prints, values at aborts, or checks.

use crate::outcome::{Hooks, Outcome, Unplanted};
use std::borrow::Cow;
use vkabort_checks::Planting;
use vkabort_options::{Options, Values};
use vkabort_spirv::error::Result;
use vkabort_spirv::lowered::has_prints;

/// A rewrite with all or a part of the options.
#[derive(Clone, Copy)]
struct Attempt {
    keeps_prints: bool,
    keeps_values: bool,
    planting: Planting,
}

/// The attempts, first to last. Most modules need one.
fn attempts(original: &[u32], options: &Options) -> impl Iterator<Item = Attempt> {
    // Only continue constructs need functions, which some modules cannot have there.
    let planting: &[Planting] = match options.sanitize.checks.is_empty() {
        true => &[Planting::Nothing],
        false => &[Planting::Everywhere, Planting::OutsideContinues, Planting::Nothing],
    };
    let prints = [true, false].into_iter();
    let prints = prints.filter(move |keeps| *keeps || options.prints.is_some() && has_prints(original));
    prints.flat_map(move |keeps_prints| {
        let values = [true, false].into_iter();
        let values = values.filter(move |keeps| *keeps || options.values != Values::Off);
        values.flat_map(move |keeps_values| {
            planting.iter().map(move |planting| Attempt {
                keeps_prints,
                keeps_values,
                planting: *planting,
            })
        })
    })
}

/// Calls `rewrite` for each attempt until one succeeds. Hooks or a warning report what that one leaves out, with the reason.
///
/// # Errors
///
/// The error of the last attempt.
pub(super) fn make_attempts(
    original: &[u32],
    options: &Options,
    hooks: &mut Hooks<'_>,
    rewrite: impl Fn(&Options, Planting, &mut Hooks<'_>) -> Result<Outcome>,
) -> Result<Outcome> {
    let (mut error, mut with_checks, mut with_prints) = (None, String::new(), String::new());
    for attempt in attempts(original, options) {
        match rewrite(&attempt.options(options), attempt.planting, hooks) {
            Ok(outcome) => return Ok(attempt.report(outcome, options, hooks, (&with_checks, &with_prints))),
            Err(failed) => {
                if attempt.planting == Planting::Everywhere {
                    with_checks = failed.to_string();
                }
                if attempt.keeps_prints {
                    with_prints = failed.to_string();
                }
                error = Some(failed);
            }
        }
    }
    error.map_or(Ok(Outcome::Unchanged), Err)
}

impl Attempt {
    fn options<'o>(&self, options: &'o Options) -> Cow<'o, Options> {
        let mut with = Cow::Borrowed(options);
        if !self.keeps_prints {
            with.to_mut().prints = None;
        }
        if !self.keeps_values {
            with.to_mut().values = Values::Off;
        }
        with
    }

    /// Reports what the attempt leaves out, with the errors of those with checks and with prints.
    fn report(
        &self,
        mut outcome: Outcome,
        options: &Options,
        hooks: &mut Hooks<'_>,
        (with_checks, with_prints): (&str, &str),
    ) -> Outcome {
        if self.planting == Planting::OutsideContinues
            && let Outcome::Instrumented(new) = &mut outcome
        {
            let warning = format!("continue constructs are not sanitized: {with_checks}");
            new.sites.warnings.push(warning);
        }
        let is_unchecked = self.planting == Planting::Nothing && !options.sanitize.checks.is_empty();
        if let Some(not_sanitized) = hooks.not_sanitized.as_mut().filter(|_| is_unchecked) {
            not_sanitized(Unplanted::Refused(with_checks));
        }
        if let Some(not_printed) = hooks.not_printed.as_mut().filter(|_| !self.keeps_prints) {
            not_printed(with_prints);
        }
        outcome
    }
}
