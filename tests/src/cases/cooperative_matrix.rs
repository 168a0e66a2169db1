//! Aborts in a loop over cooperative matrices (`VK_KHR_cooperative_matrix`), which are live across calls that may abort.

use super::objects::ask_properties;
use super::support::{expect_end, same_set};
use crate::case::{Case, Skip, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "cooperative_matrix::an_abort_in_the_body_of_a_loop" => multiply(gpu, ALONE, Some((2, 7.0, "step %u")));
    "cooperative_matrix::an_abort_in_the_condition_of_a_loop" => multiply(gpu, ALONE, Some((3, 8.0, "continue %u")));
    "cooperative_matrix::without_an_abort" => multiply(gpu, ALONE, None), silent();
    // NVIDIA's 580 lost the device where the words of the checks moved the arrays.
    "cooperative_matrix::in_shared_memory_with_words_of_checks" => multiply(gpu, STAGED, None),
        set(&[("sanitize", "barriers,races,initialized"), ("log_level", "error")]), silent();
};

/// Matrices from a buffer.
const ALONE: &str = "abort/matrices.comp";
/// Matrices that go through shared memory.
const STAGED: &str = "abort/staged_matrices.comp";

/// M, N and K of products of 16-bit floats with 32-bit sums.
fn dimensions(gpu: &Gpu) -> Result<[u32; 3]> {
    let commands = ash::khr::cooperative_matrix::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the physical device belongs to the living instance and has the extension.
    let all = unsafe { commands.get_physical_device_cooperative_matrix_properties(gpu.physical) }?;
    let found = all.iter().find(|one| {
        one.scope == vk::ScopeKHR::SUBGROUP
            && [one.a_type, one.b_type] == [vk::ComponentTypeKHR::FLOAT16; 2]
            && [one.c_type, one.result_type] == [vk::ComponentTypeKHR::FLOAT32; 2]
    });
    let found = found.map(|one| [one.m_size, one.n_size, one.k_size]);
    found.ok_or_else(|| Skip("no products of 16-bit floats".into()).into())
}

/// Adds four products of matrices of ones. With an abort: the step, the value that makes it abort, and the message.
fn multiply(gpu: &Gpu, shader: &str, abort: Option<(usize, f32, &str)>) -> Result<()> {
    let name = ash::khr::cooperative_matrix::NAME;
    gpu.require_extension(name)?;
    let (_, newer) = gpu.features();
    gpu.require(newer.shader_float16, "shaderFloat16")?;
    let mut features = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
    let options = DeviceOptions {
        vulkan_memory_model: true,
        ..DeviceOptions::default()
    };
    let more = ExtraDeviceInfo {
        extensions: vec![name],
        features: vec![&mut features],
    };
    let device = &Device::extended(gpu, options, more)?;
    let [m, n, k] = dimensions(gpu)?;
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    ask_properties(gpu, &mut subgroups);
    let invocations = subgroups.subgroup_size;

    // Pairs of 16-bit ones.
    let ones = Buffer::storage(device, &vec![0x3C00_3C00; (k * m.max(n)).div_ceil(2) as usize])?;
    let mut steps = vec![0u32; 64 + (m * n) as usize];
    if let Some((step, value, _)) = abort {
        steps[step] = value.to_bits();
    }
    let steps = Buffer::storage(device, &steps)?;
    let mut kernel = Kernel::bound(device, &[&ones, &steps])?;
    let special = [m, n, k, invocations];
    let special: Vec<_> = (0..).zip(special.map(|value| value.to_le_bytes().to_vec())).collect();
    kernel.create(&glsl::compile(shader)?, &special, None)?;
    let (_submission, result) = kernel.run(1)?;
    expect_end(result, abort.is_some())?;
    let Some((step, _, text)) = abort else {
        let sums: Vec<f32> = steps.read()[64..].iter().map(|word| f32::from_bits(*word)).collect();
        ensure!(sums.iter().all(|sum| *sum == 4.0 * k as f32), "{sums:?}");
        return Ok(());
    };
    let message = Payload::text(text).scalar(step as u32).bytes();
    same_set(device.payloads()?, vec![message; invocations as usize])
}
