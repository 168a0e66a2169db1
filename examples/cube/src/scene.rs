//! The resources that the pipelines read: mesh, texture and font, with their descriptors.

use crate::device::Device;
use crate::mesh::cube;
use crate::pipelines::Pipelines;
use crate::resources::{Buffer, Image};
use crate::text::font;
use anyhow::Result;
use ash::vk;
use std::rc::Rc;

/// Width and height of the texture.
pub const PATTERN_SIZE: u32 = 256;

/// The buffers and images of the cube and the text.
pub struct Scene {
    device: Rc<Device>,
    /// The cube's vertices.
    pub vertices: Buffer,
    /// The cube's indices.
    pub indices: Buffer,
    /// Number of indices.
    pub index_count: u32,
    /// The texture; its layout is GENERAL.
    pub pattern: Image,
    font: Buffer,
    sampler: vk::Sampler,
    pool: vk::DescriptorPool,
    /// The descriptor set of all pipelines.
    pub set: vk::DescriptorSet,
}

impl Scene {
    /// Creates the resources. The texture has no contents yet.
    pub fn new(device: &Rc<Device>, pipelines: &Pipelines) -> Result<Self> {
        let (vertices, indices) = cube();
        // A command writes to it: it makes a vertex corrupt.
        let vertex_usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let index_usage = vk::BufferUsageFlags::INDEX_BUFFER;
        let font_usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let size = vk::Extent2D {
            width: PATTERN_SIZE,
            height: PATTERN_SIZE,
        };
        let pattern_usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED;
        let mut scene = Self {
            device: device.clone(),
            vertices: Buffer::with_data(device, "vertices", vertex_usage, &vertices)?,
            indices: Buffer::with_data(device, "indices", index_usage, &indices)?,
            index_count: indices.len() as u32,
            pattern: Image::new(device, "pattern", vk::Format::R8G8B8A8_UNORM, size, pattern_usage)?,
            font: Buffer::with_data(device, "font", font_usage, &font()?)?,
            sampler: vk::Sampler::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
        };
        scene.create_descriptors(pipelines)?;
        Ok(scene)
    }

    fn create_descriptors(&mut self, pipelines: &Pipelines) -> Result<()> {
        let device = &self.device.raw;
        let kinds = [
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let sizes = kinds.map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(1));
        let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let sampler = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR);
        let layouts = [pipelines.set_layout];
        // SAFETY: the structures are valid for the calls, and the layout is of this device.
        unsafe {
            self.sampler = device.create_sampler(&sampler, None)?;
            self.pool = device.create_descriptor_pool(&pool, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            self.set = device.allocate_descriptor_sets(&info)?[0];
        }
        let image = [vk::DescriptorImageInfo::default()
            .sampler(self.sampler)
            .image_view(self.pattern.view)
            .image_layout(vk::ImageLayout::GENERAL)];
        let buffer = [vk::DescriptorBufferInfo::default()
            .buffer(self.font.raw)
            .range(vk::WHOLE_SIZE)];
        let write = |binding, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(binding)
                .descriptor_type(kind)
        };
        let [storage_image, sampled_image, storage_buffer] = kinds;
        let writes = [
            write(0, storage_image).image_info(&image),
            write(1, sampled_image).image_info(&image),
            write(2, storage_buffer).buffer_info(&buffer),
        ];
        // SAFETY: the set is not in use, and the resources have the usage that their descriptors need.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok(())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // SAFETY: the renderer has waited for the device, or the device is lost. Destroying a null handle is allowed.
        unsafe {
            self.device.raw.destroy_descriptor_pool(self.pool, None);
            self.device.raw.destroy_sampler(self.sampler, None);
        }
    }
}
