//! Scalars as JSON spells them: `{"type":"u32","value":7}`.
//!
//! Integers are numbers of up to 64 bits, pointers strings of hexadecimal digits, floats numbers or `"nan"`, `"inf"`, `"-inf"`.

use crate::float_format::FloatFormat;
use crate::scalar::{Number, Scalar};
use crate::scalar_type::{ScalarKind, ScalarType};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The value of a scalar without its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, a Boolean or a string")]
pub enum SpelledNumber {
    /// An integer from 0 on.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A Boolean.
    Bool(bool),
    /// A finite float.
    Float(f64),
    /// A pointer, or a float that is not finite.
    Text(String),
}

impl fmt::Display for SpelledNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// A scalar with its type; keys in the order in which they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpelledScalar {
    #[serde(rename = "type")]
    ty: ScalarType,
    value: SpelledNumber,
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spelled = SpelledScalar {
            ty: self.ty(),
            value: self.spelled(),
        };
        spelled.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SpelledScalar { ty, value } = SpelledScalar::deserialize(deserializer)?;
        let scalar = Self::from_spelled(ty, &value);
        scalar.ok_or_else(|| D::Error::custom(format!("{value} is not a value of type `{}`", ty.name())))
    }
}

impl Scalar {
    /// Its value as JSON spells it.
    pub fn spelled(self) -> SpelledNumber {
        match self.number() {
            Number::Unsigned(_) if self.ty() == ScalarType::Pointer => SpelledNumber::Text(self.to_string()),
            Number::Signed(value) => u64::try_from(value).map_or(SpelledNumber::Signed(value), SpelledNumber::Unsigned),
            Number::Unsigned(value) => SpelledNumber::Unsigned(value),
            Number::Bool(value) => SpelledNumber::Bool(value),
            Number::Float(value) if !value.is_finite() => SpelledNumber::Text(self.to_string()),
            // Narrower formats too: the value is exact, and equal after it is read as a binary32.
            Number::Float(value) if self.ty().bits() <= 32 => {
                SpelledNumber::Float(FloatFormat::Binary32.shortest(value))
            }
            Number::Float(value) => SpelledNumber::Float(value),
        }
    }

    /// The scalar of type `ty` with this value. `None` if it is not a value of the type.
    pub fn from_spelled(ty: ScalarType, value: &SpelledNumber) -> Option<Self> {
        let number = match (ty.kind(), value) {
            (ScalarKind::Signed, SpelledNumber::Signed(value)) => Number::Signed(*value),
            (ScalarKind::Signed, SpelledNumber::Unsigned(value)) => Number::Signed(i64::try_from(*value).ok()?),
            (ScalarKind::Unsigned, SpelledNumber::Unsigned(value)) => Number::Unsigned(*value),
            (ScalarKind::Bool, SpelledNumber::Bool(value)) => Number::Bool(*value),
            (ScalarKind::Pointer, SpelledNumber::Text(text)) => {
                Number::Unsigned(u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?)
            }
            (ScalarKind::Float(_), value) => {
                let value = match value {
                    SpelledNumber::Unsigned(value) => *value as f64,
                    SpelledNumber::Signed(value) => *value as f64,
                    SpelledNumber::Float(value) => *value,
                    SpelledNumber::Text(text) => match text.as_str() {
                        "nan" => f64::NAN,
                        "inf" => f64::INFINITY,
                        "-inf" => f64::NEG_INFINITY,
                        _ => return None,
                    },
                    SpelledNumber::Bool(_) => return None,
                };
                let is_narrow = ty.bits() <= 32;
                Number::Float(if is_narrow { f64::from(value as f32) } else { value })
            }
            _ => return None,
        };
        Some(Self::from_number(ty, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::{Bool, F16, F32, F64, I8, I64, Pointer, U64};

    #[test]
    fn scalars_are_spelt_by_the_kind_of_their_type() {
        let spelt = [
            (I8, 0x80, r#"{"type":"i8","value":-128}"#),
            (I64, 7, r#"{"type":"i64","value":7}"#),
            (U64, u64::MAX, r#"{"type":"u64","value":18446744073709551615}"#),
            (F16, 0x2e66, r#"{"type":"f16","value":0.099975586}"#),
            (F32, 0x3f80_0000, r#"{"type":"f32","value":1.0}"#),
            (F64, f64::NEG_INFINITY.to_bits(), r#"{"type":"f64","value":"-inf"}"#),
            (Bool, 1, r#"{"type":"bool","value":true}"#),
            (Pointer, 0x10, r#"{"type":"pointer","value":"0x0000000000000010"}"#),
        ];
        for (ty, bits, json) in spelt {
            let scalar = Scalar::from_bits(ty, bits);
            assert_eq!(serde_json::to_string(&scalar).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Scalar>(json).expect("a scalar"), scalar);
        }
        let integer = serde_json::from_str::<Scalar>(r#"{"type":"f32","value":7}"#).expect("a scalar");
        assert_eq!(integer, Scalar::from_bits(F32, 7f32.to_bits().into()));
    }

    #[test]
    fn values_of_another_kind_are_refused() {
        for (json, expected) in [
            (r#"{"type":"u32","value":-7}"#, "-7 is not a value of type `u32`"),
            (r#"{"type":"f32","value":"7"}"#, "\"7\" is not a value of type `f32`"),
            (
                r#"{"type":"u32","value":null}"#,
                "expected a number, a Boolean or a string",
            ),
            (r#"{"type":"u32","value":7,"offset":0}"#, "unknown field `offset`"),
        ] {
            let error = serde_json::from_str::<Scalar>(json).expect_err("refused").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
