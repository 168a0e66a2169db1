//! Checks of uninitialised memory and of operations that make NaN: each fault is reported, and code that only resembles one is not.

use super::checked_body::{compile, fault, optimized_silent, silent_if};
use crate::case::{Case, cases};
use anyhow::Result;

const INITIALIZED: &[(&str, &str)] = &[("sanitize", "initialized")];
const DIVIDE: &[(&str, &str)] = &[("sanitize", "divide,initialized")];
const ALL: &[(&str, &str)] = &[("sanitize", "all")];
const INVALID: &[(&str, &str)] = &[("sanitize", "invalid")];
/// Without `nan`, which reports the store of what `invalid` finds, and of what is meant.
const ALL_BUT_NAN: &[(&str, &str)] = &[("sanitize", "default,buffers,convert,unreachable,initialized,invalid")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_memory::a_variable_that_a_path_stores" => fault(gpu, shader, "uint y; if (word != 7u) { y = 5u; } result = y;"),
        set(INITIALIZED), logs(&["`y` is read, but nothing has stored it"]);
    "sanitize_memory::a_variable_that_no_path_stores" => fault(gpu, shader, "uint y; if (word == 7u) { result = y; }"),
        set(INITIALIZED), logs(&["`y` is read, but nothing has stored it"]);
    "sanitize_memory::a_private_variable_of_a_callee" => fault(gpu, shader, "if (word != 7u) { prepare(); } result = prepared();"),
        set(INITIALIZED), logs(&["`later` is read, but nothing has stored it"]);
    "sanitize_memory::an_element_of_unknown_index" => fault(gpu, shader, ELEMENT),
        set(INITIALIZED), logs(&["element 5 of `parts` is read, but nothing has stored it"]);
    "sanitize_memory::an_element_of_many_words" => fault(gpu, shader, MANY),
        set(INITIALIZED), logs(&["element 70 of `parts` is read, but nothing has stored it"]);
    "sanitize_memory::an_element_of_a_private_array" => fault(gpu, shader, "own[word & 7u] = 1u; result = own[word == 7u ? 3u : word & 7u];"),
        set(INITIALIZED), logs(&["element 3 of `own` is read, but nothing has stored it"]);
    "sanitize_memory::a_component_of_a_vector" => fault(gpu, shader, COMPONENT),
        set(INITIALIZED), logs(&["component 1 of `v` is read, but nothing has stored it"]);
    "sanitize_memory::a_member_of_a_copied_structure" => fault(gpu, shader, MEMBER),
        set(INITIALIZED), logs(&["`s.sides.x` is read, but nothing has stored it"]);
    "sanitize_memory::a_member_of_elements" => fault(gpu, shader, ELEMENTS),
        set(INITIALIZED), logs(&["`shapes[word & 3].sides.y` is read, but nothing has stored it"]);
    "sanitize_memory::a_sum_that_begins_with_nothing" => fault(gpu, shader, "uint sum; if (word != 7u) { sum = 0u; } for (uint k = 0u; k < word; k++) { sum += k; } result = sum;"),
        set(INITIALIZED), logs(&["`sum` is read, but nothing has stored it"]);
    "sanitize_memory::a_condition_that_was_not_stored" => fault(gpu, shader, CONDITION),
        set(INITIALIZED), logs(&["`found` is read, but nothing has stored it"]);
    "sanitize_memory::a_load_in_a_continue_construct" => fault(gpu, shader, "uint y, at = 0u; if (word != 7u) { y = 1u; } do { at++; } while (at + y < 3u);"),
        set(INITIALIZED), logs(&["`y` is read, but nothing has stored it"]);
    "sanitize_memory::an_argument_that_was_not_stored" => fault(gpu, shader, "uint y; if (word != 7u) { y = 1u; } result = twice(y);"),
        set(INITIALIZED), logs(&["`y` is read, but nothing has stored it"]);
    "sanitize_memory::an_element_of_shared_memory" => fault(gpu, shader, "if (word != 7u) { tile[l] = word; } barrier(); result = tile[l];"),
        set(INITIALIZED), logs(&["element 3 of `tile` is read, but nothing has stored it"]);
    "sanitize_memory::a_member_of_shared_memory" => fault(gpu, shader, "group[l].count = 1u; if (word != 7u) { group[l].sides.y = word; } barrier(); result = group[l].count + group[l].sides.y;"),
        set(INITIALIZED), logs(&["`group[l].sides.y` is read, but nothing has stored it"]);
    "sanitize_memory::what_an_ended_invocation_would_have_stored" => fault(gpu, shader, "tile[l] = 5u / zero; barrier(); result = tile[l ^ 1u] + tile[l];"),
        set(DIVIDE), logs(&["division by zero"]);
    "sanitize_memory::what_a_workgroup_stores" => silent_if(gpu, shader, SHARED), set(INITIALIZED), silent();
    "sanitize_memory::what_every_path_stores" => silent_if(gpu, shader, STORED), set(ALL), silent();
    "sanitize_memory::what_is_copied_and_not_read" => silent_if(gpu, shader, COPIED), set(ALL), silent();
    "sanitize_memory::what_a_call_stores" => silent_if(gpu, shader, CALLED), set(ALL), silent();
    "sanitize_memory::what_loops_store" => silent_if(gpu, shader, LOOPS), set(ALL), silent();
    "sanitize_memory::what_an_optimizer_leaves_of_loops" => optimized_silent(gpu, shader, LOOPS), set(ALL), silent();
    "sanitize_memory::a_root_of_a_negative_number" => fault(gpu, shader, "floats[i] = sqrt(word == 7u ? -x : x); result = 1u;"),
        set(INVALID), logs(&["sqrt(-7.0) is ", "nan"]);
    "sanitize_memory::a_division_of_floats_by_zero" => fault(gpu, shader, "floats[i] = 2.0 * (x / float(zero)); result = 1u;"),
        set(INVALID), logs(&["7.0 / 0.0 is inf: `x / float(zero)`"]);
    "sanitize_memory::a_division_by_a_constant_zero" => fault(gpu, shader, "float w = 0.0; if (word == 7u) { floats[i] = x / w; } result = 1u;"),
        set(INVALID), logs(&["7.0 / 0.0 divides by 0: `x / w`"]);
    "sanitize_memory::a_normal_of_nothing" => fault(gpu, shader, "vec3 n = normalize(vec3(float(zero), 0.0, 0.0)); floats[i] = n.x; result = 1u;"),
        set(INVALID), logs(&["normalize(..) is "]);
    "sanitize_memory::an_overflow" => fault(gpu, shader, "float big = x * 1e35; floats[i] = word == 7u ? big * big : 0.0; result = 1u;"),
        set(INVALID), logs(&[" * ", " is inf: `big * big`"]);
    "sanitize_memory::a_component_that_overflows" => fault(gpu, shader, "vec2 v = vec2(x, word == 7u ? 3e38 : 1.0) * (x + 1.0); floats[i] = v.x + v.y; result = 1u;"),
        set(INVALID), logs(&[" is inf", "in component 1"]);
    "sanitize_memory::what_consumes_infinities" => silent_if(gpu, shader, CONSUMED), set(ALL_BUT_NAN), silent();
};

const ELEMENT: &str = "
    uint parts[8];
    for (uint k = 0u; k < 8u; k++) { if (word != 7u || k != 5u) { parts[k] = k; } }
    for (uint k = 0u; k < 8u; k++) { result += parts[k]; }";
const MANY: &str = "
    uint parts[100];
    for (uint k = 0u; k < 100u; k++) { if (word != 7u || k != 70u) { parts[k] = k; } }
    for (uint k = 0u; k < 100u; k++) { result += parts[k]; }";
const COMPONENT: &str = "
    uvec3 v;
    v.x = 1u;
    if (word != 7u) { v.y = 2u; v.z = word; }
    uvec3 w = v * 2u;
    result = w.x + w.y + w.z;";
const MEMBER: &str = "
    Shape s;
    s.count = 1u;
    if (word != 7u) { s.sides = uvec3(1u); }
    Shape t = s;
    result = t.count + t.sides.x;";
const ELEMENTS: &str = "
    Shape shapes[4];
    shapes[word & 3u].count = 2u;
    if (word != 7u) { shapes[word & 3u].sides = uvec3(word); }
    result = shapes[word & 3u].count + shapes[word & 3u].sides.y;";
const CONDITION: &str = "
    bool found;
    if (word != 7u) { found = false; }
    if (found) { floats[i] = 1.0; }";

const STORED: &str = "
    uint a;
    if (word > 9u) { a = 1u; } else { a = 2u; }
    uint b;
    switch (word & 3u) { case 0u: b = 1u; break; case 1u: b = 2u; break; default: b = 3u; }
    uvec3 v; v.x = a; v.yz = uvec2(b);
    Shape s; s.sides = v; s.count = 1u;
    uint array[4] = uint[](1u, 2u, 3u, 4u);
    uint c; bool has = word == 7u;
    if (has) { c = word; }
    if (has) { result = c; }
    uint never; result += word != 0u ? 1u : never;
    result += array[word & 3u] + v.y + s.sides.x + s.count + later0;";
const COPIED: &str = "
    Shape s; s.count = 1u;
    Shape t = s;
    group[gl_LocalInvocationIndex] = t;
    if (word > 5000u) { kept[0] = t; }
    uint unread; uint copy = unread;
    result = t.count + counted(s) + first(uvec3(1u, 2u, 3u));
    uint part[4]; part[0] = 1u;
    result += taken(part);
    uvec3 v; v.x = 1u;
    uvec3 w = v;
    w.yz = uvec2(3u);
    result += w.x + w.y + w.z;";
const CALLED: &str = "
    uint y; fill(y); result = y;
    uvec3 v; fill_vector(v); result += v.x + v.z;
    uint a[4]; fill_array(a); result += a[word & 3u];
    Shape s; fill(s.count); result += s.count;
    int exponent; float significand = frexp(y > 2u ? 3.0 : 1.0, exponent); result += uint(exponent) + uint(significand);
    prepare(); result += prepared() + own_of(word & 7u);";
const LOOPS: &str = "
    uint parts[8], at = 0u, last;
    for (uint k = 0u; k < 8u; k++) { parts[k] = k; }
    uint more[16];
    for (uint k = 0u; k < 16u; k++) { more[k] = k < 8u ? parts[k] : k; }
    for (uint k = 0u; k < 16u; k++) { result += more[k]; }
    do { last = at; at++; } while (at < 3u);
    result += last;
    uint best = 100u, index;
    for (uint k = 0u; k < 8u; k++) { if (parts[k] < best) { best = parts[k]; index = k; } }
    if (best != 100u) { result += index; }
    mat2 m; m[0] = vec2(1.0); m[1] = vec2(x);
    result += uint(m[word & 1u].x);";
const SHARED: &str = "
    tile[l] = word;
    if (l == 0u) { total = 0u; }
    barrier();
    atomicAdd(total, tile[l ^ 1u]);
    for (uint step = 16u; step > 0u; step >>= 1) {
        if (l < step) { tile[l] += tile[l + step]; }
        barrier();
    }
    result = total + tile[0];
    if (l < 9u) { partly[l] = l; }
    barrier();
    uint read = partly[l & 15u];
    if ((l & 15u) < 9u) { result += read; }
    group[31u - l] = Shape(uvec3(l), 1u);
    barrier();
    Shape s = group[l];
    result += s.sides.z;";
const CONSUMED: &str = "
    float never = 1.0 / float(zero), far = 1.0 / 0.0;
    floats[i] = min(1.0 / float(zero), 1.0) + exp(-1.0 / float(zero)) + x / (1.0 / float(zero));
    float slab = max(min((1.0 - x) / float(zero), (x + 2.0) / float(zero)), 0.0);
    result = slab < 1.0 ? 1u : 2u;
    result += never > 3.0 ? 1u : 0u;
    floats[i] = word != 0u ? 1.0 : sqrt(-x);
    float moved = uintBitsToFloat(word * 0u + 0x7F800000u);
    floats[i] = moved * 2.0;
    floats[i] = far;
    float safe = zero == 0u ? 0.0 : x / float(zero);
    floats[i] = safe;";

fn shader(body: &str) -> Result<Vec<u32>> {
    let declarations = "
        struct Shape { uvec3 sides; uint count; };
        layout(std430, set = 0, binding = 0) buffer Floats { float floats[]; };
        layout(std430, set = 0, binding = 0) buffer Shapes { Shape kept[]; };
        shared Shape group[32];
        shared uint tile[32], partly[16], total;
        uint later, later0 = 1u;
        uint own[8];
        void prepare() { later = 3u; for (uint k = 0u; k < 8u; k++) { own[k] = k; } }
        uint prepared() { return later; }
        uint own_of(uint at) { return own[at]; }
        uint twice(uint v) { return 2u * v; }
        uint counted(Shape s) { return s.count; }
        uint first(uvec3 v) { return v.x; }
        uint taken(uint a[4]) { return a[0]; }
        void fill(out uint v) { v = 4u; }
        void fill_vector(out uvec3 v) { v.x = 1u; v.y = 2u; v.z = 3u; }
        void fill_array(out uint a[4]) { for (uint k = 0u; k < 4u; k++) { a[k] = k; } }";
    let start = "uint l = gl_LocalInvocationIndex, zero = word - 7u; float x = float(word);";
    compile(declarations, start, body)
}
