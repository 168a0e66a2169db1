"""A WGSL shader with ten variables and a loop that never ends, then a shader that ends. Prints what the second leaves."""

import os

import numpy as np
from wgpu.backends.wgpu_native.extras import set_instance_extras
from wgpu.utils.compute import compute_with_buffers

# The report shows every variable.
os.environ["VK_VKABORT_SHADER_ABORT_VALUES"] = "on"
# Without it, wgpu leaves names and source lines out of the modules.
set_instance_extras(flags=["Debug"])

SPIN = """
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> rests: array<u32>;

struct Entry {
    key: u32,
    weight: f32,
}

fn drain(start: u32) -> u32 {
    var rest = start;
    var negative = -i32(start);
    var fraction = f32(start) / 4.0;
    var flag = start < 65u;
    var direction = vec2<f32>(fraction, 1.0);
    var matrix = mat2x2<f32>(fraction, 2.0, 3.0, 4.0);
    var entry = Entry(start + 1u, 0.25);
    var list = array<u32, 4>(start, 2u, 3u, 4u);
    var total = 0u;
    while rest != 0u {
        rest = (rest * 5u + 2u) | 1u;
        total += list[1] * entry.key;
    }
    return total + u32(negative) + u32(direction.x + matrix[0][1] + entry.weight) + u32(flag);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    rests[id.x] = drain(starts[id.x]);
}
"""

COUNT = """
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> rests: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    rests[id.x] = starts[id.x] * 2u;
}
"""

starts = np.arange(1, 65, dtype=np.uint32)
compute_with_buffers({0: starts}, {1: (64, "I")}, SPIN, n=1)
after = compute_with_buffers({0: starts}, {1: (64, "I")}, COUNT, n=1)
print("after", np.array(after[1]).sum())
