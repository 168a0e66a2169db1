//! Makes arithmetic total whose undefined behaviour is poison under `ArithmeticPoisonKHR`.
//!
//! ```text
//! UDiv UMod               %a %b   becomes   the same opcode with %a, (%b == 0 ? 1 : %b)
//! SDiv SRem SMod          %a %b   becomes   the same opcode with %a, (%b == 0 || %b == -1 && %a == MIN ? 1 : %b)
//! ConvertFToU ConvertFToS %v      becomes   the same opcode with (%v in range ? %v : 0)
//! ```
//!
//! The conditions are those of SPV_KHR_poison_freeze, "Modifications to the SPIR-V Specification", for each opcode.
//!
//! An `OpSpecConstantOp` is a global declaration, and the instructions inserted before it cannot use types that the module
//! declares later, which may include Booleans. Its divisor is therefore computed from bits.
//!
//! Not handled: types without constants and comparisons, such as cooperative matrices, and conversions in
//! `OpSpecConstantOp`. They are not changed.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::float_bounds::ConvertibleRange;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, Literal, Operands, Words, op};

/// Constants declared in place, by type and bits. Later declarations may use them.
pub(super) type DeclaredConstants = HashMap<(Id, u64), Id>;

/// Makes one instruction total.
pub(super) struct TotalArithmetic<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) out: &'a mut Emitter,
    /// Set if the instruction is an `OpSpecConstantOp`: then every instruction inserted before it is one too.
    pub(super) spec_constants: Option<&'a mut DeclaredConstants>,
}

/// A numeric scalar or vector type.
#[derive(Clone, Copy)]
struct Shape {
    ty: Id,
    scalar: Id,
    /// Width of a component in bits, at most 64.
    width: u32,
    signed: bool,
    /// A float with an `FP Encoding` operand.
    encoded: bool,
    /// Components; 1 for scalars.
    count: u32,
}

impl TotalArithmetic<'_, '_> {
    /// Writes the replacement of an instruction that applies `opcode` to the operands from word `first` on; `None` to keep it.
    pub(super) fn rewrite(mut self, inst: &Inst<'_>, opcode: u16, first: usize) -> Option<()> {
        let (ty, result) = (inst.result_type(), inst.result());
        let (a, b) = (inst.id(first), inst.id(first + 1));
        match (opcode, inst.from(first).len()) {
            (op::UDiv | op::UMod, 2) if !self.is_constant_except(b, &[0]) => {
                let b = self.safe_divisor(a, b, false)?;
                self.put(opcode, ty, result, (a, b));
            }
            (op::SDiv | op::SRem | op::SMod, 2) if !self.is_constant_except(b, &[0, u64::MAX]) => {
                let b = self.safe_divisor(a, b, true)?;
                self.put(opcode, ty, result, (a, b));
            }
            (op::ConvertFToU | op::ConvertFToS, 1) if self.spec_constants.is_none() => {
                let value = self.zero_unless_in_range(ty, a, opcode == op::ConvertFToS)?;
                self.put(opcode, ty, result, value);
            }
            _ => return None,
        }
        Some(())
    }

    fn put(&mut self, opcode: u16, ty: Id, result: Id, operands: impl Operands) {
        if self.spec_constants.is_some() {
            self.out
                .op(op::SpecConstantOp, (ty, result, Literal(opcode.into()), operands));
        } else {
            self.out.op(opcode, (ty, result, operands));
        }
    }

    fn emit(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        let result = self.out.fresh();
        self.put(opcode, ty, result, operands);
        result
    }

    /// Whether every component of a value is a constant that does not equal any of `excluded`, sign-extended.
    fn is_constant_except(&self, id: Id, excluded: &[u64]) -> bool {
        let Some(inst) = self.index.def(id) else { return false };
        match inst.opcode() {
            op::Constant => {
                let bits = self
                    .index
                    .def(inst.result_type())
                    .map_or(32, |t| t.width())
                    .clamp(1, 64);
                self.index
                    .literal(&inst)
                    .is_some_and(|v| !excluded.contains(&((v << (64 - bits)) as i64 >> (64 - bits)).cast_unsigned()))
            }
            op::ConstantComposite => inst
                .ids(3)
                .all(|part| self.index.opcode(part) == op::Constant && self.is_constant_except(part, excluded)),
            _ => false,
        }
    }

    /// The shape of a type; `None` for types without constants and comparisons, such as cooperative matrices.
    fn shape(&self, ty: Id) -> Option<Shape> {
        let inst = self.index.def(ty)?;
        let (scalar, count) = match inst.opcode() {
            op::TypeVector => (self.index.def(inst.element_type())?, inst.component_count()),
            _ => (inst, 1),
        };
        matches!(scalar.opcode(), op::TypeInt | op::TypeFloat).then(|| Shape {
            ty,
            scalar: scalar.result(),
            width: scalar.width().clamp(1, 64),
            signed: scalar.is_signed_int(),
            encoded: scalar.opcode() == op::TypeFloat && scalar.words.len() > 3,
            count,
        })
    }

    fn shape_of(&self, value: Id) -> Option<Shape> {
        self.shape(self.index.type_of(value))
    }

    /// The Boolean type of a comparison of values of `count` components.
    fn bool_type(&mut self, count: u32) -> Id {
        let bool = self.out.bool();
        match count {
            1 => bool,
            _ => self.out.vector(bool, count),
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
        let scalar = self.constant(op::Constant, shape.scalar, bits, Words(words));
        match shape.count {
            1 => scalar,
            count => self.constant(
                op::ConstantComposite,
                shape.ty,
                bits,
                vec![scalar; count as usize].as_slice(),
            ),
        }
    }

    fn constant(&mut self, opcode: u16, ty: Id, bits: u64, operands: impl Operands) -> Id {
        let Some(declared) = &mut self.spec_constants else {
            return self.out.value(opcode, ty, operands);
        };
        *declared.entry((ty, bits)).or_insert_with(|| {
            let constant = self.out.fresh();
            self.out.op(opcode, (ty, constant, operands));
            constant
        })
    }

    /// `b`, with 1 in place of each component by which a division of `a` is undefined.
    fn safe_divisor(&mut self, a: Id, b: Id, signed: bool) -> Option<Id> {
        if self.spec_constants.is_some() {
            return self.safe_divisor_from_bits(a, b, signed);
        }
        // Operand types may differ in signedness from the result type; comparisons for equality do not depend on it.
        let (left, right) = (self.shape_of(a)?, self.shape_of(b)?);
        let bool = self.bool_type(right.count);
        let zero = self.splat(right, 0);
        let mut is_undefined = self.emit(op::IEqual, bool, (b, zero));
        if signed {
            let (minus_one, min) = (self.splat(right, u64::MAX), self.splat(left, 1 << (right.width - 1)));
            let b_is_minus_one = self.emit(op::IEqual, bool, (b, minus_one));
            let a_is_min = self.emit(op::IEqual, bool, (a, min));
            let overflow = self.emit(op::LogicalAnd, bool, (b_is_minus_one, a_is_min));
            is_undefined = self.emit(op::LogicalOr, bool, (is_undefined, overflow));
        }
        let one = self.splat(right, 1);
        Some(self.emit(op::Select, right.ty, (is_undefined, one, b)))
    }

    /// `b + (b == 0 ? 1 : 0) + (b == -1 && a == MIN ? 2 : 0)`, without Booleans.
    fn safe_divisor_from_bits(&mut self, a: Id, b: Id, signed: bool) -> Option<Id> {
        let shape = self.shape_of(b)?;
        let ty = shape.ty;
        let one_if_zero = self.one_if_zero(shape, b);
        let divisor = self.emit(op::IAdd, ty, (b, one_if_zero));
        if !signed {
            return Some(divisor);
        }
        let (min, one) = (self.splat(shape, 1 << (shape.width - 1)), self.splat(shape, 1));
        let bits_unlike_minus_one = self.emit(op::Not, ty, b);
        let bits_unlike_min = self.emit(op::BitwiseXor, ty, (a, min));
        let bits_unlike_both = self.emit(op::BitwiseOr, ty, (bits_unlike_minus_one, bits_unlike_min));
        let overflows = self.one_if_zero(shape, bits_unlike_both);
        let two = self.emit(op::ShiftLeftLogical, ty, (overflows, one));
        Some(self.emit(op::IAdd, ty, (divisor, two)))
    }

    /// 1 for zero, 0 for any other value: the sign bit of `v | -v` is set unless `v` is zero.
    fn one_if_zero(&mut self, shape: Shape, value: Id) -> Id {
        let (zero, one) = (self.splat(shape, 0), self.splat(shape, 1));
        let sign_bit = self.splat(shape, u64::from(shape.width) - 1);
        let negated = self.emit(op::ISub, shape.ty, (zero, value));
        let either = self.emit(op::BitwiseOr, shape.ty, (value, negated));
        let not_zero = self.emit(op::ShiftRightLogical, shape.ty, (either, sign_bit));
        self.emit(op::BitwiseXor, shape.ty, (not_zero, one))
    }

    /// A floating-point value in a type that has comparisons. Types with an `FP Encoding` have none; a conversion to 32
    /// bits is exact.
    fn make_comparable(&mut self, value: Id) -> Option<(Shape, Id)> {
        let shape = self.shape_of(value)?;
        if !shape.encoded {
            return Some((shape, value));
        }
        let scalar = self.out.float(32);
        let ty = match shape.count {
            1 => scalar,
            count => self.out.vector(scalar, count),
        };
        let wide = Shape {
            ty,
            scalar,
            width: 32,
            encoded: false,
            ..shape
        };
        Some((wide, self.emit(op::FConvert, ty, value)))
    }

    /// `value` if it converts to the integer type `ty` without overflow, else 0.
    fn zero_unless_in_range(&mut self, ty: Id, value: Id, signed: bool) -> Option<Id> {
        let bits = self.shape(ty)?.width;
        let (from, value) = self.make_comparable(value)?;
        let range = ConvertibleRange::new(from.width, bits, signed);
        let bool = self.bool_type(from.count);
        let (low, high) = (self.splat(from, range.low), self.splat(from, range.end));
        let is_above = self.emit(range.above, bool, (value, low));
        let is_below = self.emit(op::FOrdLessThan, bool, (value, high));
        let in_range = self.emit(op::LogicalAnd, bool, (is_above, is_below));
        let zero = self.splat(from, 0);
        Some(self.emit(op::Select, from.ty, (in_range, value, zero)))
    }
}
