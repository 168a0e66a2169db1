//! Writes one message into its record, part by part.
//!
//! Arrays longer than [`UNROLLED`](super::array::UNROLLED) elements, and those whose length is a specialisation constant,
//! are written by loops (`array`); constant bytes always as words.

use super::array::Array;
use super::source::{Source, longer};
use super::writer::{Base, Frame, Writer};
use crate::error::Result;
use crate::spv::Id;
use vkabort_record::site::Type;

pub(in crate::pass::abort) const PASS: &str = "abort";

/// A part of a message.
#[derive(Clone, Copy)]
pub(in crate::pass::abort) struct Part<'t> {
    /// Its layout.
    pub(in crate::pass::abort) layout: &'t Type,
    /// Its type in the message type.
    pub(in crate::pass::abort) ty: Id,
    /// Byte offset in the frame.
    pub(in crate::pass::abort) offset: u32,
}

impl<'w> Writer<'_, 'w> {
    /// Writes a message of type `ty` into the record at unit `record`.
    pub(crate) fn write(&mut self, record: Id, layout: &Type, ty: Id, message: Id) -> Result<()> {
        self.record = record;
        self.frames.push(Frame::new(Base::Payload, false));
        let source = self.sources.of(message);
        self.part(Part { layout, ty, offset: 0 }, &source)?;
        self.flush();
        self.frames.pop();
        Ok(())
    }

    /// Part `number` of a part, laid out as `layout`, `offset` bytes into it.
    pub(in crate::pass::abort) fn within<'t>(
        &self,
        part: Part<'_>,
        number: u32,
        layout: &'t Type,
        offset: u32,
    ) -> Part<'t> {
        Part {
            layout,
            ty: self.index.part_type(part.ty, number),
            offset: part.offset.saturating_add(offset),
        }
    }

    pub(in crate::pass::abort) fn part(&mut self, part: Part<'_>, source: &Source<'w>) -> Result<()> {
        match part.layout {
            Type::Struct { members, .. } => {
                for (number, member) in (0..).zip(members) {
                    let source = self.step(source, number);
                    self.part(self.within(part, number, &member.ty, member.offset), &source)?;
                }
                Ok(())
            }
            Type::Array {
                length,
                stride,
                element,
                ..
            } => self.array(
                Array {
                    part,
                    length: *length,
                    stride: *stride,
                    element,
                },
                source,
            ),
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                for column in 0..*columns {
                    let column_source = self.step(source, column);
                    for row in 0..*rows {
                        let source = self.step(&column_source, row);
                        let (major, minor) = if *row_major { (row, column) } else { (column, row) };
                        let line = part.offset.saturating_add(major.saturating_mul(*stride));
                        let at = line.saturating_add(minor.saturating_mul(component.size()));
                        self.scalar(component, &source, at)?;
                    }
                }
                Ok(())
            }
            Type::Vector { count, component } => {
                for number in 0..*count {
                    let source = self.step(source, number);
                    let at = part.offset.saturating_add(number.saturating_mul(component.size()));
                    self.scalar(component, &source, at)?;
                }
                Ok(())
            }
            scalar => self.scalar(scalar, source, part.offset),
        }
    }

    /// Part `number` of a source.
    pub(in crate::pass::abort) fn step(&mut self, source: &Source<'w>, number: u32) -> Source<'w> {
        match source {
            Source::Memory { place, path, ty } => {
                let ty = self.index.part_type(*ty, number);
                let index = self.constant(number);
                Source::Memory {
                    place: *place,
                    path: longer(path, index),
                    ty,
                }
            }
            _ => self.sources.part(source, number),
        }
    }
}
