//! Pipeline caches and shader binaries are the same in two processes, and shaders created without SPIR-V still deliver
//! their messages.

use super::sanitize::SANITIZE;
use super::shader_binary::{binary, create, destroy, objects, open};
use super::support::{GROUPS, bytes, check_entry_point, marked};
use crate::case::{Case, Skip, cases};
use crate::vk::{Buffer, Cache, Device, Gpu, Kernel, Submission};
use crate::{glsl, respawn};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use vkabort_record::hex::{hex, unhex};

pub(super) const CASES: &[Case] = cases! {
    "binaries::pipeline_caches_are_the_same_in_two_processes" => caches(gpu), in_own_process(), within(120);
    "binaries::pipeline_caches_of_shaders_with_checks_are_the_same_in_two_processes" => caches(gpu),
        set(SANITIZE), in_own_process(), within(120);
    "binaries::a_pipeline_created_with_a_cache_aborts" => cached(gpu);
    "binaries::shader_objects_abort" => shader_object(gpu, false, &[5, 38]), logs(&["word 5 is 7"]);
    "binaries::shader_objects_created_from_binaries_abort" => shader_object(gpu, true, &[5, 38]);
    "binaries::shader_objects_without_a_taken_abort" => never_taken(gpu), silent();
    "binaries::shader_binaries_of_another_process_are_the_same_and_abort" => shader_binaries(gpu),
        in_own_process(), within(120);
};

/// Set in a child process, which prints its bytes instead of comparing them.
const CHILD: &str = "VKABORT_E2E_CHILD";
/// Prefix of each output line that carries bytes.
const LINE: &str = "bytes ";

/// Runs this case again in a child process and returns the bytes that it prints.
fn run_child() -> Result<Vec<Vec<u8>>> {
    let output = respawn::command()?
        .env(CHILD, "1")
        .output()
        .context("cannot start the child")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "the child ended with {}\n{text}",
        output.status
    );
    let lines = text.lines().filter_map(|line| line.strip_prefix(LINE));
    lines.map(|line| unhex(line).context("not hexadecimal")).collect()
}

/// In the child process, prints the bytes and returns true.
fn print_if_child(all: &[Vec<u8>]) -> bool {
    let child = std::env::var_os(CHILD).is_some();
    if child {
        for data in all {
            println!("{LINE}{}", hex(data));
        }
    }
    child
}

fn same_bytes(own: &[Vec<u8>], other: &[Vec<u8>]) -> Result<()> {
    ensure!(
        own.len() == other.len(),
        "the child printed {} of {}",
        other.len(),
        own.len()
    );
    own.iter().zip(other).try_for_each(|(own, other)| same(own, other))
}

fn same(one: &[u8], other: &[u8]) -> Result<()> {
    let differ: Vec<usize> = (0..one.len()).filter(|at| one.get(*at) != other.get(*at)).collect();
    ensure!(
        one == other,
        "{} and {} bytes differ at {} places, first at {:?}",
        one.len(),
        other.len(),
        differ.len(),
        differ.get(..differ.len().min(4)).unwrap_or_default()
    );
    Ok(())
}

/// Data of a new cache after pipelines with aborts were created with it, and with a loop that takes a check.
fn cache_data(device: &Device<'_>) -> Result<Vec<u8>> {
    let shaders = [
        "abort/entry_point.comp",
        "control_flow/nested.comp",
        "waiting/flag.comp",
    ];
    cache_data_of(device, &shaders)
}

/// Data of a new cache after pipelines of these shaders were created with it.
pub(super) fn cache_data_of(device: &Device<'_>, shaders: &[&str]) -> Result<Vec<u8>> {
    let buffer = Buffer::storage(device, &[0; 64])?;
    let cache = Cache::new(device, &[])?;
    for shader in shaders {
        Kernel::bound(device, &[&buffer])?.create(&glsl::compile(shader)?, &[], Some(&cache))?;
    }
    cache.data()
}

fn caches(gpu: &Gpu) -> Result<()> {
    let first = Device::new(gpu)?;
    let mut all = vec![cache_data(&first)?];
    // The second device exists beside the first one, the third after it.
    all.push(cache_data(&Device::new(gpu)?)?);
    drop(first);
    all.push(cache_data(&Device::new(gpu)?)?);
    if print_if_child(&all) {
        return Ok(());
    }
    if same(&all[0], &all[2]).is_err() {
        let plain = || cache_data_of(&Device::new(gpu)?, &["abort/nothing.comp"]);
        if let Err(differ) = same(&plain()?, &plain()?) {
            let text = format!("the driver's caches of a shader that the layer does not rewrite differ: {differ}");
            return Err(Skip(text).into());
        }
    }
    same(&all[0], &all[2]).context("caches of two devices of the process")?;
    same_bytes(&all, &run_child()?)
}

fn cached(gpu: &Gpu) -> Result<()> {
    let data = cache_data(&Device::new(gpu)?)?;
    let device = Device::new(gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[5]))?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    kernel.create(&spirv, &[], Some(&Cache::new(&device, &data)?))?;
    let result = kernel.run_to_end(GROUPS)?;
    check_entry_point(&device, result, &buffer.read(), &[5])
}

fn spirv() -> Result<Vec<u8>> {
    Ok(bytes(&glsl::compile("abort/entry_point.comp")?))
}

/// Binary that a device produces for the shader.
fn make_binary(device: &Device<'_>) -> Result<Vec<u8>> {
    binary(device, vk::ShaderCodeTypeEXT::SPIRV, &spirv()?)
}

/// Runs a shader object and checks the buffer and the messages that it leaves.
fn run_shader(device: &Device<'_>, kind: vk::ShaderCodeTypeEXT, code: &[u8], aborting: &[usize]) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(aborting))?;
    let result = dispatch(device, &buffer, kind, code)?;
    check_entry_point(device, result, &buffer.read(), aborting)
}

/// Runs a shader object over a buffer.
pub(super) fn dispatch(
    device: &Device<'_>,
    buffer: &Buffer<'_>,
    kind: vk::ShaderCodeTypeEXT,
    code: &[u8],
) -> Result<vk::Result> {
    let kernel = Kernel::bound(device, &[buffer])?;
    let shader = create(&kernel, kind, code)?;
    let objects = objects(device);
    let submission = Submission::record(device, |raw, commands| {
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded; shader, layout and set live until it has executed.
        unsafe {
            objects.cmd_bind_shaders(commands, &[vk::ShaderStageFlags::COMPUTE], &[shader]);
            raw.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, &[kernel.set], &[]);
            raw.cmd_dispatch(commands, GROUPS, 1, 1);
        }
    })?;
    let result = submission.run();
    drop(submission);
    destroy(&objects, &[shader]);
    Ok(result)
}

fn shader_object(gpu: &Gpu, from_binary: bool, aborting: &[usize]) -> Result<()> {
    if !from_binary {
        return run_shader(&open(gpu)?, vk::ShaderCodeTypeEXT::SPIRV, &spirv()?, aborting);
    }
    let data = make_binary(&open(gpu)?)?;
    run_shader(&open(gpu)?, vk::ShaderCodeTypeEXT::BINARY, &data, aborting)
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    shader_object(gpu, false, &[])?;
    shader_object(gpu, true, &[])
}

fn shader_binaries(gpu: &Gpu) -> Result<()> {
    let device = open(gpu)?;
    let own = vec![make_binary(&device)?];
    if print_if_child(&own) {
        return Ok(());
    }
    let other = run_child()?;
    same_bytes(&own, &other)?;
    run_shader(&device, vk::ShaderCodeTypeEXT::BINARY, &other[0], &[5, 38])
}
