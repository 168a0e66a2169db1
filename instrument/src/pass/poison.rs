//! Lowers `SPV_KHR_poison_freeze`.
//!
//! ```text
//! PoisonKHR, Undef              become   the null value of their type, or what comes closest (see `nothing`)
//! FreezeKHR %v                  becomes  CopyObject %v
//! UDiv %a %b                    becomes  UDiv %a (%b == 0 ? 1 : %b)
//! SDiv %a %b                    becomes  SDiv %a (%b == 0 || %b == -1 && %a == MIN ? 1 : %b)
//! ConvertFToS %v                becomes  ConvertFToS (%v in range ? %v : 0)
//! ```
//!
//! The null value is one value at every use, so freezing it is no work, and what is computed from it is as stable. The
//! arithmetic is made total only under the execution mode `ArithmeticPoisonKHR`, in which its undefined behaviour became
//! poison, and only where no constant operand rules that behaviour out. `NoSignedWrap` and `NoUnsignedWrap` go then, since
//! without them overflow wraps.

use crate::edit::globals::Globals;
use crate::edit::nothing;
use crate::edit::{Code, Edits};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::spv::op::{decoration, execution_mode};
use crate::spv::{Id, Inst, op};

/// More than devices with `VK_EXT_shader_long_vector` have.
const MAX_COMPONENTS: u32 = 4096;

/// Lowers a module that declares `PoisonFreezeKHR`.
pub(crate) fn lower(index: &Index<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut globals = Globals::new(index);
    let modes = index
        .execution_modes
        .iter()
        .filter(|m| m.word(2) == execution_mode::ArithmeticPoisonKHR);
    let mut arithmetic = false;
    for mode in modes {
        edits.remove(mode.offset, mode.words.len());
        arithmetic = true;
    }
    if arithmetic {
        drop_wrap_decorations(index, &mut edits);
    }
    for inst in index.globals() {
        if matches!(inst.opcode(), op::PoisonKHR | op::Undef) {
            let ty = inst.result_type();
            let opcode = match inst.opcode() {
                _ if nothing::has_null(index, &mut globals, ty) => op::ConstantNull,
                op::PoisonKHR => op::Undef,
                _ => continue,
            };
            let mut code = Code::default();
            code.op(opcode, &[ty, inst.result()]);
            edits.replace(inst.offset, inst.words.len(), &code.words);
        }
        if arithmetic && inst.opcode() == op::SpecConstantOp {
            check_vectors(index, &inst)?;
            let total = Total {
                index,
                globals: &mut globals,
                code: Code::default(),
                specialized: true,
            };
            if let Some(code) = total.rewrite(&inst, inst.word(3) as u16, inst.from(4)) {
                edits.replace(inst.offset, inst.words.len(), &code.words);
            }
        }
    }
    for inst in index.functions.iter().flat_map(|f| index.insts(f.offset, f.end)) {
        let (ty, result) = (inst.result_type(), inst.result());
        let mut code = Code::default();
        match inst.opcode() {
            op::PoisonKHR | op::Undef => match nothing::defined(index, &mut globals, &mut code, ty) {
                Some(value) => code.op(op::CopyObject, &[ty, result, value]),
                None if inst.opcode() == op::PoisonKHR => code.op(op::Undef, &[ty, result]),
                None => continue,
            },
            op::FreezeKHR => code.op(op::CopyObject, &[ty, result, inst.word(3)]),
            opcode if arithmetic => {
                check_vectors(index, &inst)?;
                let total = Total {
                    index,
                    globals: &mut globals,
                    code: Code::default(),
                    specialized: false,
                };
                match total.rewrite(&inst, opcode, inst.from(3)) {
                    Some(rewritten) => code = rewritten,
                    None => continue,
                }
            }
            _ => continue,
        }
        edits.replace(inst.offset, inst.words.len(), &code.words);
    }
    globals.finish(index, &mut edits);
    Ok(edits)
}

/// Constants are made of as many components as the vectors of an instruction have.
fn check_vectors(index: &Index<'_>, inst: &Inst<'_>) -> Result<()> {
    let types = inst.from(3).iter().map(|operand| index.type_of(*operand));
    let vectors = types.chain([inst.result_type()]).filter_map(|ty| index.def(ty));
    let Some(vector) = vectors
        .filter(|ty| ty.opcode() == op::TypeVector)
        .find(|ty| ty.word(3) > MAX_COMPONENTS)
    else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Unsupported,
        "poison",
        inst.offset as u32,
        format!(
            "%{} is a vector of {} components: under ArithmeticPoisonKHR vectors of up to {MAX_COMPONENTS} are lowered",
            vector.word(1),
            vector.word(3)
        ),
    ))
}

fn drop_wrap_decorations(index: &Index<'_>, edits: &mut Edits) {
    for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
        let wrap = matches!(inst.word(2), decoration::NoSignedWrap | decoration::NoUnsignedWrap);
        if inst.opcode() == op::Decorate && wrap {
            edits.remove(inst.offset, inst.words.len());
        }
    }
}

/// Makes one instruction total.
struct Total<'a, 'w> {
    index: &'a Index<'w>,
    globals: &'a mut Globals,
    code: Code,
    /// It is an `OpSpecConstantOp`, and so must be what goes before it.
    specialized: bool,
}

impl Total<'_, '_> {
    fn rewrite(mut self, inst: &Inst<'_>, opcode: u16, operands: &[u32]) -> Option<Code> {
        let (ty, result) = (inst.result_type(), inst.result());
        match (opcode, operands) {
            (op::UDiv | op::UMod, &[a, b]) if !self.is_constant_but(b, &[0]) => {
                let b = self.divisor(ty, a, b, false);
                self.put(opcode, ty, result, &[a, b]);
            }
            (op::SDiv | op::SRem | op::SMod, &[a, b]) if !self.is_constant_but(b, &[0, u64::MAX]) => {
                let b = self.divisor(ty, a, b, true);
                self.put(opcode, ty, result, &[a, b]);
            }
            (op::ConvertFToU | op::ConvertFToS, &[value]) if !self.specialized => {
                let value = self.in_range(ty, value, opcode == op::ConvertFToS);
                self.put(opcode, ty, result, &[value]);
            }
            _ => return None,
        }
        Some(self.code)
    }

    fn put(&mut self, opcode: u16, ty: Id, result: Id, operands: &[u32]) {
        if self.specialized {
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

    /// Scalar type, its width in bits, and the number of components (1 for scalars).
    fn shape(&self, ty: Id) -> (Id, u32, u32) {
        let Some(inst) = self.index.def(ty) else {
            return (ty, 32, 1);
        };
        match inst.opcode() {
            op::TypeVector => {
                let scalar = inst.word(2);
                (scalar, self.index.def(scalar).map_or(32, |s| s.word(2)), inst.word(3))
            }
            _ => (ty, inst.word(2), 1),
        }
    }

    /// The Boolean type of a comparison of values of a type.
    fn bool_of(&mut self, ty: Id) -> Id {
        let (_, _, count) = self.shape(ty);
        let bool = self.globals.bool();
        if count == 1 {
            bool
        } else {
            self.globals.vector(bool, count)
        }
    }

    /// A constant with the same bits in every component.
    fn splat(&mut self, ty: Id, bits: u64) -> Id {
        let (scalar, width, count) = self.shape(ty);
        let signed = self
            .index
            .def(scalar)
            .is_some_and(|t| t.opcode() == op::TypeInt && t.word(3) != 0);
        let low = match width {
            8 if signed => bits as u8 as i8 as i32 as u32,
            16 if signed => bits as u16 as i16 as i32 as u32,
            8 => bits as u8 as u32,
            16 => bits as u16 as u32,
            _ => bits as u32,
        };
        let words = [low, (bits >> 32) as u32];
        let one = self.globals.value(
            op::Constant,
            scalar,
            words.get(..if width > 32 { 2 } else { 1 }).unwrap_or(&[]),
        );
        if count == 1 {
            return one;
        }
        self.globals
            .value(op::ConstantComposite, ty, &vec![one; count as usize])
    }

    fn divisor(&mut self, ty: Id, a: Id, b: Id, signed: bool) -> Id {
        // Operand types may differ from the result's in signedness; comparing bits is the same for both.
        let (left, right) = (self.index.type_of(a), self.index.type_of(b));
        let bool = self.bool_of(ty);
        let zero = self.splat(right, 0);
        let mut bad = self.emit(op::IEqual, bool, &[b, zero]);
        if signed {
            let (_, width, _) = self.shape(right);
            let (minus_one, least) = (
                self.splat(right, u64::MAX),
                self.splat(left, 1 << (width.clamp(1, 64) - 1)),
            );
            let by_minus_one = self.emit(op::IEqual, bool, &[b, minus_one]);
            let of_least = self.emit(op::IEqual, bool, &[a, least]);
            let overflow = self.emit(op::LogicalAnd, bool, &[by_minus_one, of_least]);
            bad = self.emit(op::LogicalOr, bool, &[bad, overflow]);
        }
        let one = self.splat(right, 1);
        self.emit(op::Select, right, &[bad, one, b])
    }

    fn in_range(&mut self, ty: Id, value: Id, signed: bool) -> Id {
        let (_, bits, _) = self.shape(ty);
        let from = self.index.type_of(value);
        let (_, float_bits, _) = self.shape(from);
        let bits = bits.clamp(1, 64) as i32;
        let (least, above) = if signed {
            (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1))
        } else {
            (0.0, 2f64.powi(bits))
        };
        // What truncates to the least integer is in range: all above it minus one, where the type can tell these apart.
        let significant = match float_bits {
            16 => 11,
            32 => 24,
            _ => 53,
        };
        let (opcode, below) = if !signed || bits - 1 < significant {
            (op::FOrdGreaterThan, least - 1.0)
        } else {
            (op::FOrdGreaterThanEqual, least)
        };
        let bool = self.bool_of(ty);
        let (low, high) = (
            self.splat(from, float(below, float_bits)),
            self.splat(from, float(above, float_bits)),
        );
        let enough = self.emit(opcode, bool, &[value, low]);
        let little = self.emit(op::FOrdLessThan, bool, &[value, high]);
        let fits = self.emit(op::LogicalAnd, bool, &[enough, little]);
        let zero = self.splat(from, 0);
        self.emit(op::Select, from, &[fits, value, zero])
    }
}

/// Bits of a power of two, or of one plus 1, as a float of a width; infinite where the width cannot hold it.
fn float(value: f64, bits: u32) -> u64 {
    match bits {
        16 => u64::from(half(value)),
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// Nearest half-precision float, for values that need at most 11 significant bits.
fn half(value: f64) -> u16 {
    let sign = if value < 0.0 { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7C00;
    }
    if magnitude < 6.103_515_625e-5 {
        return sign;
    }
    let bits = magnitude.to_bits();
    let exponent = ((bits >> 52) as i32 - 1023 + 15) as u16;
    sign | exponent << 10 | (bits >> 42 & 0x3FF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact_in_every_width() {
        assert_eq!(half(1.0), 0x3C00);
        assert_eq!(half(-1.0), 0xBC00);
        assert_eq!(half(32768.0), 0x7800);
        assert_eq!(half(-129.0), 0xD808);
        assert_eq!(half(2f64.powi(32)), 0x7C00);
        assert_eq!(float(2f64.powi(31), 32), 0x4F00_0000);
        assert_eq!(float(-2_147_483_649.0, 64), (-2_147_483_649.0f64).to_bits());
    }
}
