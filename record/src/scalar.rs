//! One number of a message, with the type it has in the shader.

use crate::scalar_type::{ScalarKind, ScalarType};
use std::fmt;

/// A scalar of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    ty: ScalarType,
    number: Number,
}

/// The value of a scalar, by the kind of its type.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A signed integer, sign-extended.
    Signed(i64),
    /// An unsigned integer or a pointer.
    Unsigned(u64),
    /// A floating-point number of any format, exactly.
    Float(f64),
    /// A Boolean.
    Bool(bool),
}

/// Floats compare by bits and all NaNs are equal, so that a report with a NaN in it equals its copy.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Signed(a), Self::Signed(b)) => a == b,
            (Self::Unsigned(a), Self::Unsigned(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Self::Bool(a), Self::Bool(b)) => a == b,
            _ => false,
        }
    }
}

impl Scalar {
    /// The scalar of type `ty` with these bits; bits beyond the type's width are ignored.
    pub fn from_bits(ty: ScalarType, bits: u64) -> Self {
        let bits = bits & mask(ty.bits());
        let number = match ty.kind() {
            ScalarKind::Signed => Number::Signed(sign_extend(bits, ty.bits())),
            ScalarKind::Unsigned | ScalarKind::Pointer => Number::Unsigned(bits),
            ScalarKind::Float(format) => Number::Float(format.value(bits)),
            ScalarKind::Bool => Number::Bool(bits != 0),
        };
        Self { ty, number }
    }

    /// The scalar that `bytes` hold, little-endian; bytes beyond the type's width are ignored.
    pub fn from_bytes(ty: ScalarType, bytes: &[u8]) -> Self {
        Self::from_bits(ty, uint_from_bytes(bytes))
    }

    /// The scalar of type `ty` with this value, whose kind must be that of the type.
    pub(crate) fn from_number(ty: ScalarType, number: Number) -> Self {
        Self { ty, number }
    }

    /// Its type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }

    /// Its value.
    pub fn number(self) -> Number {
        self.number
    }

    /// The bit pattern of an integer, Boolean or pointer, zero-extended; `None` for a float.
    pub fn pattern(self) -> Option<u64> {
        match self.number {
            Number::Signed(value) => Some(value as u64 & mask(self.ty.bits())),
            Number::Unsigned(value) => Some(value),
            Number::Bool(value) => Some(u64::from(value)),
            Number::Float(_) => None,
        }
    }
}

/// Floats as the shortest decimal that reads back as the same float of the type's width.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Number::Unsigned(value) if self.ty.kind() == ScalarKind::Pointer => write!(f, "{value:#018x}"),
            Number::Signed(value) => write!(f, "{value}"),
            Number::Unsigned(value) => write!(f, "{value}"),
            Number::Bool(value) => write!(f, "{value}"),
            Number::Float(value) if value.is_nan() => f.write_str("nan"),
            Number::Float(value) if value.is_infinite() => f.write_str(if value > 0.0 { "inf" } else { "-inf" }),
            Number::Float(value) => {
                let shortest = self.ty.float_format().map_or(value, |format| format.shortest(value));
                match value != 0.0 && !(1e-5..1e16).contains(&value.abs()) {
                    true => write!(f, "{shortest:e}"),
                    false => write!(f, "{shortest:?}"),
                }
            }
        }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// The integer that the first 8 of `bytes` hold, little-endian.
pub(crate) fn uint_from_bytes(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).rev();
    bytes.fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Sign-extends the low `bits` bits.
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_keep_their_sign_and_their_pattern() {
        assert_eq!(sign_extend(0x80, 8), -128);
        assert_eq!(sign_extend(0x7f, 8), 127);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(Scalar::from_bits(ScalarType::I16, u64::MAX).pattern(), Some(0xffff));
        assert_eq!(Scalar::from_bits(ScalarType::I64, u64::MAX).pattern(), Some(u64::MAX));
    }

    #[test]
    fn floats_print_as_the_shortest_decimal_of_their_width() {
        let f32 = |value: f32| Scalar::from_bits(ScalarType::F32, value.to_bits().into()).to_string();
        let f64 = |value: f64| Scalar::from_bits(ScalarType::F64, value.to_bits()).to_string();
        assert_eq!(f32(0.1), "0.1");
        assert_eq!(f64(0.1), "0.1");
        assert_eq!(f32(1.0), "1.0");
        assert_eq!(f32(1e-30), "1e-30");
        assert_eq!(f32(f32::NAN), "nan");
        assert_eq!(f64(f64::NEG_INFINITY), "-inf");
        assert_eq!(f32(-0.0), "-0.0");
        assert_eq!(f32(16_777_216.0), "16777216.0");
        assert_eq!(Scalar::from_bits(ScalarType::F16, 0x2e66).to_string(), "0.1");
        assert_eq!(Scalar::from_bits(ScalarType::F8E5M2, 0x81).to_string(), "-2e-5");
    }
}
