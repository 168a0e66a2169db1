//! Makes arithmetic total whose undefined behaviour became poison.
//!
//! What an `OpSpecConstantOp` needs stands before it among the global declarations, where types that the module declares
//! further down cannot be named. So its divisor is chosen without Booleans.

use super::float_bounds::float;
use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::spv::{Code, Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// Constants declared in place, by type and bits: what comes later may use them.
pub(super) type Declared = HashMap<(Id, u64), Id>;

/// Makes one instruction total.
pub(super) struct Total<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) globals: &'a mut Globals,
    pub(super) code: Code,
    /// It is an `OpSpecConstantOp`, and so must be what goes before it.
    pub(super) specialized: Option<&'a mut Declared>,
}

/// A scalar or vector type.
#[derive(Clone, Copy)]
struct Shape {
    ty: Id,
    scalar: Id,
    /// Width of a component in bits, at most 64.
    width: u32,
    signed: bool,
    /// A float with an encoding of its own.
    encoded: bool,
    /// Components: 1 for scalars.
    count: u32,
}

impl Total<'_, '_> {
    /// What replaces an instruction; `None` if it stays as it is.
    pub(super) fn rewrite(mut self, inst: &Inst<'_>, opcode: u16, operands: &[u32]) -> Option<Code> {
        let (ty, result) = (inst.result_type(), inst.result());
        match (opcode, operands) {
            (op::UDiv | op::UMod, &[a, b]) if !self.is_constant_but(b, &[0]) => {
                let b = self.divisor(a, b, false)?;
                self.put(opcode, ty, result, &[a, b]);
            }
            (op::SDiv | op::SRem | op::SMod, &[a, b]) if !self.is_constant_but(b, &[0, u64::MAX]) => {
                let b = self.divisor(a, b, true)?;
                self.put(opcode, ty, result, &[a, b]);
            }
            (op::ConvertFToU | op::ConvertFToS, &[value]) if self.specialized.is_none() => {
                let value = self.in_range(ty, value, opcode == op::ConvertFToS)?;
                self.put(opcode, ty, result, &[value]);
            }
            _ => return None,
        }
        Some(self.code)
    }

    fn put(&mut self, opcode: u16, ty: Id, result: Id, operands: &[u32]) {
        if self.specialized.is_some() {
            self.code
                .op2(op::SpecConstantOp, &[ty, result, opcode.into()], operands);
        } else {
            self.code.op2(opcode, &[ty, result], operands);
        }
    }

    fn emit(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let result = self.globals.fresh();
        self.put(opcode, ty, result, operands);
        result
    }

    /// Whether every component of a value is a constant that is none of `bad`, sign-extended.
    fn is_constant_but(&self, id: Id, bad: &[u64]) -> bool {
        let Some(inst) = self.index.def(id) else { return false };
        match inst.opcode() {
            op::Constant => {
                let bits = self
                    .index
                    .def(inst.result_type())
                    .map_or(32, |t| t.word(2))
                    .clamp(1, 64);
                self.index
                    .literal(&inst)
                    .is_some_and(|v| !bad.contains(&((v << (64 - bits)) as i64 >> (64 - bits)).cast_unsigned()))
            }
            // Of a vector: its components are scalars.
            op::ConstantComposite => inst
                .from(3)
                .iter()
                .all(|part| self.index.opcode(*part) == op::Constant && self.is_constant_but(*part, bad)),
            _ => false,
        }
    }

    /// `None` for types that have no constants and comparisons of this kind, such as cooperative matrices.
    fn shape(&self, ty: Id) -> Option<Shape> {
        let inst = self.index.def(ty)?;
        let (scalar, count) = match inst.opcode() {
            op::TypeVector => (self.index.def(inst.word(2))?, inst.word(3)),
            _ => (inst, 1),
        };
        matches!(scalar.opcode(), op::TypeInt | op::TypeFloat).then(|| Shape {
            ty,
            scalar: scalar.word(1),
            width: scalar.word(2).clamp(1, 64),
            signed: scalar.opcode() == op::TypeInt && scalar.word(3) != 0,
            encoded: scalar.opcode() == op::TypeFloat && scalar.words.len() > 3,
            count,
        })
    }

    fn shape_of(&self, value: Id) -> Option<Shape> {
        self.shape(self.index.type_of(value))
    }

    /// The Boolean type of a comparison of values of so many components.
    fn bool_of(&mut self, count: u32) -> Id {
        let bool = self.globals.bool();
        match count {
            1 => bool,
            _ => self.globals.vector(bool, count),
        }
    }

    /// A constant with the same bits in every component.
    fn splat(&mut self, shape: Shape, bits: u64) -> Id {
        let low = match shape.width {
            8 if shape.signed => bits as u8 as i8 as i32 as u32,
            16 if shape.signed => bits as u16 as i16 as i32 as u32,
            8 => bits as u8 as u32,
            16 => bits as u16 as u32,
            _ => bits as u32,
        };
        let words = [low, (bits >> 32) as u32];
        let words = words.get(..if shape.width > 32 { 2 } else { 1 }).unwrap_or(&[]);
        let one = self.constant(op::Constant, shape.scalar, bits, words);
        match shape.count {
            1 => one,
            count => self.constant(op::ConstantComposite, shape.ty, bits, &vec![one; count as usize]),
        }
    }

    fn constant(&mut self, opcode: u16, ty: Id, bits: u64, operands: &[u32]) -> Id {
        let Some(declared) = &mut self.specialized else {
            return self.globals.value(opcode, ty, operands);
        };
        *declared.entry((ty, bits)).or_insert_with(|| {
            let constant = self.globals.fresh();
            self.code.op2(opcode, &[ty, constant], operands);
            constant
        })
    }

    fn divisor(&mut self, a: Id, b: Id, signed: bool) -> Option<Id> {
        if self.specialized.is_some() {
            return self.divisor_by_bits(a, b, signed);
        }
        // Operand types may differ from the result's in signedness; comparing bits is the same for both.
        let (left, right) = (self.shape_of(a)?, self.shape_of(b)?);
        let bool = self.bool_of(right.count);
        let zero = self.splat(right, 0);
        let mut bad = self.emit(op::IEqual, bool, &[b, zero]);
        if signed {
            let (minus_one, least) = (self.splat(right, u64::MAX), self.splat(left, 1 << (right.width - 1)));
            let by_minus_one = self.emit(op::IEqual, bool, &[b, minus_one]);
            let of_least = self.emit(op::IEqual, bool, &[a, least]);
            let overflow = self.emit(op::LogicalAnd, bool, &[by_minus_one, of_least]);
            bad = self.emit(op::LogicalOr, bool, &[bad, overflow]);
        }
        let one = self.splat(right, 1);
        Some(self.emit(op::Select, right.ty, &[bad, one, b]))
    }

    /// `b`, and 1 more if it is zero, and 2 more if it is -1 and `a` the least integer.
    fn divisor_by_bits(&mut self, a: Id, b: Id, signed: bool) -> Option<Id> {
        let shape = self.shape_of(b)?;
        let ty = shape.ty;
        let if_zero = self.one_if_zero(shape, b);
        let divisor = self.emit(op::IAdd, ty, &[b, if_zero]);
        if !signed {
            return Some(divisor);
        }
        let (least, one) = (self.splat(shape, 1 << (shape.width - 1)), self.splat(shape, 1));
        let from_minus_one = self.emit(op::Not, ty, &[b]);
        let from_least = self.emit(op::BitwiseXor, ty, &[a, least]);
        let from_both = self.emit(op::BitwiseOr, ty, &[from_minus_one, from_least]);
        let overflows = self.one_if_zero(shape, from_both);
        let two = self.emit(op::ShiftLeftLogical, ty, &[overflows, one]);
        Some(self.emit(op::IAdd, ty, &[divisor, two]))
    }

    /// 1 for zero and 0 for anything else: the sign bit of `v | -v` says which.
    fn one_if_zero(&mut self, shape: Shape, value: Id) -> Id {
        let (zero, one) = (self.splat(shape, 0), self.splat(shape, 1));
        let last = self.splat(shape, u64::from(shape.width) - 1);
        let negated = self.emit(op::ISub, shape.ty, &[zero, value]);
        let either = self.emit(op::BitwiseOr, shape.ty, &[value, negated]);
        let not_zero = self.emit(op::ShiftRightLogical, shape.ty, &[either, last]);
        self.emit(op::BitwiseXor, shape.ty, &[not_zero, one])
    }

    /// A floating-point value in a type that has comparisons. Formats with an encoding of their own have none, but each of
    /// their values is one of 32 bits too.
    fn comparable(&mut self, value: Id) -> Option<(Shape, Id)> {
        let shape = self.shape_of(value)?;
        if !shape.encoded {
            return Some((shape, value));
        }
        let scalar = self.globals.float(32);
        let ty = match shape.count {
            1 => scalar,
            count => self.globals.vector(scalar, count),
        };
        let wide = Shape {
            ty,
            scalar,
            width: 32,
            encoded: false,
            ..shape
        };
        Some((wide, self.emit(op::FConvert, ty, &[value])))
    }

    fn in_range(&mut self, ty: Id, value: Id, signed: bool) -> Option<Id> {
        let bits = self.shape(ty)?.width as i32;
        let (from, value) = self.comparable(value)?;
        let (least, above) = if signed {
            (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1))
        } else {
            (0.0, 2f64.powi(bits))
        };
        // What truncates to the least integer is in range: all above it minus one, where the type can tell these apart.
        let significant = match from.width {
            16 => 11,
            32 => 24,
            _ => 53,
        };
        // Halves end at 65504: an infinite bound is not in range itself.
        let is_infinite = from.width == 16 && bits > 16;
        let (opcode, below) = match !signed || bits - 1 < significant {
            true => (op::FOrdGreaterThan, least - 1.0),
            false if is_infinite => (op::FOrdGreaterThan, least),
            false => (op::FOrdGreaterThanEqual, least),
        };
        let bool = self.bool_of(from.count);
        let (low, high) = (
            self.splat(from, float(below, from.width)),
            self.splat(from, float(above, from.width)),
        );
        let enough = self.emit(opcode, bool, &[value, low]);
        let little = self.emit(op::FOrdLessThan, bool, &[value, high]);
        let fits = self.emit(op::LogicalAnd, bool, &[enough, little]);
        let zero = self.splat(from, 0);
        Some(self.emit(op::Select, from.ty, &[fits, value, zero]))
    }
}
