//! Sizes of messages. The shader computes them if array lengths are specialisation constants.

use super::writer::MessageWriter;
use vkabort_record::layout::{HEADER_UNITS, UNIT_BYTES, record_units};
use vkabort_record::message_type::{Length, Type};
use vkabort_spirv::{Id, op};

/// A byte count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Constant(u32),
    /// A `uint` that the shader computes.
    Computed(Id),
}

impl MessageWriter<'_, '_> {
    /// The size in bytes of a message of the type `ty`.
    pub(crate) fn message_size(&mut self, layout: &Type, ty: Id) -> Size {
        match layout {
            Type::Array {
                length: Length::Specialised { .. },
                stride,
                element,
                ..
            } => {
                let count = self.element_count(ty, *stride);
                let zero = self.out.constant(0);
                let one = self.out.constant(1);
                let stride = self.out.constant(*stride);
                let last = self.out.calculate(op::ISub, (count, one));
                let last_offset = self.out.calculate(op::IMul, (last, stride));
                let element_type = self.index.part_type(ty, 0);
                let element_size = match self.message_size(element, element_type) {
                    Size::Constant(bytes) => self.out.constant(bytes),
                    Size::Computed(id) => id,
                };
                let bytes = self.out.calculate(op::IAdd, (last_offset, element_size));
                let bool = self.out.bool();
                let is_empty = self.out.emit(op::IEqual, bool, (count, zero));
                Size::Computed(self.out.calculate(op::Select, (is_empty, zero, bytes)))
            }
            Type::Array {
                length: Length::Constant(count @ 1..),
                stride,
                element,
                ..
            } => {
                let element_type = self.index.part_type(ty, 0);
                self.end_of_part(stride.saturating_mul(count - 1), element, element_type)
            }
            Type::Struct { members, .. } => {
                let mut constant = 0;
                let mut computed: Option<Id> = None;
                for (number, member) in (0..).zip(members) {
                    let part = self.index.part_type(ty, number);
                    match self.end_of_part(member.offset, &member.ty, part) {
                        Size::Constant(bytes) => constant = constant.max(bytes),
                        Size::Computed(id) => computed = Some(computed.map_or(id, |other| self.max(id, other))),
                    }
                }
                match computed {
                    None => Size::Constant(constant),
                    Some(id) => {
                        let constant = self.out.constant(constant);
                        Size::Computed(self.max(id, constant))
                    }
                }
            }
            _ => Size::Constant(layout.size()),
        }
    }

    /// Byte offset of the end of a part at byte `offset`.
    fn end_of_part(&mut self, offset: u32, layout: &Type, ty: Id) -> Size {
        match self.message_size(layout, ty) {
            Size::Constant(bytes) => Size::Constant(offset.saturating_add(bytes)),
            Size::Computed(id) => {
                let offset = self.out.constant(offset);
                Size::Computed(self.out.calculate(op::IAdd, (offset, id)))
            }
        }
    }

    fn max(&mut self, a: Id, b: Id) -> Id {
        let bool = self.out.bool();
        let is_greater = self.out.emit(op::UGreaterThan, bool, (a, b));
        self.out.calculate(op::Select, (is_greater, a, b))
    }

    /// Elements of an array of a specialised length, as a `uint`. Clamped so that no product with the stride (in bytes)
    /// overflows; a clamped message exceeds the size limit, so it is not written at all.
    pub(super) fn element_count(&mut self, array_type: Id, stride: u32) -> Id {
        let length = self.index.def(array_type).map_or(Id::NONE, |i| i.array_length());
        let ty = self.index.def(self.index.type_of(length));
        let value = match ty.map(|t| (t.width(), t.is_signed_int())) {
            Some((32, false)) => length,
            Some((32, true)) => self.out.calculate(op::Bitcast, length),
            _ => self.out.calculate(op::UConvert, length),
        };
        let limit = self.out.constant(self.options.max_message_bytes / stride.max(1) + 2);
        let bool = self.out.bool();
        let exceeds = self.out.emit(op::UGreaterThan, bool, (value, limit));
        self.out.calculate(op::Select, (exceeds, limit, value))
    }

    /// Units of the record and bytes of the payload, as ids. The units of a message beyond the size limit are `u32::MAX`,
    /// for which `reserve` has no room.
    pub(crate) fn record_extent(&mut self, size: Size) -> (Id, Id) {
        match size {
            Size::Constant(bytes) => {
                let units = self.out.constant(record_units(bytes));
                (units, self.out.constant(bytes))
            }
            Size::Computed(bytes) => {
                let (round_up, unit, header) = (
                    self.out.constant(UNIT_BYTES - 1),
                    self.out.constant(UNIT_BYTES),
                    self.out.constant(HEADER_UNITS),
                );
                let rounded = self.out.calculate(op::IAdd, (bytes, round_up));
                let payload = self.out.calculate(op::UDiv, (rounded, unit));
                let units = self.out.calculate(op::IAdd, (payload, header));
                let (limit, too_large) = (
                    self.out.constant(self.options.max_message_bytes),
                    self.out.constant(u32::MAX),
                );
                let bool = self.out.bool();
                let exceeds = self.out.emit(op::UGreaterThan, bool, (bytes, limit));
                (self.out.calculate(op::Select, (exceeds, too_large, units)), bytes)
            }
        }
    }
}
