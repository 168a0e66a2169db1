//! Runs a case in this process.

use crate::{Case, Outcome, Verdict};
use vkabort_gpu::Context;

/// Argument before the name of a case that makes a program run it and print the verdict as its last line.
pub const RUN: &str = "--run";

/// Runs a case. Messages of the validation layer are failures.
pub fn run(case: &Case, context: &Context) -> Verdict {
    let mut verdict = Verdict::from((case.run)(context));
    let messages = context.messages.take();
    if !messages.is_empty() && verdict.outcome != Outcome::Skip {
        let lines = messages
            .iter()
            .map(|message| format!("message of the validation layer: {message}"));
        let said = std::mem::take(&mut verdict.detail);
        let lines = Some(said).into_iter().filter(|said| !said.is_empty()).chain(lines);
        verdict = Verdict::new(Outcome::Fail, lines.collect::<Vec<_>>().join("\n"));
    }
    if case.outside_valid_usage && verdict.outcome == Outcome::Fail {
        verdict.outcome = Outcome::Warn;
    }
    verdict
}

/// Destroys the objects that a case left to its context, after its verdict.
///
/// # Safety
///
/// The case has returned, and no reference to its objects is used afterwards.
pub unsafe fn release(context: &Context) {
    // SAFETY: the caller uses no reference to the objects; the case waited for its work or lost the device.
    unsafe { context.owner.destroy() };
}
