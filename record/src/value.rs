//! Decoded values of a message.

use crate::scalar::Scalar;

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A string, escaped for printing.
    Text(String),
    /// A vector.
    Vector(Vec<Scalar>),
    /// A matrix by columns, whether it is stored by columns or by rows.
    Matrix(Vec<Vec<Scalar>>),
    /// An array; shorter than its type where the payload ends early.
    Array(Vec<Value>),
    /// A structure.
    Struct {
        /// Its debug name.
        name: Option<String>,
        /// Its members in declaration order.
        members: Vec<Field>,
    },
    /// The payload ends before this value, or its type is nested too deeply.
    Missing,
}

/// A member of a decoded structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its debug name.
    pub name: Option<String>,
    /// Its byte offset from the start of the message.
    pub offset: u32,
    /// Its value.
    pub value: Value,
}

impl Field {
    /// A member without a debug name.
    pub fn unnamed(offset: u32, value: Value) -> Self {
        Self {
            name: None,
            offset,
            value,
        }
    }
}
