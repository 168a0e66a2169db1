//! Functions and counts that the tests of all addresses share.

use super::buffer_finder::BufferFinder;
use super::pointer_bounds::PointerBounds;
use super::searches::Searches;

/// The state of the check.
#[derive(Debug, Default)]
pub(crate) struct AddressState {
    pub(super) finder: Option<BufferFinder>,
    pub(super) bounds: PointerBounds,
    pub(super) searches: Searches,
}
