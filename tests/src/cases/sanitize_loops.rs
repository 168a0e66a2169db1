//! The check of loops: hints of the source, budgets and times as they are by default, and loops that end.

use super::support::{GROUPS, expect_success, incremented, marked, run, same_words, without_abort};
use crate::case::{Case, Skip, cases};
use crate::glsl;
use crate::vk::{Buffer, Gpu, Kernel};
use anyhow::{Result, ensure};

const DEFAULT: &[(&str, &str)] = &[("sanitize", "default")];
/// A budget that no run uses up.
const TIMED: &[(&str, &str)] = &[
    ("sanitize", "loops"),
    ("loop_budget", "2147483647"),
    ("loop_timeout_ms", "100"),
];
const TIMED_BESIDE: &[(&str, &str)] = &[
    ("sanitize", "loops"),
    ("loop_budget", "2147483647"),
    ("loop_timeout_ms", "100"),
    ("control_block", "device"),
];
const SHORT: &[(&str, &str)] = &[("sanitize", "default"), ("loop_timeout_ms", "100")];
/// A budget below the iterations after which any driver ends a loop.
const BUDGET: &[(&str, &str)] = &[("sanitize", "default"), ("loop_budget", "60000")];
const USED_UP: &[&str] = &["shader aborted: loop budget of 60000 iterations is used up"];
const EXPIRED: &[&str] = &["shader aborted: loop timeout of 100 ms has expired"];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_loops::with_hints_to_unroll" => unrolled(gpu), in_own_process(), within(60), set(DEFAULT), silent();
    "sanitize_loops::two_that_end" => ending(gpu, 30_000, GROUPS), within(60), set(DEFAULT), silent();
    // The driver ends loops by a count, or the time is up.
    "sanitize_loops::a_loop_around_a_counted_one" => endless(gpu, AROUND), within(60), set(DEFAULT), logs(&["shader aborted: loop "]);
    "sanitize_loops::a_product_of_counted_ones" => endless(gpu, PRODUCT), within(60), set(DEFAULT), logs(&["shader aborted: loop "]);
    "sanitize_loops::for_longer_than_allowed" => expired(gpu), within(60), set(TIMED), logs(EXPIRED);
    "sanitize_loops::for_longer_with_another_control_block" => expired(gpu), within(60), set(TIMED_BESIDE), logs(EXPIRED);
    "sanitize_loops::up_to_a_specialised_count" => specialised(gpu, Count::Short), within(60), set(DEFAULT), silent();
    "sanitize_loops::up_to_a_specialised_count_that_is_long" => specialised(gpu, Count::Long), within(60), set(BUDGET), logs(USED_UP);
    "sanitize_loops::up_to_a_count_in_a_module_without_others" => specialised(gpu, Count::Alone), within(60), set(BUDGET), logs(USED_UP);
    "sanitize_loops::by_a_specialised_step_of_0" => specialised(gpu, Count::Endless), within(60), set(BUDGET), logs(USED_UP);
    "sanitize_loops::many_short_ones_in_a_long_dispatch" => ending(gpu, 10_000, 1000), within(120), set(SHORT), silent();
};

/// A loop that does not end, around one of 100 iterations.
const AROUND: &str = "
    float error = 1.0;
    for (uint y = 0u; error > 0.0; y++) {
        for (uint x = 0u; x < 100u; x++) { sum += words[(y * 100u + x) % 64u]; }
        error = error * 0.5 + 0.001;
    }";
/// 216,000,000,000,000 iterations.
const PRODUCT: &str = "
    for (uint a = 0u; a < 60000u; a++)
        for (uint b = 0u; b < 60000u; b++)
            for (uint c = 0u; c < 60000u; c++) { sum = sum * 3u + words[c & 3u]; }";

/// A shader whose invocations add 1000 to their word, after they have run `code` if it is 7.
fn shader(code: &str) -> Result<Vec<u32>> {
    glsl::compile_compute(&format!(
        "#version 460
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
         void main() {{
             uint id = gl_GlobalInvocationID.x;
             uint word = words[id];
             uint sum = 0u;
             if (word == 7u) {{ {code} }}
             words[id] = word + 1000u + (sum == 0xFFFFFFFFu ? 1u : 0u);
         }}"
    ))
}

fn endless(gpu: &Gpu, code: &str) -> Result<()> {
    let words = marked(&[3]);
    let after = run(&without_abort(gpu)?, &shader(code)?, &words)?.succeeded()?;
    same_words(&after, &incremented(&words))
}

/// Values of the constants that [`specialised`] loops count to, and by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Short,
    Long,
    /// In a module without other checks.
    Alone,
    Endless,
}

/// A loop that ends soon by the defaults of its specialisation constants, in two pipelines, of which the second is run.
fn specialised(gpu: &Gpu, count: Count) -> Result<()> {
    let device = without_abort(gpu)?;
    let other = if count == Count::Alone { "sum" } else { "sum / words[1]" };
    let spirv = glsl::compile_compute(&format!(
        "#version 460
         layout(constant_id = 0) const uint COUNT = 8;
         layout(constant_id = 1) const uint STEP = 1;
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
         void main() {{
             uint sum = 0u;
             for (uint k = 0u; k < COUNT; k += STEP) {{ sum += words[k & 1u]; }}
             words[2u + gl_GlobalInvocationID.x] = {other};
         }}"
    ))?;
    let words = [&[6, 2][..], &[0; 32]].concat();
    let buffer = Buffer::storage(&device, &words)?;
    let _defaults = Kernel::new(&device, &spirv, &[&buffer])?;
    let (number, step) = match count {
        Count::Short => (16_u32, 2_u32),
        Count::Long | Count::Alone => (0xFFFF_FFF0, 1),
        Count::Endless => (8, 0),
    };
    let special = [(0, number.to_le_bytes().to_vec()), (1, step.to_le_bytes().to_vec())];
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    kernel.create(&spirv, &special, None)?;
    expect_success(kernel.run_to_end(1)?)?;
    let expected = if count == Count::Short { 8 * 6 / 2 } else { 0 };
    same_words(&buffer.read()[2..], &[expected; 32])
}

fn expired(gpu: &Gpu) -> Result<()> {
    if gpu.driver()[1].starts_with("Mesa 22.") {
        return Err(Skip("the driver ends the loop first".into()).into());
    }
    endless(gpu, "while (words[id] == 7u) { sum++; }")
}

/// Two loops of about `count` iterations in each invocation.
fn ending(gpu: &Gpu, count: u32, groups: u32) -> Result<()> {
    let device = without_abort(gpu)?;
    let spirv = glsl::compile_compute(
        "#version 460
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
         void main() {
             uint count = words[0], sum = 0u;
             for (uint k = 0u; k < count; k++) { sum += words[k % 4u]; }
             for (uint k = 0u; k < count; k++) { sum ^= words[k % 3u] + k; }
             words[4u + gl_GlobalInvocationID.x] = sum;
         }",
    )?;
    let before = [count, 11, 13, 17];
    let words = [&before[..], &vec![0; groups as usize * 32]].concat();
    let buffer = Buffer::storage(&device, &words)?;
    let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
    expect_success(kernel.run_to_end(groups)?)?;
    let mut sum = 0_u32;
    (0..count).for_each(|k| sum = sum.wrapping_add(before[k as usize % 4]));
    (0..count).for_each(|k| sum ^= before[k as usize % 3].wrapping_add(k));
    let after = buffer.read();
    ensure!(
        after[4..].iter().all(|word| *word == sum),
        "{:?}, expected {sum}",
        &after[4..12]
    );
    Ok(())
}

/// Loops with hints to unroll as in llama.cpp: over columns, of a count that the shader loads, and a reduction of a specialised one.
fn unrolled(gpu: &Gpu) -> Result<()> {
    /// A compiler that unrolls the loops up to the budget takes more.
    const MAX_MEMORY: u64 = 1 << 30;
    let device = without_abort(gpu)?;
    let spirv = glsl::compile_compute(
        "#version 460
         #extension GL_EXT_control_flow_attributes : require
         layout(constant_id = 0) const uint BLOCK = 32;
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
         shared uint sums[BLOCK];
         void main() {
             uint id = gl_LocalInvocationIndex;
             uint sum = 0u;
             [[unroll]] for (uint column = id; column < words[64]; column += BLOCK) { sum += words[column]; }
             sums[id] = sum;
             [[unroll]] for (uint step = BLOCK / 2u; step > 0u; step >>= 1) {
                 barrier();
                 if (id < step) { sums[id] += sums[id + step]; }
             }
             barrier();
             sum = sums[0];
             [[unroll]] for (uint column = 0u; column < words[64]; column += BLOCK) { sum++; }
             words[65u + gl_GlobalInvocationID.x] = sum;
         }",
    )?;
    let words: Vec<u32> = (0..64).chain([64]).chain([0; 64]).collect();
    let before = peak_memory();
    let after = run(&device, &spirv, &words)?.succeeded()?;
    same_words(&after[65..], &[2016 + 2; 64])?;
    let memory = peak_memory().saturating_sub(before);
    ensure!(memory < MAX_MEMORY, "the driver took {memory} bytes of memory");
    Ok(())
}

/// The most memory in bytes that the process has had. 0 if the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}
