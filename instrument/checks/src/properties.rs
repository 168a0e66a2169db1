//! Properties of a check that decide how its tests and aborts are planted.

use super::place::Place;
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::index::Index;

/// The properties. Most checks have the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Properties {
    /// How the invocations that fail leave.
    pub(super) leaving: Leaving,
    /// Whether helper invocations fail, too.
    pub(super) ends_helpers: bool,
    /// Whether its tests read nothing but values, so that they may be hoisted.
    pub(super) is_hoisted: bool,
    /// Whether the other invocations of the workgroup must know that one ends which fails at a place. `None`: nowhere.
    pub(super) is_missed_at: Option<fn(&Index<'_>, &Place<'_>) -> bool>,
}
