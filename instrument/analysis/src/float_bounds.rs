//! Bounds of floats: which numbers a value can be, beside NaN.
//!
//! ```text
//! %d = Dot %v %v                  not negative
//! %s = FAdd %d %one               at least 1
//! %l = ExtInst Log %s             so its argument is positive
//! ```
//!
//! Bounds are of all components of a value, and only such that rounding keeps: of monotone operations, and none of sines, products of different
//! vectors and normalised vectors, which drivers compute approximately. One walk over a function: a phi, a parameter and what memory holds
//! that others may store have no bounds. O(instructions).

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op::glsl;
use vkabort_spirv::{Id, Inst, op};

/// The least and the greatest number that a value can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub low: f64,
    pub high: f64,
}

impl Bounds {
    /// Those of a value of which nothing is known.
    pub const NONE: Self = Self::new(f64::NEG_INFINITY, f64::INFINITY);
    const NOT_NEGATIVE: Self = Self::new(0.0, f64::INFINITY);

    const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }
}

/// The bounds of the values of a function.
#[derive(Debug, Default)]
pub struct FloatBounds {
    by_value: HashMap<Id, Bounds>,
}

impl FloatBounds {
    /// Those of all values. `original`: the value that another one is, whatever loads and copies are between.
    pub fn new(index: &Index<'_>, function: &Function, mut original: impl FnMut(Id) -> Id) -> Self {
        let sets = index.sets("GLSL.std.450");
        let mut all = Self::default();
        for block in index.blocks_of(function) {
            for inst in index.insts(block.offset, block.end) {
                let copy = matches!(inst.opcode(), op::Load | op::CopyObject).then(|| original(inst.result()));
                let bounds = match copy {
                    Some(source) => all.of(index, source),
                    None => all.computed(index, &sets, &inst),
                };
                if bounds != Bounds::NONE {
                    all.by_value.insert(inst.result(), bounds);
                }
            }
        }
        all
    }

    /// The bounds of a value, or of a constant.
    pub fn of(&self, index: &Index<'_>, id: Id) -> Bounds {
        if let Some(bounds) = self.by_value.get(&id) {
            return *bounds;
        }
        let Some(constant) = index.def(id) else {
            return Bounds::NONE;
        };
        match constant.opcode() {
            op::Constant => self::constant(index, &constant),
            op::ConstantNull => Bounds::new(0.0, 0.0),
            // Of scalars: a composite of composites has none.
            op::ConstantComposite => {
                let parts = constant.ids(3).map(|part| match index.def(part) {
                    Some(part) if part.opcode() == op::Constant => self::constant(index, &part),
                    _ => Bounds::NONE,
                });
                parts.reduce(Bounds::union).unwrap_or(Bounds::NONE)
            }
            _ => Bounds::NONE,
        }
    }

    fn computed(&self, index: &Index<'_>, sets: &[Id], inst: &Inst<'_>) -> Bounds {
        let of = |word: usize| self.of(index, inst.id(word));
        match inst.opcode() {
            op::ExtInst if sets.contains(&inst.ext_inst_set()) => {
                let operands = inst.ids(5).map(|id| self.of(index, id));
                function(inst.ext_inst(), &operands.collect::<Vec<_>>())
            }
            op::CompositeConstruct => {
                let parts = inst.ids(3).map(|part| self.of(index, part));
                parts.reduce(Bounds::union).unwrap_or(Bounds::NONE)
            }
            op::CompositeExtract | op::VectorExtractDynamic => of(3),
            op::VectorShuffle | op::VectorInsertDynamic | op::CompositeInsert => of(3).union(of(4)),
            op::Select => of(4).union(of(5)),
            op::ConvertUToF => Bounds::NOT_NEGATIVE,
            op::FNegate => Bounds::new(-of(3).high, -of(3).low),
            op::FAdd => sum(of(3), of(4)),
            op::FSub => sum(of(3), Bounds::new(-of(4).high, -of(4).low)),
            // A square of itself.
            op::FMul | op::Dot if inst.id(3) == inst.id(4) => Bounds::NOT_NEGATIVE,
            op::FMul | op::VectorTimesScalar => product(of(3), of(4)),
            op::FDiv if of(3).low >= 0.0 && of(4).low >= 0.0 => Bounds::NOT_NEGATIVE,
            _ => Bounds::NONE,
        }
    }
}

fn constant(index: &Index<'_>, inst: &Inst<'_>) -> Bounds {
    let width = index.def(inst.result_type()).filter(|ty| ty.opcode() == op::TypeFloat);
    let bits = inst.constant_bits();
    let value = match width.map(|ty| ty.width()) {
        Some(32) => f64::from(f32::from_bits(bits as u32)),
        Some(64) => f64::from_bits(bits),
        _ => f64::NAN,
    };
    match value {
        _ if value.is_nan() => Bounds::NONE,
        // Drivers may flush a denormal to 0.
        _ if value.abs() < f64::from(f32::MIN_POSITIVE) => Bounds::new(value.min(0.0), value.max(0.0)),
        _ => Bounds::new(value, value),
    }
}

/// An infinity and its opposite add up to NaN.
fn sum(left: Bounds, right: Bounds) -> Bounds {
    let or = |value: f64, other: f64| if value.is_nan() { other } else { value };
    Bounds::new(
        or(left.low + right.low, f64::NEG_INFINITY),
        or(left.high + right.high, f64::INFINITY),
    )
}

/// Of numbers that are not negative. Others have no bounds.
fn product(left: Bounds, right: Bounds) -> Bounds {
    if left.low < 0.0 || right.low < 0.0 {
        return Bounds::NONE;
    }
    let high = left.high * right.high;
    Bounds::new(0.0, if high.is_nan() { f64::INFINITY } else { high })
}

fn function(number: u32, operands: &[Bounds]) -> Bounds {
    match (number, operands) {
        (glsl::FAbs, [value]) if value.low >= 0.0 => *value,
        (glsl::FAbs, [value]) => Bounds::new(0.0, value.high.max(-value.low)),
        (glsl::FMin | glsl::NMin, [left, right]) => Bounds::new(left.low.min(right.low), left.high.min(right.high)),
        (glsl::FMax | glsl::NMax, [left, right]) => Bounds::new(left.low.max(right.low), left.high.max(right.high)),
        (glsl::FClamp | glsl::NClamp, [value, low, high]) => Bounds::new(
            value.low.max(low.low).min(high.low),
            value.high.max(low.high).min(high.high),
        ),
        (glsl::Fract | glsl::Step | glsl::SmoothStep, _) => Bounds::new(0.0, 1.0),
        (glsl::FSign, _) => Bounds::new(-1.0, 1.0),
        (glsl::Exp | glsl::Exp2 | glsl::Sqrt | glsl::Length | glsl::Distance | glsl::Pow, _) => Bounds::NOT_NEGATIVE,
        _ => Bounds::NONE,
    }
}
