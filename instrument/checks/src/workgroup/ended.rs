//! Counts the invocations of a workgroup that end by a failed check or an abort of the application.
//!
//! ```text
//! uint vkabort_end()                          how many have ended before
//!     return atomicAdd(vkabort_shadow[ended], 1)
//! bool vkabort_end_if(bool failed)            counts if it failed, and returns true then
//! ```

use vkabort_analysis::points_before::PointsBefore;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Code, Id, op};

/// The count, if a check needs it.
#[derive(Debug, Default)]
pub(crate) struct EndedInvocations {
    /// The word with the count, and the function `vkabort_end`.
    count: Option<(u32, Id)>,
    /// The function `vkabort_end_if`.
    end_if: Option<Id>,
    /// The points behind which others wait for what an invocation does. `None`: all.
    awaited: Option<PointsBefore>,
}

impl EndedInvocations {
    /// From now on, they are counted in a word, by the function `vkabort_end`.
    pub(super) fn count_by(&mut self, word: u32, end: Id) {
        self.count = Some((word, end));
    }

    /// The word with the count.
    pub(crate) fn word(&self) -> Option<u32> {
        self.count.map(|(word, _)| word)
    }

    /// An invocation that fails is counted only where it may have one of these points ahead.
    pub(crate) fn count_before(&mut self, awaited: PointsBefore) {
        self.awaited = Some(awaited);
    }

    /// Whether an invocation that fails a check at a point is counted: others wait for what it would do yet, or `is_missed` anyway.
    /// Drivers for CPUs compile each count to a loop.
    pub(crate) fn is_counted(&self, (block, offset): (BlockIndex, usize), is_missed: impl FnOnce() -> bool) -> bool {
        let is_awaited = |awaited: &PointsBefore| awaited.contains(block, offset) || is_missed();
        self.count.is_some() && self.awaited.as_ref().is_none_or(is_awaited)
    }

    /// Counts an invocation that ends.
    pub(crate) fn write_end(&self, out: &mut Emitter) {
        if let Some((_, end)) = self.count {
            out.calculate(op::FunctionCall, end);
        }
    }

    /// Counts an invocation that ends if `failed`. Returns a value that is true then.
    pub(crate) fn write_end_if(&mut self, out: &mut Emitter, functions: &mut Code, failed: Id) -> Id {
        let Some((_, end)) = self.count else { return failed };
        let bool = out.bool();
        let function = *self.end_if.get_or_insert_with(|| write_end_if(out, functions, end));
        out.emit(op::FunctionCall, bool, (function, failed))
    }
}

/// Writes the function `vkabort_end_if`. Its result depends on the count instead of the argument: Mesa 25 and 26 would join this selection
/// with the one behind it, which ends the invocation, and take seconds for a shader with a hundred checks.
fn write_end_if(out: &mut Emitter, functions: &mut Code, end: Id) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let types: (Id, &[Id]) = (bool, &[bool]);
    out.function(functions, "vkabort_end_if", types, |out, entry, parameters| {
        let [failed] = *parameters else { return None };
        let [count, counted, ended] = [(); 3].map(|()| out.fresh());
        let none = out.constant(u32::MAX);
        out.branch_if(failed, count, counted, counted);
        out.label(count);
        let before = out.calculate(op::FunctionCall, end);
        out.branch(counted);
        out.label(counted);
        out.phi(uint, ended, &[(none, entry), (before, count)]);
        Some(out.emit(op::INotEqual, bool, (ended, none)))
    })
}
