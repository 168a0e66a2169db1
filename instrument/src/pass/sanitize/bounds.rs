//! Indices beyond arrays, vectors and matrices of fixed size.
//!
//! An index that an access chain, `OpVectorExtractDynamic` or `OpVectorInsertDynamic` takes must be below the number of elements
//! ("Behavior is undefined if [Index] is out-of-bounds", SPIR-V specification, Memory Instructions and Composite Instructions). Indices
//! are signed, so a negative one is out of bounds.
//!
//! Checked are accesses to variables of the storage classes `Function`, `Private` and `Workgroup`, which no robustness feature
//! covers, where the element is loaded, stored or changed by an atomic: a pointer that is made and not used accesses nothing. Of
//! loads only those whose value has an effect (`analysis::value_flow`): compilers move loads in front of the selection that drops
//! their value. Not checked: constant indices, which a validator checks; indices below the size by masks, clamps, branches and
//! counted loops (`analysis::ranges`); pointers of unknown size (`OpPtrAccessChain`, physical storage buffers); cooperative matrices;
//! copies of whole objects through a pointer (`OpCopyMemory`); pointers that a call receives, which the callee checks where it knows
//! the size.

use super::message::Message;
use super::planter::{Place, Planter, TestKey};
use super::values::{Scalar, ValueFacts, are_scalars, conversion, find, quote, write_conditions};
use crate::analysis::index::Index;
use crate::analysis::index::constant::Length;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::value_flow::Point;
use crate::analysis::value_flow::lane::Lane;
use crate::edit::emitter::Emitter;
use crate::sanitize::Check;
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op, op_sets};

/// Limit on access chains that form one pointer.
const MAX_CHAINS: usize = 16;

/// An index with the size that it must be below.
struct Indexing {
    index: Id,
    size: Size,
    /// What the size counts.
    unit: &'static str,
    /// The expression of the composite.
    name: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Fixed(u64),
    /// A constant that a pipeline may specialise.
    Constant(Id),
}

/// Plants the check into a function.
pub(super) fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, 'w>) {
    let accesses = find(planter.index, planter.function, |inst| {
        let pointer = match inst.opcode() {
            op::Load => Some(inst.id(3)),
            op::Store | op::AtomicStore => Some(inst.id(1)),
            opcode if op_sets::is_atomic_read(opcode) => Some(inst.id(3)),
            op::VectorExtractDynamic | op::VectorInsertDynamic => None,
            _ => return None,
        };
        Some((*inst, pointer))
    });
    for (block, (inst, pointer)) in accesses {
        let indexings = match pointer {
            Some(pointer) => of_pointer(planter, pointer),
            None => of_vector(planter, &inst).into_iter().collect(),
        };
        for indexing in indexings {
            plant_indexing(planter, facts, block, &inst, &indexing);
        }
    }
}

/// The indices of the access chains that form a pointer, outermost first.
fn of_pointer(planter: &Planter<'_, '_, '_>, pointer: Id) -> Vec<Indexing> {
    let index = planter.index;
    let mut chains = Vec::new();
    let mut at = pointer;
    while let Some(chain) = index.def(at).filter(|_| chains.len() < MAX_CHAINS) {
        match chain.opcode() {
            op::AccessChain | op::InBoundsAccessChain => chains.push(chain),
            op::Variable | op::FunctionParameter => break,
            _ => return Vec::new(),
        }
        at = chain.id(3);
    }
    let class = index.storage_class(index.type_of(at));
    let is_checked = matches!(
        class,
        Some(storage_class::Function | storage_class::Private | storage_class::Workgroup)
    );
    let mut found = Vec::new();
    for chain in chains.iter().rev().filter(|_| is_checked) {
        let pointer = index.def(index.type_of(chain.id(3)));
        let mut ty = pointer.map_or(Id::NONE, |pointer| pointer.pointee());
        let count = chain.ids(4).len();
        for (number, id) in chain.ids(4).enumerate() {
            if let Some((size, unit)) = size(planter, ty).filter(|_| index.opcode(id) != op::Constant) {
                let name = planter.expressions().pointer(chain.result(), count - number);
                found.push(Indexing {
                    index: id,
                    size,
                    unit,
                    name,
                });
            }
            let member = index.def(id).filter(|inst| inst.opcode() == op::Constant);
            ty = index.part_type(ty, member.map_or(0, |inst| inst.constant_bits() as u32));
        }
    }
    found
}

fn of_vector(planter: &Planter<'_, '_, '_>, inst: &Inst<'_>) -> Option<Indexing> {
    let vector = inst.id(3);
    let (size, unit) = size(planter, planter.index.type_of(vector))?;
    Some(Indexing {
        index: inst.id(if inst.opcode() == op::VectorExtractDynamic {
            4
        } else {
            5
        }),
        size,
        unit,
        name: planter.expressions().value(vector),
    })
}

/// The size of a composite, and what it counts. `None` for structures and for what has no fixed size.
fn size(planter: &Planter<'_, '_, '_>, ty: Id) -> Option<(Size, &'static str)> {
    let index = planter.index;
    let inst = index.def(ty)?;
    let count = || Size::Fixed(inst.component_count().into());
    match inst.opcode() {
        op::TypeVector => Some((count(), "components")),
        op::TypeMatrix => Some((count(), "columns")),
        op::TypeArray => {
            let length = inst.array_length();
            let size = match index.length(length, planter.options())? {
                Length::Fixed(length) => Size::Fixed(length),
                Length::Specialised { .. } => Size::Constant(length),
            };
            Some((size, "elements"))
        }
        _ => None,
    }
}

fn plant_indexing<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, 'w>,
    block: BlockIndex,
    inst: &Inst<'w>,
    indexing: &Indexing,
) {
    let (flow, ranges) = facts.get();
    let index = planter.index;
    let Some(bits) = ranges.bits(indexing.index).filter(|_| flow.is_reachable(block)) else {
        return;
    };
    let is_comparable = match indexing.size {
        Size::Fixed(_) => true,
        Size::Constant(size) => ranges.bits(size) == Some(bits.max(32)),
    };
    let known = ranges.known(flow, block, &[]);
    if !is_comparable || !can_fail(ranges.range(&known, indexing.index, None).max, indexing.size) {
        return;
    }
    let changes_memory = !matches!(
        inst.opcode(),
        op::Load | op::VectorExtractDynamic | op::VectorInsertDynamic
    );
    let points = match changes_memory {
        true => vec![Point {
            block,
            offset: inst.offset,
            conditions: Vec::new(),
        }],
        false => flow.points(&Lane::whole(inst.result())),
    };
    let key = key(indexing);
    for point in points {
        let known = ranges.known(flow, point.block, &point.conditions);
        let max = ranges.range(&known, indexing.index, None).max;
        if !can_fail(max, indexing.size) || planter.is_tested(flow, &key, &point) || !are_scalars(index, &point) {
            continue;
        }
        let Some(position) = planter.selected_position(block, inst) else {
            return;
        };
        let place = Place {
            block: point.block,
            offset: point.offset,
            guarded: *inst,
            position,
        };
        let message = message(index, indexing, (!position.has_line()).then(|| quote(inst)));
        planter.plant(Check::Bounds, &place, message, |out| {
            let failed = write_failed(out, index, indexing, bits);
            write_conditions(out, index, failed, &point.conditions)
        });
        planter.add_tested(key.clone(), &point);
    }
}

/// Whether an index of at most `max` may be beyond a size.
fn can_fail(max: u64, size: Size) -> bool {
    match size {
        Size::Fixed(size) => max >= size,
        Size::Constant(_) => true,
    }
}

fn key(indexing: &Indexing) -> TestKey {
    let size = match indexing.size {
        Size::Fixed(size) => [0, size as u32, (size >> 32) as u32],
        Size::Constant(size) => [1, size.word(), 0],
    };
    let words = size.into_iter().chain([indexing.index.word()]);
    (Check::Bounds as u32, words.collect())
}

fn write_failed(out: &mut Emitter, index: &Index<'_>, indexing: &Indexing, bits: u32) -> Id {
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
    let size = match indexing.size {
        Size::Constant(size) => size,
        Size::Fixed(size) if value.ty == uint => out.constant(u32::try_from(size).unwrap_or(u32::MAX)),
        Size::Fixed(size) => value.constant(out, index, size),
    };
    out.emit(op::UGreaterThanEqual, bool, (value.id, size))
}

fn message(index: &Index<'_>, indexing: &Indexing, quoted: Option<String>) -> Message {
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
    match indexing.size {
        Size::Fixed(size) => message.push_literal(&size.to_string()),
        Size::Constant(size) => {
            message.push_text(conversion(index, size));
            message = message.with_constant(index.type_of(size), size);
        }
    }
    message.push_literal(&format!(" {})", indexing.unit));
    if let Some(quoted) = quoted {
        message.push_literal(&format!(" ({quoted})"));
    }
    message
}
