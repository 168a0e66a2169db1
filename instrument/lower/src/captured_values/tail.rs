//! Lays values out behind a message, and writes the abort that sends both.
//!
//! ```text
//! %type = TypeStruct %message_type %value_type ..          with Offsets
//! %whole = CompositeConstruct %type %message %value ..
//! AbortKHR %type %whole
//! ```

use rustc_hash::FxHashMap as HashMap;
use vkabort_record::message_type::{Length, Member, Type};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, Inst, Literal, op};

/// Most elements of an array.
const MAX_ELEMENTS: u32 = 16;

/// Values behind a message.
#[derive(Debug)]
pub(super) struct Tail {
    /// Byte offset from the start of the message.
    end: u32,
    /// Byte offset at which there is no more room.
    limit: u32,
    members: Vec<TailMember>,
}

/// A scalar or vector in the tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailMember {
    offset: u32,
    ty: Id,
    id: Id,
}

impl Tail {
    /// A tail of at most `room` bytes behind a message of `size` bytes, which together have at most `max` bytes.
    pub(super) fn new(size: u32, room: u32, max: u32) -> Self {
        Self {
            end: size,
            limit: size.saturating_add(room).min(max),
            members: Vec::new(),
        }
    }

    /// The offset of a value of a type, if it fits. It takes the room.
    pub(super) fn reserve(&mut self, ty: &Type) -> Option<u32> {
        let offset = self.end.next_multiple_of(alignment(ty));
        let end = offset.checked_add(ty.size()).filter(|end| *end <= self.limit)?;
        self.end = end;
        Some(offset)
    }

    /// Adds a value of type `ty` at an offset that was reserved, with its scalars and vectors as members.
    pub(super) fn push(
        &mut self,
        index: &Index<'_>,
        out: &mut Emitter,
        layout: &Type,
        (ty, id): (Id, Id),
        offset: u32,
    ) {
        let part = |out: &mut Emitter, number: u32| {
            let of_part = index.part_type(ty, number);
            (of_part, out.emit(op::CompositeExtract, of_part, (id, Literal(number))))
        };
        match layout {
            Type::Scalar(_) | Type::Vector { .. } => {
                let (ty, id) = without_bool(index, out, ty, id);
                self.members.push(TailMember { offset, ty, id });
            }
            Type::Matrix {
                columns,
                rows,
                component,
                stride,
                ..
            } => {
                let column = Type::Vector {
                    count: *rows,
                    component: *component,
                };
                for number in 0..*columns {
                    let value = part(out, number);
                    self.push(index, out, &column, value, offset + number * stride);
                }
            }
            Type::Array {
                length,
                stride,
                element,
                ..
            } => {
                for number in 0..length.default_value() {
                    let value = part(out, number);
                    self.push(index, out, element, value, offset + number * stride);
                }
            }
            Type::Struct { members, .. } => {
                for (number, member) in (0..).zip(members) {
                    let value = part(out, number);
                    self.push(index, out, &member.ty, value, offset + member.offset);
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Structures of a message and its tail, by the types and offsets of their members.
#[derive(Debug, Default)]
pub(super) struct TailTypes {
    types: HashMap<(Id, Vec<(Id, u32)>), Id>,
}

impl TailTypes {
    /// Writes an abort with a tail in place of one without.
    pub(super) fn write_abort(&mut self, index: &Index<'_>, out: &mut Emitter, abort: &Inst<'_>, tail: &Tail) {
        let value_type = index.type_of(abort.message());
        let whole_type = self.structure(out, abort.message_type(), tail);
        // A message may have another type than the Message Type, with the same layout but for decorations.
        let of_value = match value_type == abort.message_type() {
            true => whole_type,
            false => self.structure(out, value_type, tail),
        };
        let mut parts = vec![abort.message()];
        parts.extend(tail.members.iter().map(|member| member.id));
        let whole = out.emit(op::CompositeConstruct, of_value, parts.as_slice());
        out.op(op::AbortKHR, (whole_type, whole));
    }

    fn structure(&mut self, out: &mut Emitter, message: Id, tail: &Tail) -> Id {
        let members: Vec<(Id, u32)> = tail.members.iter().map(|member| (member.ty, member.offset)).collect();
        *self
            .types
            .entry((message, members))
            .or_insert_with_key(|(message, members)| {
                let mut ids = vec![*message];
                ids.extend(members.iter().map(|(ty, _)| *ty));
                let ty = out.structure(&ids);
                out.decorate_member(ty, 0, decoration::Offset, &[0]);
                for (number, (_, offset)) in (1..).zip(members) {
                    out.decorate_member(ty, number, decoration::Offset, &[*offset]);
                }
                ty
            })
    }
}

/// A value with a layout: Booleans, which have none, become `uint`s.
fn without_bool(index: &Index<'_>, out: &mut Emitter, ty: Id, id: Id) -> (Id, Id) {
    let vector = index.def(ty).filter(|inst| inst.opcode() == op::TypeVector);
    let component = vector.map_or(ty, |inst| inst.element_type());
    if index.opcode(component) != op::TypeBool {
        return (ty, id);
    }
    let mut ty = out.uint();
    let (mut yes, mut no) = (out.constant(1), out.constant(0));
    if let Some(vector) = vector {
        let count = vector.component_count();
        ty = out.vector(ty, count);
        let mut repeat = |id| out.value(op::ConstantComposite, ty, vec![id; count as usize].as_slice());
        (yes, no) = (repeat(yes), repeat(no));
    }
    (ty, out.emit(op::Select, ty, (id, yes, no)))
}

/// Bytes of the widest scalar.
fn alignment(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(scalar) => scalar.bytes(),
        Type::Vector { component, .. } | Type::Matrix { component, .. } => component.bytes(),
        Type::Array { element, .. } => alignment(element),
        Type::Struct { members, .. } => members.iter().map(|member| alignment(&member.ty)).max().unwrap_or(1),
    }
}

/// An array of `count` elements with its natural layout.
pub(super) fn array_layout(element: Type, count: u32) -> Type {
    Type::array(Length::Constant(count), stride(&element), element)
}

/// Bytes between the elements of an array.
pub(super) fn stride(element: &Type) -> u32 {
    element.size().next_multiple_of(alignment(element))
}

/// Whether a type consists of scalars that messages may have.
pub(super) fn holds_only_scalars(index: &Index<'_>, ty: Id) -> bool {
    let Some(inst) = index.def(ty) else { return false };
    let of_part =
        |part: Id| index.def(part).is_some_and(|def| def.offset < inst.offset) && holds_only_scalars(index, part);
    match inst.opcode() {
        op::TypeVector | op::TypeMatrix | op::TypeArray => of_part(inst.element_type()),
        op::TypeStruct => inst.ids(2).all(of_part),
        _ => index.scalar_type(ty).is_some(),
    }
}

/// The type of a value with its natural layout, each scalar aligned to its size. `None` if it is not of scalars, or its size is
/// not constant or above `max` bytes.
pub(super) fn natural_layout(
    index: &Index<'_>,
    name: &dyn Fn(Id, u32) -> Option<String>,
    ty: Id,
    max: u32,
) -> Option<Type> {
    let inst = index.def(ty)?;
    let earlier = |part: Id| index.def(part).is_some_and(|def| def.offset < inst.offset);
    let layout = match inst.opcode() {
        op::TypeVector => Type::Vector {
            count: inst.component_count(),
            component: index.scalar_type(inst.element_type())?,
        },
        op::TypeMatrix => {
            let column = index.def(inst.element_type())?;
            let component = index.scalar_type(column.element_type())?;
            let rows = column.component_count();
            Type::Matrix {
                columns: inst.component_count(),
                rows,
                component,
                stride: component.bytes().checked_mul(rows)?,
                row_major: false,
            }
        }
        op::TypeStruct => {
            let mut members: Vec<Member> = Vec::new();
            let mut end = 0_u32;
            for (number, member) in (0..).zip(inst.ids(2)) {
                let ty = natural_layout(index, name, member, max).filter(|_| earlier(member))?;
                let offset = end.next_multiple_of(alignment(&ty));
                end = offset.checked_add(ty.size()).filter(|end| *end <= max)?;
                members.push(Member {
                    name: name(inst.result(), number),
                    offset,
                    ty,
                });
            }
            Type::Struct { name: None, members }
        }
        op::TypeArray => {
            let element =
                natural_layout(index, name, inst.element_type(), max).filter(|_| earlier(inst.element_type()))?;
            let count = index.literal(&index.def(inst.array_length())?)?;
            let count = u32::try_from(count)
                .ok()
                .filter(|count| (1..=MAX_ELEMENTS).contains(count))?;
            let is_constant = index.opcode(inst.array_length()) == op::Constant;
            is_constant.then(|| array_layout(element, count))?
        }
        _ => index.scalar_type(ty)?.into(),
    };
    (layout.size() <= max).then_some(layout)
}
