//! The descriptors of a kernel.

use crate::{Buffer, Kernel};
use anyhow::{Context, Result};
use ash::vk;

impl Kernel<'_> {
    /// Creates the layout and the descriptors. The buffers must outlive the kernel.
    pub(super) fn bind(
        &mut self,
        buffers: &[&Buffer<'_>],
        scene: Option<vk::AccelerationStructureKHR>,
        stages: vk::ShaderStageFlags,
    ) -> Result<()> {
        let scene_kind = scene.map(|_| vk::DescriptorType::ACCELERATION_STRUCTURE_KHR);
        let kinds: Vec<_> = buffers.iter().map(|buffer| buffer.kind).chain(scene_kind).collect();
        let bindings: Vec<_> = kinds
            .iter()
            .zip(0..)
            .map(|(kind, binding)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(*kind)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let raw = &self.device.raw;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = raw
                .create_descriptor_set_layout(&info, None)
                .context("vkCreateDescriptorSetLayout")?;
            let layouts = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            self.layout = raw
                .create_pipeline_layout(&info, None)
                .context("vkCreatePipelineLayout")?;
            // The extra size keeps a pool without buffers from being empty.
            let sizes: Vec<_> = kinds
                .into_iter()
                .chain([vk::DescriptorType::STORAGE_BUFFER])
                .map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(1))
                .collect();
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            self.pool = raw
                .create_descriptor_pool(&info, None)
                .context("vkCreateDescriptorPool")?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            self.set = raw
                .allocate_descriptor_sets(&info)
                .context("vkAllocateDescriptorSets")?[0];
            for (buffer, binding) in buffers.iter().zip(0..) {
                let infos = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw)
                    .range(vk::WHOLE_SIZE)];
                let views = [buffer.view];
                let mut write = vk::WriteDescriptorSet::default()
                    .dst_set(self.set)
                    .dst_binding(binding)
                    .descriptor_type(buffer.kind);
                write = match buffer.view {
                    view if view == vk::BufferView::null() => write.buffer_info(&infos),
                    _ => write.texel_buffer_view(&views),
                };
                raw.update_descriptor_sets(&[write], &[]);
            }
            if let Some(scene) = scene {
                let scenes = [scene];
                let mut info =
                    vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(&scenes);
                let mut write = vk::WriteDescriptorSet::default()
                    .dst_set(self.set)
                    .dst_binding(buffers.len() as u32)
                    .descriptor_type(vk::DescriptorType::ACCELERATION_STRUCTURE_KHR)
                    .push_next(&mut info);
                write.descriptor_count = 1;
                raw.update_descriptor_sets(&[write], &[]);
            }
        }
        Ok(())
    }
}
