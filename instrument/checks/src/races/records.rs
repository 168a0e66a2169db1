//! The accesses to shared memory that `races` records.

use super::super::workgroup::shadow_location::ShadowLocation;
use super::accesses::SharedAccess;
use super::functions::RaceFunctions;
use super::word::{self, Kind};
use rustc_hash::FxHashMap as HashMap;

/// The accesses of a module that are recorded.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// By word offset of their instruction.
    pub(super) accesses: HashMap<usize, Vec<RecordedAccess>>,
    pub(super) functions: Option<RaceFunctions>,
    /// Whether the shadow names subgroups instead of invocations.
    pub(super) by_subgroup: bool,
}

/// An access with its place in the shadow.
#[derive(Clone, Debug)]
pub(super) struct RecordedAccess {
    pub(super) access: SharedAccess,
    /// Location of the shadow of its variable, and its first word.
    pub(super) location: ShadowLocation,
    pub(super) base: u32,
    pub(super) site: u32,
    pub(super) line: Option<u32>,
    /// The sites that store the same value as this one.
    pub(super) same: Option<(u32, u32)>,
    /// Kinds of the other accesses to the variable.
    pub(super) kinds: Vec<Kind>,
}

impl RecordedAccess {
    /// Its description in the shadow.
    pub(super) fn description(&self) -> u32 {
        let kind = self.access.kind;
        word::description(kind, self.site, self.same.filter(|_| kind == Kind::Store))
    }

    /// Whether it may race with anything but stores.
    pub(super) fn races_with_others(&self) -> bool {
        self.access.kind == Kind::Store && self.kinds.iter().any(|kind| *kind != Kind::Store)
    }
}
