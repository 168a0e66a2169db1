//! The values at an abort in reports: the condition that led to it, and variables. The bytes of messages do not change.
//!
//! Further stages are in their own files, whose logs name conditions too.

use super::support::{expect_no_reports, incremented, marked, run, same_set, same_words};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::Device;
use anyhow::{Context as _, Result};

const ON: &[(&str, &str)] = &[("values", "on")];
const OFF: &[(&str, &str)] = &[("values", "off")];
const NARROW: &[(&str, &str)] = &[("values", "on"), ("values_size", "8")];

pub(super) const CASES: &[Case] = cases! {
    "values::of_a_comparison" => aborts(device, "", COMPARISON, "at 7"),
        logs(&["= condition: word < limit with word = 7, limit = 50"]);
    "values::of_both_sides_of_a_condition" => aborts(device, "", BOTH, "both"),
        logs(&["= condition: i > 2 && next == 8 with i = 3, next = 8"]);
    "values::of_either_side_of_a_condition" => aborts(device, "", EITHER, "either"),
        logs(&["= condition: i < 3 || words[i] == 7 with i = 3"]);
    "values::of_a_negated_condition" => aborts(device, "", NEGATED, "negated"),
        logs(&["= condition: i >= 1 && word == 7 with i = 3, word = 7"]);
    "values::of_floats" => aborts(device, "", FLOATS, "floats"),
        logs(&["= condition: !(x >= 2.5) with x = nan"]);
    "values::of_a_vector" => aborts(device, "", VECTOR, "vector"),
        logs(&["= condition: any(v == w) with v = (3, 7), w = (4, 7)"]);
    "values::of_each_operand_once" => aborts(device, "", ONCE, "once"),
        logs(&["= condition: i > 2 && word == 7 && i < 5 with i = 3, word = 7"]);
    "values::of_bits" => aborts(device, "", BITS, "bits"),
        logs(&["= condition: (word & 15) == 7 && bitCount(word) == 3 with word & 15 = 7, bitCount(word) = 3"]);
    "values::of_an_atomic_operation" => aborts(device, "", ATOMIC, "atomic"),
        logs(&["= condition: word == 7 && atomicAdd(words[63], ..) >= 5 with word = 7, atomicAdd(words[63], ..) = "]);
    "values::of_a_case" => aborts(device, "", SWITCH, "case"), logs(&["= condition: kind == 3 with kind = 3"]);
    "values::of_a_default" => aborts(device, "", DEFAULT, "default"),
        logs(&["= condition: kind is none of 0, 1 with kind = 3"]);
    "values::in_a_loop" => aborts(device, "", LOOP, "loop"),
        logs(&["= condition: sum > word with sum = 10, word = 7"]);
    "values::in_a_callee" => aborts(device, CALLEE[0], CALLEE[1], "callee"),
        logs(&["= condition: index >= uint(words.length() - 60) with index = 7, uint(words.length() - 60) = 4"]);
    "values::of_variables" => aborts(device, STRUCTURE, VARIABLES, "variables"), set(ON),
        logs(&["= condition: word == 7 with word = 7", "f = -0.5", "flag = true", "v = (1.0, 2.0)", "i = 3"]);
    "values::of_structures" => aborts(device, STRUCTURE, STRUCTURES, "structures"), set(ON),
        logs(&["e = {key: 3, weight: 0.25, list: [4, 5]}"]);
    "values::of_parts_that_are_stored" => aborts(device, STRUCTURE, PARTS, "parts"), set(ON),
        logs(&["e.weight = 0.25"]);
    "values::of_a_matrix" => aborts(device, "", MATRIX, "matrix"), set(ON), logs(&["m = ((1.0, 0.0), (0.0, 1.0))"]);
    "values::of_a_long_array" => aborts(device, "", ARRAY, "array"), set(ON), logs(&["list[..4] = [9, 9, 9, 9]"]);
    "values::beyond_the_room" => aborts(device, "", VARIABLES_LEFT_OUT, "room"), set(NARROW),
        logs(&["= condition: word == 7 with word = 7", "... 3 more"]);
    "values::of_a_message_that_is_written_at_its_site" => in_place(device), set(ON),
        logs(&["= condition: word == 7 with word = 7", "i = 3"]);
    "values::of_sites_with_records_of_several_sizes" => several(device),
        logs(&["= condition: word == 7 with word = 7", "= condition: i == 40", "= condition: i == 41 && v.x == 41.0"]);
    "values::change_no_message" => several(device), set(ON);
    "values::change_no_message_when_they_are_off" => several(device), set(OFF);
    "values::off" => aborts(device, "", COMPARISON, "at 7"), alone(), set(OFF), reports("values_off");
    "values::on" => aborts(device, "", COMPARISON, "at 7"), alone(), set(ON), reports("values_on");
    "values::never_taken" => never_taken(device), set(ON), silent();
};

const COMPARISON: &str = "uint limit = words.length() - 14; if (word < limit) { abortEXT(\"at %u\", word); }";
const BOTH: &str = "if (i > 2) { } uint next = word + 1; if (i > 2 && next == 8) { abortEXT(\"both\"); }";
const EITHER: &str = "if (i == 3) { if (i < 3 || words[i] == 7) { abortEXT(\"either\"); } }";
const NEGATED: &str = "if (!(i < 1 || word != 7)) { abortEXT(\"negated\"); }";
const FLOATS: &str =
    "float x = word == 7 ? uintBitsToFloat(0x7fc00000u + (word - 7)) : 3.0; if (!(x >= 2.5)) { abortEXT(\"floats\"); }";
const VECTOR: &str =
    "uvec2 v = uvec2(i, word); uvec2 w = uvec2(i + 1, 7); if (any(equal(v, w))) { abortEXT(\"vector\"); }";
const ONCE: &str = "if (i > 2 && word == 7 && i < 5) { abortEXT(\"once\"); }";
const BITS: &str = "if ((word & 15u) == 7u && bitCount(word) == 3) { abortEXT(\"bits\"); }";
const ATOMIC: &str = "if (word == 7 && atomicAdd(words[63], 1u) >= 5u) { abortEXT(\"atomic\"); }";
const SWITCH: &str = "uint kind = word == 7 ? 3 : 1;
    switch (kind) { case 3: abortEXT(\"case\"); break; case 5: words[0] = 1; break; }";
const DEFAULT: &str = "uint kind = word == 7 ? 3 : 1;
    switch (kind) { case 0: words[0] = 1; break; case 1: break; default: abortEXT(\"default\"); }";
const LOOP: &str = "uint sum = 0;
    for (uint k = 1; k < 5; k++) { sum += k; if (word == 7) { if (sum > word) { abortEXT(\"loop\"); } } }";
const CALLEE: [&str; 2] = [
    "void check(uint index) { if (index >= words.length() - 60) { abortEXT(\"callee\"); } }",
    "if (word == 7) { check(word); }",
];
const STRUCTURE: &str = "struct Entry { uint key; float weight; uint list[2]; };";
const VARIABLES: &str = "float f = -0.5; bool flag = i < 40; vec2 v = vec2(1, 2); int unset; words[0] += 0;
    if (word == 7) { abortEXT(\"variables\"); } words[1] += uint(f) + uint(flag) + uint(v.x);";
const STRUCTURES: &str = "Entry e = Entry(i, 0.25, uint[](i + 1, i + 2)); if (word == 7) { abortEXT(\"structures\"); }";
const PARTS: &str = "Entry e; e.weight = 0.25; e.list[1] = 5; if (word == 7) { abortEXT(\"parts\"); }";
const MATRIX: &str = "mat2 m = mat2(1); if (word == 7) { abortEXT(\"matrix\"); } words[1] += uint(m[0][1]);";
const ARRAY: &str = "const uint nine = word + 2;
    uint list[20] = uint[](nine, nine, nine, nine, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (word == 7) { abortEXT(\"array\"); } words[1] += list[word % 20];";
const VARIABLES_LEFT_OUT: &str = "float f = -0.5; vec2 v = vec2(1, 2); uint a = i + 1;
    if (word == 7) { abortEXT(\"room\"); } words[1] += uint(f) + uint(v.x) + a;";

/// A shader whose invocations load a word, run `body` and increment the word.
fn shader(head: &str, body: &str) -> Result<Vec<u32>> {
    glsl::compile_compute(&format!(
        "#version 460
         #extension GL_EXT_abort : require
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
         {head}
         void main() {{
             uint i = gl_GlobalInvocationID.x;
             uint word = words[i];
             {body}
             words[i] = word + 1000;
         }}"
    ))
}

/// One invocation of a shader aborts. Its message is that of the shader.
fn aborts(device: &Device<'_>, head: &str, body: &str, text: &str) -> Result<()> {
    let (_, payloads) = run(device, &shader(head, body)?, &marked(&[3]))?.lost()?;
    let payload = match text.strip_suffix(" 7") {
        Some(start) => Payload::text(&format!("{start} %u")).scalar(7u32),
        None => Payload::text(text),
    };
    same_set(payloads, vec![payload.bytes()]).context(body.to_owned())
}

/// A message of more values than are deferred.
fn in_place(device: &Device<'_>) -> Result<()> {
    let body = "uint a[20]; for (uint k = 0; k < 20; k++) { a[k] = word + k; } if (word == 7) { abortEXT(\"%u\", a); }";
    let (_, payloads) = run(device, &shader("", body)?, &marked(&[3]))?.lost()?;
    let values: Vec<u32> = (7..27).collect();
    same_set(payloads, vec![Payload::text("%u").scalars(&values).bytes()])
}

const SEVERAL: &str = "vec4 v = vec4(i);
    if (word == 7) { abortEXT(\"a word\"); }
    if (i == 40) { abortEXT(\"a longer message of %u and %u and %f\", i, word, v.x); }
    if (i == 41 && v.x == 41.0) { abortEXT(\"\"); }";

/// Sites with messages and values of different sizes in one entry point. The application reads the same bytes whatever the
/// setting.
fn several(device: &Device<'_>) -> Result<()> {
    let (_, payloads) = run(device, &shader("", SEVERAL)?, &marked(&[3]))?.lost()?;
    let longer = Payload::text("a longer message of %u and %u and %f")
        .scalar(40u32)
        .scalar(140u32);
    let expected = vec![
        Payload::text("a word").bytes(),
        longer.scalar(40.0f32).bytes(),
        Payload::text("").bytes(),
    ];
    same_set(payloads, expected)
}

fn never_taken(device: &Device<'_>) -> Result<()> {
    let words = marked(&[]);
    for body in [
        COMPARISON,
        BOTH,
        FLOATS,
        VECTOR,
        SWITCH,
        DEFAULT,
        VARIABLES_LEFT_OUT,
        MATRIX,
        ARRAY,
    ] {
        let after = run(device, &shader("", body)?, &words)?.succeeded().context(body)?;
        same_words(&after[2..], &incremented(&words)[2..])?;
    }
    expect_no_reports(device)
}
