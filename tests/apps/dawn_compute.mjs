// Compute and render pipelines of Dawn. Prints a digest of each result. The argument is the file of the package `webgpu`.

import { createHash } from "node:crypto";

const { create, globals } = await import(process.argv[2]);
Object.assign(globalThis, globals);

// A tile of a product of matrices in workgroup memory, then a tree of sums over it.
const PRODUCT = `
const N = 64u;
const T = 8u;
@group(0) @binding(0) var<storage, read> left: array<f32>;
@group(0) @binding(1) var<storage, read> right: array<f32>;
@group(0) @binding(2) var<storage, read_write> product: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<atomic<u32>>;
var<workgroup> a: array<array<f32, T>, T>;
var<workgroup> b: array<array<f32, T>, T>;
var<workgroup> partial: array<u32, T * T>;

@compute @workgroup_size(T, T)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) lane: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    var sum = 0.0;
    for (var tile = 0u; tile < N / T; tile++) {
        a[lane.y][lane.x] = left[id.y * N + tile * T + lane.x];
        b[lane.y][lane.x] = right[(tile * T + lane.y) * N + id.x];
        workgroupBarrier();
        for (var k = 0u; k < T; k++) {
            sum += a[lane.y][k] * b[k][lane.x];
        }
        workgroupBarrier();
    }
    product[id.y * N + id.x] = sum;
    partial[index] = u32(sum) % 97u;
    workgroupBarrier();
    for (var half = T * T / 2u; half > 0u; half /= 2u) {
        if (index < half) {
            partial[index] += partial[index + half];
        }
        workgroupBarrier();
    }
    if (index == 0u) {
        atomicAdd(&sums[group.y], partial[0]);
        atomicMax(&sums[N / T], partial[0] / (group.x + 1u));
    }
}
`;

const DRAW = `
struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    var corners = array(vec2(-0.8, -0.8), vec2(0.8, -0.6), vec2(0.1, 0.9));
    return Corner(vec4(corners[index], 0.0, 1.0), vec3(f32(index) * 0.5, 0.25, 1.0));
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var nearest: sampler;

@fragment
fn shade(corner: Corner) -> @location(0) vec4<f32> {
    var sum = textureSample(picture, nearest, corner.color.xy).x;
    let slope = fwidth(corner.color.x);
    for (var i = 0; i < i32(corner.color.x * 8.0); i++) {
        sum += corner.color.z / f32(i + 1);
    }
    return vec4(fract(sum), corner.color.y, slope * 16.0, 1.0);
}
`;

function digest(name, bytes) {
    console.log(name, createHash("sha256").update(new Uint8Array(bytes)).digest("hex"));
}

async function read(device, buffer, size) {
    const copy = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const commands = device.createCommandEncoder();
    commands.copyBufferToBuffer(buffer, 0, copy, 0, size);
    device.queue.submit([commands.finish()]);
    await copy.mapAsync(GPUMapMode.READ);
    return copy.getMappedRange().slice(0);
}

async function compute(device) {
    const storage = (size, data) => {
        const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
        const buffer = device.createBuffer({ size, usage });
        if (data) {
            device.queue.writeBuffer(buffer, 0, data);
        }
        return buffer;
    };
    const n = 64;
    const values = (factor) => Float32Array.from({ length: n * n }, (_, i) => ((i * factor) % 31) * 0.25);
    const buffers = [
        storage(n * n * 4, values(7)),
        storage(n * n * 4, values(11)),
        storage(n * n * 4),
        storage((n / 8 + 1) * 4),
    ];
    const module = device.createShaderModule({ code: PRODUCT });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const commands = device.createCommandEncoder();
    const pass = commands.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(n / 8, n / 8);
    pass.end();
    device.queue.submit([commands.finish()]);
    digest("product", await read(device, buffers[2], n * n * 4));
    console.log("sums", ...new Uint32Array(await read(device, buffers[3], (n / 8 + 1) * 4)));
}

async function draw(device) {
    const [width, height] = [128, 96];
    const format = "rgba8unorm";
    const texture = (size, usage) => device.createTexture({ size, format, usage });
    const picture = texture([4, 4], GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST);
    const texels = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) % 251);
    device.queue.writeTexture({ texture: picture }, texels, { bytesPerRow: 16 }, [4, 4]);
    const target = texture([width, height], GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC);
    const module = device.createShaderModule({ code: DRAW });
    const pipeline = device.createRenderPipeline({
        layout: "auto",
        vertex: { module },
        fragment: { module, targets: [{ format }] },
    });
    const group = device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [
            { binding: 0, resource: picture.createView() },
            { binding: 1, resource: device.createSampler() },
        ],
    });
    const commands = device.createCommandEncoder();
    const clearValue = [0, 0, 0, 1];
    const colorAttachments = [{ view: target.createView(), loadOp: "clear", storeOp: "store", clearValue }];
    const pass = commands.beginRenderPass({ colorAttachments });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.draw(3);
    pass.end();
    const size = width * height * 4;
    const pixels = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
    commands.copyTextureToBuffer({ texture: target }, { buffer: pixels, bytesPerRow: width * 4 }, [width, height]);
    device.queue.submit([commands.finish()]);
    digest("pixels", await read(device, pixels, size));
}

const gpu = create(["backend=vulkan"]);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
device.addEventListener("uncapturederror", (event) => console.log(event.error.message));
await compute(device);
await draw(device);
device.destroy();
