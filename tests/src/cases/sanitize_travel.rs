//! Faults that travel: each is reported where it begins, if it has an effect, and where it has none there is no report.

use super::checked_body::{compile, expect, fault, optimized_fault, optimized_silent, silent_if};
use super::support::{marked, run, without_abort};
use crate::assembly::assemble_file;
use crate::case::{Case, cases};
use crate::glsl_debug::{self, Form};
use crate::vk::Gpu;
use anyhow::Result;

const DIVIDE: &[(&str, &str)] = &[("sanitize", "divide")];
const SHIFT: &[(&str, &str)] = &[("sanitize", "shift")];
const INITIALIZED: &[(&str, &str)] = &[("sanitize", "initialized")];
const INVALID: &[(&str, &str)] = &[("sanitize", "invalid")];
const ALL: &[(&str, &str)] = &[("sanitize", "all")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_travel::a_sum_that_begins_with_nothing" => fault(gpu, shader, SUM),
        set(INITIALIZED), logs(&["`sum` is read, but nothing has stored it"]);
    "sanitize_travel::the_same_optimized" => optimized_fault(gpu, shader, ROOTS),
        set(INVALID), logs(&["the result of inversesqrt is not finite"]);
    "sanitize_travel::a_sum_of_roots" => fault(gpu, shader, ROOTS),
        set(INVALID), logs(&["the result of inversesqrt is not finite"]);
    "sanitize_travel::through_variables" => fault(gpu, shader, "uint q = 100u / zero, kept = 1u; if (word > 3u) { kept = q; } if (word < 10u) { result = kept; }"),
        set(DIVIDE), logs(&["division by zero: `100` / `zero` is 100 / 0"]);
    "sanitize_travel::through_an_element_of_unknown_index" => fault(gpu, shader, "parts[word & 3u] = 5u / zero; if (word < 10u) { result = parts[word & 3u]; }"),
        set(DIVIDE), logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_travel::through_a_component" => fault(gpu, shader, "uvec3 v = uvec3(6u) / uvec3(1u, zero, 2u), w = v.zyx; if (word < 10u) { result = w[word & 1u]; }"),
        set(DIVIDE), logs(&["division by zero", "in component 1"]);
    "sanitize_travel::through_arguments_and_results" => fault(gpu, shader, "uint r = twice(1u << (word == 7u ? 40u : 3u)); if (word < 10u) { result = r; }"),
        set(SHIFT), logs(&["shift by 40 of a 32-bit value"]);
    "sanitize_travel::through_a_parameter_that_is_changed" => fault(gpu, shader, "uint r = 7u % zero; add(r); if (word < 10u) { result = r; }"),
        set(DIVIDE), logs(&["division by zero: `7` % `zero` is 7 % 0"]);
    "sanitize_travel::through_a_variable_of_the_module" => fault(gpu, shader, "kept = 9u / zero; if (word < 10u) { result = kept_of(); }"),
        set(DIVIDE), logs(&["division by zero: `9` / `zero`"]);
    "sanitize_travel::through_a_loop" => fault(gpu, shader, "uint r = 1u; for (uint k = 0u; k < 5u; k++) { if (k == 3u) { r += 8u / zero; } } if (word < 10u) { result = r; }"),
        set(DIVIDE), logs(&["division by zero"]);
    "sanitize_travel::through_a_conjunction" => fault(gpu, shader, "bool high = 8u / zero > 3u; if (word < 10u && high) { words[i] = word; }"),
        set(DIVIDE), logs(&["division by zero: `8` / `zero` is 8 / 0"]);
    "sanitize_travel::through_a_structure" => fault(gpu, shader, "Pair p, q; p.one = 3u; p.more[1] = 4u / zero; q = p; if (word < 10u) { result = q.more[word & 1u]; }"),
        set(DIVIDE), logs(&["division by zero: `4` / `zero` is 4 / 0"]);
    "sanitize_travel::used_in_another_function" => used(gpu, Form::NonSemantic), set(INITIALIZED),
        logs(&["--> used.comp:8:9", "= used at: used.comp:16, in `main`", "= values: result = ", "function `sum` called from `main` (used.comp:13)"]);
    "sanitize_travel::used_in_another_function_with_lines" => used(gpu, Form::Lines), set(INITIALIZED),
        logs(&["--> used.comp:8", "= used at: used.comp:16, in `main`", "function `sum` called from `main` (used.comp:13)"]);
    "sanitize_travel::used_at_another_line" => used(gpu, Form::Lines), set(DIVIDE),
        logs(&["--> used.comp:18", "= used at: used.comp:21", "= values: total = "]);
    "sanitize_travel::used_behind_a_loop" => used(gpu, Form::Lines), set(SHIFT),
        logs(&["--> used.comp:23", "= used at: used.comp:25"]);
    "sanitize_travel::one_of_many" => one_of_many(gpu), set(&[("sanitize", "divide,shift,initialized")]),
        logs(&["division by zero: `12` / `zero`\n", "--> many.comp:8", "= check: divide", "= used at: many.comp:15",
            "shift of a 32-bit value by 32 or more: `one` << `word + 33`", "--> many.comp:10", "= check: shift"]);
    "sanitize_travel::through_a_copy_of_memory" => expect(gpu, &assembly("copied_fault")?, &[3], false),
        set(DIVIDE), logs(&["division by zero"]);
    "sanitize_travel::what_is_stored_in_two_ways" => expect(gpu, &assembly("aliased_parameters")?, &[3, 40], true),
        set(&[("sanitize", "all"), ("log_level", "warning")]), logs(&["variables that carry no faults"]);
    "sanitize_travel::what_nothing_takes" => silent_if(gpu, shader, DROPPED), set(ALL), silent();
    "sanitize_travel::what_nothing_takes_optimized" => optimized_silent(gpu, shader, DROPPED), set(ALL), silent();
};

const SUM: &str = "
    uint sum;
    if (word != 7u) { sum = 0u; }
    for (uint k = 0u; k < 4u; k++) { sum += k; }
    if (word < 10u) { words[i] = word + min(sum, 0u); }";
const ROOTS: &str = "
    float sum = 0.0;
    for (uint k = 0u; k < 4u; k++) { sum += inversesqrt(float(word == 7u ? zero : k + 1u)); }
    if (word < 10u) { floats[i] = sum; }";
const DROPPED: &str = "
    uint q = 100u / zero, kept = q;
    if (word > 5000u) { result = kept; }
    kept = 1u;
    result += kept;
    parts[word & 3u] = q;
    if (word > 5000u) { result += parts[word & 1u]; }
    uint never;
    for (uint k = 0u; k < 3u; k++) { never += k; }
    if (word > 5000u) { words[i] = never; }
    bool high = q > 3u;
    result += word > 5000u && high ? 2u : 1u;
    result += twice(q) & (word > 5000u ? 1u : 0u);
    uvec3 v = uvec3(q, 1u, 2u);
    result += v.y + v.zy.x;
    Pair p; p.one = q; p.more[0] = 1u;
    Pair copy = p;
    result += copy.more[0];
    add(q);
    result += word != 0u ? 1u : q;";

fn shader(body: &str) -> Result<Vec<u32>> {
    let declarations = "
        struct Pair { uint one; uint more[2]; };
        layout(std430, set = 0, binding = 0) buffer Floats { float floats[]; };
        uint kept = 1u;
        uint kept_of() { return kept; }
        uint twice(uint v) { return 2u * v; }
        void add(inout uint v) { v += 1u; }";
    let start = "uint zero = word - 7u, parts[4] = uint[](1u, 2u, 3u, 4u);";
    compile(declarations, start, body)
}

/// Faults with effects elsewhere, in the invocations whose word is 7.
fn used(gpu: &Gpu, form: Form) -> Result<()> {
    let text = "#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
uint sum(uint word) {
    uint acc;
    if (word != 7u) { acc = 0u; }
    for (uint k = 0u; k < 4u; k++) {
        acc += k;
    }
    return acc;
}
void main() {
    uint i = gl_GlobalInvocationID.x, word = words[i], zero = word - 7u, result = sum(word);
    if (word < 10u) {
        // The sum that begins with nothing.
        words[i] = result;
    }
    uint q = 100u / zero;
    uint total = q + 1u;
    if (word < 10u)
        words[i] = total;
    uint one = 1u;
    uint shifted = one << (word == 7u ? 40u : 3u);
    for (uint k = 0u; k < word; k++) {
        if (k > 5u) { words[i] = shifted; }
    }
    words[i] = 1000u;
}
";
    let spirv = glsl_debug::compile_text("used.comp", text, form)?;
    run(&without_abort(gpu)?, &spirv, &marked(&[3]))?
        .succeeded()
        .map(|_| ())
}

/// Two faults of a sum of many operations, in one invocation each.
fn one_of_many(gpu: &Gpu) -> Result<()> {
    let text = "#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, word = words[i], zero = i == 3u ? word - 7u : 1u, one = 1u;
    uint sum = 10u / (word + 1u);
    sum += 11u / (word + 2u);
    sum += 12u / zero;
    uint parts[2];
    sum += i == 4u ? one << (word + 33u) : 0u;
    sum += 13u / (word + 3u);
    sum += 14u % (word + 4u);
    if (word > 1u) { parts[word & 1u] = 1u; }
    sum += word > 500u ? parts[word & 1u] : 0u;
    if (word < 10u) { words[i] = sum; }
    words[i] = 1000u + word;
}
";
    let spirv = glsl_debug::compile_text("many.comp", text, Form::Lines)?;
    run(&without_abort(gpu)?, &spirv, &marked(&[3, 4]))?
        .succeeded()
        .map(|_| ())
}

fn assembly(name: &str) -> Result<Vec<u32>> {
    assemble_file(&format!("assembly/{name}.spvasm"))
}
