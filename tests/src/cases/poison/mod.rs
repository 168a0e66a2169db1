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
use crate::case::{Case, cases};

pub(super) const CASES: &[Case] = cases! {
    "poison::division_of_8_bits" => division(gpu, 8, true), on_top(), silent();
    "poison::division_of_16_bits" => division(gpu, 16, true), on_top(), silent();
    "poison::division_of_32_bits" => division(gpu, 32, true), on_top(), silent();
    "poison::division_of_64_bits" => division(gpu, 64, true), on_top(), silent();
    "poison::division_of_specialisation_constants" => specialised::division(device), on_top(), silent();
    "poison::division_without_the_mode" => division(gpu, 32, false), on_top(), silent();
    "poison::conversion_of_16_bits" => conversion(gpu, 16), on_top(), silent();
    "poison::conversion_of_32_bits" => conversion(gpu, 32), on_top(), silent();
    "poison::conversion_of_64_bits" => conversion(gpu, 64), on_top(), silent();
    "poison::a_frozen_value_is_the_same_at_every_use" => frozen(device), on_top(), silent();
};
