//! Layout of message types, from the decorations of offsets and strides; lenient where producers deviate.
//!
//! Real producers leave gaps. An array without `ArrayStride` is tightly packed (glslang's strings); a structure whose
//! members have no `Offset` and a matrix without `MatrixStride` have scalar layout (modules without `Shader`); members may
//! overlap and have odd offsets (glslang before 16.6).

use crate::analysis::index::Index;
use crate::analysis::index::constant;
use crate::analysis::index::names::Names;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::decoration;
use crate::spv::{Id, Inst, op};
use std::cell::Cell;
use vkabort_record::message_type::{Length, Member, Type};

const PASS: &str = "layout";
/// Limit on nesting, which bounds recursion: 255 structures (SPIR-V specification, "Universal Limits"), each in an array, and a
/// scalar in a vector in a matrix.
pub(crate) const MAX_DEPTH: u32 = 2 * 255 + 3;
/// Limit on the parts of a type. A message of the default size with a part per byte fits.
const MAX_PARTS: u32 = 1 << 17;
/// Limit on the parts of all messages of a module: a site table has every part of every site. 100 MiB.
const MAX_PARTS_OF_SITES: u32 = 1 << 20;
/// Limit on structures, arrays and scalars for each byte of the largest message.
const STEPS_OF_A_BYTE: u32 = 16;

/// Lays out message types.
pub(crate) struct Layouts<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) names: &'a Names,
    pub(crate) options: &'a Options,
    /// Parts of the messages so far.
    parts: Cell<u32>,
}

/// Layout decorations that a structure's member passes on to the matrices in it.
#[derive(Clone, Copy, Default)]
struct Inherited {
    matrix_stride: Option<u32>,
    row_major: bool,
}

impl<'a, 'w> Layouts<'a, 'w> {
    pub(crate) fn new(index: &'a Index<'w>, names: &'a Names, options: &'a Options) -> Self {
        Self {
            index,
            names,
            options,
            parts: Cell::new(0),
        }
    }

    /// The layout of the message of an abort.
    pub(crate) fn message(&self, abort: &Inst<'_>) -> Result<Type> {
        let offset = abort.offset as u32;
        let mut parts = 0;
        let layout = self
            .lay_out(abort.message_type(), Inherited::default(), MAX_DEPTH, &mut parts)
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

    fn lay_out(&self, id: Id, inherited: Inherited, depth: u32, parts: &mut u32) -> Result<Type> {
        let fail = |kind, message: String| Err(Error::new(kind, PASS, None, message));
        *parts += 1;
        let Some(depth) = depth.checked_sub(1).filter(|_| *parts <= MAX_PARTS) else {
            return fail(
                ErrorKind::Limit,
                format!("message type {id} is nested too deeply or has too many parts"),
            );
        };
        let Some(inst) = self.index.def(id) else {
            return fail(ErrorKind::Invalid, format!("message type {id} is not defined"));
        };
        if let Some(scalar) = self.index.scalar_type(id) {
            return Ok(scalar.into());
        }
        let unsupported = |part: &str| fail(ErrorKind::Unsupported, format!("message type {id} contains {part}"));
        Ok(match inst.opcode() {
            op::TypeInt => return unsupported(&format!("an integer of {} bits", inst.width())),
            op::TypeFloat => {
                let bits = inst.width();
                return unsupported(&format!("a float of {bits} bits with an encoding of its own"));
            }
            op::TypeVector | op::TypeVectorIdEXT => {
                let Type::Scalar(component) = self.lay_out(inst.element_type(), inherited, depth, parts)? else {
                    return fail(ErrorKind::Invalid, format!("the components of {id} are not scalars"));
                };
                let count = match inst.opcode() {
                    op::TypeVector => inst.component_count().into(),
                    _ => match self.index.length(inst.array_length(), self.options) {
                        Some(constant::Length::Fixed(count)) => count,
                        _ => return unsupported("a vector whose number of components a pipeline can specialise"),
                    },
                };
                match u32::try_from(count) {
                    Ok(count @ 1..) => Type::Vector { count, component },
                    _ => return fail(ErrorKind::Invalid, format!("vector type {id} has {count} components")),
                }
            }
            op::TypeMatrix => {
                let column = self.lay_out(inst.element_type(), inherited, depth, parts)?;
                let (Type::Vector { count: rows, component }, columns @ 2..=16) = (column, inst.component_count())
                else {
                    return fail(ErrorKind::Invalid, format!("matrix type {id} has no columns"));
                };
                let row_major = inherited.row_major;
                let line = component.bytes().saturating_mul(if row_major { columns } else { rows });
                let stride = inherited.matrix_stride.unwrap_or(line);
                Type::Matrix {
                    columns,
                    rows,
                    component,
                    stride,
                    row_major,
                }
            }
            op::TypeArray => {
                let element = Box::new(self.lay_out(inst.element_type(), inherited, depth, parts)?);
                let Some(length) = self.index.length(inst.array_length(), self.options) else {
                    return unsupported("an array whose length is not a constant that can be evaluated here");
                };
                let stride = self
                    .index
                    .decoration(id, decoration::ArrayStride)
                    .unwrap_or_else(|| element.size());
                let utf = self.index.decoration(id, decoration::UTFEncodedKHR).is_some();
                let bytes = length.value().saturating_mul(stride.into());
                let (Ok(count), true) = (u32::try_from(length.value()), bytes <= u32::MAX.into()) else {
                    return fail(ErrorKind::Limit, format!("array type {id} has {bytes} bytes"));
                };
                let length = match length {
                    constant::Length::Fixed(_) => Length::Constant(count),
                    constant::Length::Specialised { spec_id, .. } => Length::Specialised {
                        spec_id,
                        default: count,
                    },
                };
                Type::Array {
                    length,
                    stride,
                    element,
                    utf,
                }
            }
            op::TypeStruct => {
                let mut members: Vec<Member> = Vec::with_capacity(inst.words.len().saturating_sub(2));
                for (number, member) in inst.ids(2).enumerate() {
                    let number = number as u32;
                    let decorated = |kind| self.index.member_decoration(id, number, kind);
                    let inherited = Inherited {
                        matrix_stride: decorated(decoration::MatrixStride),
                        row_major: decorated(decoration::RowMajor).is_some(),
                    };
                    let ty = self.lay_out(member, inherited, depth, parts)?;
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
                Type::Struct {
                    name: self.names.name(self.index, id),
                    members,
                }
            }
            op::TypeRuntimeArray => return unsupported("an array without a length"),
            op::TypePointer => return unsupported("a pointer that is not a physical one"),
            _ => return fail(ErrorKind::Invalid, format!("{id} is not a concrete type")),
        })
    }
}

/// Elements of an array that code is generated for. At least one if specialisation sets the length.
fn elements(length: Length) -> u32 {
    match length {
        Length::Constant(count) => count,
        Length::Specialised { default, .. } => default.max(1),
    }
}

/// Whether no specialisation changes the size of a type.
pub(crate) fn is_constant_size(ty: &Type) -> bool {
    match ty {
        Type::Array { length, element, .. } => matches!(length, Length::Constant(_)) && is_constant_size(element),
        Type::Struct { members, .. } => members.iter().all(|member| is_constant_size(&member.ty)),
        _ => true,
    }
}

/// Whether a part of a message contains a scalar.
pub(crate) fn holds_scalar(ty: &Type) -> bool {
    match ty {
        Type::Array { element, .. } => holds_scalar(element),
        Type::Struct { members, .. } => members.iter().any(|m| holds_scalar(&m.ty)),
        _ => true,
    }
}

/// Upper bound on the work of writing a part.
struct Work {
    scalars: u64,
    /// Scalars, and the structures and arrays that hold them.
    steps: u64,
}

/// With strides that are too small, or 0, few bytes may hold very many scalars.
fn work(ty: &Type) -> Work {
    let of_scalars = |scalars| Work {
        scalars,
        steps: scalars + 1,
    };
    match ty {
        Type::Scalar(_) => of_scalars(1),
        Type::Vector { count, .. } => of_scalars((*count).into()),
        Type::Matrix { columns, rows, .. } => of_scalars(u64::from(*columns) * u64::from(*rows)),
        // Elements without scalars are skipped.
        Type::Array { length, element, .. } => match (work(element), u64::from(elements(*length))) {
            (Work { scalars: 0, .. }, _) => of_scalars(0),
            (Work { scalars, steps }, count) => Work {
                scalars: scalars.saturating_mul(count),
                steps: steps.saturating_mul(count).saturating_add(1),
            },
        },
        Type::Struct { members, .. } => members.iter().fold(of_scalars(0), |all, member| {
            let one = work(&member.ty);
            Work {
                scalars: all.scalars.saturating_add(one.scalars),
                steps: all.steps.saturating_add(one.steps),
            }
        }),
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
