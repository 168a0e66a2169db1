//! State of single checks while they are planted.

use super::addresses::state::AddressState;
use super::barriers::counters::Counters;
use super::initialized::loads::UnstoredLoads;
use super::loop_clock::LoopState;
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
