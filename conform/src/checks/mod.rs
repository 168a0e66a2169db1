//! The checks, one file for each part of the specifications.

mod abort;
mod advertised;
mod cache;
mod constant_data;
mod debug_info;
mod lost;
mod message;
mod recovery;
mod reports;

pub use abort::LOSES;
use vkabort_runner::Case;

/// Every check, in the order in which they run.
pub fn all() -> impl Iterator<Item = Case> {
    [
        advertised::CHECKS,
        abort::CHECKS,
        message::CHECKS,
        debug_info::CHECKS,
        reports::CHECKS,
        lost::CHECKS,
        recovery::CHECKS,
        constant_data::CHECKS,
        cache::CHECKS,
    ]
    .into_iter()
    .flatten()
    .copied()
}
