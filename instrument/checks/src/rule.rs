//! The interface of a check, which is a file with a [`CheckRule`], named `Rule`, and a row of `vkabort_options::checks`.
//!
//! All hooks have defaults, so that most checks are one function, `plant` or `plant_values`. A check that keeps state has a field in
//! [`States`](super::states::States), and no other part of the crate knows it by name.

use super::module::ModulePlanter;
use super::module_facts::ModuleFacts;
use super::operand_checks::ValueFacts;
use super::planter::Planter;
use super::properties::Properties;
use vkabort_options::{Check, Checks, checks};

/// A check and its hooks, in the order in which they are called.
pub(super) trait CheckRule: Sync {
    /// Reserves what the check needs, before anything is planted.
    fn prepare<'w>(&self, _: &mut ModulePlanter<'_, 'w>, _: &mut ModuleFacts<'_, '_, 'w>) {}

    /// Plants the check into a function, by blocks and instructions alone.
    fn plant<'w>(&self, _: &mut Planter<'_, '_, 'w>) {}

    /// Plants the check into a function, with facts about values. Not called if the function is too large for them.
    fn plant_values<'w>(&self, _: &mut Planter<'_, '_, 'w>, _: &mut ValueFacts<'_, '_, '_, 'w>) {}

    /// Hands over what the code of the check needs of the runtime, after all functions.
    fn finish(&self, _: &mut ModulePlanter<'_, '_>) {}

    /// How its tests and aborts are planted.
    fn properties(&self) -> Properties {
        Properties::PLAIN
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
