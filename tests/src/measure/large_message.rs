//! Pipelines of shaders that abort with a large array, which the rewritten shader reads in place or loads by value.

use crate::case::Context;
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Compiles a shader whose message is a short string and an array of `kib` KiB in total.
///
/// # Errors
///
/// The shader does not compile.
pub fn shader(kib: u32) -> Result<Vec<u32>> {
    let text = format!(
        "#version 460\n#extension GL_EXT_abort : require\nlayout(local_size_x = 32) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         layout(std140, set = 0, binding = 1) uniform Block {{ uvec4 block[{}]; }};\n\
         void main() {{ if (words[gl_GlobalInvocationID.x] == 7) abortEXT(\"exactly so big.\", block); }}\n",
        kib * 64 - 1
    );
    glsl::compile_compute(&text)
}

const CONSTANT: u32 = 43;
const FUNCTION: u32 = 54;
const LOAD: u32 = 61;
const MEMORY_BARRIER: u32 = 225;
const TYPE_INT: u32 = 21;
const TYPE_ARRAY: u32 = 28;

/// Adds a memory barrier between the load and the abort, so that the rewrite cannot read the array in place. None if the
/// module loads no array.
pub fn by_value(words: &[u32]) -> Option<Vec<u32>> {
    let (header, mut rest) = words.split_at(5);
    let mut out = header.to_vec();
    let zero = out[3];
    out[3] += 2;
    let (mut uint, mut arrays, mut function, mut found) = (None, Vec::new(), false, false);
    while let Some(first) = rest.first() {
        let (inst, tail) = rest.split_at((first >> 16) as usize);
        rest = tail;
        match first & 0xFFFF {
            TYPE_INT if inst[2] == 32 && inst[3] == 0 => uint = Some(inst[1]),
            TYPE_ARRAY => arrays.push(inst[1]),
            FUNCTION if !function => {
                function = true;
                // Constants 0 (no memory semantics) and 1 (scope Device).
                out.extend([
                    4 << 16 | CONSTANT,
                    uint?,
                    zero,
                    0,
                    4 << 16 | CONSTANT,
                    uint?,
                    zero + 1,
                    1,
                ]);
            }
            _ => {}
        }
        out.extend_from_slice(inst);
        if first & 0xFFFF == LOAD && arrays.contains(&inst[1]) {
            out.extend([3 << 16 | MEMORY_BARRIER, zero + 1, zero]);
            found = true;
        }
    }
    found.then_some(out)
}

/// Time to create the shader module and the pipeline.
///
/// # Errors
///
/// A call fails.
pub fn create(words: &[u32]) -> Result<Duration> {
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let device = Device::new(&gpu)?;
    let buffers = [
        Buffer::storage(&device, &[0; 64])?,
        Buffer::uniform(&device, &[0; 16384])?,
    ];
    let bound: Vec<&Buffer<'_>> = buffers.iter().collect();
    let start = Instant::now();
    let _kernel = Kernel::new(&device, words, &bound)?;
    Ok(start.elapsed())
}
