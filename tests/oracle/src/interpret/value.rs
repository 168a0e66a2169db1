//! Values: trees of scalars and pointers. Each bit of a scalar can be undefined. This allows copies of `OpUndef`, poison and
//! uninitialised memory, and reports them where a result depends on them.

use crate::module::Id;

/// A number or Boolean with up to 64 bits; unused high bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Bits.
    pub bits: u64,
    /// Mask of undefined bits.
    pub undef: u64,
}

impl Scalar {
    /// A defined scalar.
    pub fn new(bits: u64) -> Self {
        Self { bits, undef: 0 }
    }

    /// An undefined scalar of `width` bits.
    pub fn undefined(width: u32) -> Self {
        Self {
            bits: 0,
            undef: ones(width),
        }
    }

    /// The lowest `width` of `bits`, or an undefined scalar if `undefined`.
    pub fn new_unless(undefined: bool, bits: u64, width: u32) -> Self {
        match undefined {
            true => Self::undefined(width),
            false => Self::new(bits & ones(width)),
        }
    }

    /// The bits, if all are defined.
    pub fn defined(self) -> Option<u64> {
        (self.undef == 0).then_some(self.bits)
    }
}

/// Mask of the lowest `width` bits.
pub fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Memory that a byte-addressed pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A buffer variable.
    Buffer(Id),
    /// Physically addressed memory.
    Physical,
}

/// Memory layout of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Distance of columns, or of rows if `row_major`, in bytes.
    pub stride: u64,
    /// Whether rows are contiguous.
    pub row_major: bool,
}

/// A pointer into byte-addressed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytePointer {
    /// Memory.
    pub space: Space,
    /// Offset in a buffer, or physical address.
    pub at: u64,
    /// Layout of the pointee.
    pub layout: Layout,
}

impl BytePointer {
    /// A pointer to a pointee without matrices around it.
    pub fn new(space: Space, at: u64) -> Self {
        Self {
            space,
            at,
            layout: Layout::default(),
        }
    }
}

/// Layout that a part inherits from its composite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Matrix layout from the structure member that contains the part.
    pub matrix: MatrixLayout,
    /// Distance of a vector's components in bytes, if it is a column of a row-major matrix.
    pub step: Option<u64>,
}

/// A pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Into a variable whose storage class has no layout.
    Logical {
        /// The variable.
        variable: Id,
        /// Indices of the part.
        path: Vec<u32>,
    },
    /// Into byte-addressed memory.
    Bytes(BytePointer),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number or a Boolean.
    Scalar(Scalar),
    /// Parts of a vector, matrix, array or structure.
    Composite(Vec<Value>),
    /// A pointer.
    Pointer(Pointer),
}

impl Value {
    /// Whether all of its bits are defined.
    pub fn is_defined(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.undef == 0,
            Self::Composite(parts) => parts.iter().all(Self::is_defined),
            Self::Pointer(_) => true,
        }
    }

    /// A defined scalar.
    pub fn number(bits: u64) -> Self {
        Self::Scalar(Scalar::new(bits))
    }

    /// The scalar, if the value is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// The parts, if the value is composite.
    pub fn parts(&self) -> Option<&[Value]> {
        match self {
            Self::Composite(parts) => Some(parts),
            _ => None,
        }
    }

    /// Part at a path of indices.
    pub fn at(&self, path: &[u32]) -> Option<&Value> {
        path.iter()
            .try_fold(self, |value, index| value.parts()?.get(*index as usize))
    }

    /// Part at a path of indices.
    pub fn at_mut(&mut self, path: &[u32]) -> Option<&mut Value> {
        path.iter().try_fold(self, |value, index| match value {
            Self::Composite(parts) => parts.get_mut(*index as usize),
            _ => None,
        })
    }
}
