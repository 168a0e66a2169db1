//! Binaries of shader objects on another device, and helpers for shader objects.

use super::support::bytes;
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use ash::{ext, vk};

pub(super) const CASES: &[Case] = cases! {
    "shader_binary::a_binary_of_another_living_device" => another_device(gpu);
};

/// Create info of a compute shader object. `copy` comes from [`aligned`] and starts with the code's `bytes` bytes.
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

/// Copies code to 16-byte alignment (VUID-VkShaderCreateInfoEXT-pCode-08492).
pub(super) fn aligned(code: &[u8]) -> Vec<u128> {
    let words = code.chunks(16).map(|chunk| {
        let mut bytes = [0; 16];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u128::from_le_bytes(bytes)
    });
    words.collect()
}

/// A binary writes its messages to the arena of the device that it was read from. Another living device must reject it
/// as incompatible, and the application compiles the SPIR-V again.
fn another_device(gpu: &Gpu) -> Result<()> {
    let open = |feature| -> Result<_> {
        let device = Device::with_extensions(gpu, &[ext::shader_object::NAME], vec![feature])?;
        let objects = ext::shader_object::Device::new(&gpu.instance, &device.raw);
        Ok((device, objects))
    };
    let feature = || vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    let (mut first, mut second, mut third) = (feature(), feature(), feature());
    let (device, objects) = open(&mut first)?;
    let code = bytes(&glsl::compile("abort/entry_point.comp")?);
    let layout = |device: &Device<'_>| {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the create info is valid.
        unsafe { device.raw.create_descriptor_set_layout(&info, None) }
    };
    // Result of the creation, and the binary of the shader.
    let create = |device: &Device<'_>, objects: &ext::shader_object::Device, code: &[u8], kind| -> Result<_> {
        let copy = aligned(code);
        let layouts = [layout(device)?];
        let info = compute_info(&copy, code.len(), kind, &layouts);
        // SAFETY: the create info points to data that outlives the call; no submission uses the destroyed objects.
        unsafe {
            let created = objects.create_shaders(&[info], None);
            let (shaders, result) = created.map_or_else(|error| error, |shaders| (shaders, vk::Result::SUCCESS));
            let binary = match result {
                vk::Result::SUCCESS => objects.get_shader_binary_data(shaders[0])?,
                _ => Vec::new(),
            };
            destroy(objects, &shaders);
            device.raw.destroy_descriptor_set_layout(layouts[0], None);
            Ok((result, binary))
        }
    };
    let (binary_kind, spirv_kind) = (vk::ShaderCodeTypeEXT::BINARY, vk::ShaderCodeTypeEXT::SPIRV);
    let (compiled, binary) = create(&device, &objects, &code, spirv_kind)?;
    ensure!(compiled == vk::Result::SUCCESS, "SPIR-V returned {compiled:?}");
    let (same_device, _) = create(&device, &objects, &binary, binary_kind)?;
    ensure!(
        same_device == vk::Result::SUCCESS,
        "its own device returned {same_device:?}"
    );
    let (other, other_objects) = open(&mut second)?;
    let (other_device, _) = create(&other, &other_objects, &binary, binary_kind)?;
    ensure!(
        other_device == vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT,
        "another living device returned {other_device:?}"
    );
    let (compiled, _) = create(&other, &other_objects, &code, spirv_kind)?;
    ensure!(compiled == vk::Result::SUCCESS, "SPIR-V returned {compiled:?}");
    drop(device);
    let (later, later_objects) = open(&mut third)?;
    let (later, _) = create(&later, &later_objects, &binary, binary_kind)?;
    ensure!(
        later == vk::Result::SUCCESS,
        "a device in place of the first one returned {later:?}"
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
