//! Values: trees of scalars and pointers. Every bit of a scalar knows whether it is undefined, so that what comes from
//! `OpUndef`, poison or memory that nobody wrote can be carried around freely and is reported where it matters.

use crate::module::Id;

/// A number or a Boolean: up to 64 bits, unused high bits zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its bits.
    pub bits: u64,
    /// The bits that are undefined.
    pub undef: u64,
}

impl Scalar {
    /// A defined scalar.
    pub fn new(bits: u64) -> Self {
        Self { bits, undef: 0 }
    }

    /// An undefined scalar of a width.
    pub fn undefined(width: u32) -> Self {
        Self {
            bits: 0,
            undef: ones(width),
        }
    }

    /// The bits, if all are defined.
    pub fn defined(self) -> Option<u64> {
        (self.undef == 0).then_some(self.bits)
    }
}

/// So many low bits.
pub fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Where a byte-addressed pointer points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A buffer variable.
    Buffer(Id),
    /// Physical addresses.
    Physical,
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Bytes between columns, or rows if `row_major`.
    pub stride: u64,
    /// Rows are contiguous.
    pub row_major: bool,
}

/// A pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Into a variable whose storage class has no layout.
    Logical {
        /// The variable.
        variable: Id,
        /// Which part of it.
        path: Vec<u32>,
    },
    /// Into bytes.
    Bytes {
        /// Which bytes.
        space: Space,
        /// Offset or address.
        at: u64,
        /// Layout of the matrices inside, from the structure member that holds them.
        matrix: MatrixLayout,
        /// Bytes between the components of a vector, where it is the column of a row-major matrix.
        step: Option<u64>,
    },
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number or a Boolean.
    Scalar(Scalar),
    /// The parts of a vector, matrix, array or structure.
    Composite(Vec<Value>),
    /// A pointer.
    Pointer(Pointer),
}

impl Value {
    /// A defined scalar.
    pub fn number(bits: u64) -> Self {
        Self::Scalar(Scalar::new(bits))
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// The parts, if it has parts.
    pub fn parts(&self) -> Option<&[Value]> {
        match self {
            Self::Composite(parts) => Some(parts),
            _ => None,
        }
    }

    /// The part that a path leads to.
    pub fn at(&self, path: &[u32]) -> Option<&Value> {
        path.iter()
            .try_fold(self, |value, index| value.parts()?.get(*index as usize))
    }

    /// The part that a path leads to.
    pub fn at_mut(&mut self, path: &[u32]) -> Option<&mut Value> {
        path.iter().try_fold(self, |value, index| match value {
            Self::Composite(parts) => parts.get_mut(*index as usize),
            _ => None,
        })
    }
}
