"""A WGSL shader with a loop that never ends, then one that does. Prints what the second leaves."""

import numpy as np
from wgpu.backends.wgpu_native.extras import set_instance_extras
from wgpu.utils.compute import compute_with_buffers

# Without it, wgpu leaves names and source lines out of the modules.
set_instance_extras(flags=["Debug"])

SPIN = """
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> rests: array<u32>;

fn drain(start: u32) -> u32 {
    var rest = start;
    while rest != 0u {
        rest = (rest * 5u + 2u) | 1u;
    }
    return rest;
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
