//! `SPV_KHR_poison_freeze` on drivers: arithmetic with poison as its undefined result works in every width, and a frozen
//! value is stable.
//!
//! The validation layer never runs above ours here: it rejects the capability, which no Vulkan extension provides.

mod conversion;
mod division;
mod frozen;
mod specialised;
mod support;
mod text;

use self::conversion::conversion;
use self::division::division;
use self::frozen::frozen;
use crate::case::{Case, Context};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    case("poison::division_of_8_bits", |context| division(context, 8, true)),
    case("poison::division_of_16_bits", |context| division(context, 16, true)),
    case("poison::division_of_32_bits", |context| division(context, 32, true)),
    case("poison::division_of_64_bits", |context| division(context, 64, true)),
    case("poison::division_of_specialisation_constants", specialised::division),
    case("poison::division_without_the_mode", |context| {
        division(context, 32, false)
    }),
    case("poison::conversion_of_16_bits", |context| conversion(context, 16)),
    case("poison::conversion_of_32_bits", |context| conversion(context, 32)),
    case("poison::conversion_of_64_bits", |context| conversion(context, 64)),
    case("poison::a_frozen_value_is_the_same_at_every_use", frozen),
];

const fn case(name: &'static str, run: fn(&Context) -> Result<()>) -> Case {
    Case::new(name, run).on_top().silent()
}
