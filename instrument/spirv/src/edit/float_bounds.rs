//! The range of floats that convert to an integer type, as 16-, 32- or 64-bit floats.

use crate::op;

/// The floats that convert to an integer type without overflow: those above a lower bound and below an upper one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvertibleRange {
    /// The comparison of a value with `low`: `OpFOrdGreaterThan` or `OpFOrdGreaterThanEqual`.
    pub above: u16,
    /// Bits of the lower bound.
    pub low: u64,
    /// Bits of the upper bound, which is not in the range.
    pub end: u64,
}

impl ConvertibleRange {
    /// For conversions of floats of `from` bits to integers of `bits` bits.
    pub fn new(from: u32, bits: u32, is_signed: bool) -> Self {
        let bits = bits as i32;
        let (min, end) = if is_signed {
            (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1))
        } else {
            (0.0, 2f64.powi(bits))
        };
        // Conversion truncates: every float above `min - 1` converts to at least `min`, if the type can represent
        // `min - 1`.
        let significant_bits = match from {
            16 => 11,
            32 => 24,
            _ => 53,
        };
        // The largest half is 65504: a wider bound is encoded as an infinity, which is not in range itself.
        let is_infinite = from == 16 && bits > 16;
        let (above, bound) = match !is_signed || bits - 1 < significant_bits {
            true => (op::FOrdGreaterThan, min - 1.0),
            false if is_infinite => (op::FOrdGreaterThan, min),
            false => (op::FOrdGreaterThanEqual, min),
        };
        Self {
            above,
            low: encode_float(bound, from),
            end: encode_float(end, from),
        }
    }
}

/// Bits of `value` as a float of `bits` bits. `value` is plus or minus a power of two, or one of those minus 1; an
/// infinity if the width cannot hold it.
fn encode_float(value: f64, bits: u32) -> u64 {
    match bits {
        16 => u64::from(encode_half(value)),
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// Nearest half-precision float, for values of at most 11 significant bits.
fn encode_half(value: f64) -> u16 {
    let sign = if value < 0.0 { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7C00;
    }
    if magnitude < 6.103_515_625e-5 {
        return sign;
    }
    let bits = magnitude.to_bits();
    let exponent = ((bits >> 52) as i32 - 1023 + 15) as u16;
    sign | exponent << 10 | (bits >> 42 & 0x3FF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact_in_every_width() {
        assert_eq!(encode_half(1.0), 0x3C00);
        assert_eq!(encode_half(-1.0), 0xBC00);
        assert_eq!(encode_half(32768.0), 0x7800);
        assert_eq!(encode_half(-129.0), 0xD808);
        assert_eq!(encode_half(2f64.powi(32)), 0x7C00);
        assert_eq!(encode_float(2f64.powi(31), 32), 0x4F00_0000);
        assert_eq!(encode_float(-2_147_483_649.0, 64), (-2_147_483_649.0f64).to_bits());
    }
}
