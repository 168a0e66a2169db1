//! The scalar types of messages, one table row each. The rewriter, the decoders and the reports use no other list.
//!
//! To add a type: a row below; a [`FloatFormat`] in `float_format.rs`, if its format is new; a golden test. The test of the
//! JSON report adds it to the schema with `VKABORT_BLESS=1`.

use crate::float_format::FloatFormat;
use serde::{Deserialize, Serialize};

/// Interpretation of a scalar's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// A two's complement integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A floating-point number.
    Float(FloatFormat),
    /// A Boolean, in modules without explicit layout: zero is false.
    Bool,
    /// A physical pointer.
    Pointer,
}

macro_rules! scalar_types {
    ($($variant:ident $name:literal $bits:literal $kind:expr;)*) => {
        /// The type of a scalar in a message. Serialises to its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ScalarType {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant,)*
        }

        impl ScalarType {
            /// All scalar types, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            const fn row(self) -> (&'static str, u32, ScalarKind) {
                match self {
                    $(Self::$variant => ($name, $bits, $kind),)*
                }
            }
        }
    };
}

scalar_types! {
    I8      "i8"      8   ScalarKind::Signed;
    I16     "i16"     16  ScalarKind::Signed;
    I32     "i32"     32  ScalarKind::Signed;
    I64     "i64"     64  ScalarKind::Signed;
    U8      "u8"      8   ScalarKind::Unsigned;
    U16     "u16"     16  ScalarKind::Unsigned;
    U32     "u32"     32  ScalarKind::Unsigned;
    U64     "u64"     64  ScalarKind::Unsigned;
    F16     "f16"     16  ScalarKind::Float(FloatFormat::Binary16);
    F32     "f32"     32  ScalarKind::Float(FloatFormat::Binary32);
    F64     "f64"     64  ScalarKind::Float(FloatFormat::Binary64);
    Bf16    "bf16"    16  ScalarKind::Float(FloatFormat::Bfloat16);
    F8E4M3  "f8e4m3"  8   ScalarKind::Float(FloatFormat::Float8E4M3);
    F8E5M2  "f8e5m2"  8   ScalarKind::Float(FloatFormat::Float8E5M2);
    Bool    "bool"    32  ScalarKind::Bool;
    Pointer "pointer" 64  ScalarKind::Pointer;
}

impl ScalarType {
    /// Name in reports and in JSON.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Width in bits: 8, 16, 32 or 64.
    pub const fn bits(self) -> u32 {
        self.row().1
    }

    /// Width in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Interpretation of its bits.
    pub const fn kind(self) -> ScalarKind {
        self.row().2
    }

    /// Whether it is an integer or a floating-point number.
    pub const fn is_number(self) -> bool {
        !matches!(self.kind(), ScalarKind::Bool | ScalarKind::Pointer)
    }

    /// The type that `OpTypeInt` declares with this `Width` and `Signedness`.
    pub fn from_spirv_int(bits: u32, signed: bool) -> Option<Self> {
        let kind = if signed {
            ScalarKind::Signed
        } else {
            ScalarKind::Unsigned
        };
        Self::find(|ty| ty.bits() == bits && ty.kind() == kind)
    }

    /// The type that `OpTypeFloat` declares with this `Width` and `FP Encoding`.
    pub fn from_spirv_float(bits: u32, encoding: Option<u32>) -> Option<Self> {
        Self::find(|ty| {
            ty.bits() == bits
                && ty
                    .float_format()
                    .is_some_and(|f| f.encoding().map(|e| e.operand) == encoding)
        })
    }

    /// The format, for a floating-point type.
    pub const fn float_format(self) -> Option<FloatFormat> {
        match self.kind() {
            ScalarKind::Float(format) => Some(format),
            _ => None,
        }
    }

    fn find(matches: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ALL.iter().copied().find(|&ty| matches(ty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_narrow_float_is_a_binary32() {
        for ty in ScalarType::ALL.iter().filter(|ty| ty.bits() <= 16) {
            let Some(format) = ty.float_format() else { continue };
            for pattern in 0..1 << ty.bits() {
                let value = format.value(pattern);
                assert!(
                    value.is_nan() || f64::from(value as f32) == value,
                    "{format:?} {pattern:#x}"
                );
            }
        }
    }

    #[test]
    fn spirv_declarations_find_their_type() {
        for &ty in ScalarType::ALL {
            let found = match ty.kind() {
                ScalarKind::Signed => ScalarType::from_spirv_int(ty.bits(), true),
                ScalarKind::Unsigned => ScalarType::from_spirv_int(ty.bits(), false),
                ScalarKind::Float(format) => {
                    ScalarType::from_spirv_float(ty.bits(), format.encoding().map(|e| e.operand))
                }
                ScalarKind::Bool | ScalarKind::Pointer => continue,
            };
            assert_eq!(found, Some(ty));
        }
        assert_eq!(ScalarType::from_spirv_int(7, true), None);
        assert_eq!(ScalarType::from_spirv_float(16, Some(4214)), None);
    }
}
