//! What checks of shared memory share: words of their own in it, its layout, and the size and the barriers of workgroups.

pub(super) mod barrier;
pub(super) mod layout;
pub(super) mod shadow;
pub(super) mod size;
