//! Message types: every kind of part at every kind of offset and stride.

use super::body::Body;
use super::globals::Loadable;
use super::scalar::MessageScalar;
use crate::module::Id;
use crate::op::{self, decoration};
use vkabort_record::layout::UNIT_BYTES;

/// Shape of a message or of a part.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Scalar(MessageScalar),
    Vector {
        component: Box<Shape>,
        count: u32,
    },
    Matrix {
        bits: u32,
        columns: u32,
        rows: u32,
        stride: u32,
        row_major: bool,
    },
    /// `stride` is `None` for a tightly packed array without the decoration.
    Array {
        element: Box<Shape>,
        count: u32,
        stride: Option<u32>,
    },
    /// `OpConstantDataKHR`.
    Data {
        bits: u32,
        count: u32,
        utf: bool,
        specialised: bool,
    },
    Struct {
        members: Vec<(u32, Shape)>,
    },
    /// A member of the data buffer, with its own type.
    Loaded(Loadable),
    /// The private array of specialised length.
    Specialised {
        stride: u32,
    },
}

impl Shape {
    /// Size in bytes up to the end of the last byte; the maximum for specialised lengths.
    pub(super) fn size(&self) -> u32 {
        match self {
            Self::Scalar(scalar) => scalar.size(),
            Self::Vector { component, count } => component.size() * count,
            Self::Matrix {
                bits,
                columns,
                rows,
                stride,
                row_major,
            } => {
                let (lines, length) = if *row_major { (rows, columns) } else { (columns, rows) };
                stride * (lines - 1) + length * bits / 8
            }
            Self::Array { element, count, stride } => stride.unwrap_or(element.size()) * (count - 1) + element.size(),
            Self::Data { bits, count, .. } => bits / 8 * count,
            Self::Struct { members } => members.iter().map(|(at, shape)| at + shape.size()).max().unwrap_or(0),
            Self::Loaded(part) => part.size,
            Self::Specialised { stride } => stride * 40,
        }
    }

    /// Whether the shape or a part of it, other than a vector's or matrix's, fulfils a condition.
    pub(super) fn holds(&self, condition: fn(&Self) -> bool) -> bool {
        condition(self)
            || match self {
                Self::Struct { members } => members.iter().any(|(_, member)| member.holds(condition)),
                Self::Array { element, .. } => element.holds(condition),
                _ => false,
            }
    }
}

impl Body<'_> {
    /// Chooses the shape of a message.
    pub(super) fn shape(&mut self) -> Shape {
        match self.choices.below(8) {
            0 => Shape::Scalar(self.scalar()),
            1 => self.part(0),
            2 if self.options.empty => Shape::Struct { members: Vec::new() },
            _ => self.any_structure(2),
        }
    }

    /// Chooses a part that does not need a structure around it.
    fn part(&mut self, depth: u32) -> Shape {
        match self.choices.below(if depth > 0 { 10 } else { 8 }) {
            0 => Shape::Scalar(self.scalar()),
            1 | 2 => {
                let component = loop {
                    let scalar = self.scalar();
                    // A vector component cannot be a pointer.
                    if scalar != MessageScalar::Pointer {
                        break Shape::Scalar(scalar);
                    }
                };
                Shape::Vector {
                    component: Box::new(component),
                    count: self.choices.between(2, 4),
                }
            }
            3 | 4 => self.data(),
            5 => match self.choices.pick(&self.globals.loadable) {
                // The rewriter rejects an array of specialised length unless its load is the last memory access before the abort.
                Some(part) if !part.specialised || !self.early && self.choices.chance(30) => Shape::Loaded(part),
                _ => Shape::Scalar(self.scalar()),
            },
            6 => Shape::Specialised {
                stride: self.choices.between(4, 9),
            },
            7 if self.arrays < 2 => {
                self.arrays += 1;
                let element = if self.choices.chance(60) {
                    Shape::Scalar(self.scalar())
                } else {
                    self.part(0)
                };
                self.arrays -= 1;
                // Arrays of large elements are short.
                let most = if element.size() > 16 { 3 } else { 24 };
                let count = self.choices.between(1, most);
                let gap = self.choices.below(5);
                let alignment = self.choices.pick(&[1, 1, 1, UNIT_BYTES]).unwrap_or(1);
                let stride = (element.size() + gap).max(1).next_multiple_of(alignment);
                let stride = self.choices.chance(80).then_some(stride);
                let packed = matches!(element, Shape::Scalar(MessageScalar::Int { .. }));
                Shape::Array {
                    stride: if packed {
                        stride
                    } else {
                        stride.or(Some(element.size().max(1)))
                    },
                    element: Box::new(element),
                    count,
                }
            }
            8 | 9 => self.any_structure(depth - 1),
            _ => Shape::Scalar(self.scalar()),
        }
    }

    fn data(&mut self) -> Shape {
        let bits = self.choices.pick(&[8, 8, 8, 16, 32, 64]).unwrap_or(8);
        Shape::Data {
            bits,
            count: self.choices.between(1, 40),
            utf: bits == 8 && self.choices.chance(50),
            specialised: self.choices.chance(30),
        }
    }

    fn any_structure(&mut self, depth: u32) -> Shape {
        let mut members: Vec<(u32, Shape)> = Vec::new();
        let (mut at, mut end) = (0, 0);
        for _ in 0..self.choices.between(1, 5) {
            // Stays far below the message size limit with any nesting.
            if end > 4000 {
                break;
            }
            let shape = if self.choices.chance(15) {
                let bits = self
                    .choices
                    .pick(&[32, 16, 64])
                    .filter(|_| self.options.widths)
                    .unwrap_or(32);
                let (columns, rows) = (self.choices.between(2, 4), self.choices.between(2, 4));
                let row_major = self.choices.chance(50);
                let line = bits / 8 * if row_major { columns } else { rows };
                Shape::Matrix {
                    bits,
                    columns,
                    rows,
                    stride: line + self.choices.below(9),
                    row_major,
                }
            } else {
                self.part(depth)
            };
            let offset = match self.choices.below(10) {
                // Overlaps the previous member, as in old compilers.
                0 => at + self.choices.below(end - at + 1),
                1..=3 => end + self.choices.below(9),
                4 if self.choices.chance(20) => self.choices.below(end + 1),
                5 => end.next_multiple_of(UNIT_BYTES),
                _ => end.next_multiple_of(4),
            };
            at = offset;
            end = end.max(offset + shape.size());
            members.push((offset, shape));
        }
        Shape::Struct { members }
    }

    /// Type of a shape, without layout or, for a Message Type, with it.
    pub(super) fn shape_type(&mut self, shape: &Shape, laid_out: bool) -> Id {
        match shape {
            Shape::Scalar(scalar) => scalar.id(&mut self.globals.builder),
            Shape::Vector { component, count } => {
                let component = self.shape_type(component, false);
                self.vector(component, *count)
            }
            Shape::Matrix {
                bits, columns, rows, ..
            } => {
                let float = self.float(*bits);
                let column = self.vector(float, *rows);
                self.ty(op::TypeMatrix, &[column, *columns])
            }
            Shape::Array { element, count, stride } => {
                let element = self.shape_type(element, laid_out);
                let stride = stride.filter(|_| laid_out);
                self.array_type(element, *count, stride, false)
            }
            Shape::Data { bits, count, utf, .. } => {
                let element = self.int(*bits, false);
                // Compilers decorate only arrays of words with a stride.
                let stride = (laid_out && *bits >= 32).then_some(bits / 8);
                self.array_type(element, *count, stride, laid_out && *utf)
            }
            Shape::Struct { members } => {
                let types: Vec<Id> = members.iter().map(|(_, m)| self.shape_type(m, laid_out)).collect();
                if !laid_out {
                    return self.ty(op::TypeStruct, &types);
                }
                let offsets = members.iter().map(|(offset, _)| *offset);
                let placed: Vec<(Id, u32)> = types.into_iter().zip(offsets).collect();
                let ty = self.structure(&placed);
                for (number, (_, member)) in (0..).zip(members) {
                    if let Shape::Matrix { stride, row_major, .. } = member {
                        let major = if *row_major {
                            decoration::RowMajor
                        } else {
                            decoration::ColMajor
                        };
                        self.decorate_member(ty, number, decoration::MatrixStride, &[*stride]);
                        self.decorate_member(ty, number, major, &[]);
                    }
                }
                ty
            }
            Shape::Loaded(part) => part.ty,
            Shape::Specialised { stride } => {
                let (length, uint) = (self.globals.specialised_length, self.uint());
                match laid_out {
                    true => self.strided_array(uint, length, Some(*stride)),
                    false => self.ty(op::TypeArray, &[uint, length]),
                }
            }
        }
    }

    fn array_type(&mut self, element: Id, count: u32, stride: Option<u32>, utf: bool) -> Id {
        if stride.is_none() && !utf {
            return self.array(element, count);
        }
        let length = self.constant(count);
        let ty = self.strided_array(element, length, stride);
        if utf {
            self.decorate(ty, decoration::UTFEncodedKHR, &[]);
        }
        ty
    }
}
