//! What checks of shared memory share: words of their own in it and in memory of the layer, its layout, and the size and the barriers of
//! workgroups.

pub(super) mod barrier;
pub(super) mod block;
mod block_protocol;
pub(super) mod layout;
pub(super) mod shadow;
pub(super) mod shadow_location;
pub(super) mod shared_scalar;
pub(super) mod size;
