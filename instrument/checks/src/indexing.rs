//! Checks of indices: their comparison with a size, and their messages.

use super::accesses::{Access, Step};
use super::faults::{FaultClass, Faulty, Found, Origin};
use super::message::Message;
use super::operand_checks::ValueFacts;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::scalars::{Scalar, conversion, quote};
use std::rc::Rc;
use vkabort_analysis::effects::{EffectPoint, ValuePart};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::RangePoint;
use vkabort_analysis::view::path::Path;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::{Id, Literal, op};

/// An index with the size that it must be below.
#[derive(Clone)]
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
    let here = facts.at(block);
    if !is_comparable || !can_fail(facts, &here, indexing) {
        return;
    }
    let part = ValuePart::whole(inst.result());
    let travels = pointer.is_none() && !facts.is_observed(FaultClass::Undefined, &part);
    if travels != planter.module.is_collecting {
        return;
    }
    let Some(position) = planter.selected_position(block, &inst) else {
        return;
    };
    if travels {
        planter.module.faults.add(Faulty {
            function: facts.function.number,
            block,
            inst,
            check,
            position,
            class: FaultClass::Undefined,
            origin: Rc::new(TravellingIndex {
                indexing: indexing.clone(),
                bits,
            }),
        });
        return;
    }
    let key = key(facts, check, indexing);
    let point = EffectPoint {
        block,
        offset: inst.offset,
    };
    if planter.is_tested(facts.function, &key, &point) {
        return;
    }
    let place = Place::of_point(&point, inst, position);
    let quoted = (!position.has_line()).then(|| quote(&inst));
    let mut text = text(planter.expressions(), indexing, true);
    if let Some(quoted) = quoted {
        text.push_literal(&format!(" ({quoted})"));
    }
    planter.plant_with(
        check,
        &place,
        |out| write_failed(out, index, indexing, bits),
        |out, size| with_values(out, index, text, indexing, size),
    );
    planter.add_tested(facts.function, key, &point);
}

/// An index into a value, whose fault travels.
struct TravellingIndex {
    indexing: Indexing,
    bits: u32,
}

impl<'w> Origin<'w> for TravellingIndex {
    fn parts(&self) -> Vec<Path> {
        vec![Path::new()]
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>) -> Vec<Id> {
        vec![write_failed(out, index, &self.indexing, self.bits).0]
    }

    fn text(&self, names: &Expressions<'_, '_>, is_direct: bool) -> Message {
        text(names, &self.indexing, is_direct)
    }

    fn with_values(&self, out: &mut Emitter, index: &Index<'_>, message: Message, found: Found) -> Message {
        match found.is_direct {
            true => with_values(out, index, message, &self.indexing, Id::NONE),
            false => message,
        }
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

/// The text of the message, with the index only if `has_index`.
fn text(names: &Expressions<'_, '_>, indexing: &Indexing, has_index: bool) -> Message {
    let index = names.index;
    let mut message = Message::new("index ");
    if has_index {
        message.push_text(conversion(index, indexing.index));
        message.push_literal(" ");
    }
    message.push_literal("is out of bounds of ");
    if let Some(name) = &indexing.name {
        message.push_literal(&format!("`{name}` ("));
    } else {
        message.push_literal(match indexing.unit {
            "components" => "a vector (",
            "columns" => "a matrix (",
            _ => "an array (",
        });
    }
    match &indexing.size {
        Size::Fixed(size) => message.push_literal(&size.to_string()),
        Size::Constant(size) if has_index => message.push_text(conversion(index, *size)),
        Size::Length { .. } if has_index => message.push_text("%u"),
        Size::Constant(_) | Size::Length { .. } => message.push_literal("its size in"),
    }
    message.push_literal(&format!(" {})", indexing.unit));
    if let Some(expression) = names.value(indexing.index).map(|index| index.text) {
        message.push_literal(&format!(": `{expression}`"));
    }
    message
}

/// Adds the index and a size that is not fixed.
fn with_values(out: &mut Emitter, index: &Index<'_>, message: Message, indexing: &Indexing, size: Id) -> Message {
    let message = message.with(index.type_of(indexing.index), indexing.index);
    match &indexing.size {
        Size::Fixed(_) => message,
        Size::Constant(size) => message.with_constant(index.type_of(*size), *size),
        Size::Length { .. } => message.with(out.uint(), size),
    }
}
