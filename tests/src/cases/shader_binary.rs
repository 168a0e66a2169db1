//! Binaries of shader objects on another device, and helpers for shader objects.

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

/// Creates a compute shader from SPIR-V or from a binary.
pub(super) fn create(kernel: &Kernel<'_>, kind: vk::ShaderCodeTypeEXT, code: &[u8]) -> Result<vk::ShaderEXT> {
    let layouts = [kernel.set_layout];
    let copy = aligned(code);
    let mut info = vk::ShaderCreateInfoEXT::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .code_type(kind)
        .name(c"main")
        .set_layouts(&layouts);
    info.code_size = code.len();
    info.p_code = copy.as_ptr().cast();
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
    let refused = binary(&other, BINARY, &data).err();
    let refused = refused.and_then(|error| error.downcast_ref::<vk::Result>().copied());
    ensure!(refused == Some(vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT));
    binary(&other, SPIRV, &code)?;
    drop(device);
    let later = open(gpu)?;
    binary(&later, BINARY, &data).context("on a device in place of the first one")?;
    Ok(())
}

/// Destroys shaders that no submission uses.
pub(super) fn destroy(objects: &ext::shader_object::Device, shaders: &[vk::ShaderEXT]) {
    for shader in shaders {
        // SAFETY: no pending submission uses the shader.
        unsafe { objects.destroy_shader(*shader, None) };
    }
}
