//! Code common to checks of shared memory: shadow words, the layout of shared memory, and the size and the barriers of workgroups.

pub(super) mod barrier;
pub(super) mod block;
mod block_protocol;
pub(super) mod count_ends;
pub(super) mod ended;
pub(super) mod layout;
pub(super) mod shadow_location;
pub(super) mod shared_scalar;
pub(super) mod shared_words;
pub(super) mod size;
