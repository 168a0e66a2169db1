//! One dispatch of `look_up.comp`, with the device, pipeline and buffer that it needs.

use crate::failure::Failure;
use crate::gpu::Gpu;
use ash::vk;

/// The shader, as `shaders/look_up.comp` compiles.
const SHADER: &[u8] = include_bytes!("../shaders/look_up.spv");
/// The same with its text in words, for devices without 8-bit integers.
const SHADER_WORDS: &[u8] = include_bytes!("../shaders/look_up_words.spv");

/// Invocations of the dispatch.
pub const INVOCATIONS: usize = 64;
/// Entries of the table.
pub const TABLE: usize = 16;
/// Bytes of the shader's buffer: indices, table, results.
const BUFFER_BYTES: usize = (INVOCATIONS + TABLE + INVOCATIONS) * 4;
/// Word offset of the results in the buffer.
const RESULTS: usize = INVOCATIONS + TABLE;

/// A device with the pipeline, the buffer and the recorded command buffer for one dispatch.
pub struct Dispatch {
    device: ash::Device,
    queue: vk::Queue,
    memory: vk::DeviceMemory,
    buffer: vk::Buffer,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
    descriptors: vk::DescriptorPool,
    commands: vk::CommandPool,
    command_buffer: vk::CommandBuffer,
    fence: vk::Fence,
    words: *mut u32,
}

/// The entry of the table at `index`.
pub fn table_entry(index: u32) -> f32 {
    // Exact: the table is small.
    index as f32 * 0.5 + 100.0
}

/// The shader in the form that the device supports.
pub fn shader(gpu: &Gpu) -> Vec<u32> {
    let bytes = if gpu.has_int8() { SHADER } else { SHADER_WORDS };
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

impl Dispatch {
    /// Creates a device and prepares a dispatch that looks up `indices`.
    pub fn prepare(gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<Self, Failure> {
        let device = gpu.create_device()?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { device.get_device_queue(gpu.family, 0) };
        let mut this = Self {
            device,
            queue,
            memory: vk::DeviceMemory::null(),
            buffer: vk::Buffer::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            module: vk::ShaderModule::null(),
            pipeline: vk::Pipeline::null(),
            descriptors: vk::DescriptorPool::null(),
            commands: vk::CommandPool::null(),
            command_buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            words: std::ptr::null_mut(),
        };
        this.create_buffer(gpu, indices)?;
        this.create_pipeline(&shader(gpu))?;
        this.record(gpu.family)?;
        Ok(this)
    }

    /// The device.
    pub fn device(&self) -> &ash::Device {
        &self.device
    }

    fn create_buffer(&mut self, gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<(), Failure> {
        let info = vk::BufferCreateInfo::default()
            .size(BUFFER_BYTES as u64)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let required = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: every handle belongs to this device and every structure is valid for its call; the mapping covers the
        // buffer.
        unsafe {
            self.buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(self.buffer);
            let properties = gpu.instance.get_physical_device_memory_properties(gpu.physical);
            let kind = properties
                .memory_types_as_slice()
                .iter()
                .zip(0u32..)
                .find(|(kind, i)| needs.memory_type_bits & (1 << i) != 0 && kind.property_flags.contains(required))
                .map(|(_, i)| i)
                .ok_or_else(|| Failure::Unexpected("no host-visible memory".into()))?;
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            self.memory = self.device.allocate_memory(&allocate, None)?;
            self.device.bind_buffer_memory(self.buffer, self.memory, 0)?;
            let map = vk::MemoryMapFlags::empty();
            let mapped = self.device.map_memory(self.memory, 0, vk::WHOLE_SIZE, map)?;
            self.words = mapped.cast();
            self.words.copy_from_nonoverlapping(indices.as_ptr(), INVOCATIONS);
            for index in 0..TABLE {
                self.words
                    .add(INVOCATIONS + index)
                    .write(table_entry(index as u32).to_bits());
            }
            self.words.add(RESULTS).write_bytes(0, INVOCATIONS);
        }
        Ok(())
    }

    fn create_pipeline(&mut self, shader: &[u32]) -> Result<(), Failure> {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        // SAFETY: every handle belongs to this device and every structure is valid for its call.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = self.device.create_descriptor_set_layout(&info, None)?;
            let set_layouts = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            self.layout = self.device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(shader);
            self.module = self.device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(self.module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(self.layout);
            let pipelines = self
                .device
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            self.pipeline = pipelines.map_err(|(_, error)| error)?[0];
        }
        Ok(())
    }

    fn record(&mut self, family: u32) -> Result<(), Failure> {
        // SAFETY: every handle belongs to this device, every structure is valid for its call, and the pools outlive
        // what is allocated from them.
        unsafe {
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            self.descriptors = self.device.create_descriptor_pool(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.descriptors)
                .set_layouts(&layouts);
            let sets = self.device.allocate_descriptor_sets(&info)?;
            let buffers = [vk::DescriptorBufferInfo::default()
                .buffer(self.buffer)
                .range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[0])
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&buffers);
            self.device.update_descriptor_sets(&[write], &[]);

            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            self.commands = self.device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.commands)
                .command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&info)?[0];
            self.device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            let compute = vk::PipelineBindPoint::COMPUTE;
            self.device.cmd_bind_pipeline(commands, compute, self.pipeline);
            self.device
                .cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &sets, &[]);
            self.device.cmd_dispatch(commands, (INVOCATIONS / 32) as u32, 1, 1);
            let to_host = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            self.device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &[to_host],
                &[],
                &[],
            );
            self.device.end_command_buffer(commands)?;
            self.fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            self.command_buffer = commands;
        }
        Ok(())
    }

    /// Submits the dispatch and waits for it. Returns every call made with its result, up to the first error.
    pub fn run(&self) -> Vec<(&'static str, vk::Result)> {
        let code = |result: Result<(), vk::Result>| result.err().unwrap_or(vk::Result::SUCCESS);
        let buffers = [self.command_buffer];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the command buffer is recorded and not in use; the fence is unsignalled.
        let submitted = code(unsafe { self.device.queue_submit(self.queue, &[submit], self.fence) });
        let mut calls = vec![("vkQueueSubmit", submitted)];
        if submitted == vk::Result::SUCCESS {
            // SAFETY: the fence belongs to this device.
            let waited = code(unsafe { self.device.wait_for_fences(&[self.fence], true, u64::MAX) });
            calls.push(("vkWaitForFences", waited));
        }
        calls
    }

    /// Submits nothing. Returns the result, which shows whether the device is lost.
    pub fn submit_empty(&self) -> vk::Result {
        // SAFETY: the queue belongs to this device.
        unsafe { self.device.queue_submit(self.queue, &[], vk::Fence::null()) }
            .err()
            .unwrap_or(vk::Result::SUCCESS)
    }

    /// The results that the shader stored.
    pub fn results(&self) -> [f32; INVOCATIONS] {
        let mut bits = [0; INVOCATIONS];
        // SAFETY: the mapping covers the buffer, and the device no longer writes to it.
        unsafe {
            self.words
                .add(RESULTS)
                .copy_to_nonoverlapping(bits.as_mut_ptr(), INVOCATIONS)
        };
        bits.map(f32::from_bits)
    }
}

impl Drop for Dispatch {
    fn drop(&mut self) {
        // SAFETY: no object of this device is in use: `run` has waited, or the device is lost. Destroying a null handle is
        // allowed.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.commands, None);
            self.device.destroy_descriptor_pool(self.descriptors, None);
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_shader_module(self.module, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
            self.device.destroy_device(None);
        }
    }
}
