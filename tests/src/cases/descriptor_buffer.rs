//! Aborts in shaders whose descriptors are in a buffer (`VK_EXT_descriptor_buffer`).

use super::objects::{ask_properties, create_pipeline};
use super::support::{GROUPS, check_entry_point, marked};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Submission};
use anyhow::Result;
use ash::ext::descriptor_buffer;
use ash::vk::{self, BufferUsageFlags as Usage};
use vkabort_oracle::words::from_bytes;

pub(super) const CASES: &[Case] = cases! {
    "descriptor_buffer::an_abort" => dispatch(gpu, &[5, 38]), logs(&["word 5 is 7"]);
    "descriptor_buffer::without_an_abort" => dispatch(gpu, &[]), silent();
};

fn dispatch(gpu: &Gpu, aborting: &[usize]) -> Result<()> {
    gpu.require_extension(descriptor_buffer::NAME)?;
    let mut features = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true);
    let more = ExtraDeviceInfo {
        extensions: vec![descriptor_buffer::NAME],
        features: vec![&mut features],
    };
    let device = &Device::extended(gpu, DeviceOptions::ADDRESSES, more)?;
    let commands = &descriptor_buffer::Device::new(&gpu.instance, &device.raw);
    let mut sizes = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    ask_properties(gpu, &mut sizes);
    let words = marked(aborting);
    let buffer = Buffer::addressed(device, &words, Usage::STORAGE_BUFFER)?;
    let raw = &device.raw;
    // SAFETY: the handles belong to this device, the structures are valid, and every object is destroyed after its use.
    unsafe {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .bindings(&bindings);
        let set_layout = raw.create_descriptor_set_layout(&info, None)?;
        let set_layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        let layout = raw.create_pipeline_layout(&info, None)?;

        let address = vk::DescriptorAddressInfoEXT::default()
            .address(buffer.address())
            .range(words.len() as u64 * 4);
        let info = vk::DescriptorGetInfoEXT {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            data: vk::DescriptorDataEXT {
                p_storage_buffer: &raw const address,
            },
            ..Default::default()
        };
        let at = commands.get_descriptor_set_layout_binding_offset(set_layout, 0) as usize;
        let mut set = vec![0u8; commands.get_descriptor_set_layout_size(set_layout).next_multiple_of(4) as usize];
        commands.get_descriptor(&info, &mut set[at..][..sizes.storage_buffer_descriptor_size]);
        let usage = Usage::RESOURCE_DESCRIPTOR_BUFFER_EXT;
        let descriptors = Buffer::addressed(device, &from_bytes(&set), usage)?;

        let spirv = glsl::compile("abort/entry_point.comp")?;
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .layout(layout);
        let pipeline = create_pipeline(device, &spirv, info)?;
        let binding = vk::DescriptorBufferBindingInfoEXT::default()
            .address(descriptors.address())
            .usage(usage | Usage::SHADER_DEVICE_ADDRESS);
        let submission = Submission::record(device, |raw, recorded| {
            let compute = vk::PipelineBindPoint::COMPUTE;
            raw.cmd_bind_pipeline(recorded, compute, pipeline);
            commands.cmd_bind_descriptor_buffers(recorded, &[binding]);
            commands.cmd_set_descriptor_buffer_offsets(recorded, compute, layout, 0, &[0], &[0]);
            raw.cmd_dispatch(recorded, GROUPS, 1, 1);
        })?;
        let result = submission.run();
        raw.destroy_pipeline(pipeline, None);
        raw.destroy_pipeline_layout(layout, None);
        raw.destroy_descriptor_set_layout(set_layout, None);
        check_entry_point(device, result, &buffer.read(), aborting)
    }
}
