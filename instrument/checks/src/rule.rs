//! What a check is: a file with a [`CheckRule`], named `Rule`, and a row of `vkabort_options::checks`.
//!
//! All hooks but `plant` or `plant_values` have defaults, so that a check without state is one function. A check that keeps state has a
//! field in [`States`](super::states::States), and no other part of the crate knows it by name.

use super::module::ModulePlanter;
use super::operand_checks::{ValueAnalyses, ValueFacts};
use super::place::Place;
use super::planter::Planter;
use vkabort_analysis::view::ModuleView;
use vkabort_options::{Check, Checks, checks};
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::index::Index;

/// A check and its hooks, in the order in which they are called.
pub(super) trait CheckRule: Sync {
    /// Reserves what the check needs, before anything is planted.
    fn prepare<'v, 'a, 'w>(
        &self,
        _: &mut ModulePlanter<'_, 'w>,
        _: &'v ModuleView<'a, 'w>,
        _: &mut ValueAnalyses<'v, 'a, 'w>,
    ) {
    }

    /// Plants the check into a function, by blocks and instructions alone.
    fn plant<'w>(&self, _: &mut Planter<'_, '_, 'w>) {}

    /// Plants the check into a function, with facts about values. Not called if the function is too large for them.
    fn plant_values<'w>(&self, _: &mut Planter<'_, '_, 'w>, _: &mut ValueFacts<'_, '_, '_, 'w>) {}

    /// Hands over what the code of the check needs of the runtime, after all functions.
    fn finish(&self, _: &mut ModulePlanter<'_, '_>) {}

    /// Whether the faults of its operations travel to their effects. `plant_values` is called twice then: first to collect them.
    fn travels(&self) -> bool {
        false
    }

    /// How the invocations that fail leave.
    fn leaving(&self) -> Leaving {
        Leaving::Anyhow
    }

    /// Whether helper invocations fail, too.
    fn ends_helpers(&self) -> bool {
        false
    }

    /// Whether its tests read nothing but values, so that they may be hoisted.
    fn is_hoisted(&self) -> bool {
        false
    }

    /// Whether the other invocations of the workgroup must know that one ends which fails at a place.
    fn is_missed_at(&self, _: &Index<'_>, _: &Place<'_>) -> bool {
        false
    }
}

macro_rules! rules {
    ($($variant:ident $module:ident $is_default:literal $description:literal;)*) => {
        /// The rule of a check.
        pub(super) fn rule(check: Check) -> &'static dyn CheckRule {
            match check {
                $(Check::$variant => &super::$module::Rule,)*
            }
        }
    };
}
checks!(rules);

/// The rules of the selected checks.
pub(super) fn selected(checks: Checks) -> impl Iterator<Item = &'static dyn CheckRule> {
    checks.iter().map(rule)
}
