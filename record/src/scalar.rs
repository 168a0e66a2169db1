//! One number of a message, with the width it had in the shader.

use crate::encoding::Encoding;
use std::fmt;

/// A scalar of a message. Widths are in bits and come from the message type.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A signed integer.
    Int {
        /// Width.
        bits: u32,
        /// Value, sign-extended.
        value: i64,
    },
    /// An unsigned integer.
    Uint {
        /// Width.
        bits: u32,
        /// Value.
        value: u64,
    },
    /// A floating-point number: `value` holds every number of 16, 32 and 64 bits exactly.
    Float {
        /// Width.
        bits: u32,
        /// Value.
        value: f64,
    },
    /// A floating-point number in a format of its own.
    EncodedFloat {
        /// The format.
        encoding: Encoding,
        /// Value.
        value: f64,
    },
    /// A Boolean.
    Bool(bool),
    /// A physical pointer.
    Pointer(u64),
}

/// Floats compare by bits, so that a report with a NaN in it equals its copy.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Int { bits: a, value: x }, Self::Int { bits: b, value: y }) => (a, x) == (b, y),
            (Self::Uint { bits: a, value: x }, Self::Uint { bits: b, value: y }) => (a, x) == (b, y),
            (Self::Float { bits: a, value: x }, Self::Float { bits: b, value: y }) => {
                a == b && (x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
            }
            (Self::EncodedFloat { encoding: a, value: x }, Self::EncodedFloat { encoding: b, value: y }) => {
                a == b && (x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
            }
            (Self::Bool(x), Self::Bool(y)) => x == y,
            (Self::Pointer(x), Self::Pointer(y)) => x == y,
            _ => false,
        }
    }
}

impl Scalar {
    /// Width in bits: 32 for a Boolean, 64 for a pointer.
    pub fn bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } | Self::Uint { bits, .. } | Self::Float { bits, .. } => bits,
            Self::EncodedFloat { encoding, .. } => encoding.bits(),
            Self::Bool(_) => 32,
            Self::Pointer(_) => 64,
        }
    }

    /// The bit pattern, zero-extended; `None` for a float.
    pub fn pattern(self) -> Option<u64> {
        Some(match self {
            Self::Int { bits, value } => value as u64 & mask(bits),
            Self::Uint { value, .. } | Self::Pointer(value) => value,
            Self::Bool(value) => u64::from(value),
            Self::Float { .. } | Self::EncodedFloat { .. } => return None,
        })
    }

    /// A short name of its type: `i32`, `u64`, `f16`, `bool`, `pointer`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Int { bits: 8, .. } => "i8",
            Self::Int { bits: 16, .. } => "i16",
            Self::Int { bits: 32, .. } => "i32",
            Self::Int { .. } => "i64",
            Self::Uint { bits: 8, .. } => "u8",
            Self::Uint { bits: 16, .. } => "u16",
            Self::Uint { bits: 32, .. } => "u32",
            Self::Uint { .. } => "u64",
            Self::Float { bits: 16, .. } => "f16",
            Self::Float { bits: 32, .. } => "f32",
            Self::Float { .. } => "f64",
            Self::EncodedFloat { encoding, .. } => encoding.name(),
            Self::Bool(_) => "bool",
            Self::Pointer(_) => "pointer",
        }
    }
}

/// As people write it: the shortest decimal that gives the same float of its width.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Int { value, .. } => write!(f, "{value}"),
            Self::Uint { value, .. } => write!(f, "{value}"),
            Self::Float { value, .. } if value.is_nan() => f.write_str("nan"),
            Self::Float { value, .. } if value.is_infinite() => f.write_str(if value > 0.0 { "inf" } else { "-inf" }),
            Self::Float { bits, value } => {
                let extreme = value != 0.0 && !(1e-5..1e16).contains(&value.abs());
                match (bits <= 32, extreme) {
                    (true, true) => write!(f, "{:e}", value as f32),
                    (true, false) => write!(f, "{:?}", value as f32),
                    (false, true) => write!(f, "{value:e}"),
                    (false, false) => write!(f, "{value:?}"),
                }
            }
            Self::EncodedFloat { value, .. } => Self::Float { bits: 32, value }.fmt(f),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Pointer(value) => write!(f, "{value:#018x}"),
        }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// The integer of up to 64 bits that `bytes` hold, little-endian.
pub fn uint_from_bytes(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .rev()
        .fold(0, |value, &b| value << 8 | u64::from(b))
}

/// Sign-extends the low `bits` bits.
pub fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

/// The value of a binary16 bit pattern.
pub fn f16_to_f64(pattern: u16) -> f64 {
    let sign = if pattern & 0x8000 != 0 { -1.0 } else { 1.0 };
    let fraction = f64::from(pattern & 0x3ff);
    match i32::from(pattern >> 10 & 0x1f) {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_have_their_ieee_values() {
        for (pattern, value) in [
            (0x0000, 0.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x03ff, 6.097_555_160_522_461e-5),
            (0x0400, 6.103_515_625e-5),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            assert_eq!(f16_to_f64(pattern), value, "{pattern:#x}");
        }
        assert!(f16_to_f64(0x7e00).is_nan());
        assert!(f16_to_f64(0x8000).is_sign_negative());
    }

    #[test]
    fn narrow_integers_keep_their_sign_and_their_pattern() {
        assert_eq!(sign_extend(0x80, 8), -128);
        assert_eq!(sign_extend(0x7f, 8), 127);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(Scalar::Int { bits: 16, value: -1 }.pattern(), Some(0xffff));
        assert_eq!(Scalar::Int { bits: 64, value: -1 }.pattern(), Some(u64::MAX));
    }

    #[test]
    fn floats_print_as_the_shortest_decimal_of_their_width() {
        let show = |bits, value| Scalar::Float { bits, value }.to_string();
        assert_eq!(show(32, f64::from(0.1f32)), "0.1");
        assert_eq!(show(64, 0.1), "0.1");
        assert_eq!(show(32, 1.0), "1.0");
        assert_eq!(show(32, f64::from(1e-30f32)), "1e-30");
        assert_eq!(show(32, f64::NAN), "nan");
        assert_eq!(show(64, f64::NEG_INFINITY), "-inf");
        assert_eq!(show(32, -0.0), "-0.0");
    }
}
