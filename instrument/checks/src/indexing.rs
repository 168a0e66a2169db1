//! Checks of indices: their comparison with a size, and their messages.

use super::accesses::{Access, Step};
use super::message::Message;
use super::operand_checks::ValueFacts;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::scalars::{Scalar, are_scalars, conversion, quote, write_conditions};
use vkabort_analysis::effects::{EffectPoint, ValuePart};
use vkabort_analysis::ranges::RangePoint;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::{Id, Literal, op};

/// An index with the size that it must be below.
pub(super) struct Indexing {
    pub(super) index: Id,
    pub(super) size: Size,
    /// Unit of the size.
    pub(super) unit: &'static str,
    /// The expression of the composite.
    pub(super) name: Option<String>,
}

/// Upper limit of an index, exclusive.
#[derive(Clone, Debug)]
pub(super) enum Size {
    Fixed(u64),
    /// A constant that a pipeline may specialise.
    Constant(Id),
    /// The length of the runtime array that is a member of a block.
    Length {
        /// The variable, the indices that lead to the block, and the type of the block.
        variable: Id,
        indices: Vec<Id>,
        block: Id,
        member: u32,
        class: u32,
        /// The pointer to the element.
        pointer: Id,
    },
}

impl Indexing {
    /// The check of an index. None for constants.
    pub(super) fn of_step(
        planter: &Planter<'_, '_, '_>,
        step: &Step,
        (size, unit): (Size, &'static str),
    ) -> Option<Self> {
        (planter.index.opcode(step.index) != op::Constant).then(|| Self {
            index: step.index,
            size,
            unit,
            name: planter.expressions().memory(step.chain, step.rest),
        })
    }
}

/// The size of a composite, and its unit. `None` for structures and for composites without a fixed size.
pub(super) fn size(planter: &Planter<'_, '_, '_>, ty: Id) -> Option<(Size, &'static str)> {
    let index = planter.index;
    let inst = index.def(ty)?;
    let count = || Size::Fixed(inst.component_count().into());
    match inst.opcode() {
        op::TypeVector => Some((count(), "components")),
        op::TypeMatrix => Some((count(), "columns")),
        op::TypeArray => {
            let length = inst.array_length();
            let size = match index.length(length, &planter.options().specialization)? {
                Length::Fixed(length) => Size::Fixed(length),
                Length::Specialised { .. } => Size::Constant(length),
            };
            Some((size, "elements"))
        }
        _ => None,
    }
}

/// Plants a check of an index: of memory where its element is accessed, of a value where the element has an effect.
pub(super) fn plant_indexing<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    check: Check,
    Access { block, inst, pointer }: Access<'w>,
    indexing: &Indexing,
) {
    let index = planter.index;
    let is_reachable = facts.function.graph.is_reachable(block);
    let Some(bits) = facts.ranges().bits(indexing.index).filter(|_| is_reachable) else {
        return;
    };
    let is_comparable = match indexing.size {
        Size::Fixed(_) => true,
        Size::Constant(size) => facts.ranges().bits(size) == Some(bits.max(32)),
        Size::Length { .. } => bits <= 32,
    };
    let here = facts.at(block, &[]);
    if !is_comparable || !can_fail(facts, &here, indexing) {
        return;
    }
    let points = match pointer {
        Some(_) => vec![EffectPoint {
            block,
            offset: inst.offset,
            conditions: Vec::new(),
        }],
        None => facts.points(&ValuePart::whole(inst.result())),
    };
    let key = key(facts, check, indexing);
    let points = points.into_iter().filter(|point| {
        let at = facts.at(point.block, &point.conditions);
        can_fail(facts, &at, indexing) && !planter.is_tested(facts.function, &key, point) && are_scalars(index, point)
    });
    let points: Vec<EffectPoint> = points.collect();
    for point in planter.outside_loops(block, points) {
        let Some(position) = planter.selected_position(block, &inst) else {
            return;
        };
        let place = Place::of_point(&point, inst, position);
        let quoted = (!position.has_line()).then(|| quote(&inst));
        let expression = planter.expressions().value(indexing.index).map(|index| index.text);
        let write_condition = |out: &mut Emitter| {
            let (failed, size) = write_failed(out, index, indexing, bits);
            (write_conditions(out, index, failed, &point.conditions), size)
        };
        planter.plant_with(check, &place, write_condition, |out, size| {
            message(index, indexing, (out.uint(), size), (expression.as_deref(), quoted))
        });
        planter.add_tested(facts.function, key.clone(), &point);
    }
}

fn can_fail<'v, 'a, 'w>(
    facts: &mut ValueFacts<'_, 'v, 'a, 'w>,
    at: &RangePoint<'v, 'a, 'w>,
    indexing: &Indexing,
) -> bool {
    match indexing.size {
        Size::Fixed(size) => facts.ranges().range(at, indexing.index, None).max() >= size,
        Size::Constant(size) => !facts.ranges().is_below(at, indexing.index, size),
        Size::Length { .. } => true,
    }
}

fn key(facts: &mut ValueFacts<'_, '_, '_, '_>, check: Check, indexing: &Indexing) -> TestKey {
    let mut words = facts.name(indexing.index, None);
    match &indexing.size {
        Size::Fixed(size) => words.extend([0, *size as u32, (size >> 32) as u32]),
        Size::Constant(size) => words.extend([1, size.word()]),
        Size::Length {
            variable,
            indices,
            member,
            ..
        } => words.extend(
            [2, variable.word(), *member]
                .into_iter()
                .chain(indices.iter().map(|id| id.word())),
        ),
    }
    (check as u32, words)
}

/// Writes the comparison; returns its result and the size.
fn write_failed(out: &mut Emitter, index: &Index<'_>, indexing: &Indexing, bits: u32) -> (Id, Id) {
    let (bool, uint) = (out.bool(), out.uint());
    let mut value = Scalar {
        ty: index.type_of(indexing.index),
        id: indexing.index,
    };
    if bits < 32 {
        let is_signed = index.def(value.ty).is_some_and(|ty| ty.is_signed_int());
        let opcode = if is_signed { op::SConvert } else { op::UConvert };
        value = Scalar {
            ty: uint,
            id: out.emit(opcode, uint, value.id),
        };
    }
    let size = match &indexing.size {
        Size::Constant(size) => *size,
        Size::Fixed(size) if value.ty == uint => out.constant(u32::try_from(*size).unwrap_or(u32::MAX)),
        Size::Fixed(size) => value.constant(out, index, *size),
        Size::Length {
            variable,
            indices,
            block,
            member,
            class,
            pointer,
        } => {
            let mut base = *variable;
            if !indices.is_empty() {
                let ty = out.pointer(*class, *block);
                base = out.emit(op::AccessChain, ty, (*variable, indices.as_slice()));
                out.inherit_non_uniform(index, *pointer, &[base]);
            }
            out.emit(op::ArrayLength, uint, (base, Literal(*member)))
        }
    };
    (out.emit(op::UGreaterThanEqual, bool, (value.id, size)), size)
}

/// `expression`: that of the index.
fn message(
    index: &Index<'_>,
    indexing: &Indexing,
    (uint, size): (Id, Id),
    (expression, quoted): (Option<&str>, Option<String>),
) -> Message {
    let mut message = Message::new("index ");
    message.push_text(conversion(index, indexing.index));
    message.push_literal(" is out of bounds of ");
    if let Some(name) = &indexing.name {
        message.push_literal(&format!("`{name}` ("));
    } else {
        message.push_literal(match indexing.unit {
            "components" => "a vector (",
            "columns" => "a matrix (",
            _ => "an array (",
        });
    }
    message = message.with(index.type_of(indexing.index), indexing.index);
    match &indexing.size {
        Size::Fixed(size) => message.push_literal(&size.to_string()),
        Size::Constant(size) => {
            message.push_text(conversion(index, *size));
            message = message.with_constant(index.type_of(*size), *size);
        }
        Size::Length { .. } => {
            message.push_text("%u");
            message = message.with(uint, size);
        }
    }
    message.push_literal(&format!(" {})", indexing.unit));
    if let Some(expression) = expression {
        message.push_literal(&format!(": `{expression}`"));
    }
    if let Some(quoted) = quoted {
        message.push_literal(&format!(" ({quoted})"));
    }
    message
}
