//! Binaries of shader objects on another device, and helpers for shader objects.

use crate::case::{Case, Context};
use crate::glsl;
use crate::vk::{Device, DeviceOptions, Gpu, More};
use anyhow::{Result, ensure};
use ash::{ext, vk};

pub(super) const CASES: &[Case] = &[Case::new(
    "shader_binary::a_binary_of_another_living_device",
    another_device,
)];

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
fn another_device(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    gpu.require_extension(ext::shader_object::NAME)?;
    let open = |feature| -> Result<_> {
        let more = More {
            extensions: vec![ext::shader_object::NAME],
            features: vec![feature],
        };
        let device = Device::extended(&gpu, DeviceOptions::default(), more)?;
        let objects = ext::shader_object::Device::new(&gpu.instance, &device.raw);
        Ok((device, objects))
    };
    let feature = || vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    let (mut first, mut second, mut third) = (feature(), feature(), feature());
    let (device, objects) = open(&mut first)?;
    let words = glsl::compile("abort/entry_point.comp")?;
    let code: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    let layout = |device: &Device<'_>| {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the create info is valid.
        unsafe { device.raw.create_descriptor_set_layout(&info, None) }
    };
    let create = |device: &Device<'_>, objects: &ext::shader_object::Device, code: &[u8], kind| -> Result<vk::Result> {
        let copy = aligned(code);
        let layouts = [layout(device)?];
        let info = compute_info(&copy, code.len(), kind, &layouts);
        // SAFETY: the create info points to data that outlives the call; no submission uses the destroyed objects.
        unsafe {
            let created = objects.create_shaders(&[info], None);
            let result = match created {
                Ok(shaders) => {
                    destroy(objects, &shaders);
                    vk::Result::SUCCESS
                }
                Err((shaders, result)) => {
                    destroy(objects, &shaders);
                    result
                }
            };
            device.raw.destroy_descriptor_set_layout(layouts[0], None);
            Ok(result)
        }
    };
    let layouts = [layout(&device)?];
    let copy = aligned(&code);
    let info = compute_info(&copy, code.len(), vk::ShaderCodeTypeEXT::SPIRV, &layouts);
    // SAFETY: the create info points to data that outlives the call; no submission uses the destroyed objects.
    let binary = unsafe {
        let shaders = objects.create_shaders(&[info], None).map_err(|(_, result)| result)?;
        let binary = objects.get_shader_binary_data(shaders[0]);
        destroy(&objects, &shaders);
        device.raw.destroy_descriptor_set_layout(layouts[0], None);
        binary?
    };
    let (binary_kind, spirv_kind) = (vk::ShaderCodeTypeEXT::BINARY, vk::ShaderCodeTypeEXT::SPIRV);
    let same_device = create(&device, &objects, &binary, binary_kind)?;
    ensure!(
        same_device == vk::Result::SUCCESS,
        "its own device returned {same_device:?}"
    );
    let (other, other_objects) = open(&mut second)?;
    let other_device = create(&other, &other_objects, &binary, binary_kind)?;
    ensure!(
        other_device == vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT,
        "another living device returned {other_device:?}"
    );
    let compiled = create(&other, &other_objects, &code, spirv_kind)?;
    ensure!(compiled == vk::Result::SUCCESS, "SPIR-V returned {compiled:?}");
    drop(device);
    let (later, later_objects) = open(&mut third)?;
    let later = create(&later, &later_objects, &binary, binary_kind)?;
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
