//! Constants and instructions without side effects.

use super::arithmetic::{Fault, Kind, binary, bit_field, extended_product, float, float_bits, unary};
use super::error::{Result, undefined, unsupported};
use super::machine::{Machine, UndefinedValues};
use super::memory::Region;
use super::types::Type;
use super::value::{BytePointer, Pointer, Scalar, Space, Value, ones};
use crate::module::Id;
use crate::op::{self, decoration};
use crate::words::Inst;
use std::collections::HashMap;

/// Source of frozen bits. Any stable value is correct; 0 would hide mistakes.
const FROZEN: u64 = 0x5A5A_5A5A_5A5A_5A5A;

/// A function of a float.
type Function = fn(f64) -> f64;

/// Functions of `GLSL.std.450` by their number: `Log2`, `Sqrt` and `InverseSqrt`.
const GLSL_FUNCTIONS: [(u32, Function); 3] = [(30, f64::log2), (31, f64::sqrt), (32, |value| value.sqrt().recip())];

impl Machine<'_> {
    /// Value of a constant instruction; `None` for other instructions.
    pub(super) fn constant(&self, inst: &Inst, specialization: &HashMap<u32, u32>) -> Result<Option<Value>> {
        let (ty, id) = (inst.word(0), inst.word(1));
        let specialised = self
            .types
            .decoration(id, decoration::SpecId)
            .and_then(|spec_id| specialization.get(&spec_id));
        Ok(Some(match inst.op {
            op::ConstantTrue => Value::number(1),
            op::ConstantFalse => Value::number(0),
            op::SpecConstantTrue => Value::number(specialised.map_or(1, |v| u64::from(*v != 0))),
            op::SpecConstantFalse => Value::number(specialised.map_or(0, |v| u64::from(*v != 0))),
            op::Constant | op::SpecConstant => {
                let default = u64::from(inst.word(2)) | u64::from(inst.word(3)) << 32;
                let bits = specialised.map_or(default, |v| u64::from(*v));
                Value::number(bits & ones(self.types.width(ty)))
            }
            op::ConstantComposite | op::SpecConstantComposite => Value::Composite(
                inst.operands_from(2)
                    .iter()
                    .map(|part| self.value(*part).cloned())
                    .collect::<Result<_>>()?,
            ),
            op::ConstantNull => self.types.filled(ty, false),
            op::Undef | op::PoisonKHR => self.types.filled(ty, true),
            op::ConstantDataKHR | op::SpecConstantDataKHR => {
                let width = self.types.part(ty, 0).map_or(8, |element| self.types.width(element));
                Value::Composite(
                    (0..self.types.parts(ty))
                        .map(|number| Value::number(data(inst.operands_from(2), number, width)))
                        .collect(),
                )
            }
            op::SpecConstantOp => self.compute(&Inst {
                op: inst.word(2) as u16,
                operands: [&[ty, id], inst.operands_from(3)].concat(),
                offset: inst.offset,
            })?,
            _ => return Ok(None),
        }))
    }

    fn kind(&self, ty: Id) -> Kind {
        let scalar = match self.types.get(ty) {
            Type::Vector { component, .. } => *component,
            _ => ty,
        };
        Kind {
            width: self.types.width(scalar),
            signed: matches!(self.types.get(scalar), Type::Int { signed: true, .. }),
            float: matches!(self.types.get(scalar), Type::Float { .. }),
        }
    }

    /// Value of an instruction of `GLSL.std.450`, the only set with results in the modules that are interpreted.
    fn glsl_function(&self, inst: &Inst) -> Result<Value> {
        let number = inst.word(3);
        let Some(function) = GLSL_FUNCTIONS
            .iter()
            .find(|(of, _)| *of == number)
            .map(|(_, function)| function)
        else {
            return unsupported(format!("instruction {number} of a set"));
        };
        let Some(argument) = self.value(inst.word(4))?.scalar() else {
            return unsupported("a function of a vector");
        };
        let width = self.kind(inst.word(0)).width;
        let bits = float_bits(function(float(argument.bits, width)), width);
        Ok(Value::Scalar(Scalar::new_unless(argument.undef != 0, bits, width)))
    }

    /// Value of an instruction without side effects.
    pub(super) fn compute(&self, inst: &Inst) -> Result<Value> {
        let ty = inst.word(0);
        let operand = |i: usize| self.value(inst.word(i));
        match inst.op {
            op::CopyObject | op::CopyLogical => operand(2).cloned(),
            op::Undef | op::PoisonKHR => Ok(self.types.filled(ty, true)),
            op::FreezeKHR => Ok(freeze(operand(2)?)),
            op::CompositeConstruct => self.construct(ty, inst.operands_from(2)),
            op::CompositeExtract => match operand(2)?.at(inst.operands_from(3)) {
                Some(value) => Ok(value.clone()),
                None => unsupported(format!("a missing part of %{}", inst.word(2))),
            },
            op::CompositeInsert => {
                let mut whole = operand(3)?.clone();
                let part = operand(2)?.clone();
                match whole.at_mut(inst.operands_from(4)) {
                    Some(slot) => *slot = part,
                    None => return unsupported("an insertion into a missing part"),
                }
                Ok(whole)
            }
            op::VectorExtractDynamic => {
                let index = self.defined_scalar(inst.word(3), "an index")?;
                match operand(2)?.at(&[index as u32]) {
                    Some(value) => Ok(value.clone()),
                    None => undefined("an index beyond the end of a vector"),
                }
            }
            op::VectorShuffle => {
                let all: Vec<&Value> = [operand(2)?, operand(3)?]
                    .iter()
                    .flat_map(|v| v.parts().unwrap_or(&[]))
                    .collect();
                let pick = |i: &u32| {
                    all.get(*i as usize)
                        .map_or_else(|| self.types.filled(ty, true), |v| (*v).clone())
                };
                Ok(Value::Composite(inst.operands_from(4).iter().map(pick).collect()))
            }
            op::Select => self.select(operand(2)?, operand(3)?, operand(4)?, ty),
            op::Bitcast => {
                let width = self.kind(self.type_of(inst.word(2))).width;
                self.bitcast(ty, operand(2)?, width)
            }
            op::SMulExtended => {
                let width = self.kind(self.type_of(inst.word(2))).width;
                let scalars = operand(2)?.scalar().zip(operand(3)?.scalar());
                let Some((a, b)) = scalars else {
                    return unsupported("an extended product of vectors");
                };
                Ok(Value::Composite(
                    extended_product(a, b, width).map(Value::Scalar).into(),
                ))
            }
            op::BitFieldInsert | op::BitFieldSExtract | op::BitFieldUExtract => {
                let first = if inst.op == op::BitFieldInsert { 4 } else { 3 };
                let Some(field) = operand(first)?.scalar().zip(operand(first + 1)?.scalar()) else {
                    return unsupported("a bit field at a vector");
                };
                let width = self.kind(ty).width;
                // An extraction has one value.
                map(&[operand(2)?, operand(first - 1)?], &|s| {
                    self.poisoned(inst.op, bit_field(inst.op, [s[0], s[1]], field, width), width)
                })
            }
            op::ArrayLength => self.array_length(inst.word(2), inst.word(3)),
            op::ExtInst => self.glsl_function(inst),
            op::Any | op::All => {
                let (start, opcode) = match inst.op {
                    op::All => (1, op::LogicalAnd),
                    _ => (0, op::LogicalOr),
                };
                let kind = self.kind(ty);
                let mut scalars = operand(2)?.parts().unwrap_or(&[]).iter().filter_map(Value::scalar);
                let result = scalars.try_fold(Scalar::new(start), |a, b| binary(opcode, a, b, kind));
                self.poisoned(inst.op, result, 1).map(Value::Scalar)
            }
            _ if inst.operands.len() == 3 => {
                let from = self.kind(self.type_of(inst.word(2)));
                let to = self.kind(ty);
                map(&[operand(2)?], &|s| {
                    self.poisoned(inst.op, unary(inst.op, s[0], from, to), to.width)
                })
            }
            _ if inst.operands.len() == 4 => {
                let kind = self.kind(self.type_of(inst.word(2)));
                let width = self.kind(ty).width;
                map(&[operand(2)?, operand(3)?], &|s| {
                    self.poisoned(inst.op, binary(inst.op, s[0], s[1], kind), width)
                })
            }
            other => unsupported(format!("opcode {other}")),
        }
    }

    fn poisoned(&self, opcode: u16, result: std::result::Result<Scalar, Fault>, width: u32) -> Result<Scalar> {
        match result {
            // Undefined as a whole, as the checks see it.
            Ok(scalar) if self.undefined == UndefinedValues::Followed && scalar.undef != 0 => {
                Ok(Scalar::undefined(width))
            }
            Ok(scalar) => Ok(scalar),
            Err(Fault::Arithmetic(_)) if self.undefined == UndefinedValues::Arbitrary => {
                Ok(Scalar::new(0x5A5A_5A5A_5A5A_5A5A & ones(width)))
            }
            Err(Fault::Arithmetic(_)) if self.undefined == UndefinedValues::Followed => Ok(Scalar::undefined(width)),
            Err(Fault::Arithmetic(reason)) if !self.poison => undefined(reason),
            Err(Fault::Arithmetic(_)) => Ok(Scalar::undefined(width)),
            Err(Fault::Unknown) => unsupported(format!("opcode {opcode} as arithmetic")),
        }
    }

    fn construct(&self, ty: Id, parts: &[Id]) -> Result<Value> {
        let mut all = Vec::with_capacity(parts.len());
        let flat = matches!(self.types.get(ty), Type::Vector { .. });
        for part in parts {
            match self.value(*part)? {
                // Vectors can be constructed from vectors.
                Value::Composite(inner) if flat => all.extend(inner.iter().cloned()),
                value => all.push(value.clone()),
            }
        }
        Ok(Value::Composite(all))
    }

    fn select(&self, condition: &Value, yes: &Value, no: &Value, ty: Id) -> Result<Value> {
        match (condition, yes, no) {
            (Value::Composite(conditions), Value::Composite(yes), Value::Composite(no)) => {
                let element = self.types.part(ty, 0).unwrap_or(ty);
                let parts = conditions.iter().zip(yes.iter().zip(no));
                parts
                    .map(|(c, (y, n))| self.select(c, y, n, element))
                    .collect::<Result<_>>()
                    .map(Value::Composite)
            }
            (Value::Scalar(condition), ..) => Ok(match condition.defined() {
                Some(0) => no.clone(),
                Some(_) => yes.clone(),
                None => self.types.filled(ty, true),
            }),
            _ => unsupported("a selection by a value that is not a Boolean"),
        }
    }

    fn bitcast(&self, ty: Id, value: &Value, width: u32) -> Result<Value> {
        // The largest value is a vector of four 64-bit components.
        let mut bytes = Region::new(vec![0; 32]);
        write_packed(&mut bytes, &mut 0, value, width / 8);
        let read = |index: u32, width: u32| {
            let scalar = bytes.read(u64::from(index * width / 8), width / 8);
            scalar.map_or_else(|| unsupported("a bit cast of a large value"), Ok)
        };
        Ok(match self.types.get(ty) {
            Type::Vector { component, count } => {
                let width = self.types.width(*component);
                let parts = (0..*count).map(|index| read(index, width).map(Value::Scalar));
                Value::Composite(parts.collect::<Result<_>>()?)
            }
            Type::Pointer { .. } => {
                let Some(address) = read(0, 64)?.defined() else {
                    return undefined("a pointer with undefined bits");
                };
                Value::Pointer(Pointer::Bytes(BytePointer::new(Space::Physical, address)))
            }
            _ => Value::Scalar(read(0, self.types.width(ty))?),
        })
    }

    /// Type of a value.
    pub(super) fn type_of(&self, id: Id) -> Id {
        self.result_types.get(id as usize).copied().unwrap_or(0)
    }
}

/// Writes the scalars of a value, of `size` bytes each, from `at` on, without gaps.
fn write_packed(bytes: &mut Region, at: &mut u64, value: &Value, size: u32) {
    let (scalar, size) = match value {
        Value::Composite(parts) => return parts.iter().for_each(|part| write_packed(bytes, at, part, size)),
        Value::Pointer(Pointer::Bytes(pointer)) => (Scalar::new(pointer.at), 8),
        Value::Pointer(Pointer::Logical { .. }) => return,
        Value::Scalar(scalar) => (*scalar, size),
    };
    let _ = bytes.write(*at, size, scalar);
    *at += u64::from(size);
}

fn freeze(value: &Value) -> Value {
    match value {
        Value::Scalar(s) => Value::number(s.bits & !s.undef | FROZEN & s.undef),
        Value::Composite(parts) => Value::Composite(parts.iter().map(freeze).collect()),
        Value::Pointer(_) => value.clone(),
    }
}

/// Element `number` of packed data.
fn data(words: &[u32], number: u32, width: u32) -> u64 {
    let first = number as usize * (width / 8) as usize;
    (0..(width / 8) as usize)
        .map(|i| {
            let at = first + i;
            let word = words.get(at / 4).copied().unwrap_or(0);
            u64::from(word >> (8 * (at % 4)) & 0xFF) << (8 * i)
        })
        .fold(0, |a, b| a | b)
}

/// Applies a scalar operation to scalars, or component-wise to vectors.
fn map(operands: &[&Value], operation: &dyn Fn(&[Scalar]) -> Result<Scalar>) -> Result<Value> {
    if let Some(scalars) = operands.iter().map(|v| v.scalar()).collect::<Option<Vec<_>>>() {
        return operation(&scalars).map(Value::Scalar);
    }
    let Some(vectors) = operands.iter().map(|v| v.parts()).collect::<Option<Vec<_>>>() else {
        return unsupported("arithmetic on a value that is not a number");
    };
    let count = vectors.iter().map(|v| v.len()).min().unwrap_or(0);
    (0..count)
        .map(|i| {
            let scalars: Vec<Scalar> = vectors.iter().filter_map(|v| v.get(i)?.scalar()).collect();
            if scalars.len() != operands.len() {
                return unsupported("arithmetic on a value that is not a vector of numbers");
            }
            operation(&scalars).map(Value::Scalar)
        })
        .collect::<Result<_>>()
        .map(Value::Composite)
}
