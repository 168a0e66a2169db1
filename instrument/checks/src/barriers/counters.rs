//! Arrival counters of the checked barriers.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, op};

/// Counters of the checked barriers of a module.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    /// By word offset.
    pub(crate) counters: HashMap<usize, Counter>,
    /// The word with the number of invocations that ended, and the function that adds one.
    pub(crate) ended: Option<(u32, Id)>,
    /// The function that adds one if its argument is true.
    end_if: Option<Id>,
}

/// Counters of one barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    /// The word with the number of arrivals.
    pub(crate) arrivals: u32,
    /// The private variable with the executions of the invocation.
    pub(crate) executions: Id,
}

impl Barriers {
    /// Counts an invocation that ends.
    pub(crate) fn write_end(&self, out: &mut Emitter) {
        if let Some((_, end)) = self.ended {
            out.calculate(op::FunctionCall, end);
        }
    }

    /// Counts an invocation that ends if `failed`. Returns a value that is true then.
    pub(crate) fn write_end_if(&mut self, out: &mut Emitter, functions: &mut Code, failed: Id) -> Id {
        let Some((_, end)) = self.ended else { return failed };
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
