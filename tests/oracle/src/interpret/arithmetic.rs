//! Scalar arithmetic. Undefined bits propagate where an operation allows it. Undefined behaviour is reported: division by
//! zero, shifts by the width or more, and conversions out of range.

use super::value::{Scalar, ones};
use crate::op;
use half::f16;

/// Outcome of an operation without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Undefined behaviour, poison under `ArithmeticPoisonKHR`.
    Arithmetic(&'static str),
    /// The opcode is not supported.
    Unknown,
}

/// Type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Width in bits; 1 for Booleans.
    pub width: u32,
    /// Whether it is a signed integer.
    pub signed: bool,
    /// Whether it is a float.
    pub float: bool,
}

fn signed(bits: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((bits << shift) as i64) >> shift
}

/// Decodes a float.
pub fn float(bits: u64, width: u32) -> f64 {
    match width {
        16 => f16::from_bits(bits as u16).to_f64(),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Encodes a float.
pub fn float_bits(value: f64, width: u32) -> u64 {
    match width {
        16 => u64::from(f16::from_f64(value).to_bits()),
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// The low and the high half of a product of signed numbers.
pub fn extended_product(a: Scalar, b: Scalar, width: u32) -> [Scalar; 2] {
    let product = i128::from(signed(a.bits, width)) * i128::from(signed(b.bits, width));
    let undef = a.undef != 0 || b.undef != 0;
    [product, product >> width].map(|half| Scalar::new_unless(undef, half as u64, width))
}

/// Inserts bits of the second value into the first one, or extracts those of the first one. `field`: offset and count.
pub fn bit_field(
    opcode: u16,
    [base, insert]: [Scalar; 2],
    (offset, count): (Scalar, Scalar),
    width: u32,
) -> Result<Scalar, Fault> {
    let is_inside = offset.bits.saturating_add(count.bits) <= u64::from(width);
    if offset.undef != 0 || count.undef != 0 || !is_inside {
        return Err(Fault::Arithmetic("a bit field beyond the value"));
    }
    let (mask, count) = (ones(width), count.bits as u32);
    if count == 0 {
        return Ok(if opcode == op::BitFieldInsert {
            base
        } else {
            Scalar::new(0)
        });
    }
    let field = ones(count);
    let result = |base: u64, insert: u64| match opcode {
        op::BitFieldInsert => base & !(field << offset.bits) | (insert & field) << offset.bits,
        op::BitFieldSExtract => signed(base >> offset.bits & field, count) as u64 & mask,
        _ => base >> offset.bits & field,
    };
    Ok(Scalar {
        bits: result(base.bits, insert.bits),
        undef: result(base.undef, insert.undef),
    })
}

/// Evaluates a unary operation.
pub fn unary(opcode: u16, a: Scalar, from: Kind, to: Kind) -> Result<Scalar, Fault> {
    let mask = ones(to.width);
    let all = |bits: u64| Scalar::new_unless(a.undef != 0, bits, to.width);
    Ok(match opcode {
        op::Not => Scalar {
            bits: !a.bits & mask,
            undef: a.undef,
        },
        op::LogicalNot => Scalar {
            bits: (a.bits ^ 1) & 1,
            undef: a.undef,
        },
        op::UConvert => Scalar {
            bits: a.bits & mask,
            undef: a.undef & mask,
        },
        op::SConvert => Scalar {
            bits: signed(a.bits, from.width) as u64 & mask,
            undef: signed(a.undef, from.width) as u64 & mask,
        },
        op::SNegate => all((a.bits as i64).wrapping_neg() as u64),
        op::ConvertUToF => all(float_bits(a.bits as f64, to.width)),
        op::ConvertSToF => all(float_bits(signed(a.bits, from.width) as f64, to.width)),
        op::FConvert => all(float_bits(float(a.bits, from.width), to.width)),
        op::ConvertFToU | op::ConvertFToS => {
            let value = float(a.bits, from.width).trunc();
            let (low, high) = if opcode == op::ConvertFToU {
                (0.0, 2f64.powi(to.width as i32))
            } else {
                let half = 2f64.powi(to.width as i32 - 1);
                (-half, half)
            };
            if a.undef == 0 && !(value >= low && value < high) {
                return Err(Fault::Arithmetic("a conversion out of range"));
            }
            all(if opcode == op::ConvertFToU {
                value as u64
            } else {
                value as i64 as u64
            })
        }
        _ => return Err(Fault::Unknown),
    })
}

/// Evaluates a binary operation on operands of one kind; for shifts, the kind of the first.
pub fn binary(opcode: u16, a: Scalar, b: Scalar, kind: Kind) -> Result<Scalar, Fault> {
    let width = kind.width;
    let mask = ones(width);
    let undef = a.undef != 0 || b.undef != 0;
    let number = |bits: u64| Scalar::new_unless(undef, bits, width);
    let truth = |holds: bool| Scalar::new_unless(undef, u64::from(holds), 1);
    let (x, y) = (a.bits, b.bits);
    let (sx, sy) = (signed(x, width), signed(y, width));
    let (fx, fy) = if kind.float {
        (float(x, width), float(y, width))
    } else {
        (0.0, 0.0)
    };
    let unordered = fx.is_nan() || fy.is_nan();
    Ok(match opcode {
        op::IAdd => number(x.wrapping_add(y)),
        op::ISub => number(x.wrapping_sub(y)),
        op::IMul => number(x.wrapping_mul(y)),
        op::FAdd => number(float_bits(fx + fy, width)),
        op::FSub => number(float_bits(fx - fy, width)),
        op::FMul => number(float_bits(fx * fy, width)),
        op::UDiv | op::UMod | op::SDiv | op::SRem | op::SMod => {
            if undef {
                return Err(Fault::Arithmetic("a division by an undefined value"));
            }
            if y == 0 {
                return Err(Fault::Arithmetic("a division by zero"));
            }
            let minimum = sx == signed(1 << (width - 1), width);
            if opcode != op::UDiv && opcode != op::UMod && minimum && sy == -1 {
                return Err(Fault::Arithmetic("a signed division that overflows"));
            }
            number(match opcode {
                op::UDiv => x / y,
                op::UMod => x % y,
                op::SDiv => sx.wrapping_div(sy) as u64,
                op::SRem => sx.wrapping_rem(sy) as u64,
                _ => {
                    let rest = sx.wrapping_rem(sy);
                    (if rest != 0 && (rest < 0) != (sy < 0) {
                        rest + sy
                    } else {
                        rest
                    }) as u64
                }
            })
        }
        op::ShiftLeftLogical | op::ShiftRightLogical | op::ShiftRightArithmetic => {
            if b.undef != 0 || y >= u64::from(width) {
                return Err(Fault::Arithmetic("a shift by the width or more"));
            }
            let shift = |v: u64| match opcode {
                op::ShiftLeftLogical => v << y & mask,
                op::ShiftRightLogical => v >> y,
                _ => (signed(v, width) >> y) as u64 & mask,
            };
            Scalar {
                bits: shift(x),
                undef: shift(a.undef),
            }
        }
        op::BitwiseAnd | op::LogicalAnd => Scalar {
            bits: x & y,
            undef: (a.undef | b.undef) & (x | a.undef) & (y | b.undef),
        },
        op::BitwiseOr | op::LogicalOr => Scalar {
            bits: x | y,
            undef: (a.undef | b.undef) & !(x & !a.undef) & !(y & !b.undef),
        },
        op::BitwiseXor => Scalar {
            bits: x ^ y,
            undef: a.undef | b.undef,
        },
        op::IEqual | op::LogicalEqual => truth(x == y),
        op::INotEqual | op::LogicalNotEqual => truth(x != y),
        op::UGreaterThan => truth(x > y),
        op::UGreaterThanEqual => truth(x >= y),
        op::ULessThan => truth(x < y),
        op::ULessThanEqual => truth(x <= y),
        op::SGreaterThan => truth(sx > sy),
        op::SGreaterThanEqual => truth(sx >= sy),
        op::SLessThan => truth(sx < sy),
        op::SLessThanEqual => truth(sx <= sy),
        op::FOrdEqual => truth(fx == fy),
        op::FOrdLessThan => truth(fx < fy),
        op::FOrdGreaterThan => truth(fx > fy),
        op::FOrdLessThanEqual => truth(fx <= fy),
        op::FOrdGreaterThanEqual => truth(fx >= fy),
        op::FUnordEqual => truth(fx == fy || unordered),
        op::FUnordNotEqual => truth(fx != fy || unordered),
        op::FOrdNotEqual => truth(fx != fy && !unordered),
        op::FUnordLessThan => truth(fx < fy || unordered),
        op::FUnordGreaterThan => truth(fx > fy || unordered),
        op::FUnordLessThanEqual => truth(fx <= fy || unordered),
        op::FUnordGreaterThanEqual => truth(fx >= fy || unordered),
        _ => return Err(Fault::Unknown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_convert_to_doubles_and_back() {
        for bits in 0..=u16::MAX {
            let value = float(bits.into(), 16);
            if !value.is_nan() {
                assert_eq!(float_bits(value, 16), u64::from(bits), "{value}");
            }
        }
        assert_eq!(float(0x3C00, 16), 1.0);
        assert_eq!(float(0xC500, 16), -5.0);
    }

    #[test]
    fn masking_defines_undefined_bits() {
        let kind = Kind {
            width: 32,
            signed: false,
            float: false,
        };
        let undefined = Scalar::undefined(32);
        let low = binary(op::BitwiseAnd, undefined, Scalar::new(0xFF), kind).expect("defined");
        assert_eq!(low.undef, 0xFF);
        let set = binary(op::BitwiseOr, low, Scalar::new(0xFF), kind).expect("defined");
        assert_eq!(set, Scalar::new(0xFF));
        assert!(binary(op::UDiv, Scalar::new(1), Scalar::new(0), kind).is_err());
        assert!(binary(op::ShiftLeftLogical, Scalar::new(1), Scalar::new(32), kind).is_err());
    }
}
