//! The floating-point formats of messages.

/// Most digits of a narrow float that is shown exactly.
const EXACT_DIGITS: usize = 6;

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// IEEE 754 binary16.
    Binary16,
    /// IEEE 754 binary32.
    Binary32,
    /// IEEE 754 binary64.
    Binary64,
    /// `BFloat16KHR` of `SPV_KHR_bfloat16`: the upper half of a binary32.
    Bfloat16,
    /// `Float8E4M3EXT` of `SPV_EXT_float8`: no infinities, and one NaN with either sign.
    Float8E4M3,
    /// `Float8E5M2EXT` of `SPV_EXT_float8`: the upper half of a binary16.
    Float8E5M2,
}

impl FloatFormat {
    /// The format's SPIR-V encoding; `None` for the formats of IEEE 754, which SPIR-V assumes.
    pub const fn encoding(self) -> Option<FpEncoding> {
        match self {
            Self::Binary16 | Self::Binary32 | Self::Binary64 => None,
            Self::Bfloat16 => Some(FpEncoding::new(0, 5116, "SPV_KHR_bfloat16")),
            Self::Float8E4M3 => Some(FpEncoding::new(4214, 4212, "SPV_EXT_float8")),
            Self::Float8E5M2 => Some(FpEncoding::new(4215, 4212, "SPV_EXT_float8")),
        }
    }

    /// Bits of the fraction, and the exponent of the smallest normal number.
    const fn precision(self) -> (i32, i32) {
        match self {
            Self::Binary16 => (10, -14),
            Self::Binary32 => (23, -126),
            Self::Binary64 => (52, -1022),
            Self::Bfloat16 => (7, -126),
            Self::Float8E4M3 => (3, -6),
            Self::Float8E5M2 => (2, -14),
        }
    }

    /// The decimal with the fewest digits that is nearer to `value`, a finite number of this format, than to any other; the
    /// exact value of a narrow float if that is short.
    pub(crate) fn shortest(self, value: f64) -> f64 {
        let (fraction_bits, min_exponent) = self.precision();
        // Formats of 32 bits and more: the standard library has the same algorithm without rounding errors.
        match self {
            Self::Binary64 => return value,
            Self::Binary32 => return (value as f32).to_string().parse().unwrap_or(value),
            _ => {}
        }
        // An exact value in few digits says more: 65504, not 65500.
        let exact = format!("{value:e}");
        if exact
            .bytes()
            .take_while(|b| *b != b'e')
            .filter(u8::is_ascii_digit)
            .count()
            <= EXACT_DIGITS
        {
            return value;
        }
        let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
        let spacing = 2f64.powi(exponent.max(min_exponent) - fraction_bits);
        let is_power_of_two = value.to_bits() << 12 == 0;
        let decimals = (0..17).filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok());
        let is_nearest = |decimal: &f64| {
            // Below a power of two the numbers are twice as dense.
            let below = decimal.abs() < value.abs() && is_power_of_two;
            (decimal - value).abs() < spacing / if below { 4.0 } else { 2.0 }
        };
        let mut decimals = decimals.filter(is_nearest);
        decimals.next().unwrap_or(value)
    }

    /// The exact value of the low bits of `pattern`, as many as the format has.
    pub fn value(self, pattern: u64) -> f64 {
        match self {
            Self::Binary16 => binary16_value(pattern as u16),
            Self::Binary32 => f64::from(f32::from_bits(pattern as u32)),
            Self::Binary64 => f64::from_bits(pattern),
            Self::Bfloat16 => f64::from(f32::from_bits(u32::from(pattern as u16) << 16)),
            Self::Float8E4M3 => e4m3_value(pattern as u8),
            Self::Float8E5M2 => binary16_value(u16::from(pattern as u8) << 8),
        }
    }
}

/// SPIR-V's declaration of a format other than those of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpEncoding {
    /// The `FP Encoding` operand.
    pub operand: u32,
    /// The capability that a module declares for it.
    pub capability: u32,
    /// The extension that a module declares for it.
    pub extension: &'static str,
}

impl FpEncoding {
    const fn new(operand: u32, capability: u32, extension: &'static str) -> Self {
        Self {
            operand,
            capability,
            extension,
        }
    }
}

fn binary16_value(pattern: u16) -> f64 {
    let sign = if pattern & 0x8000 != 0 { -1.0 } else { 1.0 };
    let fraction = f64::from(pattern & 0x3ff);
    match i32::from(pattern >> 10 & 0x1f) {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

fn e4m3_value(pattern: u8) -> f64 {
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
    use super::FloatFormat::*;

    #[test]
    fn patterns_have_the_values_of_their_format() {
        for (format, pattern, value) in [
            (Binary16, 0x0000, 0.0),
            (Binary16, 0x0001, 5.960_464_477_539_063e-8),
            (Binary16, 0x03ff, 6.097_555_160_522_461e-5),
            (Binary16, 0x0400, 6.103_515_625e-5),
            (Binary16, 0x3c00, 1.0),
            (Binary16, 0xc000, -2.0),
            (Binary16, 0x7bff, 65504.0),
            (Binary16, 0x7c00, f64::INFINITY),
            (Binary16, 0xfc00, f64::NEG_INFINITY),
            (Bfloat16, 0x3fc0, 1.5),
            (Bfloat16, 0xc000, -2.0),
            (Bfloat16, 0x7f80, f64::INFINITY),
            (Bfloat16, 0x0001, f64::from(f32::from_bits(0x1_0000))),
            // SPV_EXT_float8: the largest, the smallest normal and the smallest number of each format.
            (Float8E4M3, 0x7e, 448.0),
            (Float8E4M3, 0x08, 0.015_625),
            (Float8E4M3, 0x81, -0.001_953_125),
            (Float8E5M2, 0x7b, 57344.0),
            (Float8E5M2, 0x04, 6.103_515_625e-5),
            (Float8E5M2, 0x01, 1.525_878_906_25e-5),
            (Float8E5M2, 0xfc, f64::NEG_INFINITY),
        ] {
            assert_eq!(format.value(pattern), value, "{format:?} {pattern:#x}");
        }
        for (format, pattern) in [
            (Binary16, 0x7e00),
            (Bfloat16, 0x7fc0),
            (Float8E4M3, 0x7f),
            (Float8E4M3, 0xff),
            (Float8E5M2, 0x7d),
        ] {
            assert!(format.value(pattern).is_nan(), "{format:?} {pattern:#x}");
        }
        assert!(Binary16.value(0x8000).is_sign_negative());
    }

    #[test]
    fn the_shortest_decimal_of_a_narrow_float_identifies_it() {
        for format in [Binary16, Bfloat16, Float8E4M3, Float8E5M2] {
            let bits = if matches!(format, Binary16 | Bfloat16) { 16 } else { 8 };
            let mut values: Vec<f64> = (0..1 << bits).map(|pattern| format.value(pattern)).collect();
            values.retain(|value| value.is_finite());
            values.sort_by(f64::total_cmp);
            for (index, &value) in values.iter().enumerate() {
                let shortest = format.shortest(value);
                for other in values
                    .get(index.wrapping_sub(1))
                    .into_iter()
                    .chain(values.get(index + 1))
                {
                    let is_nearest = (shortest - value).abs() < (shortest - other).abs();
                    assert!(is_nearest || value == *other, "{format:?} {value} {shortest} {other}");
                }
            }
        }
        assert_eq!(Binary16.shortest(Binary16.value(0x2e66)), 0.1);
        assert_eq!(Bfloat16.shortest(Bfloat16.value(0x3dcd)), 0.1);
        for exact in [0.0, -1.0, 448.0, 65504.0] {
            assert_eq!(Binary16.shortest(exact), exact);
        }
    }
}
