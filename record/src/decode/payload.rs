//! Bytes of a message to typed values, by the message type of the very site that wrote them.
//!
//! The type decides, the bytes are foreign: a payload that is too short yields the values that are there and the
//! bytes that are left, and no type makes the result larger than the payload by more than a constant factor.

use crate::escape::{escape_bytes, is_packed_text, is_text, trim_padding};
use crate::scalar::{Scalar, f16_to_f64, sign_extend, uint_from_bytes};
use crate::site::{Length, Type};
use std::collections::BTreeSet;

/// Types nested deeper than this are left as bytes: shaders do not, and JSON readers stop at 128 levels.
const MAX_DEPTH: u32 = 48;

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A string, escaped for printing.
    Text(String),
    /// A vector.
    Vector(Vec<Scalar>),
    /// A matrix: its columns, whatever its layout.
    Matrix(Vec<Vec<Scalar>>),
    /// An array; shorter than its type says where the payload ends early.
    Array(Vec<Value>),
    /// A structure.
    Struct {
        /// Its debug name.
        name: Option<String>,
        /// Its members in declaration order.
        members: Vec<Field>,
    },
    /// The payload ends before this value, or the type is one that cannot be read.
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

/// What a payload says.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The message as its type sees it.
    pub value: Value,
    /// Bytes that the type wants and the payload lacks.
    pub short_by: u32,
    /// Bytes that no complete value covers: from the first incomplete one on, or behind the end of the type.
    pub rest: Vec<u8>,
}

/// Decodes a payload. A string is recognised by its type ([`Type::Array`]'s `utf`), or as first member by its content.
pub fn decode(ty: &Type, bytes: &[u8]) -> Decoded {
    decode_with(ty, bytes, false)
}

/// As [`decode`], where the caller knows that the first member is a string whatever its bytes.
pub fn decode_with(ty: &Type, bytes: &[u8], leads_with_text: bool) -> Decoded {
    let lengths = Lengths::infer(ty, bytes.len());
    let wanted = lengths.size(ty, 0);
    let mut decoder = Decoder {
        bytes,
        lengths,
        leads_with_text,
        first_gap: None,
        budget: bytes.len().saturating_mul(2).saturating_add(512),
    };
    let value = decoder.value(ty, 0, 0, false);
    let covered = decoder
        .first_gap
        .unwrap_or(wanted as usize)
        .min(bytes.len())
        .min(wanted as usize);
    Decoded {
        value,
        short_by: (wanted as usize).saturating_sub(bytes.len()) as u32,
        rest: bytes.get(covered..).unwrap_or_default().to_vec(),
    }
}

/// Whether a message of this type can have exactly `size` bytes, with some length of one specialised array.
pub fn fits(ty: &Type, size: usize) -> bool {
    Lengths::infer(ty, size).size(ty, 0) as usize == size
}

/// The lengths of the arrays that are specialised, as far as the size of a payload tells them.
struct Lengths {
    specialised: Option<(u32, u32)>,
}

impl Lengths {
    /// If the defaults do not give `size` and exactly one specialisation constant can, with exactly one value, that is it.
    fn infer(ty: &Type, size: usize) -> Self {
        let default = Self { specialised: None };
        let Ok(size) = u32::try_from(size) else { return default };
        if default.size(ty, 0) == size {
            return default;
        }
        let mut ids = BTreeSet::new();
        spec_ids(ty, 0, &mut ids);
        let mut fitting = ids.into_iter().filter_map(|id| Self::solve(ty, id, size));
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => one,
            _ => default,
        }
    }

    /// The only length of the arrays specialised by `id` with which the type has `size` bytes. The size never shrinks
    /// as the length grows, so the lengths that fit are neighbours.
    fn solve(ty: &Type, id: u32, size: u32) -> Option<Self> {
        let with = |n| Self {
            specialised: Some((id, n)),
        };
        let (mut low, mut high) = (0, size.checked_add(1)?);
        while low < high {
            let middle = low + (high - low) / 2;
            if with(middle).size(ty, 0) < size {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (with(low).size(ty, 0) == size && with(low.saturating_add(1)).size(ty, 0) > size).then(|| with(low))
    }

    fn of(&self, length: Length) -> u32 {
        match (length, self.specialised) {
            (Length::Specialised { spec_id, .. }, Some((id, n))) if id == spec_id => n,
            _ => length.default_value(),
        }
    }

    /// [`Type::size`] with these lengths, to a bounded depth.
    fn size(&self, ty: &Type, depth: u32) -> u32 {
        if depth > MAX_DEPTH {
            return 0;
        }
        match ty {
            Type::Array {
                length,
                stride,
                element,
                ..
            } => match self.of(*length) {
                0 => 0,
                n => stride
                    .saturating_mul(n - 1)
                    .saturating_add(self.size(element, depth + 1)),
            },
            Type::Struct { members, .. } => members
                .iter()
                .map(|m| m.offset.saturating_add(self.size(&m.ty, depth + 1)))
                .max()
                .unwrap_or(0),
            leaf => leaf.size(),
        }
    }
}

fn spec_ids(ty: &Type, depth: u32, ids: &mut BTreeSet<u32>) {
    if depth > MAX_DEPTH {
        return;
    }
    match ty {
        Type::Array { length, element, .. } => {
            if let Length::Specialised { spec_id, .. } = length {
                ids.insert(*spec_id);
            }
            spec_ids(element, depth + 1, ids);
        }
        Type::Struct { members, .. } => members.iter().for_each(|m| spec_ids(&m.ty, depth + 1, ids)),
        _ => {}
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    lengths: Lengths,
    leads_with_text: bool,
    /// Where the first value that the payload does not hold whole would start.
    first_gap: Option<usize>,
    /// Values that may still be made: strides of zero would otherwise multiply without bound.
    budget: usize,
}

impl Decoder<'_> {
    fn value(&mut self, ty: &Type, offset: u32, depth: u32, leading: bool) -> Value {
        if depth > MAX_DEPTH || self.budget == 0 {
            self.gap(offset);
            return Value::Missing;
        }
        self.budget -= 1;
        match ty {
            Type::Vector { count, component } => {
                let step = component.size();
                match self.scalars(component, offset, *count, step) {
                    found if found.is_empty() && *count > 0 => Value::Missing,
                    found => Value::Vector(found),
                }
            }
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => self.matrix(component, offset, [*columns, *rows], *stride, *row_major),
            Type::Array {
                length,
                stride,
                element,
                utf,
            } => {
                let count = self.lengths.of(*length);
                if let Some(text) = self.text(element, offset, count, *stride, *utf, leading) {
                    return text;
                }
                self.array(element, offset, count, *stride, depth)
            }
            Type::Struct { name, members } => Value::Struct {
                name: name.clone(),
                members: members
                    .iter()
                    .enumerate()
                    .map(|(index, member)| {
                        let offset = offset.saturating_add(member.offset);
                        Field {
                            name: member.name.clone(),
                            offset,
                            value: self.value(&member.ty, offset, depth + 1, depth == 0 && index == 0),
                        }
                    })
                    .collect(),
            },
            leaf => match self.scalar(leaf, offset) {
                Some(scalar) => Value::Scalar(scalar),
                None => Value::Missing,
            },
        }
    }

    fn gap(&mut self, offset: u32) {
        let offset = offset as usize;
        self.first_gap = Some(self.first_gap.map_or(offset, |gap| gap.min(offset)));
    }

    fn scalar(&mut self, ty: &Type, offset: u32) -> Option<Scalar> {
        let start = offset as usize;
        let found = start
            .checked_add(ty.size() as usize)
            .and_then(|end| self.bytes.get(start..end));
        let Some(bytes) = found else {
            self.gap(offset);
            return None;
        };
        let pattern = uint_from_bytes(bytes);
        match ty {
            &Type::Int {
                bits: bits @ (8 | 16 | 32 | 64),
                signed,
            } => Some(match signed {
                true => Scalar::Int {
                    bits,
                    value: sign_extend(pattern, bits),
                },
                false => Scalar::Uint { bits, value: pattern },
            }),
            Type::Float { bits: 16 } => Some(Scalar::Float {
                bits: 16,
                value: f16_to_f64(pattern as u16),
            }),
            Type::Float { bits: 32 } => Some(Scalar::Float {
                bits: 32,
                value: f64::from(f32::from_bits(pattern as u32)),
            }),
            Type::Float { bits: 64 } => Some(Scalar::Float {
                bits: 64,
                value: f64::from_bits(pattern),
            }),
            &Type::EncodedFloat { encoding } => Some(Scalar::EncodedFloat {
                encoding,
                value: encoding.value(pattern),
            }),
            Type::Bool => Some(Scalar::Bool(pattern != 0)),
            Type::Pointer => Some(Scalar::Pointer(pattern)),
            _ => {
                self.gap(offset);
                None
            }
        }
    }

    /// Scalars `step` bytes apart, up to the first that the payload does not hold.
    fn scalars(&mut self, ty: &Type, offset: u32, count: u32, step: u32) -> Vec<Scalar> {
        let mut found = Vec::new();
        for index in 0..count {
            if self.budget == 0 {
                self.gap(offset);
                break;
            }
            self.budget -= 1;
            match self.scalar(ty, offset.saturating_add(index.saturating_mul(step))) {
                Some(scalar) => found.push(scalar),
                None => break,
            }
        }
        found
    }

    fn matrix(&mut self, ty: &Type, offset: u32, [columns, rows]: [u32; 2], stride: u32, row_major: bool) -> Value {
        let size = ty.size();
        let (major, minor) = if row_major { (stride, size) } else { (size, stride) };
        let mut found = Vec::new();
        for column in 0..columns {
            let start = offset.saturating_add(column.saturating_mul(minor));
            let scalars = self.scalars(ty, start, rows, major);
            if scalars.is_empty() {
                break;
            }
            found.push(scalars);
        }
        if found.is_empty() {
            Value::Missing
        } else {
            Value::Matrix(found)
        }
    }

    fn array(&mut self, element: &Type, offset: u32, count: u32, stride: u32, depth: u32) -> Value {
        let mut elements = Vec::new();
        for index in 0..count {
            let start = offset.saturating_add(index.saturating_mul(stride));
            if start as usize >= self.bytes.len() || self.budget == 0 {
                self.gap(start);
                break;
            }
            elements.push(self.value(element, start, depth + 1, false));
        }
        if elements.is_empty() && count > 0 {
            Value::Missing
        } else {
            Value::Array(elements)
        }
    }

    /// The array as a string if it is one. A string that the payload cuts short is shown as far as it goes.
    fn text(
        &mut self,
        element: &Type,
        offset: u32,
        count: u32,
        stride: u32,
        utf: bool,
        leading: bool,
    ) -> Option<Value> {
        let Type::Int { bits, .. } = *element else { return None };
        let start = (offset as usize).min(self.bytes.len());
        let wanted = (count as usize).saturating_mul(bits as usize / 8);
        let end = start.saturating_add(wanted).min(self.bytes.len());
        let held = self.bytes.get(start..end)?;
        let is_text = match (bits, stride) {
            (8, 1) if utf => true,
            (8, 1) | (32, 4) if leading && self.leads_with_text => true,
            // The type says nothing: only what cannot be mistaken counts, and only where a format stands.
            (8, 1) if leading => !trim_padding(held).is_empty() && is_text(trim_padding(held)),
            (32, 4) if leading => is_packed_text(held),
            _ => false,
        };
        if !is_text {
            return None;
        }
        if held.len() < wanted {
            self.gap(end as u32);
        }
        Some(Value::Text(escape_bytes(trim_padding(held))))
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
