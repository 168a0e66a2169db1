//! Functions of `GLSL.std.450` whose result is undefined for some arguments.

use vkabort_analysis::float_bounds::Bounds;
use vkabort_spirv::op::glsl;

/// The least number that is too large for a float of 16 bits: halfway between the largest one and the next power of 2.
pub(super) const BEYOND_HALF: f64 = 65_520.0;

/// Arguments for which a result is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undefined {
    Negative,
    NotPositive,
    BelowOne,
    /// Beyond -1 and 1.
    Beyond,
    /// Beyond -1 and 1, and these.
    NotBetween,
    /// Both are 0.
    Zeros,
    /// The second one is 0.
    ByZero,
    /// A negative base, or 0 with an exponent that is not positive.
    Power,
    /// The second one is greater than the third: floats, and signed and unsigned integers.
    Swapped,
    SwappedSigned,
    SwappedUnsigned,
    /// The first one is not less than the second.
    Edges,
    /// The product is too large.
    TooLarge,
    NotFinite,
    ZeroVector,
    /// A component beyond the floats of 16 bits.
    BeyondHalf,
    Singular,
}

/// Name and domain of a function of `GLSL.std.450`.
pub(super) fn domain(number: u32) -> Option<(&'static str, Undefined)> {
    Some(match number {
        glsl::Sqrt => ("sqrt", Undefined::Negative),
        glsl::InverseSqrt => ("inversesqrt", Undefined::NotPositive),
        glsl::Log => ("log", Undefined::NotPositive),
        glsl::Log2 => ("log2", Undefined::NotPositive),
        glsl::Asin => ("asin", Undefined::Beyond),
        glsl::Acos => ("acos", Undefined::Beyond),
        glsl::Acosh => ("acosh", Undefined::BelowOne),
        glsl::Atanh => ("atanh", Undefined::NotBetween),
        glsl::Atan2 => ("atan", Undefined::Zeros),
        glsl::Pow => ("pow", Undefined::Power),
        glsl::FClamp | glsl::NClamp => ("clamp", Undefined::Swapped),
        glsl::SClamp => ("clamp", Undefined::SwappedSigned),
        glsl::UClamp => ("clamp", Undefined::SwappedUnsigned),
        glsl::SmoothStep => ("smoothstep", Undefined::Edges),
        glsl::Ldexp => ("ldexp", Undefined::TooLarge),
        glsl::FrexpStruct => ("frexp", Undefined::NotFinite),
        glsl::Normalize => ("normalize", Undefined::ZeroVector),
        glsl::PackHalf2x16 => ("packHalf2x16", Undefined::BeyondHalf),
        glsl::MatrixInverse => ("inverse", Undefined::Singular),
        _ => return None,
    })
}

impl Undefined {
    /// The arguments, in words.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Negative => "of negative numbers",
            Self::NotPositive => "of 0 and negative numbers",
            Self::BelowOne => "of numbers below 1",
            Self::Beyond => "beyond -1 to 1",
            Self::NotBetween => "of numbers that are not between -1 and 1",
            Self::Zeros => "of two zeros",
            Self::ByZero => "for a divisor of 0",
            Self::Power => "of negative numbers, and of 0 with an exponent that is not positive",
            Self::Swapped | Self::SwappedSigned | Self::SwappedUnsigned => {
                "where the minimum is greater than the maximum"
            }
            Self::Edges => "unless the first edge is less than the second",
            Self::TooLarge => "where the product is too large for a float",
            Self::NotFinite => "of NaN and infinities",
            Self::ZeroVector => "of a vector of length 0",
            Self::BeyondHalf => "of numbers beyond those of 16-bit floats",
            Self::Singular => "of a matrix whose determinant is 0",
        }
    }

    /// Whether an argument is shown as a whole, not by components.
    pub(super) fn is_of_all(self) -> bool {
        matches!(self, Self::ZeroVector | Self::BeyondHalf | Self::Singular)
    }

    /// Whether the result may be undefined for some arguments within these bounds.
    pub(super) fn can_fail(self, bounds: &[Bounds]) -> bool {
        let [first, rest @ ..] = bounds else { return true };
        match (self, rest) {
            (Self::Negative, _) => first.low < 0.0,
            (Self::NotPositive, _) => first.low <= 0.0,
            (Self::BelowOne, _) => first.low < 1.0,
            (Self::Beyond, _) => first.low < -1.0 || first.high > 1.0,
            (Self::BeyondHalf, _) => first.low <= -BEYOND_HALF || first.high >= BEYOND_HALF,
            (Self::NotBetween, _) => first.low <= -1.0 || first.high >= 1.0,
            (Self::Power, [exponent]) => first.low < 0.0 || first.low <= 0.0 && exponent.low <= 0.0,
            (Self::ByZero, [divisor]) => divisor.low <= 0.0 && divisor.high >= 0.0,
            (Self::Zeros, [x]) => [first, x].iter().all(|bounds| bounds.low <= 0.0 && bounds.high >= 0.0),
            (Self::Swapped, [low, high]) => low.high > high.low,
            (Self::Edges, [second, _]) => first.high >= second.low,
            _ => true,
        }
    }
}
