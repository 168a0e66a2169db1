//! The check of built-in functions: each row of its table is reported once, and arguments that are right are not.

use super::checked_body::{compile, expect};
use crate::case::{Case, cases};
use crate::vk::Gpu;
use anyhow::{Context as _, Result};

const DOMAIN: &[(&str, &str)] = &[("sanitize", "domain")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_domain::sqrt" => fault(gpu, "f = sqrt(bad ? -x : x);"), set(DOMAIN),
        logs(&["sqrt(-7.0) is undefined of negative numbers"]);
    "sanitize_domain::inversesqrt" => fault(gpu, "float y = bad ? 0.0 : x; f = inversesqrt(y);"), set(DOMAIN),
        logs(&["inversesqrt(0.0) is undefined of 0 and negative numbers: `inversesqrt(y)`"]);
    "sanitize_domain::log" => fault(gpu, "f = log(bad ? 0.0 : x);"), set(DOMAIN),
        logs(&["log(0.0) is undefined of 0 and negative numbers"]);
    "sanitize_domain::log2" => fault(gpu, "f = log2(bad ? -1.0 : x);"), set(DOMAIN),
        logs(&["log2(-1.0) is undefined of 0 and negative numbers"]);
    "sanitize_domain::asin_and_acos" => both(gpu, "f = i == 3u ? asin(x * 0.5) : acos(bad ? -1.25 : 0.5);"), set(DOMAIN),
        logs(&["asin(3.5) is undefined beyond -1 to 1", "acos(-1.25) is undefined beyond -1 to 1"]);
    "sanitize_domain::acosh_and_atanh" => both(gpu, "f = i == 3u ? acosh(bad ? 0.5 : 2.0) : atanh(bad ? 1.0 : 0.5);"), set(DOMAIN),
        logs(&["acosh(0.5) is undefined of numbers below 1", "atanh(1.0) is undefined of numbers that are not between -1 and 1"]);
    "sanitize_domain::atan" => fault(gpu, "float y = bad ? 0.0 : x; f = atan(y, y * -2.0);"), set(DOMAIN),
        logs(&["is undefined of two zeros: `atan(y, y * -2.0)`"]);
    "sanitize_domain::pow_of_a_negative_base" => fault(gpu, "f = pow(bad ? -x : x, 2.0);"), set(DOMAIN),
        logs(&["pow(-7.0, 2.0) is undefined of negative numbers, and of 0 with an exponent that is not positive"]);
    "sanitize_domain::pow_of_0" => fault(gpu, "float y = bad ? 0.0 : x; f = pow(y, y);"), set(DOMAIN),
        logs(&["pow(0.0, 0.0) is undefined of negative numbers"]);
    "sanitize_domain::clamp" => fault(gpu, "f = clamp(x, bad ? 2.0 : 0.0, 1.0);"), set(DOMAIN),
        logs(&["clamp(7.0, 2.0, 1.0) is undefined where the minimum is greater than the maximum"]);
    "sanitize_domain::clamps_of_integers" => both(gpu, "f = i == 3u ? float(clamp(int(word), bad ? 2 : -1, 1)) : float(clamp(word, bad ? 9u : 0u, 3u));"),
        set(DOMAIN), logs(&["clamp(7, 2, 1) is undefined where", "clamp(7, 9, 3) is undefined where"]);
    "sanitize_domain::a_component_of_a_clamp" => fault(gpu, "vec3 low = vec3(0.0, bad ? 2.0 : 0.5, 0.0); vec3 v = clamp(vec3(x), low, vec3(1.0)); f = v.x + v.y;"),
        set(DOMAIN), logs(&["clamp(7.0, 2.0, 1.0) is undefined where the minimum is greater than the maximum", "in component 1"]);
    "sanitize_domain::smoothstep" => fault(gpu, "f = smoothstep(1.0, bad ? 1.0 : 2.0, x);"), set(DOMAIN),
        logs(&["smoothstep(1.0, 1.0, 7.0) is undefined unless the first edge is less than the second"]);
    "sanitize_domain::ldexp" => fault(gpu, "f = ldexp(x, bad ? 126 : 1);"), set(DOMAIN),
        logs(&["ldexp(7.0, 126) is undefined where the product is too large for a float"]);
    "sanitize_domain::frexp" => fault(gpu, "int e; f = frexp(bad ? uintBitsToFloat(0x7F800000u) : x, e); f += float(e);"), set(DOMAIN),
        logs(&["frexp(inf) is undefined of NaN and infinities"]);
    "sanitize_domain::normalize" => fault(gpu, "vec3 v = normalize(vec3(bad ? 0.0 : x, 0.0, 0.0)); f = v.x + v.y;"), set(DOMAIN),
        logs(&["normalize(..) is undefined of a vector of length 0"]);
    "sanitize_domain::inverse" => fault(gpu, "mat2 m = inverse(mat2(x, 0.0, bad ? x : 1.0, bad ? 0.0 : 1.0)); f = m[0][0] + m[1][1];"), set(DOMAIN),
        logs(&["inverse(..) is undefined of a matrix whose determinant is 0"]);
    "sanitize_domain::mod" => fault(gpu, "float y = bad ? 0.0 : x; f = mod(x, y);"), set(DOMAIN),
        logs(&["mod(7.0, 0.0) is undefined for a divisor of 0"]);
    "sanitize_domain::pack_half" => fault(gpu, "uint u = packHalf2x16(vec2(x, bad ? 65520.0 : -65519.0)); result = u & 1u; f = float(u);"),
        set(DOMAIN), logs(&["packHalf2x16(..) is undefined of numbers beyond those of 16-bit floats"]);
    "sanitize_domain::in_front_of_a_branch" => fault(gpu, "float y = log(bad ? -1.0 : x); if (i < 64u) { f = y; }"), set(DOMAIN),
        logs(&["log(-1.0) is undefined of 0 and negative numbers"]);
    "sanitize_domain::in_a_loop" => fault(gpu, "for (uint k = 0u; k < 3u; k++) { f += pow(bad ? float(k) - 1.0 : x, 2.0); }"), set(DOMAIN),
        logs(&["pow"]);
    "sanitize_domain::arguments_that_are_right" => silent_if(gpu, RIGHT), set(DOMAIN), silent();
    "sanitize_domain::results_that_are_dropped" => silent_if(gpu, DROPPED), set(DOMAIN), silent();
};

const RIGHT: &str = "
    vec3 v = vec3(x, -x, 0.0);
    f = sqrt(dot(v, v)) + inversesqrt(dot(v, v) + 1e-6) + log(1.0 + x * x) + pow(abs(x), 1.5) + pow(0.0 * x, 0.5);
    f += acos(clamp(x, -1.0, 1.0)) + asin(fract(x)) + atan(0.0, x) + atan(x, 0.0) + clamp(x, 0.0, 0.0) + smoothstep(0.0, x, 1.0);
    f += ldexp(x, 120) * 1e-30 + normalize(v).y + mod(x, max(x, 0.5)) + inverse(mat2(x))[0][0] + acosh(1.0 + abs(x)) + sqrt(0.0 * x);
    f += float(clamp(int(x), -3, 3)) + float(clamp(uint(x), 1u, 1u)) + float(packHalf2x16(vec2(x, -65519.0)));
    f += float(packHalf2x16(vec2(x, uintBitsToFloat(0xFF800000u))) & 1u);";
const DROPPED: &str = "
    float y = bad ? -x : x;
    f = mix(log(y), 0.0, bad);
    if (y > 0.0) { f += sqrt(y); }
    float never = pow(y, 0.5);
    vec2 v = sqrt(vec2(1.0, y));
    f += v.x + (bad ? 1.0 : never);";

fn shader(body: &str) -> Result<Vec<u32>> {
    let declarations = "layout(std430, set = 0, binding = 0) buffer Floats { float floats[]; };";
    let start = "bool bad = word == 7u; float x = float(word), f = 0.0;";
    compile(declarations, start, &format!("{body} result = f == 12345.0 ? 2u : 1u;"))
}

/// An invocation with a mark has a fault and ends.
fn fault(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3], false).context(body.to_owned())
}

/// Two invocations with a mark do.
fn both(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3, 40], false).context(body.to_owned())
}

/// Invocations with a mark do not differ.
fn silent_if(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3, 40], true).context(body.to_owned())
}
