//! Pipeline caches and shader binaries are the same in two processes, and shaders created without SPIR-V still deliver
//! their messages.

use super::shader_binary::{aligned, compute_info};
use super::support::{GROUPS, MARK, bytes, expect_lost, expect_success, incremented, marked, same_set, same_words};
use crate::case::{Case, cases};
use crate::payload::Payload;
use crate::vk::{Buffer, Cache, Device, Gpu, Kernel, Submission};
use crate::{glsl, respawn};
use anyhow::{Context as _, Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "binaries::pipeline_caches_are_the_same_in_two_processes" => caches(gpu), in_own_process(), within(120);
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
    let hex = |line: &str| -> Result<Vec<u8>> {
        (0..line.len() / 2)
            .map(|i| Ok(u8::from_str_radix(&line[2 * i..2 * i + 2], 16)?))
            .collect()
    };
    text.lines()
        .filter_map(|line| line.strip_prefix(LINE))
        .map(hex)
        .collect()
}

/// In the child process, prints the bytes and returns true.
fn print_if_child(all: &[Vec<u8>]) -> bool {
    let child = std::env::var_os(CHILD).is_some();
    if child {
        for data in all {
            println!("{LINE}{}", vkabort_record::hex::hex(data));
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
    for (own, other) in own.iter().zip(other) {
        let differ = own.iter().zip(other).position(|(a, b)| a != b);
        ensure!(
            own == other,
            "{} and {} bytes differ at {differ:?}",
            own.len(),
            other.len()
        );
    }
    Ok(())
}

/// Data of a new cache after pipelines with aborts were created with it.
fn cache_data(device: &Device<'_>) -> Result<Vec<u8>> {
    cache_data_of(device, &["abort/entry_point.comp", "control_flow/nested.comp"])
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
    ensure!(all[0] == all[2], "a later device of the process produced another cache");
    same_bytes(&all, &run_child()?)
}

fn cached(gpu: &Gpu) -> Result<()> {
    let data = cache_data(&Device::new(gpu)?)?;
    let device = Device::new(gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[5]))?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    kernel.create(&spirv, &[], Some(&Cache::new(&device, &data)?))?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    same_set(device.payloads()?, vec![message(5)])
}

fn message(i: usize) -> Vec<u8> {
    Payload::text("word %u is %u").scalar(i as u32).scalar(MARK).bytes()
}

/// Runs `check` on a device with `VK_EXT_shader_object`.
fn with_shader_objects<R>(gpu: &Gpu, check: impl FnOnce(&Device<'_>) -> Result<R>) -> Result<R> {
    let mut objects = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    let names = [ash::ext::shader_object::NAME];
    check(&Device::with_extensions(gpu, &names, vec![&mut objects])?)
}

/// Creates a compute shader from SPIR-V or from a binary.
fn create_shader(
    device: &Device<'_>,
    kernel: &Kernel<'_>,
    kind: vk::ShaderCodeTypeEXT,
    code: &[u8],
) -> Result<vk::ShaderEXT> {
    let objects = ash::ext::shader_object::Device::new(&device.gpu.instance, &device.raw);
    let layouts = [kernel.set_layout];
    let copy = aligned(code);
    let info = compute_info(&copy, code.len(), kind, &layouts);
    // SAFETY: the create info points to `copy` and `layouts`, which outlive the call.
    let created = unsafe { objects.create_shaders(&[info], None) };
    Ok(created.map_err(|(_, result)| result)?[0])
}

fn binary(device: &Device<'_>, shader: vk::ShaderEXT) -> Result<Vec<u8>> {
    let objects = ash::ext::shader_object::Device::new(&device.gpu.instance, &device.raw);
    // SAFETY: the shader belongs to the device.
    Ok(unsafe { objects.get_shader_binary_data(shader) }?)
}

fn destroy(device: &Device<'_>, shader: vk::ShaderEXT) {
    let objects = ash::ext::shader_object::Device::new(&device.gpu.instance, &device.raw);
    // SAFETY: no pending submission uses the shader.
    unsafe { objects.destroy_shader(shader, None) };
}

fn spirv() -> Result<Vec<u8>> {
    Ok(bytes(&glsl::compile("abort/entry_point.comp")?))
}

/// Binary that a device produces for the shader.
fn make_binary(device: &Device<'_>) -> Result<Vec<u8>> {
    let buffer = Buffer::storage(device, &[0; 64])?;
    let kernel = Kernel::bound(device, &[&buffer])?;
    let shader = create_shader(device, &kernel, vk::ShaderCodeTypeEXT::SPIRV, &spirv()?)?;
    let data = binary(device, shader);
    destroy(device, shader);
    data
}

/// Runs a shader object and checks the buffer and the messages that it leaves.
fn run_shader(device: &Device<'_>, kind: vk::ShaderCodeTypeEXT, code: &[u8], aborting: &[usize]) -> Result<()> {
    let words = marked(aborting);
    let buffer = Buffer::storage(device, &words)?;
    let kernel = Kernel::bound(device, &[&buffer])?;
    let shader = create_shader(device, &kernel, kind, code)?;
    let objects = ash::ext::shader_object::Device::new(&device.gpu.instance, &device.raw);
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
    destroy(device, shader);
    same_words(&buffer.read(), &incremented(&words))?;
    if aborting.is_empty() {
        return expect_success(result);
    }
    expect_lost(result)?;
    same_set(device.payloads()?, aborting.iter().map(|&i| message(i)).collect())
}

fn shader_object(gpu: &Gpu, from_binary: bool, aborting: &[usize]) -> Result<()> {
    if !from_binary {
        return with_shader_objects(gpu, |device| {
            run_shader(device, vk::ShaderCodeTypeEXT::SPIRV, &spirv()?, aborting)
        });
    }
    let data = with_shader_objects(gpu, make_binary)?;
    with_shader_objects(gpu, |device| {
        run_shader(device, vk::ShaderCodeTypeEXT::BINARY, &data, aborting)
    })
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    shader_object(gpu, false, &[])?;
    shader_object(gpu, true, &[])
}

fn shader_binaries(gpu: &Gpu) -> Result<()> {
    with_shader_objects(gpu, |device| {
        let own = vec![make_binary(device)?];
        if print_if_child(&own) {
            return Ok(());
        }
        let other = run_child()?;
        same_bytes(&own, &other)?;
        run_shader(device, vk::ShaderCodeTypeEXT::BINARY, &other[0], &[5, 38])
    })
}
