//! Floating-point formats other than those of IEEE 754 (SPIR-V's `FP Encoding`).

use crate::scalar::f16_to_f64;
use serde::{Deserialize, Serialize};

/// A floating-point format that an `OpTypeFloat` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// `BFloat16KHR` of `SPV_KHR_bfloat16`: the upper half of a binary32.
    Bf16,
    /// `Float8E4M3EXT` of `SPV_EXT_float8`: no infinities, and one NaN with either sign.
    F8E4M3,
    /// `Float8E5M2EXT` of `SPV_EXT_float8`: the upper half of a binary16.
    F8E5M2,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bf16, Self::F8E4M3, Self::F8E5M2];

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bf16 => 16,
            Self::F8E4M3 | Self::F8E5M2 => 8,
        }
    }

    /// A short name: `bf16`, `f8e4m3`, `f8e5m2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F8E4M3 => "f8e4m3",
            Self::F8E5M2 => "f8e5m2",
        }
    }

    /// The encoding of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// The value of a bit pattern, exactly: every one of these numbers is a binary32 too.
    pub fn value(self, pattern: u64) -> f64 {
        match self {
            Self::Bf16 => f64::from(f32::from_bits(u32::from(pattern as u16) << 16)),
            Self::F8E5M2 => f16_to_f64(u16::from(pattern as u8) << 8),
            Self::F8E4M3 => e4m3_to_f64(pattern as u8),
        }
    }
}

fn e4m3_to_f64(pattern: u8) -> f64 {
    let sign = if pattern & 0x80 != 0 { -1.0 } else { 1.0 };
    let fraction = f64::from(pattern & 7);
    match i32::from(pattern >> 3 & 15) {
        0 => sign * fraction * 2f64.powi(-9),
        15 if fraction == 7.0 => f64::NAN,
        exponent => sign * (8.0 + fraction) * 2f64.powi(exponent - 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_values_of_their_format() {
        for (encoding, pattern, value) in [
            (Encoding::Bf16, 0x3fc0, 1.5),
            (Encoding::Bf16, 0xc000, -2.0),
            (Encoding::Bf16, 0x7f80, f64::INFINITY),
            (Encoding::Bf16, 0x0001, f64::from(f32::from_bits(0x1_0000))),
            // SPV_EXT_float8: the largest, the smallest normal and the smallest number of each format.
            (Encoding::F8E4M3, 0x7e, 448.0),
            (Encoding::F8E4M3, 0x08, 0.015_625),
            (Encoding::F8E4M3, 0x81, -0.001_953_125),
            (Encoding::F8E5M2, 0x7b, 57344.0),
            (Encoding::F8E5M2, 0x04, 6.103_515_625e-5),
            (Encoding::F8E5M2, 0x01, 1.525_878_906_25e-5),
            (Encoding::F8E5M2, 0xfc, f64::NEG_INFINITY),
        ] {
            assert_eq!(encoding.value(pattern), value, "{encoding:?} {pattern:#x}");
        }
        for (encoding, pattern) in [
            (Encoding::Bf16, 0x7fc0),
            (Encoding::F8E4M3, 0x7f),
            (Encoding::F8E4M3, 0xff),
            (Encoding::F8E5M2, 0x7d),
        ] {
            assert!(encoding.value(pattern).is_nan(), "{encoding:?} {pattern:#x}");
        }
    }

    #[test]
    fn every_value_is_a_binary32() {
        for encoding in Encoding::ALL {
            for pattern in 0..1 << encoding.bits() {
                let value = encoding.value(pattern);
                assert!(
                    value.is_nan() || f64::from(value as f32) == value,
                    "{encoding:?} {pattern:#x}"
                );
            }
        }
    }
}
