//! Properties of a check that decide how its tests and aborts are planted.

use super::place::Place;
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::index::Index;

/// The properties. Most checks have the defaults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Properties {
    /// Whether the faults of its operations travel to their effects. `plant_values` is called twice then: first to collect them.
    pub(super) travels: bool,
    /// How the invocations that fail leave.
    pub(super) leaving: Leaving,
    /// Whether helper invocations fail, too.
    pub(super) ends_helpers: bool,
    /// Whether its tests read nothing but values, so that they may be hoisted.
    pub(super) is_hoisted: bool,
    /// Whether the other invocations of the workgroup must know that one ends which fails at a place. `None`: nowhere.
    pub(super) is_missed_at: Option<fn(&Index<'_>, &Place<'_>) -> bool>,
}

impl Properties {
    /// Of a check that has none of these.
    pub(super) const PLAIN: Self = Self {
        travels: false,
        leaving: Leaving::Anyhow,
        ends_helpers: false,
        is_hoisted: false,
        is_missed_at: None,
    };
    /// Of a check of the operands of operations whose results are undefined.
    pub(super) const OF_OPERANDS: Self = Self {
        travels: true,
        is_hoisted: true,
        ..Self::PLAIN
    };
}
