//! Checks of undefined values and of bounds: each fault is reported, and code that only resembles one is not.

use super::checked_body::{compile, expect};
use super::support::{
    MARK, compile_stages_by, draw_compiled, expect_success, incremented, marked, run, same_words, without_abort,
};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::glsl;
use crate::shader_cache;
use crate::vk::{Buffer, Gpu, Kernel, ShaderSource};
use crate::word_shader::word_shader;
use anyhow::{Context as _, Result};

const SANITIZE: &[(&str, &str)] = &[("sanitize", "divide,shift,bounds")];
const REQUESTED: &[(&str, &str)] = &[("sanitize", "buffers,convert,nan,unreachable")];
const ALL_CHECKS: &[(&str, &str)] = &[("sanitize", "all"), ("loop_budget", "20000")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_values::a_division_by_zero" => fault(gpu, "result = 5u / zero;"), set(SANITIZE),
        logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_values::a_remainder_of_names" => fault(gpu, "uint total = word; result = total % zero;"), set(SANITIZE),
        logs(&["division by zero: `total` % `zero` is 7 % 0"]);
    "sanitize_values::a_division_that_overflows" => fault(gpu, OVERFLOW), set(SANITIZE),
        logs(&["division overflows: `least` / `minus` is -2147483648 / -1"]);
    "sanitize_values::a_component_of_a_division" => fault(gpu, COMPONENT), set(SANITIZE),
        logs(&["division by zero: 5 / 0, in component 1"]);
    "sanitize_values::a_division_in_a_continue_construct" => fault(gpu, CONTINUE), set(SANITIZE),
        logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_values::a_division_of_a_callee" => fault(gpu, "result = divide(5u, zero);"), set(SANITIZE),
        logs(&["division by zero: `a` / `b` is 5 / 0"]);
    "sanitize_values::a_division_that_is_selected" => fault(gpu, "result = mix(word, 5u / zero, word == 7u);"),
        set(SANITIZE), logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_values::a_division_that_is_accumulated" => fault(gpu, ACCUMULATED), set(SANITIZE),
        logs(&["division by zero: ", "5 / 0"]);
    "sanitize_values::a_division_that_an_optimized_loop_adds_up" => optimized(gpu, ADDED_UP, &[3], false), set(SANITIZE),
        logs(&["division by zero: ", "5 / 0"]);
    "sanitize_values::what_is_dropped_behind_an_optimized_loop" => optimized(gpu, DROPPED_BEHIND, &[3, 40], true), set(SANITIZE),
        silent();
    // Their tests share a branch.
    "sanitize_values::the_second_of_two_operations" => fault(gpu, "result = 5u / word + (word << k);"), set(SANITIZE),
        logs(&["shift by 70 of a 32-bit value: `word` << `k`"]);
    "sanitize_values::two_operations_of_which_the_first_is_reported" => fault(gpu, "result = 5u / zero + (word << k);"),
        set(SANITIZE), logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_values::two_operations_that_different_invocations_fail" => both(gpu, "result = 5u / (i == 3u ? zero : 1u) + (word << (i == 40u ? k : 1u));"),
        set(SANITIZE), logs(&["division by zero: 5 / 0", "shift by 70 of a 32-bit value"]);
    "sanitize_values::the_second_of_two_elements" => fault(gpu, "uint one[4] = uint[](1u, 2u, 3u, 4u), two[4] = one; uint at = word & 3u; result = one[at] + two[k];"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `two` (4 elements)"]);
    "sanitize_values::a_component_and_an_element_at_one_index" => fault(gpu, "uint one[4] = uint[](1u, 2u, 3u, 4u); uvec4 two = uvec4(word); uint at = word == 7u ? 0x7fffffffu : 1u; result = two[at] + one[at] + 5u / word;"),
        set(SANITIZE), logs(&["index 2147483647 is out of bounds of `two` (4 components)"]);
    "sanitize_values::elements_at_an_undefined_index" => fault(gpu, "uint one[4] = uint[](1u, 2u, 3u, 4u); result = one[(5u / zero) * 1000000u] + one[k];"),
        set(SANITIZE), logs(&["division by zero: `5` / `zero` is 5 / 0"]);
    "sanitize_values::a_shift_by_the_width" => fault(gpu, "uint n = word == 7u ? 32u : 1u; result = word << n;"), set(SANITIZE),
        logs(&["shift by 32 of a 32-bit value: `word` << `n`"]);
    "sanitize_values::a_shift_by_a_negative_amount" => fault(gpu, "int n = word == 7u ? -1 : 1; result = word >> n;"),
        set(SANITIZE), logs(&["shift by -1 of a 32-bit value: `word` >> `n`"]);
    "sanitize_values::an_extracted_bit_field" => fault(gpu, "int n = word == 7u ? 27 : 3; result = bitfieldExtract(word, n, 6);"),
        set(SANITIZE), logs(&["bit field of 6 bits from bit 27 on, of a 32-bit value: `bitfieldExtract(word, n, 6)`"]);
    "sanitize_values::an_inserted_bit_field" => fault(gpu, "int n = word == 7u ? -1 : 5; result = bitfieldInsert(0u, word, 2, n);"),
        set(SANITIZE), logs(&["bit field of -1 bits from bit 2 on, of a 32-bit value: `bitfieldInsert(0, word, 2, n)`"]);
    "sanitize_values::bit_fields_of_a_vector" => fault(gpu, "int n = word == 7u ? 30 : 3; result = bitfieldExtract(uvec2(word, 1u), n, 3).y;"),
        set(SANITIZE), logs(&["bit field of 3 bits from bit 30 on, of a 32-bit value"]);
    "sanitize_values::bit_fields_up_to_the_end" => silent_if(gpu, "int n = word == 7u ? 0 : 32; result = bitfieldExtract(word, n, 32 - n) + bitfieldInsert(word, 1u, 32, 0) + bitfieldExtract(word, 28, 4);"),
        set(SANITIZE), silent();
    "sanitize_values::an_element_of_a_local_array" => fault(gpu, "uint lut[4] = uint[](1u, 2u, 3u, 4u); result = lut[k];"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `lut` (4 elements)"]);
    "sanitize_values::an_element_of_a_constant_array" => fault(gpu, "result = primes[k];"), set(SANITIZE),
        logs(&["index 70 is out of bounds of ", "(4 elements)"]);
    "sanitize_values::an_element_of_a_private_array" => fault(gpu, "own[k] = word; result = own[0];"), set(SANITIZE),
        logs(&["index 70 is out of bounds of `own` (4 elements)"]);
    "sanitize_values::an_element_of_a_shared_array" => fault(gpu, "group[k] = word; result = 1u;"), set(SANITIZE),
        logs(&["index 70 is out of bounds of `group` (64 elements)"]);
    "sanitize_values::an_atomic_of_a_shared_array" => fault(gpu, "result = atomicAdd(group[k], 1u);"), set(SANITIZE),
        logs(&["index 70 is out of bounds of `group` (64 elements)"]);
    "sanitize_values::a_member_of_a_structure" => fault(gpu, "Shape s; s.sides = uvec3(1u); result = s.sides[k];"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `s.sides` (3 components)"]);
    "sanitize_values::a_negative_index" => fault(gpu, "int n = word == 7u ? -1 : 1; own[n] = 1u; result = 1u;"),
        set(SANITIZE), logs(&["index -1 is out of bounds of `own` (4 elements)"]);
    "sanitize_values::an_index_of_a_parameter" => fault(gpu, "uint a[4] = uint[](1u, 2u, 3u, 4u); result = take(a, k);"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `taken` (4 elements)"]);
    "sanitize_values::what_a_selection_drops" => silent_if(gpu, DROPPED), set(SANITIZE), silent();
    "sanitize_values::what_a_branch_excludes" => silent_if(gpu, EXCLUDED), set(SANITIZE), silent();
    "sanitize_values::what_is_repaired" => silent_if(gpu, REPAIRED), set(SANITIZE), silent();
    "sanitize_values::what_is_not_read" => silent_if(gpu, UNREAD), set(SANITIZE), silent();
    "sanitize_values::what_is_in_bounds" => silent_if(gpu, IN_BOUNDS), set(SANITIZE), silent();
    // The access is undefined, whatever becomes of the value.
    "sanitize_values::an_element_that_a_selection_drops" => fault(gpu, "uint lut[4] = uint[](1u, 2u, 3u, 4u); result = mix(1u, lut[k], k < 4u);"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `lut` (4 elements)"]);
    "sanitize_values::an_element_that_is_not_used" => fault(gpu, "uint lut[4] = uint[](1u, 2u, 3u, 4u); uint element = lut[k]; result = 1u;"),
        set(SANITIZE), logs(&["index 70 is out of bounds of `lut` (4 elements)"]);
    "sanitize_values::a_load_beyond_the_buffer" => fault(gpu, "uint beyond = words[word == 7u ? 70u : i]; result = 1u;"),
        set(REQUESTED), logs(&["index 70 is out of bounds of `words` (64 elements)"]);
    "sanitize_values::a_store_beyond_the_buffer" => fault(gpu, "words[word == 7u ? 64u : i] = word; result = 1u;"),
        set(REQUESTED), logs(&["index 64 is out of bounds of `words` (64 elements)"]);
    "sanitize_values::an_atomic_beyond_the_buffer" => fault(gpu, "result = atomicAdd(words[word == 7u ? 4000u : i], 0u);"),
        set(REQUESTED), logs(&["index 4000 is out of bounds of `words` (64 elements)"]);
    "sanitize_values::a_float_that_an_integer_cannot_hold" => fault(gpu, "result = uint(word == 7u ? x * 1e10 : x);"), set(REQUESTED),
        logs(&["conversion of 70000000000.0, to an unsigned integer of 32 bits"]);
    "sanitize_values::a_float_that_a_signed_integer_cannot_hold" => fault(gpu, "result = uint(int(word == 7u ? x * 1e9 : -x));"),
        set(REQUESTED), logs(&["conversion of 7000000000.0, to a signed integer of 32 bits"]);
    "sanitize_values::nan_in_a_buffer" => fault(gpu, "floats[i] = word == 7u ? sqrt(-x) : x * 2.0; result = 1u;"),
        set(REQUESTED), logs(&["`floats[i]` becomes ", "nan"]);
    "sanitize_values::an_infinity_in_a_buffer" => fault(gpu, "floats[i] = 1.0 / float(zero); result = 1u;"),
        set(REQUESTED), logs(&["`floats[i]` becomes inf"]);
    "sanitize_values::code_that_was_declared_unreachable" => unreachable(gpu, &[3, 40]), set(REQUESTED),
        logs(&["code that was declared unreachable is reached", "2 invocations aborted here"]);
    "sanitize_values::unreachable_code_that_is_not_reached" => unreachable(gpu, &[]), set(REQUESTED), silent();
    "sanitize_values::what_needs_no_check_on_request" => silent_if(gpu, ORDINARY), set(REQUESTED), silent();
    "sanitize_values::what_shaders_ordinarily_do" => idioms(gpu), set(ALL_CHECKS), silent();
    "sanitize_values::helper_invocations" => helpers(gpu, "sanitize/helper.frag"), set(SANITIZE), silent();
    "sanitize_values::derivatives_of_helper_invocations" => helpers(gpu, "sanitize/helper_derivative.frag"),
        set(SANITIZE), silent();
    "sanitize_values::a_million_failing_invocations" => million(gpu), alone(), set(SANITIZE),
        logs(&MILLION);
    "sanitize_values::every_failing_invocation_is_counted" => fault_of(gpu, "result = 5u / zero;", &ALL), set(SANITIZE),
        logs(&["64 invocations aborted here"]);
};

/// The records of 32 bytes that the arena holds, and the others: 1,048,576 in total.
const MILLION: [&str; 2] = ["16367 invocations aborted here", "1032209 more aborts did not fit"];

/// All invocations.
const ALL: [usize; 64] = {
    let mut all = [0; 64];
    let mut i = 0;
    while i < 64 {
        all[i] = i;
        i += 1;
    }
    all
};

const OVERFLOW: &str = "
    int least = int(word == 7u ? 0x80000000u : word), minus = word == 7u ? -1 : 3;
    result = uint(least / minus);";
const COMPONENT: &str = "uvec3 q = uvec3(5u) / uvec3(word, zero, 2u); result = q.x + q.y + q.z;";
const CONTINUE: &str = "for (uint at = 0u; at < 3u; result += 5u / zero) { at++; }";
const ACCUMULATED: &str = "for (uint at = 0u; at < 3u; at++) { result += 5u / (zero + at); }";
const ADDED_UP: &str = "uint at = 0u; do { result += 5u / (zero + at); at++; } while (at < 3u);";
const DROPPED_BEHIND: &str = "
    uint sum = 5u / zero, at = 0u;
    for (;;) { if (at >= 3u) break; sum += 7u / zero; at++; }
    if (word > 1000u) { words[0] = sum; }";

const DROPPED: &str = "
    bool is_zero = zero == 0u;
    result = mix(5u / zero, 1u, is_zero);
    result += mix(word << (zero + 32u), 1u, true);
    result += all(bvec2(!is_zero, 5u / zero > 1u)) ? 1u : 2u;
    result += mix(uvec2(5u) / uvec2(zero, 1u), uvec2(1u), bvec2(is_zero, false)).x;
    result += subgroupBroadcastFirst(5u / zero);";
const EXCLUDED: &str = "
    if (zero != 0u) { result = 5u / zero; }
    if (zero > 0u && word / zero > 0u) { result += 1u; }
    result += zero == 0u ? 1u : word % zero;
    uint n = zero & 31u;
    result += n == 0u ? word : (word << n) | (word >> (32u - n));
    if (k < 4u) { result += primes[k]; }
    if (zero == 0u) { words[i] = word + 1000u; return; }
    result += word / zero;";
const REPAIRED: &str = "
    uint q = 5u / zero;
    if (zero == 0u) { q = 1u; }
    result = q;
    uvec2 v = uvec2(5u) / uvec2(zero, 1u);
    if (zero == 0u) { v.x = 1u; }
    result += v.x + v.y;";
const UNREAD: &str = "
    uint never = 5u / zero;
    uvec3 v = uvec3(5u) / uvec3(1u, 2u, zero);
    result = v.x + v.y;
    if (zero != 0u) { result += never; }";
const ORDINARY: &str = "
    float never = uintBitsToFloat(0x7FC00000u), moved = uintBitsToFloat(word * 0u + 0x7F800000u);
    floats[i] = moved;
    float big = word == 7u ? x * 1e10 : -0.5;
    result = mix(uint(big), 1u, word == 7u) + uint(min(x, 50.0)) + uint(clamp(big, 0.0, 255.0));
    uint unused = uint(big);
    float stored = word == 7u ? 1.0 : never;
    floats[i] = stored;";
const IN_BOUNDS: &str = "
    uint lut[4] = uint[](1u, 2u, 3u, 4u);
    for (int n = 0; n < 4; n++) { lut[n] += primes[n & 3]; }
    result = lut[min(k, 3u)] + lut[k % 4u] + own[gl_LocalInvocationIndex >> 3];
    group[gl_LocalInvocationIndex] = word;
    result += group[gl_LocalInvocationID.x] + (word << (k & 31u)) + 5u / max(zero, 1u) + 5u / (zero | 1u);";

fn shader(body: &str) -> Result<Vec<u32>> {
    let declarations = "
        #extension GL_KHR_shader_subgroup_ballot : require
        layout(std430, set = 0, binding = 0) buffer Floats { float floats[]; };
        struct Shape { uvec3 sides; };
        const uint primes[4] = uint[](2u, 3u, 5u, 7u);
        uint own[4];
        shared uint group[64];
        uint divide(uint a, uint b) { return a / b; }
        uint take(uint taken[4], uint at) { return taken[at]; }";
    let start = "uint zero = word - 7u, k = word == 7u ? 70u : 1u; float x = float(word);";
    compile(declarations, start, body)
}

/// Invocations with a mark have a fault and end.
fn fault(gpu: &Gpu, body: &str) -> Result<()> {
    fault_of(gpu, body, &[3])
}

fn fault_of(gpu: &Gpu, body: &str, at: &[usize]) -> Result<()> {
    expect(gpu, &shader(body)?, at, false).context(body.to_owned())
}

/// Two invocations fail.
fn both(gpu: &Gpu, body: &str) -> Result<()> {
    fault_of(gpu, body, &[3, 40])
}

/// Invocations with a mark do not differ.
fn silent_if(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3, 40], true).context(body.to_owned())
}

/// Runs a shader that `spirv-opt` has optimized, whose values are phis instead of variables.
fn optimized(gpu: &Gpu, body: &str, at: &[usize], is_silent: bool) -> Result<()> {
    expect(gpu, &shader_cache::optimized(&shader(body)?)?, at, is_silent).context(body.to_owned())
}

fn idioms(gpu: &Gpu) -> Result<()> {
    expect(gpu, &glsl::compile("sanitize/idioms.comp")?, &[], true)
}

/// Invocations with a mark reach code that the shader declares unreachable, and end there.
fn unreachable(gpu: &Gpu, at: &[usize]) -> Result<()> {
    let before = marked(at);
    let spirv = assemble(&word_shader(&["unreachable"], &[])?)?;
    let after = run(&without_abort(gpu)?, &spirv, &before)?.succeeded()?;
    same_words(&after, &incremented(&before))
}

/// Helper invocations have faults, of which no report can tell.
fn helpers(gpu: &Gpu, fragment: &str) -> Result<()> {
    let device = without_abort(gpu)?;
    let shaders = compile_stages_by(&["sanitize/half.vert", fragment], glsl::compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, [0, 0])?;
    expect_success(result)?;
    image.expect_white(&[(0, 0), (20, 20), (62, 0), (0, 62)])
}

/// All invocations of a large dispatch fail; the program goes on, and the count is exact.
fn million(gpu: &Gpu) -> Result<()> {
    const COUNT: u32 = 1 << 20;
    let device = without_abort(gpu)?;
    let before = vec![MARK; COUNT as usize];
    let buffer = Buffer::storage(&device, &before)?;
    let kernel = Kernel::new(&device, &shader("result = 5u / zero;")?, &[&buffer])?;
    expect_success(kernel.run_to_end(COUNT / 32)?)?;
    same_words(&buffer.read(), &before)
}
