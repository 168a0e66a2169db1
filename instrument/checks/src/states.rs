//! What checks keep while they are planted, each for itself.

use super::addresses::AddressState;
use super::barriers::Counters;
use super::initialized::loads::UnstoredLoads;
use super::loops::LoopState;
use super::races::records::Races;

/// The states of a module.
#[derive(Debug, Default)]
pub(super) struct States<'w> {
    pub(super) addresses: AddressState,
    pub(super) barriers: Counters,
    pub(super) initialized: UnstoredLoads<'w>,
    pub(super) loops: LoopState,
    pub(super) races: Races,
}
