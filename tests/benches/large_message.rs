//! How long lavapipe takes for the pipeline of a shader that aborts with a large array of a uniform buffer: read in place
//! by a loop, and as the value that the module loads.
//!
//!     cargo bench -p vkabort-tests --bench large_message
//!
//! The second is measured up to 8 KiB: it grows faster than the message (64 KiB takes minutes; `BENCH_KIB=64`).
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

use anyhow::{Context as _, Result};
use glslang::{ShaderStage, SpirvVersion, VulkanVersion};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vkabort_tests::case::Context;
use vkabort_tests::harness::Placement;
use vkabort_tests::vk::{Buffer, Device, Gpu, Kernel};
use vkabort_tests::{glsl, measured};
use xtask::drivers::Known;

fn main() -> ExitCode {
    measured::main(start, measure)
}

fn start() -> Result<()> {
    let layer = xtask::layer::build()?;
    for known in [Known::Lavapipe, Known::LavapipeBackports] {
        match known.find() {
            Ok(driver) => measured::again(&driver, &layer, Placement::Alone, &[])?,
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
    Ok(())
}

fn measure(driver: &str) -> Result<()> {
    let most = std::env::var("BENCH_KIB").ok().and_then(|kib| kib.parse().ok());
    let most: u32 = most.unwrap_or(8);
    println!("{driver}: module and pipeline of a shader that aborts with an array");
    println!("{:>8} {:>16} {:>16} {:>8}", "KiB", "by reference", "by value", "ratio");
    for kib in [1, 2, 4, 8, 16, 32, 64] {
        let words = shader(kib)?;
        let reference = create(&words)?;
        let reference_text = format!("{:.1} ms", reference.as_secs_f64() * 1e3);
        if kib > most {
            println!("{kib:>8} {reference_text:>16} {:>16} {:>8}", "not measured", "");
            continue;
        }
        let value = create(&by_value(&words).context("the module has no load of the array")?)?;
        let value_text = format!("{:.1} ms", value.as_secs_f64() * 1e3);
        let ratio = value.as_secs_f64() / reference.as_secs_f64();
        println!("{kib:>8} {reference_text:>16} {value_text:>16} {ratio:>8.1}");
    }
    Ok(())
}

/// A shader whose message is a short string and an array: together so many KiB.
fn shader(kib: u32) -> Result<Vec<u32>> {
    let text = format!(
        "#version 460\n#extension GL_EXT_abort : require\nlayout(local_size_x = 32) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         layout(std140, set = 0, binding = 1) uniform Block {{ uvec4 block[{}]; }};\n\
         void main() {{ if (words[gl_GlobalInvocationID.x] == 7) abortEXT(\"exactly so big.\", block); }}\n",
        kib * 64 - 1
    );
    glsl::compile_text(
        &text,
        ShaderStage::Compute,
        VulkanVersion::Vulkan1_2,
        SpirvVersion::SPIRV1_5,
    )
}

const CONSTANT: u32 = 43;
const FUNCTION: u32 = 54;
const LOAD: u32 = 61;
const MEMORY_BARRIER: u32 = 225;
const TYPE_INT: u32 = 21;
const TYPE_ARRAY: u32 = 28;

/// The same with a memory barrier between the load and the abort: the array can no longer be read where it is.
fn by_value(words: &[u32]) -> Option<Vec<u32>> {
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
                // Scope Device and no semantics.
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

fn create(words: &[u32]) -> Result<Duration> {
    let context = Context {
        messages: Arc::default(),
    };
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
