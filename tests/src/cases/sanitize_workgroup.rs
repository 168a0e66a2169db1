//! Checks of workgroups: barriers that not all invocations reach, and data races in shared memory.

use super::checked_body::{compile, expect};
use super::objects::ask_properties;
use super::support::{MARK, expect_success, marked, run, run_specialised, without_abort};
use crate::case::{Case, Skip, cases};
use crate::glsl_debug::{self, Form};
use crate::vk::{Buffer, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use vkabort_record::shadow_area::BLOCKS;

const ALL: &[(&str, &str)] = &[("sanitize", "all"), ("loop_budget", "60000")];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_workgroup::a_return_before_a_barrier" => fault(gpu, "if (l >= 25u) { words[i] = 1u; return; } barrier();"), set(ALL),
        logs(&["25 of 32 invocations reached this barrier"]);
    "sanitize_workgroup::a_barrier_in_a_branch" => fault(gpu, "if (l < 7u) { barrier(); }"), set(ALL),
        logs(&["7 of 32 invocations reached this barrier"]);
    "sanitize_workgroup::a_barrier_for_each_way" => fault(gpu, "if (l < 7u) { barrier(); } else { barrier(); }"), set(ALL),
        logs(&["of 32 invocations reached this barrier"]);
    "sanitize_workgroup::a_barrier_in_a_loop_that_some_leave" => fault(gpu, "for (uint k = 0u; k < (l < 16u ? 2u : 3u); k++) { barrier(); }"),
        set(ALL), logs(&["16 of 32 invocations reached this barrier"]);
    "sanitize_workgroup::two_barriers_in_a_branch_in_a_loop" => fault(gpu, TWO_BARRIERS), set(&[("sanitize", "barriers")]),
        logs(&["of 32 invocations reached this barrier"]);
    "sanitize_workgroup::a_barrier_of_a_callee" => fault(gpu, "if (l != 9u) { meet(); }"), set(ALL),
        logs(&["31 of 32 invocations reached this barrier"]);
    "sanitize_workgroup::barriers_that_all_reach" => silent(gpu, ALL_REACH), set(ALL), silent();
    "sanitize_workgroup::barriers_behind_a_failed_check" => ended(gpu), set(ALL),
        logs(&["division by zero", "2 invocations aborted here"]);
    "sanitize_workgroup::a_neighbour_that_is_read" => fault(gpu, "s[l] = word; result = s[l ^ 1u];"), set(ALL),
        logs(&["`s[l ^ 1]` is stored by invocation ", "and read by invocation ", "without a barrier between them"]);
    "sanitize_workgroup::a_neighbour_that_is_stored" => fault(gpu, "s[l] = word; barrier(); result = s[(l + 1u) & 31u]; s[l] = 1u + l;"), set(ALL),
        logs(&["`s[l]` is read by invocation ", "and stored by invocation "]);
    "sanitize_workgroup::a_reduction_without_a_barrier" => fault(gpu, UNORDERED_REDUCTION), set(ALL),
        logs(&["is stored by invocation "]);
    "sanitize_workgroup::a_store_after_others_have_read" => fault(gpu, "if (l == 0u) { s[0] = word; } barrier(); result = s[0]; if (l == 0u) { s[0] = 2u; }"),
        set(ALL), logs(&["`s[0]` is ", "without a barrier between them"]);
    "sanitize_workgroup::different_values_in_one_element" => fault(gpu, "single = l;"), set(ALL),
        logs(&["`single` is stored by invocation ", " and by invocation "]);
    "sanitize_workgroup::a_counter_that_is_cleared_too_late" => fault(gpu, "if (l == 0u) { single = 0u; } atomicAdd(single, 1u);"), set(ALL),
        logs(&["`single` is ", "an atomic"]);
    "sanitize_workgroup::a_race_in_a_callee" => fault(gpu, "put(l, word); result = take(l ^ 5u);"), set(ALL),
        logs(&["`s[at]` is ", "without a barrier between them"]);
    "sanitize_workgroup::a_race_on_a_vector" => fault(gpu, "v[l] = vec4(float(word)); result = uint(v[(l + 9u) & 31u].z);"), set(ALL),
        logs(&["`v[", "stored by invocation ", "without a barrier between them"]);
    "sanitize_workgroup::a_race_in_a_continue_construct" => fault(gpu, "for (uint k = 0u; k < 3u; s[(l + k) & 31u] = word) { k++; }"), set(ALL),
        logs(&["is stored by invocation "]);
    "sanitize_workgroup::a_race_of_subgroups" => subgroups(gpu, "s[l] = word; result = s[31u - l] + uint(subgroupElect());", false), set(ALL),
        logs(&[" by subgroup "]);
    "sanitize_workgroup::a_race_on_a_structure" => fault(gpu, "pair.y = uvec3(word); result = pair.y.z;"), set(ALL),
        logs(&["`pair.y` is stored by invocation "]);
    "sanitize_workgroup::a_store_before_a_barrier" => silent(gpu, "s[l] = word; barrier(); result = s[l ^ 1u]; barrier(); s[31u - l] = 1u;"),
        set(ALL), silent();
    "sanitize_workgroup::one_invocation_that_stores" => silent(gpu, "if (l == 3u) { single = word; } barrier(); result = single;"), set(ALL), silent();
    "sanitize_workgroup::a_reduction" => silent(gpu, REDUCTION), set(ALL), silent();
    "sanitize_workgroup::two_buffers" => silent(gpu, TWO_BUFFERS), set(ALL), silent();
    "sanitize_workgroup::parts_of_vectors_and_structures" => silent(gpu, PARTS), set(ALL), silent();
    "sanitize_workgroup::a_constant_that_all_store" => silent(gpu, "single = 0u; if (l > 5u) { single = 0u; } barrier(); atomicAdd(single, 1u); barrier(); result = single;"),
        set(ALL), silent();
    "sanitize_workgroup::the_last_one_reads" => silent(gpu, LAST), set(ALL), silent();
    "sanitize_workgroup::a_lock" => silent(gpu, LOCK), set(ALL), silent();
    "sanitize_workgroup::a_flag" => silent(gpu, FLAG), set(ALL), silent();
    "sanitize_workgroup::many_rounds" => silent(gpu, "for (uint k = 0u; k < 5000u; k++) { s[(l + k) & 31u] = k; barrier(); result = s[l]; barrier(); }"),
        set(ALL), silent();
    "sanitize_workgroup::elements_out_of_bounds" => silent(gpu, "if (word == 7u) { s[word * 100u + l] = 1u; } s[l] = word;"), set(RACES), silent();
    "sanitize_workgroup::a_size_that_a_pipeline_specialises" => sized(gpu, "t[l] = word; result = t[l ^ 1u];"), set(RACES),
        logs(&["`t[l ^ 1]` is stored by invocation "]);
    "sanitize_workgroup::a_size_that_a_pipeline_specialises_without_a_race" => sized(gpu, "t[l] = word; barrier(); result = t[l ^ 1u];"),
        set(ALL), silent();
    "sanitize_workgroup::both_lines" => lines(gpu), set(RACES),
        logs(&[" is stored by invocation ", " at line 6 and read by invocation ", " at line 7, without a barrier between them", "--> race.comp:7"]);
    "sanitize_workgroup::straight_code" => silent(gpu, &straight(40, "32u * k + l")), set(RACES), silent();
    "sanitize_workgroup::a_race_in_straight_code" => fault(gpu, &straight(40, "(l * 3u + k) & 1023u")), set(RACES),
        logs(&["`many[", " by invocation ", "without a barrier between them"]);
    "sanitize_workgroup::an_array_that_is_copied" => silent(gpu, &copied("if (l == 0u)")), set(RACES), silent();
    "sanitize_workgroup::an_array_that_all_copy" => fault(gpu, &copied("")), set(RACES),
        logs(&["`many` is ", "without a barrier between them"]);
    "sanitize_workgroup::two_read_what_one_stores" => fault(gpu, "s[l] = word; barrier(); if (l < 2u) { result = s[0]; if (l == 1u) { s[0] = result; } }"),
        set(RACES), logs(&["`s[0]` is read by ", " and stored by invocation 1"]);
    "sanitize_workgroup::a_function_that_is_inlined_often" => inlined(gpu), set(&[("sanitize", "races"), ("log_level", "warning")]),
        logs(&["races in `add(u1;` are not checked: its ", " once calls are inlined, which drivers take too long to compile"]);
    "sanitize_workgroup::a_line_of_another_file" => files(gpu), set(RACES),
        logs(&["is stored by invocation ", " at line 6 of store.glsl and read by invocation ", " at line 10, without a barrier"]);
    "sanitize_workgroup::a_tile_that_fills_shared_memory" => tiles(gpu, "float", 0, true), set(TILES),
        logs(&["`tile[at ^ 1]` is stored by invocation ", " at line 8 and read by invocation ", " at line 10, without a barrier between them"]);
    "sanitize_workgroup::a_tile_that_fills_shared_memory_without_a_race" => tiles(gpu, "float", 0, false), set(TILES), silent();
    "sanitize_workgroup::a_tile_that_leaves_a_few_words" => tiles(gpu, "int", 8, true), set(TILES),
        logs(&["`tile[at ^ 1]` is stored by invocation ", " at line 8 and read by invocation ", " at line 10, without a barrier between them"]);
    "sanitize_workgroup::a_tile_that_leaves_a_few_words_without_a_race" => tiles(gpu, "int", 8, false), set(TILES), silent();
    "sanitize_workgroup::the_order_in_a_subgroup" => subgroups(gpu, IN_SUBGROUP, true), set(ALL), silent();
};

const RACES: &[(&str, &str)] = &[("sanitize", "races,barriers")];
/// Arrays without room for the shadow of `barriers`. A workgroup that gets no memory would be logged.
const TILES: &[(&str, &str)] = &[("sanitize", "races"), ("log_level", "warning")];
/// Workgroups of a dispatch: more than twice the blocks of the shadow area.
const TILE_GROUPS: u32 = 2 * BLOCKS + 44;

/// SaschaWillems/Vulkan 374: the barrier of the rounds is missing.
const UNORDERED_REDUCTION: &str = "
    s[l] = word;
    barrier();
    for (uint step = 16u; step > 0u; step >>= 1u) { if (l < step) { s[l] += s[l + step]; } }
    barrier();
    result = s[0];";
const REDUCTION: &str = "
    s[l] = word;
    barrier();
    for (uint step = 16u; step > 0u; step >>= 1u) { if (l < step) { s[l] += s[l + step]; } barrier(); }
    result = s[0];";
const TWO_BUFFERS: &str = "
    s[l] = word;
    barrier();
    for (uint k = 0u; k < 6u; k++) {
        if ((k & 1u) == 0u) { other[l] = s[(l + k) & 31u]; } else { s[l] = other[(l + k) & 31u]; }
        barrier();
    }
    result = s[0];";
const PARTS: &str = "
    v[l >> 2][l & 3u] = float(word);
    v[8u + (l >> 2)].x = 1.0;
    if (l == 0u) { pair.x = word; } else if (l == 1u) { pair.y.x = word; } else if (l == 2u) { pair.y.y = word; }
    barrier();
    result = uint(v[l & 7u].z) + pair.x + pair.y.y;";
/// The last invocation that arrives reads the stores of the others.
const LAST: &str = "
    if (l == 0u) { single = 0u; }
    barrier();
    s[l] = word;
    memoryBarrierShared();
    if (atomicAdd(single, 1u) == 31u) { for (uint k = 0u; k < 32u; k++) { result += s[k]; } }";
const LOCK: &str = "
    if (l == 0u) { single = 0u; other[0] = 0u; }
    barrier();
    for (uint k = 0u; k < 200u; k++) {
        if (atomicCompSwap(single, 0u, 1u) == 0u) {
            other[0] += 1u;
            atomicExchange(single, 0u);
            break;
        }
    }
    barrier();
    result = other[0];";
/// A bounded wait, since no invocation is guaranteed to advance while another one waits.
const FLAG: &str = "
    if (l == 0u) { single = 0u; }
    barrier();
    if (l == 0u) { s[5] = word; memoryBarrierShared(); atomicExchange(single, 1u); }
    for (uint k = 0u; k < 10u; k++) { if (atomicAdd(single, 0u) == 1u) { result = s[5]; break; } }";
/// Neighbours are in one subgroup, and the first one stores.
const IN_SUBGROUP: &str = "
    uint at = gl_SubgroupID;
    if (subgroupElect()) { s[at] = word; }
    subgroupBarrier();
    result = s[at];
    subgroupBarrier();
    if (subgroupElect()) { s[at] = 1u; }";

/// The conditions come from memory, so that no analysis knows that all invocations take the same way.
const ALL_REACH: &str = "
    if (words[base] == 3u) { return; }
    uint rounds = words[base + 31u] - 128u - base;
    for (uint k = 0u; k < rounds; k++) { meet(); if (words[base + 1u] == k) { break; } }
    if (rounds == 3u) { barrier(); } else { barrier(); barrier(); }
    for (uint k = 0u; k < 100u; k++) { barrier(); }
    barrier();";

/// A subgroup without invocations that go on passes the barriers, and Mesa 25 and 26 then resume no others, so that none that reports
/// comes to its end.
const TWO_BARRIERS: &str = "
    for (uint k = 0u; k < 3u; k++) {
        s[l] = word + k;
        if (l < 20u) { barrier(); result += s[31u - l]; barrier(); }
    }";

/// Invocations 3 and 40 end before the barriers.
const ENDED: &str = "
    result = 5u / (word - 7u);
    uint rounds = words[base + 31u] - 128u - base;
    for (uint k = 0u; k < rounds; k++) { meet(); }
    if (words[base] == 3u) { return; }
    barrier();";

/// Stores and loads of an element each, one behind the other.
fn straight(count: u32, element: &str) -> String {
    let access = |k: u32| {
        let element = element.replace('k', &format!("{}u", k % 32));
        format!(
            "many[{element}] = word + {k}u; result += many[{element}] / (l + {}u);\n",
            k + 2
        )
    };
    (0..count).map(access).collect()
}

/// Stores to 300 elements, and loads of them, one behind the other.
fn copied(condition: &str) -> String {
    let all = |access: &dyn Fn(u32) -> String| (0..300).map(access).collect::<String>();
    let stores = all(&|k| format!("many[{k}] = words[base + {}u] + l;", k % 32));
    let loads = all(&|k| format!("result += many[{k}];"));
    format!("{condition} {{ {stores} }} barrier(); {loads}")
}

fn shader(body: &str) -> Result<Vec<u32>> {
    shader_with("", body)
}

fn shader_with(extensions: &str, body: &str) -> Result<Vec<u32>> {
    let declarations = "
        shared uint s[32], other[32], single, many[1024];
        shared vec4 v[32];
        shared struct { uint x; uvec3 y; } pair;
        void put(uint at, uint value) { s[at] = value; }
        uint take(uint at) { return s[at]; }
        void meet() { barrier(); }";
    let start = "uint l = gl_LocalInvocationIndex, base = gl_WorkGroupID.x * 32u;";
    compile(&format!("{extensions}\n{declarations}"), start, body)
}

/// Some invocations have a fault. It is not defined how others go on, but all end.
fn fault(gpu: &Gpu, body: &str) -> Result<()> {
    let ran = run(&without_abort(gpu)?, &shader(body)?, &marked(&[]));
    ran.and_then(|ran| ran.succeeded().map(|_| ())).context(body.to_owned())
}

/// No invocation has a fault.
fn silent(gpu: &Gpu, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[], true).context(body.to_owned())
}

/// The default size is that of one element, and the workgroup size is specialised, too.
fn sized(gpu: &Gpu, body: &str) -> Result<()> {
    let constants = "layout(constant_id = 4) const uint SIZE = 1u;
         layout(local_size_x_id = 5) in;
         shared uint t[SIZE];";
    let special = [4, 5].map(|id| (id, 32_u32.to_ne_bytes().to_vec()));
    let ran = run_specialised(
        &without_abort(gpu)?,
        &shader_with(constants, body)?,
        &special,
        &marked(&[]),
    )?;
    ran.succeeded().map(|_| ())
}

/// With debug information.
fn lines(gpu: &Gpu) -> Result<()> {
    let text = "#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
shared uint s[32];
void main() {
    s[gl_LocalInvocationIndex] = 1u;
    words[gl_GlobalInvocationID.x] = s[gl_LocalInvocationIndex ^ 1u];
}
";
    let spirv = glsl_debug::compile_text("race.comp", text, Form::Lines)?;
    run(&without_abort(gpu)?, &spirv, &marked(&[]))?.succeeded().map(|_| ())
}

/// A function with a few accesses that is called 120 times. Without the check, it ends soon.
fn inlined(gpu: &Gpu) -> Result<()> {
    let calls = (0..120).map(|k| format!("add({k}u); barrier();\n")).collect::<String>();
    let text = format!(
        "#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
shared uint s[32];
void add(uint k) {{ s[gl_LocalInvocationIndex] += k; }}
void main() {{
    {calls}
    words[gl_GlobalInvocationID.x] = 1000u;
}}
"
    );
    let spirv = glsl_debug::compile_text("inlined.comp", &text, Form::Lines)?;
    run(&without_abort(gpu)?, &spirv, &marked(&[]))?.succeeded().map(|_| ())
}

/// With lines of two files.
fn files(gpu: &Gpu) -> Result<()> {
    let text = "#version 460
#extension GL_GOOGLE_cpp_style_line_directive : require
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
shared uint s[32];
#line 5 \"store.glsl\"
void put(uint value) {
    s[gl_LocalInvocationIndex] = value; }
#line 8 \"race.comp\"
void main() {
    put(1u + gl_LocalInvocationIndex);
    words[gl_GlobalInvocationID.x] = s[gl_LocalInvocationIndex ^ 1u];
}
";
    let spirv = glsl_debug::compile_text("race.comp", text, Form::Lines)?;
    run(&without_abort(gpu)?, &spirv, &marked(&[]))?.succeeded().map(|_| ())
}

/// A tile of all shared memory but `free` words, in dispatches one after the other. If it `races`, each workgroup of every other one has
/// a race, which at least one reports: those that report it free their block. Without a race all invocations reach their end.
fn tiles(gpu: &Gpu, ty: &str, free: u32, races: bool) -> Result<()> {
    let length = gpu.properties.limits.max_compute_shared_memory_size / 4 - free;
    let text = format!(
        "#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
shared {ty} tile[{length}];
void main() {{
    uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x, at = {length}u - 32u + l;
    bool is_ordered = words[i] != 7u;
    tile[at] = {ty}(l);
    if (is_ordered) {{ barrier(); }}
    words[i] = uint(tile[at ^ 1u]) + 1000u;
}}
"
    );
    let spirv = glsl_debug::compile_text("tile.comp", &text, Form::Lines)?;
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 32 * TILE_GROUPS as usize])?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    kernel.create(&spirv, &[], None)?;
    for dispatch in 0..6 {
        let word = if races && dispatch % 2 == 1 { MARK } else { 100 };
        buffer.write(&[word; 32 * TILE_GROUPS as usize]);
        let (_submission, result) = kernel.run(TILE_GROUPS)?;
        expect_success(result)?;
        let ended = buffer.read().iter().filter(|after| **after == word).count();
        ensure!(
            (ended > 0) == (word == MARK),
            "{ended} invocations have ended in dispatch {dispatch}"
        );
    }
    match races || gpu.properties.device_type == vk::PhysicalDeviceType::CPU {
        true => Ok(()),
        false => Err(Skip(
            "no false report, but a GPU runs more workgroups at once than have a block, and that is logged".into(),
        )
        .into()),
    }
}

/// With subgroup operations.
fn subgroups(gpu: &Gpu, body: &str, is_silent: bool) -> Result<()> {
    let extension = "#extension GL_KHR_shader_subgroup_basic : require";
    let spirv = shader_with(extension, body)?;
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    ask_properties(gpu, &mut subgroups);
    if !is_silent && subgroups.subgroup_size >= 32 {
        return Err(Skip("the workgroup is one subgroup, which executes in order".into()).into());
    }
    match is_silent {
        true => expect(gpu, &spirv, &[], true),
        false => run(&without_abort(gpu)?, &spirv, &marked(&[]))?.succeeded().map(|_| ()),
    }
}

fn ended(gpu: &Gpu) -> Result<()> {
    expect(gpu, &shader(ENDED)?, &[3, 40], false)
}
