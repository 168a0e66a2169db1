//! Values of messages: constants, composites, loads, copies, phis, undefined and null ones.

use super::body::Body;
use super::message::Shape;
use crate::module::Id;
use crate::op::{self, storage_class as class};

impl Body<'_> {
    /// A message: its Message Type and its value. `early`: the abort is in another block.
    pub(super) fn message(&mut self, early: bool) -> (Id, Id) {
        self.early = early;
        let shape = self.shape();
        let ty = self.shape_type(&shape, true);
        // Values of the Message Type itself, or of a type without layout that matches it.
        let laid_out = self.choices.chance(25) && !holds_undecorated_variable(&shape);
        let value = match self.choices.below(12) {
            // Physical pointers have no null.
            0 if !holds_pointer(&shape) => {
                let value_type = self.shape_type(&shape, laid_out);
                self.world.builder.value(op::ConstantNull, value_type, &[])
            }
            1 => {
                let value_type = self.shape_type(&shape, laid_out);
                self.world.builder.value(op::Undef, value_type, &[])
            }
            _ => {
                let value_type = if laid_out { ty } else { self.shape_type(&shape, false) };
                let value = if self.choices.chance(10) {
                    self.one_of_two(&shape, value_type)
                } else {
                    self.shape_value(&shape, value_type, false)
                };
                let aggregate = matches!(shape, Shape::Struct { .. } | Shape::Array { .. });
                if aggregate && value_type != ty && self.world.builder.minor >= 4 && self.choices.chance(30) {
                    self.emit(op::CopyLogical, ty, &[value])
                } else if self.choices.chance(15) {
                    self.emit(op::CopyObject, value_type, &[value])
                } else {
                    value
                }
            }
        };
        (ty, value)
    }

    /// A phi of two values.
    fn one_of_two(&mut self, shape: &Shape, ty: Id) -> Id {
        let condition = self.bool();
        let [yes, no, merge] = [(); 3].map(|()| self.world.builder.fresh());
        self.act(op::SelectionMerge, &[merge, 0]);
        self.act(op::BranchConditional, &[condition, yes, no]);
        let outer = self.scope.clone();
        let mut edges = Vec::new();
        for label in [yes, no] {
            self.begin(label);
            let value = self.shape_value(shape, ty, false);
            edges.extend([value, self.label]);
            self.branch(merge);
            self.scope = outer.clone();
        }
        self.begin(merge);
        self.emit(op::Phi, ty, &edges)
    }

    /// A value of a shape, of type `ty`; `constant`: a constant.
    fn shape_value(&mut self, shape: &Shape, ty: Id, constant: bool) -> Id {
        let constant = constant || self.choices.chance(15);
        match shape {
            Shape::Data {
                bits,
                count,
                specialised,
                ..
            } => {
                let element = self.world.builder.int(*bits, false);
                // The data's own type has no stride.
                let data_type = self.world.builder.array(element, *count);
                let words: Vec<u32> = (0..(bits / 8 * count).div_ceil(4))
                    .map(|_| self.choices.word() | 0x0101_0101)
                    .collect();
                let opcode = if *specialised {
                    op::SpecConstantDataKHR
                } else {
                    op::ConstantDataKHR
                };
                if data_type == ty {
                    return self.world.builder.new_value(opcode, ty, &words);
                }
                self.world.builder.value(op::ConstantNull, ty, &[])
            }
            Shape::Struct { .. } | Shape::Array { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => {
                self.composite(shape, ty, constant)
            }
            Shape::Loaded(_) | Shape::Specialised { .. } if constant => {
                self.world.builder.value(op::ConstantNull, ty, &[])
            }
            Shape::Loaded(part) => {
                let class = self.world.buffer_class;
                let (pointer, member) = (
                    self.world.builder.pointer(class, ty),
                    self.world.builder.constant(part.member),
                );
                let data = self.world.data;
                let place = self.emit(op::AccessChain, pointer, &[data, member]);
                let value = self.emit(op::Load, ty, &[place]);
                if !part.specialised && self.choices.chance(30) {
                    self.overwrite_data();
                }
                value
            }
            Shape::Specialised { .. } => {
                let own = self.shape_type(shape, false);
                if own != ty {
                    return self.world.builder.value(op::ConstantNull, ty, &[]);
                }
                let uint = self.world.builder.uint();
                let pointer = self.world.builder.pointer(class::Private, uint);
                let (array, index, value) = (self.world.specialised, self.choices.below(4), self.uint());
                let index = self.world.builder.constant(index);
                let element = self.emit(op::AccessChain, pointer, &[array, index]);
                self.act(op::Store, &[element, value]);
                self.emit(op::Load, ty, &[array])
            }
            Shape::Int { .. } | Shape::Float { .. } | Shape::Encoded { .. } if constant => {
                self.scalar_constant(shape, ty)
            }
            _ if self.choices.chance(4) => self.world.builder.value(op::Undef, ty, &[]),
            Shape::Pointer if constant => self.world.builder.value(op::Undef, ty, &[]),
            _ => self.scalar_value(shape, ty),
        }
    }

    fn composite(&mut self, shape: &Shape, ty: Id, constant: bool) -> Id {
        let constant = constant && !holds_pointer(shape);
        let parts: Vec<(Shape, Id)> = self.parts(shape, ty);
        let through_variable = !constant && matches!(shape, Shape::Array { .. }) && self.choices.chance(30);
        let values: Vec<Id> = parts
            .iter()
            .map(|(part, part_type)| self.shape_value(part, *part_type, constant))
            .collect();
        if constant && parts.iter().all(|(part, _)| always_constant(part)) {
            let specialised = parts.iter().any(|(part, _)| holds_specialised(part));
            let opcode = if specialised {
                op::SpecConstantComposite
            } else {
                op::ConstantComposite
            };
            return self.world.builder.new_value(opcode, ty, &values);
        }
        let value = self.emit(op::CompositeConstruct, ty, &values);
        if through_variable && !holds_pointer(shape) && !holds_loaded(shape) && !laid_out_type(self, shape, ty) {
            let variable = self.variable(ty);
            self.act(op::Store, &[variable, value]);
            return self.emit(op::Load, ty, &[variable]);
        }
        value
    }

    /// The parts of a composite and their types. A composite of type `ty` has parts of that type's parts.
    fn parts(&mut self, shape: &Shape, ty: Id) -> Vec<(Shape, Id)> {
        let laid_out = laid_out_type(self, shape, ty);
        match shape {
            Shape::Struct { members } if laid_out => {
                let types = self.world.builder.operands_of(ty);
                members
                    .iter()
                    .map(|(_, m)| m.clone())
                    .zip(types.into_iter().skip(1))
                    .collect()
            }
            Shape::Array { element, count, .. } if laid_out => {
                let part_type = self.world.builder.operands_of(ty).get(1).copied().unwrap_or(0);
                vec![(Shape::clone(element), part_type); *count as usize]
            }
            Shape::Struct { members } => members
                .iter()
                .map(|(_, m)| (m.clone(), self.shape_type(m, false)))
                .collect(),
            Shape::Array { element, count, .. }
            | Shape::Vector {
                component: element,
                count,
            } => {
                let part_type = self.shape_type(element, false);
                vec![(Shape::clone(element), part_type); *count as usize]
            }
            Shape::Matrix {
                bits, columns, rows, ..
            } => {
                let column = Shape::Vector {
                    component: Box::new(Shape::Float { bits: *bits }),
                    count: *rows,
                };
                let part_type = self.shape_type(&column, false);
                vec![(column, part_type); *columns as usize]
            }
            _ => Vec::new(),
        }
    }

    fn scalar_constant(&mut self, shape: &Shape, ty: Id) -> Id {
        let (low, high) = (self.choices.word(), self.choices.word());
        let words: Vec<u32> = match shape {
            Shape::Int { bits: 64, .. } => vec![low, high],
            Shape::Float { bits: 64 } => {
                let bits = f64::from(low).to_bits();
                vec![bits as u32, (bits >> 32) as u32]
            }
            Shape::Int { bits: 8, signed } => vec![if *signed { low as i8 as u32 } else { low & 0xFF }],
            Shape::Int { bits: 16, signed } => vec![if *signed { low as i16 as u32 } else { low & 0xFFFF }],
            Shape::Float { bits: 16 } => vec![low & 0x3FFF],
            Shape::Encoded { bits, .. } => vec![low & ((1 << bits) - 1)],
            Shape::Float { .. } => vec![(low as f32).to_bits()],
            _ => vec![low],
        };
        self.world.builder.value(op::Constant, ty, &words)
    }

    /// A scalar made from a `uint`.
    fn scalar_value(&mut self, shape: &Shape, ty: Id) -> Id {
        let value = self.uint();
        match shape {
            Shape::Int {
                bits: 32,
                signed: false,
            } => value,
            Shape::Int { bits: 32, .. } | Shape::Float { bits: 32 } => self.emit(op::Bitcast, ty, &[value]),
            Shape::Encoded { bits, .. } => {
                let several = self.world.builder.vector(ty, 32 / bits);
                let several = self.emit(op::Bitcast, several, &[value]);
                self.emit(op::CompositeExtract, ty, &[several, 0])
            }
            Shape::Pointer | Shape::Int { bits: 64, .. } => {
                let uint = self.world.builder.uint();
                let (uvec2, high) = (self.world.builder.vector(uint, 2), self.uint());
                let both = self.emit(op::CompositeConstruct, uvec2, &[value, high]);
                self.emit(op::Bitcast, ty, &[both])
            }
            Shape::Int { signed: true, .. } => self.emit(op::SConvert, ty, &[value]),
            Shape::Int { .. } => self.emit(op::UConvert, ty, &[value]),
            _ => {
                let builder = &mut self.world.builder;
                let (uint, float, mask) = (builder.uint(), builder.float(32), builder.constant(0x3FF));
                let low = self.emit(op::BitwiseAnd, uint, &[value, mask]);
                let single = self.emit(op::ConvertUToF, float, &[low]);
                self.emit(op::FConvert, ty, &[single])
            }
        }
    }

    /// Stores into what messages are loaded from.
    fn overwrite_data(&mut self) {
        let builder = &mut self.world.builder;
        let uint = builder.uint();
        let pointer = builder.pointer(self.world.buffer_class, uint);
        let member = self.choices.below(2);
        let index = self.choices.below(5);
        let (member, index) = (self.world.builder.constant(member), self.world.builder.constant(index));
        let (data, value) = (self.world.data, self.uint());
        let place = self.emit(op::AccessChain, pointer, &[data, member, index]);
        self.act(op::Store, &[place, value]);
    }
}

/// Whether a composite type is one with layout rather than the plain type of its shape.
fn laid_out_type(body: &mut Body<'_>, shape: &Shape, ty: Id) -> bool {
    match shape {
        Shape::Struct { .. } | Shape::Array { .. } => body.shape_type(shape, false) != ty,
        _ => false,
    }
}

/// Shapes whose values are constants when constants are asked for.
fn always_constant(shape: &Shape) -> bool {
    match shape {
        Shape::Struct { members } => members.iter().all(|(_, m)| always_constant(m)),
        Shape::Array { element, .. } => always_constant(element),
        _ => true,
    }
}

/// Shapes with parts whose types have a layout in any case.
fn holds_loaded(shape: &Shape) -> bool {
    match shape {
        Shape::Loaded(_) => true,
        Shape::Struct { members } => members.iter().any(|(_, m)| holds_loaded(m)),
        Shape::Array { element, .. } => holds_loaded(element),
        _ => false,
    }
}

fn holds_pointer(shape: &Shape) -> bool {
    match shape {
        Shape::Pointer => true,
        Shape::Struct { members } => members.iter().any(|(_, m)| holds_pointer(m)),
        Shape::Array { element, .. } => holds_pointer(element),
        _ => false,
    }
}

fn holds_specialised(shape: &Shape) -> bool {
    match shape {
        Shape::Data { specialised, .. } => *specialised,
        Shape::Specialised { .. } => true,
        Shape::Struct { members } => members.iter().any(|(_, m)| holds_specialised(m)),
        Shape::Array { element, .. } => holds_specialised(element),
        _ => false,
    }
}

/// Shapes of which no value of the Message Type itself is made here.
fn holds_undecorated_variable(shape: &Shape) -> bool {
    match shape {
        Shape::Specialised { .. } => true,
        Shape::Struct { members } => members.iter().any(|(_, m)| holds_undecorated_variable(m)),
        Shape::Array { element, .. } => holds_undecorated_variable(element),
        _ => false,
    }
}
