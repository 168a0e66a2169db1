//! Buffers, and compute pipelines that use them.

use super::device::{Device, Owned};
use super::result::Named;
use super::submission::Submission;
use crate::verdict::{CheckOutput, Stop};
use ash::vk;

/// A storage buffer of words, mapped persistently and coherently.
#[derive(Clone, Copy)]
pub struct Buffer {
    raw: vk::Buffer,
    words: *mut u32,
    count: usize,
}

impl Buffer {
    /// Creates a buffer with this content.
    ///
    /// # Errors
    ///
    /// Fails the check if a call fails or the memory types are unsuitable.
    pub fn new(device: &Device, words: &[u32]) -> CheckOutput<Self> {
        let info = vk::BufferCreateInfo::default()
            .size(words.len() as u64 * 4)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let raw = &device.raw;
        // SAFETY: the handles belong to this device, the structures are valid, and the mapping covers the words.
        unsafe {
            let buffer = raw.create_buffer(&info, None).named("vkCreateBuffer")?;
            let requirements = raw.get_buffer_memory_requirements(buffer);
            let memory = device
                .gpu
                .instance
                .get_physical_device_memory_properties(device.gpu.physical);
            let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |(kind, i): &(&vk::MemoryType, u32)| {
                requirements.memory_type_bits & (1 << i) != 0 && kind.property_flags.contains(flags)
            };
            let kind = memory.memory_types_as_slice().iter().zip(0..).find(fits);
            let (_, kind) =
                kind.ok_or_else(|| Stop::Fail("no memory type for buffers is host-visible and coherent".into()))?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(requirements.size)
                .memory_type_index(kind);
            let memory = raw.allocate_memory(&info, None).named("vkAllocateMemory")?;
            device.own(Owned::Buffer(buffer, memory));
            raw.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = raw.map_memory(memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            let mapped = mapped.cast::<u32>();
            mapped.copy_from_nonoverlapping(words.as_ptr(), words.len());
            Ok(Self {
                raw: buffer,
                words: mapped,
                count: words.len(),
            })
        }
    }

    /// The current content.
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: the mapping covers `count` words, and nothing unmaps it while the device exists.
        (0..self.count)
            .map(|i| unsafe { self.words.add(i).read_volatile() })
            .collect()
    }
}

/// A pipeline cache.
#[derive(Clone, Copy)]
pub struct Cache {
    device: &'static Device,
    raw: vk::PipelineCache,
}

impl Cache {
    /// Creates a cache with initial `data`.
    pub fn new(device: &'static Device, data: &[u8]) -> CheckOutput<Self> {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the structure is valid for the call.
        let raw = unsafe { device.raw.create_pipeline_cache(&info, None) }.named("vkCreatePipelineCache")?;
        device.own(Owned::Cache(raw));
        Ok(Self { device, raw })
    }

    /// `vkGetPipelineCacheData`
    pub fn data(&self) -> CheckOutput<Vec<u8>> {
        // SAFETY: the cache belongs to the device.
        unsafe { self.device.raw.get_pipeline_cache_data(self.raw) }.named("vkGetPipelineCacheData")
    }
}

/// `SpecId` and data of specialization constants.
pub type Specialization<'a> = &'a [(u32, Vec<u32>)];

/// A compute pipeline with buffers at bindings 0, 1, ..
pub struct Kernel {
    device: &'static Device,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    set: vk::DescriptorSet,
}

impl Kernel {
    /// Creates a pipeline from SPIR-V.
    pub fn new(
        device: &'static Device,
        spirv: &[u32],
        buffers: &[Buffer],
        special: Specialization<'_>,
        cache: Option<Cache>,
    ) -> CheckOutput<Self> {
        let raw = &device.raw;
        let bindings: Vec<_> = (0u32..)
            .zip(buffers)
            .map(|(binding, _)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let mut values = Vec::new();
        let mut entries = Vec::new();
        for (id, words) in special {
            entries.push(vk::SpecializationMapEntry {
                constant_id: *id,
                offset: values.len() as u32,
                size: words.len() * 4,
            });
            values.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        }
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = raw
                .create_descriptor_set_layout(&info, None)
                .named("vkCreateDescriptorSetLayout")?;
            let layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = raw
                .create_pipeline_layout(&info, None)
                .named("vkCreatePipelineLayout")?;
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(buffers.len() as u32)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = raw
                .create_descriptor_pool(&info, None)
                .named("vkCreateDescriptorPool")?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let sets = raw.allocate_descriptor_sets(&info).named("vkAllocateDescriptorSets")?;
            let set = sets.first().copied().unwrap_or_default();
            for (binding, buffer) in (0u32..).zip(buffers) {
                let infos = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw)
                    .range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&infos);
                raw.update_descriptor_sets(&[write], &[]);
            }
            let cache = cache.map_or(vk::PipelineCache::null(), |cache| cache.raw);
            let info = vk::ShaderModuleCreateInfo::default().code(spirv);
            let module = raw.create_shader_module(&info, None).named("vkCreateShaderModule")?;
            let mut stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            if !entries.is_empty() {
                stage = stage.specialization_info(&special);
            }
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let pipelines = raw.create_compute_pipelines(cache, &[info], None);
            raw.destroy_shader_module(module, None);
            let pipelines = pipelines
                .map_err(|(_, result)| result)
                .named("vkCreateComputePipelines")?;
            let pipeline = pipelines.first().copied().unwrap_or_default();
            device.own(Owned::Pipeline(pipeline, layout, set_layout, pool));
            Ok(Self {
                device,
                layout,
                pipeline,
                set,
            })
        }
    }

    /// Records a dispatch of `groups` workgroups.
    pub fn record(&self, groups: u32) -> CheckOutput<Submission> {
        let device = self.device;
        let raw = &device.raw;
        // SAFETY: the handles belong to this device, the structures are valid, and all recorded objects live as long as the
        // device.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.gpu.family);
            let pool = raw.create_command_pool(&info, None).named("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&info).named("vkAllocateCommandBuffers")?;
            let commands = commands.first().copied().unwrap_or_default();
            let fence = raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .named("vkCreateFence")?;
            let queries = if device.gpu.timestamp_bits() > 0 {
                let info = vk::QueryPoolCreateInfo::default()
                    .query_type(vk::QueryType::TIMESTAMP)
                    .query_count(1);
                raw.create_query_pool(&info, None).named("vkCreateQueryPool")?
            } else {
                vk::QueryPool::null()
            };
            device.own(Owned::Commands(pool, fence, queries));
            raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
                .named("vkBeginCommandBuffer")?;
            if queries != vk::QueryPool::null() {
                raw.cmd_reset_query_pool(commands, queries, 0, 1);
            }
            let compute = vk::PipelineBindPoint::COMPUTE;
            raw.cmd_bind_pipeline(commands, compute, self.pipeline);
            raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
            raw.cmd_dispatch(commands, groups, 1, 1);
            if queries != vk::QueryPool::null() {
                raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, queries, 0);
            }
            // Orders later submissions after this one, and makes its writes visible to the host.
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(
                    vk::AccessFlags::HOST_READ | vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
                );
            let before = vk::PipelineStageFlags::ALL_COMMANDS;
            let after = vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::COMPUTE_SHADER;
            let flags = vk::DependencyFlags::empty();
            raw.cmd_pipeline_barrier(commands, before, after, flags, &[barrier], &[], &[]);
            raw.end_command_buffer(commands).named("vkEndCommandBuffer")?;
            Ok(Submission {
                device,
                commands,
                fence,
                queries,
            })
        }
    }
}
