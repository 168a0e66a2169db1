//! Many accesses through one address, with aborts or checks between them. Passes keep no pointer in a variable for code behind an abort:
//! SwiftShader's compiler ends the process.

use super::support::{expect_success, incremented, marked, same_words};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Context as _, Result};
use ash::vk;

const ADDRESSES: &[(&str, &str)] = &[("sanitize", "addresses")];
const CONTINUE: &[(&str, &str)] = &[("on_abort", "continue")];

pub(super) const CASES: &[Case] = cases! {
    "many_addresses::checked_loads" => checked(gpu, &LOADS), set(ADDRESSES), silent();
    "many_addresses::checked_stores" => checked(gpu, &STORES), set(ADDRESSES), silent();
    "many_addresses::checked_loads_through_a_variable" => checked(gpu, &VARIABLE), set(ADDRESSES), silent();
    "many_addresses::checked_loads_through_a_variable_that_changes" => checked(gpu, &CHANGES), set(ADDRESSES), silent();
    "many_addresses::checked_loads_in_a_callee" => checked(gpu, &CALLEE), set(ADDRESSES), silent();
    "many_addresses::checked_loads_in_front_of_a_returned_pointer" => checked(gpu, &RETURNED), set(ADDRESSES), silent();
    "many_addresses::checked_loads_in_front_of_a_returned_structure" => checked(gpu, &STRUCTURE), set(ADDRESSES), silent();
    "many_addresses::checked_matrices" => checked(gpu, &MATRICES), set(ADDRESSES), silent();
    "many_addresses::checked_loads_in_a_loop" => checked(gpu, &LOOP), set(ADDRESSES), silent();
    "many_addresses::aborts_between_loads" => aborted(gpu, &LOADS), set(CONTINUE), logs(&["shader aborted: access 11", "shader aborted: access 79"]);
    "many_addresses::aborts_between_stores" => aborted(gpu, &STORES), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_between_loads_through_a_variable" => aborted(gpu, &VARIABLE), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_between_loads_through_a_variable_that_changes" => aborted(gpu, &CHANGES), set(CONTINUE),
        logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_in_a_callee" => aborted(gpu, &CALLEE), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_in_front_of_a_returned_pointer" => aborted(gpu, &RETURNED), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_in_front_of_a_returned_structure" => aborted(gpu, &STRUCTURE), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_between_matrices" => aborted(gpu, &MATRICES), set(CONTINUE), logs(&["shader aborted: access 79"]);
    "many_addresses::aborts_in_a_loop" => aborted(gpu, &LOOP), set(CONTINUE), logs(&["shader aborted: access 79"]);
};

/// A shader around the accesses.
struct Form {
    /// Text in front of the accesses and behind them.
    around: [&'static str; 2],
    /// An access, with `K` as its number.
    access: &'static str,
    /// The sum of an invocation.
    sum: fn(i: u32, count: u32) -> u32,
}

/// The invocations with a word that its message names abort at the last access.
const MARKED: usize = 3;
const COUNTS: [u32; 2] = [12, 80];

const LOADS: Form = Form {
    around: ["void run() {", "}"],
    access: "sum += first.values[i + K];",
    sum: consecutive,
};
const STORES: Form = Form {
    around: ["void run() { Values own = Values(second + uvec2(i * 32u, 0u));", "}"],
    access: "own.values[K % 8u] = K; sum += own.values[K % 8u];",
    sum: |_, count| consecutive(0, count),
};
const VARIABLE: Form = Form {
    around: ["void run() { Values p = first; Values q = Values(second);", "}"],
    access: "sum += p.values[i + K] + q.values[K];",
    sum: |i, count| consecutive(i, count) + consecutive(0, count),
};
const CHANGES: Form = Form {
    around: ["void run() { Values p;", "sum += p.values[0]; }"],
    access: "p = Values(uvec2(first) + uvec2(4u * K, 0u)); sum += p.values[i];",
    sum: |i, count| consecutive(i, count) + count - 1,
};
const CALLEE: Form = Form {
    around: [
        "void take(Values p, uint at) {",
        "} void run() { take(first, i); take(Values(second), 2u); sum += first.values[i]; }",
    ],
    access: "sum += p.values[at + K];",
    sum: |i, count| consecutive(i, count) + consecutive(2, count) + i,
};
const RETURNED: Form = Form {
    around: [
        "Values next() { Values p = Values(uvec2(first) + uvec2(4u, 0u));",
        "return p; } void run() { Values p = next(); sum += p.values[i]; sum += p.values[i + 1u]; }",
    ],
    access: "sum += p.values[i + K];",
    sum: |i, count| consecutive(i + 1, count) + 2 * i + 3,
};
const STRUCTURE: Form = Form {
    around: [
        "struct Both { Values p; uint count; Values q[2]; };
         Both next() { Both b; b.p = first; b.count = i; b.q[0] = Values(second); b.q[1] = first;",
        "return b; } void run() { Both b = next(); sum += b.p.values[i] + b.q[0].values[i] + b.q[1].values[1] + b.count; }",
    ],
    access: "sum += b.q[1].values[i + K];",
    sum: |i, count| consecutive(i, count) + 3 * i + 1,
};
const LOOP: Form = Form {
    around: [
        "void run() { for (uint turn = 0u; turn < 3u; turn++) { Values p = Values(uvec2(first) + uvec2(4u * turn, 0u));",
        "} }",
    ],
    access: "sum += p.values[i + K];",
    sum: |i, count| (0..3).map(|turn| consecutive(i + turn, count)).sum(),
};
/// Words would lose the layout of matrices, which is that of the member.
const MATRICES: Form = Form {
    around: [
        "layout(buffer_reference, std430, buffer_reference_align = 16) buffer Matrices { mat2x3 columns; layout(row_major) mat2x3 rows; };
         void run() { Matrices own = Matrices(second + uvec2(i * 64u, 0u));",
        "}",
    ],
    access: "own.columns = mat2x3(K, 1, 2, 3, 4, 5); own.rows[1] = own.columns[0]; own.rows[0] = own.columns[1];
             sum += uint(dot(own.rows * vec2(1, 10), vec3(1)));",
    sum: |_, count| 10 * consecutive(0, count) + 42 * count,
};

/// The sum of so many numbers.
fn consecutive(first: u32, count: u32) -> u32 {
    (first..first + count).sum()
}

fn shader(form: &Form, count: u32, has_aborts: bool) -> Result<Vec<u32>> {
    let accesses = (0..count).map(|k| {
        let access = form.access.replace('K', &format!("{k}u"));
        // A marked word is 7, and the others are 100 or more.
        let last = count + 6;
        match has_aborts {
            true => format!("{access} if (word + {k}u == {last}u) abortEXT(\"access {k} of %u\", i);\n"),
            false => access + "\n",
        }
    });
    let accesses: String = accesses.collect();
    let extension = if has_aborts {
        "#extension GL_EXT_abort : require"
    } else {
        ""
    };
    let [before, behind] = form.around;
    let text = format!(
        "#version 460
         {extension}
         #extension GL_EXT_buffer_reference : require
         #extension GL_EXT_buffer_reference_uvec2 : require
         layout(local_size_x = 32) in;
         layout(buffer_reference, std430, buffer_reference_align = 4) buffer Values {{ uint values[]; }};
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
         layout(std430, set = 0, binding = 1) buffer Addresses {{ Values first; uvec2 second; }};
         uint i, word, sum;
         {before}
         {accesses}
         {behind}
         void main() {{ i = gl_GlobalInvocationID.x; word = words[i]; sum = 0u; run(); words[i] = word + 1000u + sum; }}"
    );
    glsl::compile_compute(&text)
}

fn run(gpu: &Gpu, form: &Form, count: u32, has_aborts: bool) -> Result<()> {
    let options = DeviceOptions {
        abort: has_aborts,
        ..DeviceOptions::ADDRESSES
    };
    let device = Device::with(gpu, options)?;
    let numbers: Vec<u32> = (0..1024).collect();
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let first = Buffer::addressed(&device, &numbers, usage)?;
    let second = Buffer::addressed(&device, &numbers, usage)?;
    let addresses = [&first, &second].map(Buffer::address);
    let addresses = addresses.map(|address| [address as u32, (address >> 32) as u32]);
    let table = Buffer::storage(&device, addresses.as_flattened())?;
    let before = marked(if has_aborts { &[MARKED] } else { &[] });
    let words = Buffer::storage(&device, &before)?;
    let kernel = Kernel::new(&device, &shader(form, count, has_aborts)?, &[&words, &table])?;
    expect_success(kernel.run_to_end(2)?)?;
    let mut expected = incremented(&before);
    for (i, word) in (0..).zip(&mut expected) {
        if !(has_aborts && i as usize == MARKED) {
            *word += (form.sum)(i, count);
        }
    }
    same_words(&words.read(), &expected)
}

fn checked(gpu: &Gpu, form: &Form) -> Result<()> {
    let mut counts = COUNTS.into_iter();
    counts.try_for_each(|count| run(gpu, form, count, false).with_context(|| format!("{count} accesses")))
}

fn aborted(gpu: &Gpu, form: &Form) -> Result<()> {
    let mut counts = COUNTS.into_iter();
    counts.try_for_each(|count| run(gpu, form, count, true).with_context(|| format!("{count} accesses")))
}
