//! Types of messages: every kind of part, at every kind of offset and stride.

use super::body::Body;
use super::world::Loadable;
use crate::module::Id;
use crate::op::{self, decoration, storage_class as class};
use vkabort_record::scalar_type::{FpEncoding, ScalarType};

/// The shape of a message or a part of it.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Int {
        bits: u32,
        signed: bool,
    },
    Float {
        bits: u32,
    },
    /// A float with an encoding of its own.
    Encoded {
        bits: u32,
        encoding: FpEncoding,
    },
    /// A physical pointer.
    Pointer,
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
    /// `stride` is `None` for tightly packed arrays without the decoration.
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
    /// A part of the data buffer, of that part's own type.
    Loaded(Loadable),
    /// The private array whose length is a specialisation constant.
    Specialised {
        stride: u32,
    },
}

impl Shape {
    /// Bytes from its start to the end of its last byte, at the most.
    pub(super) fn size(&self) -> u32 {
        match self {
            Self::Int { bits, .. } | Self::Float { bits } | Self::Encoded { bits, .. } => bits / 8,
            Self::Pointer => 8,
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
}

impl Body<'_> {
    /// The shape of a whole message.
    pub(super) fn shape(&mut self) -> Shape {
        match self.choices.below(8) {
            0 => self.scalar(),
            1 => self.part(0),
            2 if self.wish.empty => Shape::Struct { members: Vec::new() },
            _ => self.structure(2),
        }
    }

    fn scalar(&mut self) -> Shape {
        let int = |bits, signed| Shape::Int { bits, signed };
        let encoded = |ty: &ScalarType| {
            let (bits, encoding) = (ty.bits(), ty.float_format()?.encoding()?);
            Some(Shape::Encoded { bits, encoding })
        };
        let mut encoded: Vec<Shape> = ScalarType::ALL.iter().filter_map(encoded).collect();
        match self.choices.below(14 + encoded.len() as u32) {
            0..=3 => int(32, false),
            4 => int(32, true),
            5..=9 if !self.wish.widths => int(32, false),
            10 | 11 if !self.wish.widths => Shape::Float { bits: 32 },
            5 => int(8, false),
            6 => int(8, true),
            7 => int(16, false),
            8 => int(64, false),
            9 => int(64, true),
            10 => Shape::Float { bits: 16 },
            11 => Shape::Float { bits: 64 },
            12 if self.world.physical => Shape::Pointer,
            index @ 14.. if self.wish.encodings => encoded.swap_remove(index as usize - 14),
            _ => Shape::Float { bits: 32 },
        }
    }

    /// A part that needs no structure around it.
    fn part(&mut self, depth: u32) -> Shape {
        match self.choices.below(if depth > 0 { 10 } else { 8 }) {
            0 => self.scalar(),
            1 | 2 => {
                let component = loop {
                    let scalar = self.scalar();
                    // A pointer is no component.
                    if !matches!(scalar, Shape::Pointer) {
                        break scalar;
                    }
                };
                Shape::Vector {
                    component: Box::new(component),
                    count: self.choices.between(2, 4),
                }
            }
            3 | 4 => self.data(),
            5 => match self.choices.pick(&self.world.loadable) {
                // An array of specialised length whose load is not the last access to memory before the abort is refused.
                Some(part) if !part.specialised || !self.early && self.choices.chance(30) => Shape::Loaded(part),
                _ => self.scalar(),
            },
            6 => Shape::Specialised {
                stride: self.choices.between(4, 9),
            },
            7 if self.arrays < 2 => {
                self.arrays += 1;
                let element = if self.choices.chance(60) {
                    self.scalar()
                } else {
                    self.part(0)
                };
                self.arrays -= 1;
                // Arrays of what takes long to build are short.
                let most = if element.size() > 16 { 3 } else { 24 };
                let count = self.choices.between(1, most);
                let gap = self.choices.below(5);
                let stride = self.choices.chance(80).then(|| (element.size() + gap).max(1));
                let packed = matches!(element, Shape::Int { .. });
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
            8 | 9 => self.structure(depth - 1),
            _ => self.scalar(),
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

    fn structure(&mut self, depth: u32) -> Shape {
        let mut members: Vec<(u32, Shape)> = Vec::new();
        let (mut at, mut end) = (0, 0);
        for _ in 0..self.choices.between(1, 5) {
            // Far below the limit, whatever is nested in what.
            if end > 4000 {
                break;
            }
            let shape = if self.choices.chance(15) {
                let bits = self
                    .choices
                    .pick(&[32, 16, 64])
                    .filter(|_| self.wish.widths)
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
                // Over the member before, as old compilers place it.
                0 => at + self.choices.below(end - at + 1),
                1..=3 => end + self.choices.below(9),
                4 if self.choices.chance(20) => self.choices.below(end + 1),
                _ => end.next_multiple_of(4),
            };
            at = offset;
            end = end.max(offset + shape.size());
            members.push((offset, shape));
        }
        Shape::Struct { members }
    }

    /// The type of values of a shape: without layout, or with it, as a Message Type needs.
    pub(super) fn shape_type(&mut self, shape: &Shape, laid_out: bool) -> Id {
        match shape {
            Shape::Int { bits, signed } => self.world.builder.int(*bits, *signed),
            Shape::Float { bits } => self.world.builder.float(*bits),
            Shape::Encoded { bits, encoding } => self.world.builder.encoded_float(*bits, *encoding),
            Shape::Pointer => {
                let uint = self.world.builder.uint();
                self.world.builder.pointer(class::PhysicalStorageBuffer, uint)
            }
            Shape::Vector { component, count } => {
                let component = self.shape_type(component, false);
                self.world.builder.vector(component, *count)
            }
            Shape::Matrix {
                bits, columns, rows, ..
            } => {
                let builder = &mut self.world.builder;
                let float = builder.float(*bits);
                let column = builder.vector(float, *rows);
                builder.ty(op::TypeMatrix, &[column, *columns])
            }
            Shape::Array { element, count, stride } => {
                let element = self.shape_type(element, laid_out);
                let stride = stride.filter(|_| laid_out);
                self.array_type(element, *count, stride, false)
            }
            Shape::Data { bits, count, utf, .. } => {
                let element = self.world.builder.int(*bits, false);
                // As compilers do it: a stride only where elements are words, or none at all.
                let stride = (laid_out && *bits >= 32).then_some(bits / 8);
                self.array_type(element, *count, stride, laid_out && *utf)
            }
            Shape::Struct { members } => {
                let types: Vec<Id> = members.iter().map(|(_, m)| self.shape_type(m, laid_out)).collect();
                if !laid_out {
                    return self.world.builder.ty(op::TypeStruct, &types);
                }
                let ty = self.world.builder.new_type(op::TypeStruct, &types);
                for (number, (offset, member)) in (0..).zip(members) {
                    let builder = &mut self.world.builder;
                    builder.decorate_member(ty, number, decoration::Offset, &[*offset]);
                    if let Shape::Matrix { stride, row_major, .. } = member {
                        let major = if *row_major {
                            decoration::RowMajor
                        } else {
                            decoration::ColMajor
                        };
                        builder.decorate_member(ty, number, decoration::MatrixStride, &[*stride]);
                        builder.decorate_member(ty, number, major, &[]);
                    }
                }
                ty
            }
            Shape::Loaded(part) => part.ty,
            Shape::Specialised { stride } => {
                let (length, builder) = (self.world.specialised_length, &mut self.world.builder);
                let uint = builder.uint();
                if !laid_out {
                    return builder.ty(op::TypeArray, &[uint, length]);
                }
                let ty = builder.new_type(op::TypeArray, &[uint, length]);
                builder.decorate(ty, decoration::ArrayStride, &[*stride]);
                ty
            }
        }
    }

    fn array_type(&mut self, element: Id, count: u32, stride: Option<u32>, utf: bool) -> Id {
        let builder = &mut self.world.builder;
        if stride.is_none() && !utf {
            return builder.array(element, count);
        }
        let length = builder.constant(count);
        let ty = builder.new_type(op::TypeArray, &[element, length]);
        if let Some(stride) = stride {
            builder.decorate(ty, decoration::ArrayStride, &[stride]);
        }
        if utf {
            builder.decorate(ty, decoration::UTFEncodedKHR, &[]);
        }
        ty
    }
}
