//! Sizes of messages, where array lengths are specialisation constants computed by the shader.

use super::writer::Writer;
use crate::spv::{Id, op};
use vkabort_record::layout::{HEADER_UNITS, UNIT_BYTES, record_units};
use vkabort_record::site::{Length, Type};

/// A byte count: known, or computed by the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Known(u32),
    Computed(Id),
}

impl Writer<'_, '_> {
    /// The size of a message: a constant unless array lengths are specialised.
    pub(crate) fn size(&mut self, ty: &Type, id: Id) -> Size {
        match ty {
            Type::Array {
                length: Length::Specialised { .. },
                stride,
                element,
                ..
            } => {
                let count = self.count(id, *stride);
                let zero = self.constant(0);
                let one = self.constant(1);
                let stride = self.constant(*stride);
                let last = self.calculate(op::ISub, &[count, one]);
                let before = self.calculate(op::IMul, &[last, stride]);
                let element_type = self.index.part_type(id, 0);
                let end = match self.size(element, element_type) {
                    Size::Known(bytes) => self.constant(bytes),
                    Size::Computed(id) => id,
                };
                let all = self.calculate(op::IAdd, &[before, end]);
                let bool = self.globals.bool();
                let empty = self.emit(op::IEqual, bool, &[count, zero]);
                Size::Computed(self.calculate(op::Select, &[empty, zero, all]))
            }
            Type::Array {
                length: Length::Constant(count @ 1..),
                stride,
                element,
                ..
            } => {
                let element_type = self.index.part_type(id, 0);
                self.size_at(stride.saturating_mul(count - 1), element, element_type)
            }
            Type::Struct { members, .. } => {
                let mut known = 0;
                let mut computed: Option<Id> = None;
                for (number, member) in members.iter().enumerate() {
                    let part = self.index.part_type(id, number as u32);
                    match self.size_at(member.offset, &member.ty, part) {
                        Size::Known(bytes) => known = known.max(bytes),
                        Size::Computed(id) => computed = Some(computed.map_or(id, |other| self.larger(id, other))),
                    }
                }
                match computed {
                    None => Size::Known(known),
                    Some(id) => {
                        let known = self.constant(known);
                        Size::Computed(self.larger(id, known))
                    }
                }
            }
            _ => Size::Known(ty.size()),
        }
    }

    fn size_at(&mut self, offset: u32, ty: &Type, id: Id) -> Size {
        match self.size(ty, id) {
            Size::Known(bytes) => Size::Known(if bytes == 0 && offset > 0 {
                offset
            } else {
                offset.saturating_add(bytes)
            }),
            Size::Computed(id) => {
                let offset = self.constant(offset);
                Size::Computed(self.calculate(op::IAdd, &[offset, id]))
            }
        }
    }

    fn larger(&mut self, a: Id, b: Id) -> Id {
        let bool = self.globals.bool();
        let greater = self.emit(op::UGreaterThan, bool, &[a, b]);
        self.calculate(op::Select, &[greater, a, b])
    }

    /// Elements of an array as a `uint`. A specialised count is held so low that no product with the stride overflows;
    /// a message that is cut by this is too large and not written at all.
    pub(in crate::pass::abort) fn count(&mut self, array: Id, stride: u32) -> Id {
        let length = self.index.def(array).map_or(0, |i| i.word(3));
        let ty = self.index.def(self.index.type_of(length));
        let value = match ty.map(|t| (t.word(2), t.word(3))) {
            Some((32, 0)) => length,
            Some((32, _)) => self.calculate(op::Bitcast, &[length]),
            _ => self.calculate(op::UConvert, &[length]),
        };
        let limit = self.constant(self.options.max_message_bytes / stride.max(1) + 2);
        let bool = self.globals.bool();
        let beyond = self.emit(op::UGreaterThan, bool, &[value, limit]);
        self.calculate(op::Select, &[beyond, limit, value])
    }

    /// Units of the record and bytes of the payload, as ids.
    pub(crate) fn extent(&mut self, size: Size) -> (Id, Id) {
        match size {
            Size::Known(bytes) => {
                let units = self.constant(record_units(bytes));
                (units, self.constant(bytes))
            }
            Size::Computed(bytes) => {
                let (up, unit, head) = (
                    self.constant(UNIT_BYTES - 1),
                    self.constant(UNIT_BYTES),
                    self.constant(HEADER_UNITS),
                );
                let rounded = self.calculate(op::IAdd, &[bytes, up]);
                let payload = self.calculate(op::UDiv, &[rounded, unit]);
                let units = self.calculate(op::IAdd, &[payload, head]);
                let (limit, never) = (self.constant(self.options.max_message_bytes), self.constant(u32::MAX));
                let bool = self.globals.bool();
                let beyond = self.emit(op::UGreaterThan, bool, &[bytes, limit]);
                (self.calculate(op::Select, &[beyond, never, units]), bytes)
            }
        }
    }
}
