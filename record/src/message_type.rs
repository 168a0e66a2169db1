//! Types of messages with their layout in bytes ("SPV_KHR_abort", Message Type).

use crate::scalar_type::{ScalarKind, ScalarType};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// A constant of the module.
    Constant(u32),
    /// Depends on specialisation constants. The true value follows from the record's SIZE.
    Specialised {
        /// `SpecId` of the constant; `None` for an expression.
        spec_id: Option<u32>,
        /// Value when it is not specialised.
        default: u32,
    },
}

impl Length {
    /// The constant, or the default of the specialisation constant.
    pub fn default_value(self) -> u32 {
        match self {
            Self::Constant(n) | Self::Specialised { default: n, .. } => n,
        }
    }
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its `OpMemberName`, if any.
    pub name: Option<String>,
    /// Byte offset from the start of the structure.
    pub offset: u32,
    /// Its type.
    pub ty: Type,
}

/// The type of a message or of a part of it, with its layout in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Type {
    /// A vector: `count` components, tightly packed.
    Vector {
        /// Components.
        count: u32,
        /// Component type.
        #[serde(with = "scalar_json")]
        component: ScalarType,
    },
    /// A matrix.
    Matrix {
        /// Columns.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Component type.
        #[serde(with = "scalar_json")]
        component: ScalarType,
        /// `MatrixStride` in bytes: between columns, or between rows if `row_major`.
        stride: u32,
        /// `RowMajor` rather than `ColMajor`.
        row_major: bool,
    },
    /// An array.
    Array {
        /// Elements.
        length: Length,
        /// Bytes between elements.
        stride: u32,
        /// Element type.
        element: Box<Type>,
        /// Decorated `UTFEncodedKHR`.
        utf: bool,
    },
    /// A structure.
    Struct {
        /// Its `OpName`, if any.
        name: Option<String>,
        /// Members in declaration order.
        members: Vec<Member>,
    },
    /// A scalar.
    #[serde(untagged, with = "scalar_json")]
    Scalar(ScalarType),
}

/// A structure without members.
impl Default for Type {
    fn default() -> Self {
        Self::structure([])
    }
}

impl From<ScalarType> for Type {
    fn from(ty: ScalarType) -> Self {
        Self::Scalar(ty)
    }
}

impl Member {
    /// A member at byte `offset` of its structure.
    pub fn new(name: Option<&str>, offset: u32, ty: impl Into<Type>) -> Self {
        Self {
            name: name.map(str::to_owned),
            offset,
            ty: ty.into(),
        }
    }
}

impl Type {
    /// A structure without a debug name.
    pub fn structure(members: impl IntoIterator<Item = Member>) -> Self {
        Self::Struct {
            name: None,
            members: members.into_iter().collect(),
        }
    }

    /// An array of `length` elements, `stride` bytes apart.
    pub fn array(length: Length, stride: u32, element: impl Into<Type>) -> Self {
        Self::Array {
            length,
            stride,
            element: Box::new(element.into()),
            utf: false,
        }
    }

    /// A string of `bytes` bytes as GLSL declares it: an `int8_t` array that is decorated `UTFEncodedKHR`.
    pub fn string(bytes: u32) -> Self {
        Self::Array {
            length: Length::Constant(bytes),
            stride: 1,
            element: Box::new(Self::Scalar(ScalarType::I8)),
            utf: true,
        }
    }

    /// Size in bytes with default array lengths: the end of the last byte of a value, not rounded up. Saturates.
    pub fn size(&self) -> u32 {
        self.size_with(&Length::default_value, u32::MAX)
    }

    /// [`Self::size`] with the array lengths that `elements` returns. Parts nested deeper than `depth` count 0 bytes.
    pub fn size_with(&self, elements: &dyn Fn(Length) -> u32, depth: u32) -> u32 {
        let part = |ty: &Self| match depth.checked_sub(1) {
            Some(depth) => ty.size_with(elements, depth),
            None => 0,
        };
        match self {
            Self::Scalar(ty) => ty.bytes(),
            Self::Vector { count, component } => component.bytes().saturating_mul(*count),
            Self::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                let (major, minor) = if *row_major { (rows, columns) } else { (columns, rows) };
                let line = component.bytes().saturating_mul(*minor);
                stride.saturating_mul(major.saturating_sub(1)).saturating_add(line)
            }
            Self::Array {
                length,
                stride,
                element,
                ..
            } => match elements(*length) {
                0 => 0,
                n => stride.saturating_mul(n - 1).saturating_add(part(element)),
            },
            Self::Struct { members, .. } => {
                let ends = members.iter().map(|m| m.offset.saturating_add(part(&m.ty)));
                ends.max().unwrap_or(0)
            }
        }
    }
}

/// Scalar types as site tables spell them: `{"kind":"int","bits":32,"signed":false}`.
mod scalar_json {
    use super::*;
    use serde::de::Error as _;

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Spelling {
        Int { bits: u32, signed: bool },
        Float { bits: u32 },
        EncodedFloat { encoding: ScalarType },
        Bool,
        Pointer,
    }

    pub(super) fn serialize<S: Serializer>(ty: &ScalarType, serializer: S) -> Result<S::Ok, S::Error> {
        let bits = ty.bits();
        match ty.kind() {
            ScalarKind::Signed => Spelling::Int { bits, signed: true },
            ScalarKind::Unsigned => Spelling::Int { bits, signed: false },
            ScalarKind::Float(format) if format.encoding().is_some() => Spelling::EncodedFloat { encoding: *ty },
            ScalarKind::Float(_) => Spelling::Float { bits },
            ScalarKind::Bool => Spelling::Bool,
            ScalarKind::Pointer => Spelling::Pointer,
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ScalarType, D::Error> {
        let found = match Spelling::deserialize(deserializer)? {
            Spelling::Int { bits, signed } => ScalarType::from_spirv_int(bits, signed),
            Spelling::Float { bits } => ScalarType::from_spirv_float(bits, None),
            Spelling::EncodedFloat { encoding } => Some(encoding),
            Spelling::Bool => Some(ScalarType::Bool),
            Spelling::Pointer => Some(ScalarType::Pointer),
        };
        found.ok_or_else(|| D::Error::custom("not a scalar type of messages"))
    }
}

#[cfg(test)]
#[path = "message_type_tests.rs"]
mod tests;
