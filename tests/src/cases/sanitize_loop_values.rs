//! Checks around loops: of values that a divergent loop computes and code behind it reads, of values that only a loop uses, and of shared
//! memory that functions fill.

use super::checked_body::{compile, expect, fault, optimized_silent, silent_if};
use crate::assembly;
use crate::case::{Case, cases};
use crate::vk::Gpu;
use anyhow::Result;

const DIVIDE: &[(&str, &str)] = &[("sanitize", "divide")];
const INITIALIZED: &[(&str, &str)] = &[("sanitize", "initialized")];
const MEMORY: &[(&str, &str)] = &[("sanitize", "addresses,initialized,races,barriers")];
const ALL: &[(&str, &str)] = &[("sanitize", "all")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_loop_values::memory_that_a_divergent_loop_stores" => silent_if(gpu, shader, STORED), set(INITIALIZED), silent();
    "sanitize_loop_values::the_same_with_checks_of_memory" => silent_if(gpu, shader, STORED), set(MEMORY), silent();
    "sanitize_loop_values::the_same_with_all_checks" => silent_if(gpu, shader, STORED), set(ALL), silent();
    "sanitize_loop_values::divisors_of_a_divergent_loop" => silent_if(gpu, shader, DIVIDED), set(DIVIDE), silent();
    "sanitize_loop_values::the_same_optimized" => optimized_silent(gpu, shader, DIVIDED), set(DIVIDE), silent();
    "sanitize_loop_values::divisors_of_a_nest_of_loops" => silent_if(gpu, shader, NEST), set(ALL), silent();
    "sanitize_loop_values::a_divisor_of_the_last_iteration" => fault(gpu, shader, LAST),
        set(DIVIDE), logs(&["division by zero"]);
    "sanitize_loop_values::a_quotient_that_a_loop_stores" => fault(gpu, shader, USED),
        set(DIVIDE), logs(&["division by zero: 100 / 0"]);
    "sanitize_loop_values::a_quotient_before_a_return_in_a_loop" => fault(gpu, shader, RETURNED),
        set(DIVIDE), logs(&["division by zero: 100 / 0"]);
    "sanitize_loop_values::a_quotient_that_a_second_loop_stores" => fault(gpu, shader, SECOND),
        set(DIVIDE), logs(&["division by zero"]);
    "sanitize_loop_values::a_variable_that_a_loop_reads" => fault(gpu, shader, UNSTORED),
        set(INITIALIZED), logs(&["`y` is read, but nothing has stored it"]);
    "sanitize_loop_values::a_quotient_that_no_iteration_stores" => silent_if(gpu, shader, UNUSED), set(ALL), silent();
    "sanitize_loop_values::shared_memory_that_a_callee_fills" => filled(gpu), set(INITIALIZED), silent();
};

const STORED: &str = "
    one[l] = l;
    barrier();
    uint k = 0u;
    do { other[l] = one[l] + k; } while (++k < l);
    barrier();
    result = other[l];";
const DIVIDED: &str = "
    one[l] = l + 1u;
    barrier();
    uint k = 0u, q;
    int c;
    do {
        q = 100u / one[l];
        c = int(word & 255u) % int(one[l]);
    } while (++k < l);
    result = q + uint(c);";
const NEST: &str = "
    one[l] = l + 1u;
    barrier();
    uint q = 0u, k = 0u;
    for (uint j = 0u; j < (l & 3u) + 1u; j++) {
        k = 0u;
        while (true) {
            q = (100u + j) / one[(l + k * 8u) & 31u];
            if (k >= (l >> 2u)) { break; }
            k++;
        }
    }
    result = q;";
const LAST: &str = "
    one[l] = l + 1u;
    barrier();
    uint k = 0u, q;
    do { q = 100u / (word == 7u && k + 1u == l ? 0u : one[l]); } while (++k < l);
    result = q;";
const USED: &str = "
    uint q = 100u / (word == 7u ? zero : 1u);
    for (uint k = 0u; k < l; k++) {
        if (k == 2u) { words[i] = word + min(q, 0u); }
    }";
const RETURNED: &str = "
    uint q = 100u / (word == 7u ? zero : 1u);
    for (uint k = 0u; k < l; k++) {
        if (k == 2u && word == 7u) {
            words[i] = word + min(q, 0u);
            return;
        }
    }";
const SECOND: &str = "
    uint q = 0u, k = 0u;
    do { q = 100u / (word == 7u && k == 2u ? zero : 1u); } while (++k < l);
    for (k = 0u; k < l; k++) { if (k > 0u) { words[i] = word + min(q, 0u); } }
    for (k = 0u; k < l; k++) { one[l] = k; }";
const UNSTORED: &str = "
    uint y;
    if (word != 7u) { y = 1u; }
    for (uint k = 0u; k < l; k++) {
        if (k == 1u) { words[i] = word + min(y, 0u); }
    }";
const UNUSED: &str = "
    uint y, q = 100u / (word == 7u ? zero : 1u);
    for (uint k = 0u; k < (l & 7u); k++) {
        if (k > 5u && word != 7u) { words[i] = word + min(q, 0u); }
        if (k > 20u) { words[i] = y; }
    }";

fn shader(body: &str) -> Result<Vec<u32>> {
    let start = "uint l = gl_LocalInvocationIndex, zero = word == 7u ? 0u : 1u;";
    compile("shared uint one[32], other[32];", start, body)
}

/// A shared array is filled by a function with a pointer parameter.
fn filled(gpu: &Gpu) -> Result<()> {
    expect(
        gpu,
        &assembly::assemble_file("assembly/filled_by_callee.spvasm")?,
        &[],
        true,
    )
}
