//! Binaries of shader objects on another device, and helpers for shader objects.

use super::objects::error_code;
use super::support::bytes;
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::{ext, vk};

pub(super) const CASES: &[Case] = cases! {
    "shader_binary::a_binary_of_another_living_device" => another_device(gpu);
};

/// Copies code to 16-byte alignment (VUID-VkShaderCreateInfoEXT-pCode-08492).
pub(super) fn aligned(code: &[u8]) -> Vec<u128> {
    let words = code.chunks(16).map(|chunk| {
        let mut bytes = [0; 16];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u128::from_le_bytes(bytes)
    });
    words.collect()
}

/// Creates a device with `VK_EXT_shader_object`.
pub(super) fn open(gpu: &Gpu) -> Result<Device<'_>> {
    let mut feature = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    Device::with_extensions(gpu, &[ext::shader_object::NAME], vec![&mut feature])
}

/// Commands of `VK_EXT_shader_object`.
pub(super) fn objects(device: &Device<'_>) -> ext::shader_object::Device {
    ext::shader_object::Device::new(&device.gpu.instance, &device.raw)
}

/// Create info of a compute shader. `copy` comes from [`aligned`] and starts with the code's `bytes` bytes.
pub(super) fn compute_info<'a>(
    copy: &'a [u128],
    bytes: usize,
    kind: vk::ShaderCodeTypeEXT,
    layouts: &'a [vk::DescriptorSetLayout],
) -> vk::ShaderCreateInfoEXT<'a> {
    let mut info = vk::ShaderCreateInfoEXT::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .code_type(kind)
        .name(c"main")
        .set_layouts(layouts);
    info.code_size = bytes;
    info.p_code = copy.as_ptr().cast();
    info
}

/// Creates a compute shader from SPIR-V or from a binary.
pub(super) fn create(kernel: &Kernel<'_>, kind: vk::ShaderCodeTypeEXT, code: &[u8]) -> Result<vk::ShaderEXT> {
    let layouts = [kernel.set_layout];
    let copy = aligned(code);
    let info = compute_info(&copy, code.len(), kind, &layouts);
    // SAFETY: the create info points to `copy` and `layouts`, which outlive the call.
    let created = unsafe { objects(kernel.device).create_shaders(&[info], None) };
    Ok(created.map_err(|(_, result)| result)?[0])
}

/// Binary that a device produces for a compute shader.
pub(super) fn binary(device: &Device<'_>, kind: vk::ShaderCodeTypeEXT, code: &[u8]) -> Result<Vec<u8>> {
    let buffer = Buffer::storage(device, &[0; 64])?;
    let shader = create(&Kernel::bound(device, &[&buffer])?, kind, code)?;
    // SAFETY: the shader belongs to the device.
    let data = unsafe { objects(device).get_shader_binary_data(shader) };
    destroy(&objects(device), &[shader]);
    Ok(data?)
}

/// A binary writes its messages to the arena of the device that it was read from. Another living device must reject it
/// as incompatible, and the application compiles the SPIR-V again.
fn another_device(gpu: &Gpu) -> Result<()> {
    const BINARY: vk::ShaderCodeTypeEXT = vk::ShaderCodeTypeEXT::BINARY;
    const SPIRV: vk::ShaderCodeTypeEXT = vk::ShaderCodeTypeEXT::SPIRV;
    let code = bytes(&glsl::compile("abort/entry_point.comp")?);
    let device = open(gpu)?;
    let data = binary(&device, SPIRV, &code)?;
    binary(&device, BINARY, &data).context("on its own device")?;
    let other = open(gpu)?;
    let refused = error_code(binary(&other, BINARY, &data));
    ensure!(refused == Some(vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT));
    second_of_two(&other, &code, &data)?;
    binary(&other, SPIRV, &code)?;
    drop(device);
    let later = open(gpu)?;
    binary(&later, BINARY, &data).context("on a device in place of the first one")?;
    Ok(())
}

/// "The application can determine which shader the returned error pertains to by locating the first VK_NULL_HANDLE element in
/// pShaders" (`vkCreateShadersEXT`).
fn second_of_two(device: &Device<'_>, spirv: &[u8], incompatible: &[u8]) -> Result<()> {
    let objects = objects(device);
    let buffer = Buffer::storage(device, &[0; 64])?;
    let kernel = Kernel::bound(device, &[&buffer])?;
    let layouts = [kernel.set_layout];
    let copies = [aligned(spirv), aligned(incompatible)];
    let infos = [
        compute_info(&copies[0], spirv.len(), vk::ShaderCodeTypeEXT::SPIRV, &layouts),
        compute_info(&copies[1], incompatible.len(), vk::ShaderCodeTypeEXT::BINARY, &layouts),
    ];
    // SAFETY: the create infos point to data that outlives the call.
    let created = unsafe { objects.create_shaders(&infos, None) };
    let (shaders, result) = created.map_or_else(|error| error, |shaders| (shaders, vk::Result::SUCCESS));
    let is_null: Vec<bool> = shaders.iter().map(|shader| *shader == vk::ShaderEXT::null()).collect();
    destroy(&objects, &shaders);
    ensure!(
        result == vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT && is_null == [false, true],
        "{result:?}, null handles: {is_null:?}"
    );
    Ok(())
}

/// Destroys shaders that no submission uses.
pub(super) fn destroy(objects: &ext::shader_object::Device, shaders: &[vk::ShaderEXT]) {
    for shader in shaders {
        // SAFETY: no pending submission uses the shader.
        unsafe { objects.destroy_shader(*shader, None) };
    }
}
