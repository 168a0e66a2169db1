//! Layout of message types, from the decorations of offsets and strides; lenient where producers deviate.
//!
//! Real producers leave gaps. An array without `ArrayStride` is tightly packed (glslang's strings); a structure whose
//! members have no `Offset` and a matrix without `MatrixStride` have scalar layout (modules without `Shader`); members may
//! overlap and have odd offsets (glslang before 16.6).

use crate::message_work::{Work, elements, work};
use std::cell::Cell;
use vkabort_options::Options;
use vkabort_record::message_type::{Length, Member, Type};
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant;
use vkabort_spirv::index::names::Names;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, Inst, op};

const PASS: &str = "layout";
/// Limit on nesting, which bounds recursion: 255 structures (SPIR-V specification, "Universal Limits"), each in an array, and a
/// scalar in a vector in a matrix.
pub const MAX_DEPTH: u32 = 2 * 255 + 3;
/// Limit on the parts of a type. A message of the default size with a part per byte fits.
const MAX_PARTS: u32 = 1 << 17;
/// Limit on the parts of all messages of a module: a site table has every part of every site. 100 MiB.
const MAX_PARTS_OF_SITES: u32 = 1 << 20;
/// Limit on structures, arrays and scalars for each byte of the largest message.
const STEPS_OF_A_BYTE: u32 = 16;

/// Lays out message types.
pub struct Layouts<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) names: &'a Names,
    pub(crate) options: &'a Options,
    /// Parts of the messages so far.
    parts: Cell<u32>,
}

/// Layout decorations that a structure's member passes on to the matrices in it.
#[derive(Clone, Copy, Default)]
struct MatrixLayout {
    matrix_stride: Option<u32>,
    row_major: bool,
}

impl<'a, 'w> Layouts<'a, 'w> {
    pub fn new(index: &'a Index<'w>, names: &'a Names, options: &'a Options) -> Self {
        Self {
            index,
            names,
            options,
            parts: Cell::new(0),
        }
    }

    /// The layout of the message of an abort.
    pub fn message(&self, abort: &Inst<'_>) -> Result<Type> {
        let offset = abort.offset as u32;
        let mut parts = 0;
        let layout = self
            .lay_out(abort.message_type(), MatrixLayout::default(), MAX_DEPTH, &mut parts)
            .map_err(|error| Error {
                offset: Some(offset),
                ..error
            })?;
        let exceeds = |message: String| Err(Error::new(ErrorKind::Limit, PASS, offset, message));
        self.parts.set(self.parts.get().saturating_add(parts));
        if self.parts.get() > MAX_PARTS_OF_SITES {
            return exceeds(format!(
                "the messages up to this abort have more than {MAX_PARTS_OF_SITES} parts; send arrays instead of structures of many \
                 members, or abort in one function that the others call"
            ));
        }
        let limit = self.options.max_message_bytes;
        let size = layout.size_with(&elements, MAX_DEPTH);
        if size > limit {
            return exceeds(format!(
                "the message has {size} bytes, more than the limit of {limit} (maxShaderAbortMessageSize)"
            ));
        }
        let Work { scalars, steps } = work(&layout);
        if scalars > limit.into() || steps > MAX_PARTS.max(limit.saturating_mul(STEPS_OF_A_BYTE)).into() {
            return exceeds(format!(
                "the message has {scalars} scalars, which lie over each other in {size} bytes"
            ));
        }
        Ok(layout)
    }

    fn lay_out(&self, id: Id, inherited: MatrixLayout, depth: u32, parts: &mut u32) -> Result<Type> {
        *parts += 1;
        let Some(depth) = depth.checked_sub(1).filter(|_| *parts <= MAX_PARTS) else {
            let message = format!("message type {id} is nested too deeply or has too many parts");
            return Err(fail(ErrorKind::Limit, message));
        };
        let Some(inst) = self.index.def(id) else {
            return Err(invalid(format!("message type {id} is not defined")));
        };
        if let Some(scalar) = self.index.scalar_type(id) {
            return Ok(scalar.into());
        }
        let mut part = Part {
            inst,
            inherited,
            depth,
            parts,
        };
        match inst.opcode() {
            op::TypeVector | op::TypeVectorIdEXT => self.vector(&mut part),
            op::TypeMatrix => self.matrix(&mut part),
            op::TypeArray => self.array(&mut part),
            op::TypeStruct => self.structure(&mut part),
            op::TypeInt => Err(part.unsupported(&format!("an integer of {} bits", inst.width()))),
            op::TypeFloat => {
                let bits = inst.width();
                Err(part.unsupported(&format!("a float of {bits} bits with an encoding of its own")))
            }
            op::TypeRuntimeArray => Err(part.unsupported("an array without a length")),
            op::TypePointer => Err(part.unsupported("a pointer that is not a physical one")),
            _ => Err(invalid(format!("{id} is not a concrete type"))),
        }
    }

    /// The layout of a vector's component, a matrix's column or an array's element.
    fn element(&self, part: &mut Part<'_, '_>) -> Result<Type> {
        self.lay_out(part.inst.element_type(), part.inherited, part.depth, part.parts)
    }

    fn vector(&self, part: &mut Part<'_, '_>) -> Result<Type> {
        let (inst, id) = (part.inst, part.inst.result());
        let Type::Scalar(component) = self.element(part)? else {
            return Err(invalid(format!("the components of {id} are not scalars")));
        };
        let count = match inst.opcode() {
            op::TypeVector => inst.component_count().into(),
            _ => match self.index.length(inst.array_length(), &self.options.specialization) {
                Some(constant::Length::Fixed(count)) => count,
                _ => return Err(part.unsupported("a vector whose number of components a pipeline can specialise")),
            },
        };
        match u32::try_from(count) {
            Ok(count @ 1..) => Ok(Type::Vector { count, component }),
            _ => Err(invalid(format!("vector type {id} has {count} components"))),
        }
    }

    fn matrix(&self, part: &mut Part<'_, '_>) -> Result<Type> {
        let (Type::Vector { count: rows, component }, columns @ 2..=16) =
            (self.element(part)?, part.inst.component_count())
        else {
            return Err(invalid(format!("matrix type {} has no columns", part.inst.result())));
        };
        let row_major = part.inherited.row_major;
        let line = component.bytes().saturating_mul(if row_major { columns } else { rows });
        Ok(Type::Matrix {
            columns,
            rows,
            component,
            stride: part.inherited.matrix_stride.unwrap_or(line),
            row_major,
        })
    }

    fn array(&self, part: &mut Part<'_, '_>) -> Result<Type> {
        let (inst, id) = (part.inst, part.inst.result());
        let element = Box::new(self.element(part)?);
        let Some(length) = self.index.length(inst.array_length(), &self.options.specialization) else {
            return Err(part.unsupported("an array whose length is not a constant that can be evaluated here"));
        };
        let stride = self.index.decoration(id, decoration::ArrayStride);
        let stride = stride.unwrap_or_else(|| element.size());
        let bytes = length.value().saturating_mul(stride.into());
        let (Ok(count), true) = (u32::try_from(length.value()), bytes <= u32::MAX.into()) else {
            return Err(fail(ErrorKind::Limit, format!("array type {id} has {bytes} bytes")));
        };
        let length = match length {
            constant::Length::Fixed(_) => Length::Constant(count),
            constant::Length::Specialised { spec_id, .. } => Length::Specialised {
                spec_id,
                default: count,
            },
        };
        Ok(Type::Array {
            length,
            stride,
            element,
            utf: self.index.decoration(id, decoration::UTFEncodedKHR).is_some(),
        })
    }

    fn structure(&self, part: &mut Part<'_, '_>) -> Result<Type> {
        let (inst, id) = (part.inst, part.inst.result());
        let mut members: Vec<Member> = Vec::with_capacity(inst.words.len().saturating_sub(2));
        for (number, member) in inst.ids(2).enumerate() {
            let number = number as u32;
            let decorated = |kind| self.index.member_decoration(id, number, kind);
            let inherited = MatrixLayout {
                matrix_stride: decorated(decoration::MatrixStride),
                row_major: decorated(decoration::RowMajor).is_some(),
            };
            let ty = self.lay_out(member, inherited, part.depth, part.parts)?;
            let offset = decorated(decoration::Offset).unwrap_or_else(|| {
                let end = members.last().map_or(0, |m| m.offset.saturating_add(m.ty.size()));
                end.checked_next_multiple_of(scalar_alignment(&ty)).unwrap_or(u32::MAX)
            });
            members.push(Member {
                name: self.names.member(self.index, id, number),
                offset,
                ty,
            });
        }
        Ok(Type::Struct {
            name: self.names.name(self.index, id),
            members,
        })
    }
}

/// A type that is being laid out.
struct Part<'p, 'w> {
    inst: Inst<'w>,
    inherited: MatrixLayout,
    /// Levels of types that may be in it.
    depth: u32,
    /// Parts of the message so far.
    parts: &'p mut u32,
}

impl Part<'_, '_> {
    fn unsupported(&self, part: &str) -> Error {
        let message = format!("message type {} contains {part}", self.inst.result());
        fail(ErrorKind::Unsupported, message)
    }
}

fn invalid(message: String) -> Error {
    fail(ErrorKind::Invalid, message)
}

fn fail(kind: ErrorKind, message: String) -> Error {
    Error::new(kind, PASS, None, message)
}

/// Whether no specialisation changes the size of a type.
pub fn is_constant_size(ty: &Type) -> bool {
    match ty {
        Type::Array { length, element, .. } => matches!(length, Length::Constant(_)) && is_constant_size(element),
        Type::Struct { members, .. } => members.iter().all(|member| is_constant_size(&member.ty)),
        _ => true,
    }
}

/// Whether a part of a message contains a scalar.
pub fn holds_scalar(ty: &Type) -> bool {
    match ty {
        Type::Array { element, .. } => holds_scalar(element),
        Type::Struct { members, .. } => members.iter().any(|m| holds_scalar(&m.ty)),
        _ => true,
    }
}

/// Bytes of the widest scalar in a type, at least 1.
fn scalar_alignment(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(ty) => ty.bytes(),
        Type::Vector { component, .. } | Type::Matrix { component, .. } => component.bytes(),
        Type::Array { element, .. } => scalar_alignment(element),
        Type::Struct { members, .. } => members.iter().map(|m| scalar_alignment(&m.ty)).max().unwrap_or(1),
    }
}
