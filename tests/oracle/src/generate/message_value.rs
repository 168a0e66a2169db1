//! Message values: constants, composites, loads, copies, phis, undefined and null values.

use super::body::Body;
use super::message::Shape;
use super::scalar::MessageScalar;
use crate::module::Id;
use crate::op::{self, storage_class as class};

impl Body<'_> {
    /// Generates a message: its Message Type and its value. `early`: the abort is in another block.
    pub(super) fn message(&mut self, early: bool) -> (Id, Id) {
        self.early = early;
        let shape = self.shape();
        let ty = self.shape_type(&shape, true);
        // The value has the Message Type itself, or a matching type without layout.
        let laid_out = self.choices.chance(25) && !shape.holds(is_undecorated_variable);
        let value = match self.choices.below(12) {
            // Physical pointers have no null value.
            0 if !shape.holds(is_pointer) => {
                let value_type = self.shape_type(&shape, laid_out);
                self.value(op::ConstantNull, value_type, &[])
            }
            1 => {
                let value_type = self.shape_type(&shape, laid_out);
                self.value(op::Undef, value_type, &[])
            }
            _ => {
                let value_type = if laid_out { ty } else { self.shape_type(&shape, false) };
                let value = if self.choices.chance(10) {
                    self.phi_of_two(&shape, value_type)
                } else {
                    self.shape_value(&shape, value_type, false)
                };
                let aggregate = matches!(shape, Shape::Struct { .. } | Shape::Array { .. });
                if aggregate && value_type != ty && self.minor >= 4 && self.choices.chance(30) {
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

    /// A phi of two values of a shape.
    fn phi_of_two(&mut self, shape: &Shape, ty: Id) -> Id {
        let condition = self.any_bool();
        let [yes, no, merge] = [(); 3].map(|()| self.fresh());
        self.branch_if(condition, [yes, no], merge);
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

    /// Value of a shape with type `ty`, a constant one if `constant`.
    fn shape_value(&mut self, shape: &Shape, ty: Id, constant: bool) -> Id {
        let constant = constant || self.choices.chance(15);
        match shape {
            Shape::Data {
                bits,
                count,
                specialised,
                ..
            } => {
                let element = self.int(*bits, false);
                // The type of the data has no stride.
                let data_type = self.array(element, *count);
                let words: Vec<u32> = (0..(bits / 8 * count).div_ceil(4))
                    .map(|_| self.choices.word() | 0x0101_0101)
                    .collect();
                let opcode = if *specialised {
                    op::SpecConstantDataKHR
                } else {
                    op::ConstantDataKHR
                };
                if data_type == ty {
                    return self.new_value(opcode, ty, &words);
                }
                self.value(op::ConstantNull, ty, &[])
            }
            Shape::Struct { .. } | Shape::Array { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => {
                self.composite(shape, ty, constant)
            }
            Shape::Loaded(_) | Shape::Specialised { .. } if constant => self.value(op::ConstantNull, ty, &[]),
            Shape::Loaded(part) => {
                let class = self.globals.buffer_class;
                let (pointer, member) = (self.pointer(class, ty), self.constant(part.member));
                let data = self.globals.data;
                let chain = self.emit(op::AccessChain, pointer, &[data, member]);
                let value = self.emit(op::Load, ty, &[chain]);
                if !part.specialised && self.choices.chance(30) {
                    self.overwrite_data();
                }
                value
            }
            Shape::Specialised { .. } => {
                let plain_type = self.shape_type(shape, false);
                if plain_type != ty {
                    return self.value(op::ConstantNull, ty, &[]);
                }
                let uint = self.uint();
                let pointer = self.pointer(class::Private, uint);
                let (array, index, value) = (self.globals.specialised, self.choices.below(4), self.any_uint());
                let index = self.constant(index);
                let element = self.emit(op::AccessChain, pointer, &[array, index]);
                self.emit_void(op::Store, &[element, value]);
                self.emit(op::Load, ty, &[array])
            }
            Shape::Scalar(scalar) if constant && *scalar != MessageScalar::Pointer => self.scalar_constant(*scalar, ty),
            _ if self.choices.chance(4) => self.value(op::Undef, ty, &[]),
            Shape::Scalar(_) if constant => self.value(op::Undef, ty, &[]),
            Shape::Scalar(scalar) => self.scalar_value(*scalar, ty),
        }
    }

    fn composite(&mut self, shape: &Shape, ty: Id, constant: bool) -> Id {
        let constant = constant && !shape.holds(is_pointer);
        let parts: Vec<(Shape, Id)> = self.parts(shape, ty);
        let through_variable = !constant && matches!(shape, Shape::Array { .. }) && self.choices.chance(30);
        let values: Vec<Id> = parts
            .iter()
            .map(|(part, part_type)| self.shape_value(part, *part_type, constant))
            .collect();
        if constant {
            let specialised = parts.iter().any(|(part, _)| part.holds(is_specialised));
            let opcode = if specialised {
                op::SpecConstantComposite
            } else {
                op::ConstantComposite
            };
            return self.new_value(opcode, ty, &values);
        }
        let value = self.emit(op::CompositeConstruct, ty, &values);
        if through_variable && !shape.holds(is_pointer) && !shape.holds(is_loaded) && !laid_out_type(self, shape, ty) {
            let variable = self.variable(ty);
            self.emit_void(op::Store, &[variable, value]);
            return self.emit(op::Load, ty, &[variable]);
        }
        value
    }

    /// Parts of a composite with their types. Parts of a laid-out composite have laid-out types.
    fn parts(&mut self, shape: &Shape, ty: Id) -> Vec<(Shape, Id)> {
        let laid_out = laid_out_type(self, shape, ty);
        match shape {
            Shape::Struct { members } if laid_out => {
                let types = self.operands_of(ty);
                members
                    .iter()
                    .map(|(_, m)| m.clone())
                    .zip(types.into_iter().skip(1))
                    .collect()
            }
            Shape::Array { element, count, .. } if laid_out => {
                let part_type = self.operands_of(ty).get(1).copied().unwrap_or(0);
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
                    component: Box::new(Shape::Scalar(MessageScalar::Float { bits: *bits })),
                    count: *rows,
                };
                let part_type = self.shape_type(&column, false);
                vec![(column, part_type); *columns as usize]
            }
            _ => Vec::new(),
        }
    }

    /// Overwrites a word of the buffer that messages are loaded from.
    fn overwrite_data(&mut self) {
        let (class, data) = (self.globals.buffer_class, self.globals.data);
        let uint = self.uint();
        let pointer = self.pointer(class, uint);
        let (member, index, value) = (self.constant_below(2), self.constant_below(5), self.any_uint());
        let chain = self.emit(op::AccessChain, pointer, &[data, member, index]);
        self.emit_void(op::Store, &[chain, value]);
    }
}

/// Whether a composite type has a layout, unlike the plain type of its shape.
fn laid_out_type(body: &mut Body<'_>, shape: &Shape, ty: Id) -> bool {
    match shape {
        Shape::Struct { .. } | Shape::Array { .. } => body.shape_type(shape, false) != ty,
        _ => false,
    }
}

fn is_pointer(shape: &Shape) -> bool {
    matches!(shape, Shape::Scalar(MessageScalar::Pointer))
}

fn is_specialised(shape: &Shape) -> bool {
    matches!(shape, Shape::Data { specialised: true, .. } | Shape::Specialised { .. })
}

/// Whether the part always has a type with layout.
fn is_loaded(shape: &Shape) -> bool {
    matches!(shape, Shape::Loaded(_))
}

/// Whether no value of the Message Type is generated for the part.
fn is_undecorated_variable(shape: &Shape) -> bool {
    matches!(shape, Shape::Specialised { .. })
}
