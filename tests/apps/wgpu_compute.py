"""Compute and render pipelines of wgpu. Prints a digest of each result."""

import hashlib

import numpy as np
import wgpu
from wgpu.utils.compute import compute_with_buffers

SORT = """
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> sorted: array<u32>;
var<workgroup> tile: array<u32, 64>;

fn swap(a: u32, b: u32) {
    let kept = tile[a];
    tile[a] = tile[b];
    tile[b] = kept;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    tile[lane] = source[id.x];
    workgroupBarrier();
    for (var round = 0u; round < 64u; round++) {
        let left = lane * 2u + round % 2u;
        if (left + 1u < 64u && tile[left] > tile[left + 1u]) {
            swap(left, left + 1u);
        }
        workgroupBarrier();
    }
    sorted[id.x] = tile[lane];
}
"""

DRAW = """
struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    var corners = array<vec2<f32>, 3>(vec2(-0.8, -0.8), vec2(0.8, -0.6), vec2(0.1, 0.9));
    return Corner(vec4(corners[index], 0.0, 1.0), vec3(f32(index) * 0.5, 0.25, 1.0));
}

@fragment
fn shade(corner: Corner) -> @location(0) vec4<f32> {
    var sum = 0.0;
    for (var i = 0; i < i32(corner.color.x * 8.0); i++) {
        sum += corner.color.z / f32(i + 1);
    }
    return vec4(fract(sum), corner.color.yz, 1.0);
}
"""


def digest(name, data):
    print(name, hashlib.sha256(bytes(data)).hexdigest())


device = wgpu.gpu.request_adapter_sync(power_preference="high-performance").request_device_sync()
words = (np.arange(4096, dtype=np.uint32) * 2654435761) % 10007
out = compute_with_buffers({0: words.astype(np.uint32)}, {1: (4096, "I")}, SORT, n=64)
digest("sorted", out[1])

size = (128, 96, 1)
target = device.create_texture(
    size=size,
    format=wgpu.TextureFormat.rgba8unorm,
    usage=wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC,
)
module = device.create_shader_module(code=DRAW)
pipeline = device.create_render_pipeline(
    layout="auto",
    vertex={"module": module, "entry_point": "corner"},
    fragment={"module": module, "entry_point": "shade", "targets": [{"format": target.format}]},
    primitive={"topology": wgpu.PrimitiveTopology.triangle_list},
)
commands = device.create_command_encoder()
drawing = commands.begin_render_pass(
    color_attachments=[
        {"view": target.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 1)}
    ]
)
drawing.set_pipeline(pipeline)
drawing.draw(3)
drawing.end()
device.queue.submit([commands.finish()])
pixels = device.queue.read_texture({"texture": target}, {"bytes_per_row": size[0] * 4}, size)
digest("pixels", pixels)
