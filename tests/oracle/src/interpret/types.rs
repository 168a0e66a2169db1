//! Types and their explicit layout by the rules of the SPIR-V specification: `Offset`, `ArrayStride`, `MatrixStride`,
//! `RowMajor`.

use super::error::Result;
use super::value::{Layout, MatrixLayout, Pointer, Scalar, Value};
use crate::module::{Id, Module};
use crate::op::{self, decoration};
use std::collections::HashMap;

/// A type.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are the operands of the named instructions")]
pub enum Type {
    /// `OpTypeVoid`, function types and other types without values.
    Other,
    /// `OpTypeBool`.
    Bool,
    /// `OpTypeInt`.
    Int { bits: u32, signed: bool },
    /// `OpTypeFloat`.
    Float { bits: u32 },
    /// `OpTypeVector`.
    Vector { component: Id, count: u32 },
    /// `OpTypeMatrix`.
    Matrix { column: Id, count: u32 },
    /// `OpTypeArray`; the length is the id of a constant.
    Array { element: Id, length: Id },
    /// `OpTypeRuntimeArray`.
    RuntimeArray { element: Id },
    /// `OpTypeStruct`.
    Struct { members: Vec<Id> },
    /// `OpTypePointer`.
    Pointer { class: u32, pointee: Id },
}

/// Types of a module.
#[derive(Debug, Default)]
pub struct Types {
    types: HashMap<Id, Type>,
    decorations: HashMap<(Id, u32), u32>,
    member_decorations: HashMap<(Id, u32, u32), u32>,
    /// Values of constants that are array lengths.
    pub lengths: HashMap<Id, u32>,
}

/// Receives the offset in bytes, the size in bytes and the value of a scalar.
pub type Leaf<'a> = &'a mut dyn FnMut(u64, u32, Scalar) -> Result<()>;

impl Types {
    /// Collects the types and decorations of a module.
    pub fn new(module: &Module) -> Self {
        let mut collected = Self::default();
        for inst in &module.globals {
            let (id, first, second) = (inst.word(0), inst.word(1), inst.word(2));
            let ty = match inst.op {
                op::Decorate => {
                    collected.decorations.insert((id, first), second);
                    continue;
                }
                op::MemberDecorate => {
                    collected.member_decorations.insert((id, first, second), inst.word(3));
                    continue;
                }
                op::TypeBool => Type::Bool,
                op::TypeInt => Type::Int {
                    bits: first,
                    signed: second != 0,
                },
                op::TypeFloat => Type::Float { bits: first },
                op::TypeVector => Type::Vector {
                    component: first,
                    count: second,
                },
                op::TypeMatrix => Type::Matrix {
                    column: first,
                    count: second,
                },
                op::TypeArray => Type::Array {
                    element: first,
                    length: second,
                },
                op::TypeRuntimeArray => Type::RuntimeArray { element: first },
                op::TypeStruct => Type::Struct {
                    members: inst.operands_from(1).to_vec(),
                },
                op::TypePointer => Type::Pointer {
                    class: first,
                    pointee: second,
                },
                _ => continue,
            };
            collected.types.insert(id, ty);
        }
        collected
    }

    /// Type with an id.
    pub fn get(&self, id: Id) -> &Type {
        self.types.get(&id).unwrap_or(&Type::Other)
    }

    /// Operand of a decoration; 0 for decorations without one.
    pub fn decoration(&self, id: Id, kind: u32) -> Option<u32> {
        self.decorations.get(&(id, kind)).copied()
    }

    /// Operand of a member's decoration; 0 for decorations without one.
    pub fn member_decoration(&self, id: Id, member: u32, kind: u32) -> Option<u32> {
        self.member_decorations.get(&(id, member, kind)).copied()
    }

    /// Width of a scalar type in bits; 1 for Booleans.
    pub fn width(&self, id: Id) -> u32 {
        match self.get(id) {
            Type::Int { bits, .. } | Type::Float { bits } => *bits,
            Type::Pointer { .. } => 64,
            _ => 1,
        }
    }

    /// Type of part `index`.
    pub fn part(&self, id: Id, index: u32) -> Option<Id> {
        match self.get(id) {
            Type::Vector { component: part, .. }
            | Type::Matrix { column: part, .. }
            | Type::Array { element: part, .. }
            | Type::RuntimeArray { element: part } => Some(*part),
            Type::Struct { members } => members.get(index as usize).copied(),
            _ => None,
        }
    }

    /// Number of parts of a value; 0 for scalars.
    pub fn parts(&self, id: Id) -> u32 {
        match self.get(id) {
            Type::Vector { count, .. } | Type::Matrix { count, .. } => *count,
            Type::Array { length, .. } => self.lengths.get(length).copied().unwrap_or(0),
            Type::Struct { members } => members.len() as u32,
            _ => 0,
        }
    }

    /// A value with all scalars zero or undefined.
    pub fn filled(&self, id: Id, undefined: bool) -> Value {
        match self.get(id) {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Pointer { .. } | Type::Other => {
                Value::Scalar(if undefined {
                    Scalar::undefined(self.width(id))
                } else {
                    Scalar::new(0)
                })
            }
            _ => Value::Composite(
                (0..self.parts(id))
                    .filter_map(|i| Some(self.filled(self.part(id, i)?, undefined)))
                    .collect(),
            ),
        }
    }

    /// Size in bytes up to the end of the last byte.
    pub fn size(&self, id: Id, matrix: MatrixLayout) -> u64 {
        match self.get(id) {
            Type::Array { .. } => match self.parts(id) {
                0 => 0,
                n => self.stride(id, matrix) * u64::from(n - 1) + self.element_size(id, matrix),
            },
            Type::Struct { members } => (0..)
                .zip(members)
                .map(|(number, member)| self.offset(id, number) + self.size(*member, self.matrix_of(id, number)))
                .max()
                .unwrap_or(0),
            Type::Matrix { column, count } => {
                let rows = u64::from(self.parts(*column));
                let columns = u64::from(*count);
                let scalar = self.part(*column, 0).map_or(0, |s| u64::from(self.width(s) / 8));
                let (lines, length) = if matrix.row_major {
                    (rows, columns)
                } else {
                    (columns, rows)
                };
                matrix.stride * lines.saturating_sub(1) + length * scalar
            }
            Type::Vector { component, count } => u64::from(self.width(*component) / 8) * u64::from(*count),
            Type::Bool => 4,
            Type::Int { bits, .. } | Type::Float { bits } => u64::from(bits / 8),
            Type::Pointer { .. } => 8,
            Type::RuntimeArray { .. } | Type::Other => 0,
        }
    }

    fn element_size(&self, id: Id, matrix: MatrixLayout) -> u64 {
        self.part(id, 0).map_or(0, |element| self.size(element, matrix))
    }

    /// `ArrayStride` in bytes. Arrays without the decoration are tightly packed.
    pub fn stride(&self, id: Id, matrix: MatrixLayout) -> u64 {
        self.decoration(id, decoration::ArrayStride)
            .map_or_else(|| self.element_size(id, matrix), u64::from)
    }

    /// `Offset` of a member in bytes.
    pub fn offset(&self, id: Id, member: u32) -> u64 {
        self.member_decoration(id, member, decoration::Offset)
            .map_or(0, u64::from)
    }

    /// Layout of the matrices in a member.
    pub fn matrix_of(&self, id: Id, member: u32) -> MatrixLayout {
        MatrixLayout {
            stride: self
                .member_decoration(id, member, decoration::MatrixStride)
                .map_or(0, u64::from),
            row_major: self.member_decoration(id, member, decoration::RowMajor).is_some(),
        }
    }

    /// Location of part `index` of a laid-out value: offset in bytes, and layout of the part. `layout` is that of the whole.
    pub fn place(&self, id: Id, index: u64, layout: Layout) -> Option<(u64, Layout)> {
        let Layout { matrix, step } = layout;
        let part = |matrix, step| Layout { matrix, step };
        Some(match self.get(id) {
            Type::Struct { .. } => {
                let member = u32::try_from(index).ok()?;
                (self.offset(id, member), part(self.matrix_of(id, member), None))
            }
            Type::Array { .. } | Type::RuntimeArray { .. } => {
                (self.stride(id, matrix).wrapping_mul(index), part(matrix, None))
            }
            Type::Matrix { .. } if !matrix.row_major => (matrix.stride * index, part(matrix, None)),
            Type::Matrix { column, .. } => {
                let scalar = self.part(*column, 0).map_or(0, |s| u64::from(self.width(s) / 8));
                (scalar * index, part(matrix, Some(matrix.stride)))
            }
            Type::Vector { component, .. } => {
                let scalar = u64::from(self.width(*component) / 8);
                (step.unwrap_or(scalar) * index, part(matrix, None))
            }
            _ => return None,
        })
    }

    /// Visits every scalar of a value with type `id` at `at`, in order of declaration.
    pub fn leaves(&self, id: Id, value: &Value, at: u64, layout: Layout, leaf: Leaf<'_>) -> Result<()> {
        match value {
            Value::Scalar(scalar) => leaf(at, self.size(id, layout.matrix) as u32, *scalar),
            // A physical pointer is its address.
            Value::Pointer(Pointer::Bytes(pointer)) => leaf(at, 8, Scalar::new(pointer.at)),
            Value::Pointer(_) => Ok(()),
            Value::Composite(parts) => {
                for (number, part) in (0..).zip(parts) {
                    let place = self.place(id, u64::from(number), layout);
                    if let Some((ty, (offset, layout))) = self.part(id, number).zip(place) {
                        self.leaves(ty, part, at + offset, layout, leaf)?;
                    }
                }
                Ok(())
            }
        }
    }
}
