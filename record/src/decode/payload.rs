//! Bytes of a message to typed values, by the message type of the abort site that wrote them.
//!
//! The type comes from the shader's SPIR-V and the bytes from GPU memory; neither is trusted. A payload that is too short
//! yields the values that it holds, and the result is larger than the payload by at most a constant factor.

use super::MAX_DEPTH;
use super::array_length::ArrayLengths;
use crate::escape::{escape_bytes, is_packed_text, is_text, trim_padding};
use crate::message_type::Type;
use crate::scalar::Scalar;
use crate::scalar_type::ScalarType;
use crate::value::{Field, Value};

/// A decoded payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The message by its type.
    pub value: Value,
    /// Bytes that the payload lacks.
    pub short_by: u32,
    /// Bytes after the end of the type.
    pub long_by: u32,
    /// Bytes that no complete value covers: from the first incomplete one on, or after the end of the type.
    pub rest: Vec<u8>,
}

/// Decodes a payload of type `ty`. A string is recognised by its type ([`Type::Array`]'s `utf`), or by its bytes if it is
/// the first member. `leads_with_text`: the first member is a string whatever its bytes.
pub fn decode(ty: &Type, bytes: &[u8], leads_with_text: bool) -> Decoded {
    let lengths = ArrayLengths::infer(ty, bytes.len());
    let wanted = lengths.size(ty) as usize;
    let mut decoder = Decoder {
        bytes,
        lengths,
        leads_with_text,
        first_gap: None,
        budget: bytes.len().saturating_mul(2).saturating_add(512),
    };
    let value = decoder.value(ty, 0, 0, false);
    let covered = decoder.first_gap.unwrap_or(wanted).min(wanted).min(bytes.len());
    Decoded {
        value,
        short_by: wanted.saturating_sub(bytes.len()) as u32,
        long_by: bytes.len().saturating_sub(wanted) as u32,
        rest: bytes.get(covered..).unwrap_or_default().to_vec(),
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    lengths: ArrayLengths,
    leads_with_text: bool,
    /// Byte offset of the first value that the payload does not hold whole.
    first_gap: Option<usize>,
    /// Values that may still be created: strides of zero would otherwise multiply without bound.
    budget: usize,
}

impl Decoder<'_> {
    fn value(&mut self, ty: &Type, offset: u32, depth: u32, leading: bool) -> Value {
        if depth > MAX_DEPTH || self.budget == 0 {
            self.record_gap(offset);
            return Value::Missing;
        }
        self.budget -= 1;
        match ty {
            Type::Scalar(ty) => self.scalar(*ty, offset).map_or(Value::Missing, Value::Scalar),
            Type::Vector { count, component } => {
                let scalars = self.scalars(*component, offset, *count, component.bytes());
                match scalars.is_empty() && *count > 0 {
                    true => Value::Missing,
                    false => Value::Vector(scalars),
                }
            }
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                let size = component.bytes();
                let (column_step, row_step) = if *row_major { (size, *stride) } else { (*stride, size) };
                self.matrix(*component, offset, [*columns, *rows], [column_step, row_step])
            }
            Type::Array {
                length,
                stride,
                element,
                utf,
            } => {
                let count = self.lengths.elements(*length);
                let kind = string_kind(element, *stride, *utf, leading);
                if let Some(text) = kind.and_then(|kind| self.text(kind, offset, count)) {
                    return text;
                }
                self.array(element, offset, count, *stride, depth)
            }
            Type::Struct { name, members } => {
                let members = members.iter().enumerate().map(|(index, member)| {
                    let offset = offset.saturating_add(member.offset);
                    Field {
                        name: member.name.clone(),
                        offset,
                        value: self.value(&member.ty, offset, depth + 1, depth == 0 && index == 0),
                    }
                });
                Value::Struct {
                    name: name.clone(),
                    members: members.collect(),
                }
            }
        }
    }

    fn record_gap(&mut self, offset: u32) {
        let offset = offset as usize;
        self.first_gap = Some(self.first_gap.map_or(offset, |gap| gap.min(offset)));
    }

    fn scalar(&mut self, ty: ScalarType, offset: u32) -> Option<Scalar> {
        let start = offset as usize;
        let end = start.checked_add(ty.bytes() as usize);
        let Some(bytes) = end.and_then(|end| self.bytes.get(start..end)) else {
            self.record_gap(offset);
            return None;
        };
        Some(Scalar::from_bytes(ty, bytes))
    }

    /// Scalars `step` bytes apart, up to the first that the payload does not hold.
    fn scalars(&mut self, ty: ScalarType, offset: u32, count: u32, step: u32) -> Vec<Scalar> {
        let mut scalars = Vec::new();
        for index in 0..count {
            if self.budget == 0 {
                self.record_gap(offset);
                break;
            }
            self.budget -= 1;
            match self.scalar(ty, offset.saturating_add(index.saturating_mul(step))) {
                Some(scalar) => scalars.push(scalar),
                None => break,
            }
        }
        scalars
    }

    /// A matrix whose columns and rows are `steps` bytes apart.
    fn matrix(&mut self, ty: ScalarType, offset: u32, [columns, rows]: [u32; 2], steps: [u32; 2]) -> Value {
        let [column_step, row_step] = steps;
        let mut decoded = Vec::new();
        for column in 0..columns {
            let start = offset.saturating_add(column.saturating_mul(column_step));
            let scalars = self.scalars(ty, start, rows, row_step);
            if scalars.is_empty() {
                break;
            }
            decoded.push(scalars);
        }
        match decoded.is_empty() {
            true => Value::Missing,
            false => Value::Matrix(decoded),
        }
    }

    fn array(&mut self, element: &Type, offset: u32, count: u32, stride: u32, depth: u32) -> Value {
        let mut elements = Vec::new();
        for index in 0..count {
            let start = offset.saturating_add(index.saturating_mul(stride));
            if start as usize >= self.bytes.len() || self.budget == 0 {
                self.record_gap(start);
                break;
            }
            elements.push(self.value(element, start, depth + 1, false));
        }
        match elements.is_empty() && count > 0 {
            true => Value::Missing,
            false => Value::Array(elements),
        }
    }

    /// An array of `count` elements as a string, if it is one. A string that the payload cuts short keeps its start.
    fn text(&mut self, kind: StringKind, offset: u32, count: u32) -> Option<Value> {
        let start = (offset as usize).min(self.bytes.len());
        let wanted = (count as usize).saturating_mul(if kind == StringKind::MaybePacked { 4 } else { 1 });
        let end = start.saturating_add(wanted).min(self.bytes.len());
        let bytes = self.bytes.get(start..end)?;
        let text = trim_padding(bytes);
        let is_string = match kind {
            StringKind::Utf => true,
            _ if self.leads_with_text => true,
            // The type does not tell: only bytes that cannot be mistaken for numbers count.
            StringKind::MaybeBytes => !text.is_empty() && is_text(text),
            StringKind::MaybePacked => is_packed_text(bytes),
        };
        if !is_string {
            return None;
        }
        let text = Value::Text(escape_bytes(text));
        if end - start < wanted {
            self.record_gap(end as u32);
        }
        Some(text)
    }
}

/// An array that is, or may be, a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringKind {
    /// Decorated `UTFEncodedKHR`.
    Utf,
    /// Bytes where a format string is expected.
    MaybeBytes,
    /// Words where a format string is expected: Slang packs strings into `uint` arrays.
    MaybePacked,
}

fn string_kind(element: &Type, stride: u32, utf: bool, leading: bool) -> Option<StringKind> {
    let Type::Scalar(element) = element else { return None };
    match (element, stride) {
        (ScalarType::I8 | ScalarType::U8, 1) if utf => Some(StringKind::Utf),
        (ScalarType::I8 | ScalarType::U8, 1) if leading => Some(StringKind::MaybeBytes),
        (ScalarType::I32 | ScalarType::U32, 4) if leading => Some(StringKind::MaybePacked),
        _ => None,
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
