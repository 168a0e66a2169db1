//! Plants checks: aborts that a failed check takes, in shaders that need not have any of their own.
//!
//! ```text
//! instruction      becomes   %failed = ..
//!                            SelectionMerge %go, BranchConditional %failed %fail %go
//!                            %fail: %message = CompositeConstruct ..
//!                                   AbortKHR %type %message
//!                            %go:   instruction
//! ```
//!
//! The output is valid SPIR-V with ordinary aborts, which a driver with `SPV_KHR_abort` executes as it is. A planted abort has the
//! origin of the instruction that it guards, so that its site has the position of that one.
//!
//! A check is a file with one function: it finds the places in a function and calls [`Planter::plant`]; `planter` does the rest.
//! Code that entry points do not reach is left alone.

mod accesses;
mod bounds;
mod breaks;
mod buffers;
mod convert;
mod divide;
mod filter;
mod guard;
mod indexing;
mod loop_clock;
mod loops;
mod message;
mod module;
mod nan;
mod place;
mod planter;
mod repetitions;
mod scalars;
mod shift;
mod unreachable;
mod values;

use crate::analysis::constant_exits::ConstantExits;
use crate::analysis::effects::Effects;
use crate::analysis::index::Index;
use crate::analysis::index::typed::Table;
use crate::analysis::ranges::Ranges;
use crate::analysis::view::ModuleView;
use crate::edit::Edits;
use crate::edit::planted::Planted;
use crate::error::Result;
use crate::options::Options;
use crate::sanitize::{CHECKS, Check};
use module::ModulePlanter;
pub(crate) use module::Planting;
use planter::Planter;
use repetitions::Repetitions;
use values::{ValueFacts, Values};
use vkabort_record::site::ModuleHash;

/// Plants the selected checks. Edits nothing if there is no place for any.
///
/// # Errors
///
/// [`crate::ErrorKind::Limit`] if an interface has no room for another variable.
pub(crate) fn plant(
    index: &Index<'_>,
    options: &Options,
    planting: Planting,
    hash: ModuleHash,
) -> Result<(Edits, Planted)> {
    let view = ModuleView::new(index);
    let mut module = ModulePlanter::new(index, options, planting, hash);
    let repetitions = match options.sanitize.checks.contains(Check::Loops) {
        true => Repetitions::of_module(&view),
        false => Table::default(),
    };
    let mut values = Values {
        effects: Effects::new(&view),
        ranges: Ranges::new(&view, options),
    };
    for (number, function) in index.functions.iter() {
        let Some(mut planter) = Planter::new(&mut module, number, function) else {
            continue;
        };
        // Without a view of the function, checks of values are left out.
        let mut facts = view
            .function(number)
            .map(|function| ValueFacts::new(function, &mut values));
        for row in CHECKS.iter().filter(|row| options.sanitize.checks.contains(row.check)) {
            match (row.check, &mut facts) {
                (Check::Loops, _) => {
                    let exits = || view.function(number).map(|own| ConstantExits::new(own, &view.glsl));
                    loops::plant(&mut planter, repetitions.get(number), exits);
                }
                (Check::Breaks, _) => breaks::plant(&mut planter),
                (_, None) => {}
                (Check::Divide, Some(facts)) => divide::plant(&mut planter, facts),
                (Check::Shift, Some(facts)) => shift::plant(&mut planter, facts),
                (Check::Bounds, Some(facts)) => bounds::plant(&mut planter, facts),
                (Check::Buffers, Some(facts)) => buffers::plant(&mut planter, facts),
                (Check::Convert, Some(facts)) => convert::plant(&mut planter, facts),
                (Check::Nan, Some(facts)) => nan::plant(&mut planter, facts),
                (Check::Unreachable, Some(facts)) => unreachable::plant(&mut planter, facts),
            }
        }
        planter.finish();
    }
    let warnings = view.given_up().into_iter().chain(values.effects.given_up());
    module
        .planted
        .warnings
        .extend(warnings.map(|what| format!("checks are left out: {what}")));
    module.finish()
}
