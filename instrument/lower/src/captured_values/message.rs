//! The values that a message holds already, and how many it would keep in registers.

use vkabort_analysis::deferral::{MAX_UNROLLED, MAX_VALUES};
use vkabort_analysis::view::{FunctionView, is_constant};
use vkabort_analysis::warnings::overlap;
use vkabort_record::message_type::{Length, Type};
use vkabort_record::site_values::Place;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op};

/// Depth to which expressions are compared. A value that is equal to a part of the message in ways beyond it is sent by itself.
const COMPARED_DEPTH: u32 = 8;

/// A value in a message.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Byte offset in the message.
    pub(super) offset: u32,
    pub(super) id: Id,
    shape: Shape,
}

/// Layout of a part, as far as it is constant.
#[derive(Clone, Debug)]
enum Shape {
    /// A scalar or a packed vector: the layout of its type.
    Plain,
    /// A matrix, with its columns or rows at any distance.
    Matrix(Type),
    Other,
}

/// The values of a message that are not constant.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageParts {
    parts: Vec<Part>,
    /// Words that they take.
    words: u32,
    /// Whether code without loops can read all of them.
    is_short: bool,
    /// Whether a part may have overwritten another one.
    overlap: bool,
}

impl MessageParts {
    pub(super) fn new(index: &Index<'_>, layout: &Type, message: Id) -> Self {
        let mut all = Self {
            is_short: true,
            overlap: overlap(layout).is_err(),
            ..Self::default()
        };
        all.add(index, layout, message, 0);
        all
    }

    /// Words that may follow the values in a deferred message. `None` if the message is not deferred.
    pub(super) fn free_words(&self) -> Option<u32> {
        let free = u32::try_from(MAX_VALUES).unwrap_or(u32::MAX).checked_sub(self.words)?;
        self.is_short.then_some(free)
    }

    /// The place at which the message holds a value whose layout is `ty`.
    pub(super) fn find(&self, flow: &FunctionView<'_, '_>, id: Id, ty: &Type) -> Option<Place> {
        if self.overlap {
            return None;
        }
        self.parts.iter().find_map(|part| {
            let found = match &part.shape {
                Shape::Plain => ty,
                Shape::Matrix(own) => own,
                Shape::Other => return None,
            };
            is_same(flow, part.id, id).then(|| Place {
                offset: part.offset,
                ty: found.clone(),
            })
        })
    }

    fn add(&mut self, index: &Index<'_>, layout: &Type, id: Id, offset: u32) {
        let Some(inst) = index.def(id) else {
            return;
        };
        if is_constant(&inst) && inst.opcode() != op::SpecConstantOp
            || matches!(inst.opcode(), op::ConstantDataKHR | op::SpecConstantDataKHR | op::Undef)
        {
            return;
        }
        // Parts are defined before the composite. In an invalid module they may contain it.
        let is_earlier = |part: Id| index.def(part).is_some_and(|def| def.offset < inst.offset);
        let operands = match inst.opcode() {
            op::CopyObject | op::CopyLogical if is_earlier(inst.id(3)) => {
                return self.add(index, layout, inst.id(3), offset);
            }
            op::CompositeConstruct if inst.ids(3).all(is_earlier) => inst.ids(3),
            _ => return self.push(layout, id, offset),
        };
        match layout {
            Type::Struct { members, .. } => {
                for (member, part) in members.iter().zip(operands) {
                    self.add(index, &member.ty, part, offset.saturating_add(member.offset));
                }
            }
            Type::Array {
                length: Length::Constant(_),
                stride,
                element,
                ..
            } => {
                for (number, part) in (0..).zip(operands) {
                    self.add(
                        index,
                        element,
                        part,
                        offset.saturating_add(stride.saturating_mul(number)),
                    );
                }
            }
            _ => self.push(layout, id, offset),
        }
    }

    fn push(&mut self, layout: &Type, id: Id, offset: u32) {
        if self.parts.iter().all(|part| part.id != id) {
            self.words = self.words.saturating_add(words(layout, &mut self.is_short));
        }
        self.parts.push(Part {
            offset,
            id,
            shape: match layout {
                Type::Scalar(_) | Type::Vector { .. } => Shape::Plain,
                Type::Matrix { .. } => Shape::Matrix(layout.clone()),
                _ => Shape::Other,
            },
        });
    }
}

/// Words that the scalars of a type take, one at a time.
pub(super) fn words(ty: &Type, is_short: &mut bool) -> u32 {
    match ty {
        Type::Scalar(scalar) => scalar.bytes().div_ceil(4),
        Type::Vector { count, component } => component.bytes().div_ceil(4).saturating_mul(*count),
        Type::Matrix {
            columns,
            rows,
            component,
            ..
        } => component
            .bytes()
            .div_ceil(4)
            .saturating_mul(*columns)
            .saturating_mul(*rows),
        Type::Array { length, element, .. } => {
            let count = length.default_value();
            *is_short &= matches!(length, Length::Constant(_)) && count <= MAX_UNROLLED;
            words(element, is_short).saturating_mul(count)
        }
        Type::Struct { members, .. } => members
            .iter()
            .fold(0, |sum: u32, member| sum.saturating_add(words(&member.ty, is_short))),
    }
}

/// Whether two values that an abort's invocation has computed have the same bits.
pub(super) fn is_same(flow: &FunctionView<'_, '_>, one: Id, other: Id) -> bool {
    SameValue { flow }.are_same(one, other, COMPARED_DEPTH)
}

/// Compares values of a function.
struct SameValue<'a, 'f, 'w> {
    flow: &'a FunctionView<'f, 'w>,
}

impl SameValue<'_, '_, '_> {
    /// Whether two values have the same bits: one value, or the same operation on the same values.
    fn are_same(&self, one: Id, other: Id, depth: u32) -> bool {
        if one == other {
            return true;
        }
        let index = self.flow.index;
        let (Some(a), Some(b), Some(depth)) = (index.def(one), index.def(other), depth.checked_sub(1)) else {
            return false;
        };
        if let Some(from) = self.same_bits(&a) {
            return self.are_same(from, other, depth);
        }
        if let Some(from) = self.same_bits(&b) {
            return self.are_same(one, from, depth);
        }
        if a.opcode() != b.opcode() || a.result_type() != b.result_type() || a.words.len() != b.words.len() {
            return false;
        }
        let are_same = |at: usize| self.are_same(a.id(at), b.id(at), depth);
        match a.opcode() {
            op::Load => a.from(4) == b.from(4) && self.is_unchanged(&a, &b) && are_same(3),
            op::ArrayLength => a.word(4) == b.word(4) && are_same(3),
            op::CompositeExtract => a.from(4) == b.from(4) && are_same(3),
            op::AccessChain | op::InBoundsAccessChain => (3..a.words.len()).all(are_same),
            op::ConvertFToU..=op::FConvert | op::Bitcast | op::SNegate..=op::Dot | op::ShiftRightLogical..=op::Not => {
                (3..a.words.len()).all(are_same)
            }
            _ => false,
        }
    }

    /// The operand of a cast of one scalar to another of the same width.
    fn same_bits(&self, inst: &Inst<'_>) -> Option<Id> {
        let index = self.flow.index;
        let bytes = |ty| index.scalar_type(ty).map(|scalar| scalar.bytes());
        let from = inst.id(3);
        let is_cast = inst.opcode() == op::Bitcast
            && bytes(inst.result_type()).is_some()
            && bytes(inst.result_type()) == bytes(index.type_of(from));
        (is_cast && index.def(from)?.offset < inst.offset).then_some(from)
    }

    /// Whether two loads of one place read the same value: nothing can write to it between them.
    fn is_unchanged(&self, a: &Inst<'_>, b: &Inst<'_>) -> bool {
        // Both are volatile or atomic, or neither is.
        if a.load_access() != 0 {
            return false;
        }
        let index = self.flow.index;
        match index.storage_class(index.type_of(a.pointer())) {
            Some(storage_class::Input | storage_class::UniformConstant | storage_class::PushConstant) => true,
            Some(storage_class::Function | storage_class::Private) => reads_same(self.flow, a.result(), b.result()),
            _ => false,
        }
    }
}

/// Whether two loads read one place while it holds the same.
fn reads_same(flow: &FunctionView<'_, '_>, one: Id, other: Id) -> bool {
    let (Some((one, a)), Some((other, b))) = (flow.load(one), flow.load(other)) else {
        return false;
    };
    let is_same_place = a.place.object == b.place.object && a.place.path == b.place.path;
    let is_exact = a.place.is_exact && b.place.is_exact;
    let mut read = flow.memory.read(one).peekable();
    is_same_place && is_exact && read.peek().is_some() && read.eq(flow.memory.read(other))
}
