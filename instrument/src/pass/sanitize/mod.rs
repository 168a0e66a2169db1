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
mod helper;
mod indexing;
mod loops;
mod message;
mod module;
mod nan;
mod place;
mod planter;
mod scalars;
mod shift;
mod unreachable;
mod values;

use crate::analysis::index::Index;
use crate::edit::Edits;
use crate::edit::planted::Planted;
use crate::error::Result;
use crate::options::Options;
use crate::sanitize::{CHECKS, Check};
use module::ModulePlanter;
pub(crate) use module::Planting;
use planter::Planter;
use values::ValueFacts;
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
    let mut module = ModulePlanter::new(index, options, planting, hash);
    for (number, function) in index.functions.iter() {
        let Some(mut planter) = Planter::new(&mut module, number, function) else {
            continue;
        };
        let mut facts = ValueFacts::new(index, function, options);
        for row in CHECKS.iter().filter(|row| options.sanitize.checks.contains(row.check)) {
            match row.check {
                Check::Loops => loops::plant(&mut planter),
                Check::Breaks => breaks::plant(&mut planter),
                Check::Divide => divide::plant(&mut planter, &mut facts),
                Check::Shift => shift::plant(&mut planter, &mut facts),
                Check::Bounds => bounds::plant(&mut planter, &mut facts),
                Check::Buffers => buffers::plant(&mut planter, &mut facts),
                Check::Convert => convert::plant(&mut planter, &mut facts),
                Check::Nan => nan::plant(&mut planter, &mut facts),
                Check::Unreachable => unreachable::plant(&mut planter, &mut facts),
            }
        }
        planter.finish();
    }
    module.finish()
}
