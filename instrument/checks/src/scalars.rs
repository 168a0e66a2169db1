//! Helpers of checks: operands as scalars, the instructions of a function, and their texts.

use smallvec::SmallVec;
use vkabort_analysis::effects::component_count;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::constant::literal_words;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, Inst, Literal, Words, op};

/// A scalar with its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) ty: Id,
    pub(super) id: Id,
}

impl Scalar {
    /// A constant of the same floating-point type, of `width` bits.
    pub(super) fn float_constant(self, out: &mut Emitter, width: u32, bits: u64) -> Id {
        let words = [bits as u32, (bits >> 32) as u32];
        let count = if width > 32 { 2 } else { 1 };
        out.value(op::Constant, self.ty, Words(words.get(..count).unwrap_or_default()))
    }

    /// A constant of the same integer type.
    pub(super) fn constant(self, out: &mut Emitter, index: &Index<'_>, value: u64) -> Id {
        let words = index
            .def(self.ty)
            .map(|ty| literal_words(&ty, value))
            .unwrap_or_default();
        out.value(op::Constant, self.ty, Words(&words))
    }
}

/// The instructions of a function for which `select` returns something, with their blocks.
pub(super) fn find<'w, T>(
    index: &Index<'w>,
    function: &Function,
    mut select: impl FnMut(&Inst<'w>) -> Option<T>,
) -> Vec<(BlockIndex, T)> {
    let mut found = Vec::new();
    for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
        let insts = index.insts(block.offset, block.end);
        found.extend(insts.filter_map(|inst| Some((number, select(&inst)?))));
    }
    found
}

/// The type of the floats that a scalar or vector type consists of. `None` for others, and for other encodings than those of
/// IEEE 754.
pub(super) fn float_type<'w>(index: &Index<'w>, ty: Id) -> Option<Inst<'w>> {
    let mut inst = index.def(ty)?;
    if inst.opcode() == op::TypeVector {
        inst = index.def(inst.element_type())?;
    }
    (inst.opcode() == op::TypeFloat && inst.words.len() == 3 && matches!(inst.width(), 16 | 32 | 64)).then_some(inst)
}

/// Writes whether a float of `bits` bits is NaN or an infinity. The bits are tested as integers, since drivers assume of comparisons that
/// there is neither.
pub(super) fn write_not_finite(out: &mut Emitter, value: Scalar, bits: u32) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    // All bits of the exponent are set. A half is exact in 32 bits, which need no 16-bit integers.
    let (word, exponent) = match bits {
        64 => {
            let words = out.vector(uint, 2);
            let words = out.emit(op::Bitcast, words, value.id);
            (out.emit(op::CompositeExtract, uint, (words, Literal(1))), 0x7FF0_0000)
        }
        32 => (out.emit(op::Bitcast, uint, value.id), 0x7F80_0000),
        _ => {
            let float = out.float(32);
            let wide = match value.ty == float {
                true => value.id,
                false => out.emit(op::FConvert, float, value.id),
            };
            (out.emit(op::Bitcast, uint, wide), 0x7F80_0000)
        }
    };
    let exponent = out.constant(exponent);
    let masked = out.emit(op::BitwiseAnd, uint, (word, exponent));
    out.emit(op::IEqual, bool, (masked, exponent))
}

/// A component of a vector, or a scalar, of a type with arithmetic.
pub(super) fn extract(out: &mut Emitter, index: &Index<'_>, id: Id, component: Option<u32>) -> Scalar {
    let whole = with_arithmetic(out, index, index.type_of(id), id);
    match component.filter(|_| index.opcode(index.type_of(id)) == op::TypeVector) {
        Some(component) => {
            let ty = component_type(out, index, &whole, index.type_of(id));
            let id = out.emit(op::CompositeExtract, ty, (whole.id, Literal(component)));
            Scalar { ty, id }
        }
        None => whole,
    }
}

/// The components of a vector, or a scalar.
pub(super) fn components(out: &mut Emitter, index: &Index<'_>, id: Id) -> SmallVec<[Scalar; 4]> {
    let count = component_count(index, index.type_of(id));
    let numbers = (0..count).map(|component| (count > 1).then_some(component));
    numbers.map(|component| extract(out, index, id, component)).collect()
}

/// The component of a vector that an id selects, or a scalar, of a type with arithmetic.
pub(super) fn extract_dynamic(out: &mut Emitter, index: &Index<'_>, id: Id, component: Id) -> Scalar {
    let whole = with_arithmetic(out, index, index.type_of(id), id);
    if index.opcode(index.type_of(id)) != op::TypeVector {
        return whole;
    }
    let ty = component_type(out, index, &whole, index.type_of(id));
    let id = out.emit(op::VectorExtractDynamic, ty, (whole.id, component));
    Scalar { ty, id }
}

/// The type of the components of `whole`, which was made of a vector of type `vector`.
fn component_type(out: &mut Emitter, index: &Index<'_>, whole: &Scalar, vector: Id) -> Id {
    let component = index.part_type(vector, 0);
    match whole.ty == vector {
        true => component,
        false => wide_scalar(out, index, component),
    }
}

/// A number or vector of which composites, components and arithmetic may be made: one of a type that the module only stores is
/// converted to 32 bits.
pub(super) fn with_arithmetic(out: &mut Emitter, index: &Index<'_>, ty: Id, id: Id) -> Scalar {
    let vector = index.def(ty).filter(|inst| inst.opcode() == op::TypeVector);
    let component = vector.map_or(ty, |inst| inst.element_type());
    let opcode = match index.def(component) {
        Some(number) if index.lacks_arithmetic(&number) => match number.opcode() {
            op::TypeFloat => op::FConvert,
            _ if number.is_signed_int() => op::SConvert,
            _ => op::UConvert,
        },
        _ => return Scalar { ty, id },
    };
    let mut ty = wide_scalar(out, index, component);
    if let Some(vector) = vector {
        ty = out.vector(ty, vector.component_count());
    }
    let id = out.emit(opcode, ty, id);
    Scalar { ty, id }
}

/// The type of 32 bits for numbers of a narrow type.
fn wide_scalar(out: &mut Emitter, index: &Index<'_>, narrow: Id) -> Id {
    match index.def(narrow) {
        Some(number) if number.opcode() == op::TypeFloat => out.float(32),
        Some(number) if number.is_signed_int() => out.int(),
        _ => out.uint(),
    }
}

/// An instruction of ids, as `spirv-dis --raw-id` prints it.
pub(super) fn quote(inst: &Inst<'_>) -> String {
    let name = spirv::Op::from_u32(inst.opcode().into()).map_or_else(String::new, |op| format!("{op:?}"));
    let mut operands = String::new();
    let mut first = if inst.result().is_some() { 3 } else { 1 };
    if inst.opcode() == op::ExtInst {
        let function = spirv::GlslStd450Op::from_u32(inst.ext_inst());
        let function = function.map_or_else(|| inst.ext_inst().to_string(), |function| format!("{function:?}"));
        operands = format!(" {} {function}", inst.ext_inst_set());
        first = 5;
    }
    operands.extend(inst.ids(first).map(|id| format!(" {id}")));
    match inst.result().is_some() {
        true => format!("{} = Op{name} {}{operands}", inst.result(), inst.result_type()),
        false => format!("Op{name}{operands}"),
    }
}

/// The conversion of a message that shows an integer.
pub(super) fn conversion(index: &Index<'_>, value: Id) -> &'static str {
    let ty = index.type_of(value);
    let scalar = match index.opcode(ty) {
        op::TypeVector => index.part_type(ty, 0),
        _ => ty,
    };
    match index.def(scalar).is_some_and(|ty| ty.is_signed_int()) {
        true => "%d",
        false => "%u",
    }
}

/// The literal of an `OpConstant`.
pub(super) fn literal(index: &Index<'_>, id: Id) -> Option<u32> {
    let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant)?;
    u32::try_from(index.literal(&constant)?).ok()
}
