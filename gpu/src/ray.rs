//! Ray tracing pipelines over a scene.

use crate::{Buffer, Device, Kernel, Scene, Stage, Submission};
use anyhow::Result;
use ash::prelude::VkResult;
use ash::{khr, vk};

/// Width and height of the grid of rays.
pub const SIDE: u32 = 8;

/// A ray tracing pipeline with stages in the order of [`groups`]. Binding 0 of its set is the buffer, binding 1 the
/// scene.
pub struct Rays<'device> {
    device: &'device Device<'device>,
    /// Commands of `VK_KHR_ray_tracing_pipeline`.
    pub commands: khr::ray_tracing_pipeline::Device,
    bindings: Kernel<'device>,
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// All pipelines; libraries come first.
    pub pipelines: Vec<vk::Pipeline>,
    modules: Vec<vk::ShaderModule>,
    table: Option<Buffer<'device>>,
}

/// The stages of a pipeline, in order.
pub const RAY_STAGES: [vk::ShaderStageFlags; 6] = [
    vk::ShaderStageFlags::RAYGEN_KHR,
    vk::ShaderStageFlags::MISS_KHR,
    vk::ShaderStageFlags::CALLABLE_KHR,
    vk::ShaderStageFlags::CLOSEST_HIT_KHR,
    vk::ShaderStageFlags::ANY_HIT_KHR,
    vk::ShaderStageFlags::INTERSECTION_KHR,
];

/// Groups of a pipeline with the stages [`RAY_STAGES`]: three general groups, the quad's and the box's hit groups.
pub fn groups() -> [vk::RayTracingShaderGroupCreateInfoKHR<'static>; 5] {
    let none = vk::SHADER_UNUSED_KHR;
    let group = |ty, general, closest, any, intersection| {
        vk::RayTracingShaderGroupCreateInfoKHR::default()
            .ty(ty)
            .general_shader(general)
            .closest_hit_shader(closest)
            .any_hit_shader(any)
            .intersection_shader(intersection)
    };
    type Type = vk::RayTracingShaderGroupTypeKHR;
    [
        group(Type::GENERAL, 0, none, none, none),
        group(Type::GENERAL, 1, none, none, none),
        group(Type::GENERAL, 2, none, none, none),
        group(Type::TRIANGLES_HIT_GROUP, none, 3, 4, none),
        group(Type::PROCEDURAL_HIT_GROUP, none, 3, none, 5),
    ]
}

impl<'device> Rays<'device> {
    /// Creates layouts and descriptors, but no pipeline.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn bound(
        device: &'device Device<'device>,
        buffer: &'device Buffer<'device>,
        scene: &Scene<'device>,
    ) -> Result<Self> {
        let used = RAY_STAGES
            .iter()
            .fold(vk::ShaderStageFlags::empty(), |all, stage| all | *stage);
        let bindings = Kernel::bound_with(device, &[buffer], Some(scene.top()), used)?;
        let layouts = [bindings.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        // SAFETY: the handles belong to this device and the structures are valid.
        let layout = unsafe { device.raw.create_pipeline_layout(&info, None) }?;
        Ok(Self {
            device,
            commands: khr::ray_tracing_pipeline::Device::new(&device.gpu.instance, &device.raw),
            bindings,
            layout,
            pipelines: Vec::new(),
            modules: Vec::new(),
            table: None,
        })
    }

    /// Creates stages from SPIR-V. Their modules live as long as `self`.
    ///
    /// # Errors
    ///
    /// A module cannot be created.
    pub fn stages(&mut self, stages: &[Stage<'_>]) -> VkResult<Vec<vk::PipelineShaderStageCreateInfo<'static>>> {
        let mut created = Vec::new();
        for stage in stages {
            let info = vk::ShaderModuleCreateInfo::default().code(stage.spirv);
            // SAFETY: the structure is valid.
            let module = unsafe { self.device.raw.create_shader_module(&info, None) }?;
            self.modules.push(module);
            created.push(
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(stage.kind)
                    .module(module)
                    .name(c"main"),
            );
        }
        Ok(created)
    }

    /// Creates a pipeline without deferring the operation.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn create(&mut self, info: vk::RayTracingPipelineCreateInfoKHR<'_>) -> VkResult<()> {
        let info = info.layout(self.layout).max_pipeline_ray_recursion_depth(1);
        let none = vk::DeferredOperationKHR::null();
        // SAFETY: the handles belong to this device and the structures are valid.
        let created = unsafe {
            self.commands
                .create_ray_tracing_pipelines(none, vk::PipelineCache::null(), &[info], None)
        };
        self.pipelines.push(created.map_err(|(_, result)| result)?[0]);
        Ok(())
    }

    /// Records a trace of 8 by 8 rays. The pipeline must have the groups of [`groups`].
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&mut self) -> Result<Submission<'device>> {
        let pipeline = self.pipelines.last().copied().unwrap_or_default();
        let mut about = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut about);
        let gpu = self.device.gpu;
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
        let size = about.shader_group_handle_size as usize;
        let base = u64::from(
            about
                .shader_group_base_alignment
                .max(about.shader_group_handle_alignment),
        )
        .max(64);
        let count = groups().len();
        // SAFETY: the pipeline has these groups.
        let handles = unsafe {
            self.commands
                .get_ray_tracing_shader_group_handles(pipeline, 0, count as u32, count * size)
        }?;
        // Each group has its own region; the hit groups are contiguous.
        let stride = base;
        let mut bytes = vec![0u8; (count as u64 * stride + base) as usize];
        let empty = vec![0; bytes.len() / 4];
        let table = Buffer::addressed(self.device, &empty, vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR)?;
        let start = table.address().next_multiple_of(base) - table.address();
        for (i, handle) in handles.chunks_exact(size).enumerate() {
            let at = (start + i as u64 * stride) as usize;
            bytes[at..at + size].copy_from_slice(handle);
        }
        let (words, _) = bytes.as_chunks::<4>();
        table.write(&words.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>());
        let at = table.address() + start;
        self.table = Some(table);
        let region = |first: u64, groups: u64| {
            vk::StridedDeviceAddressRegionKHR::default()
                .device_address(at + first * stride)
                .stride(stride)
                .size(groups * stride)
        };
        Submission::record(self.device, |raw, commands| {
            let point = vk::PipelineBindPoint::RAY_TRACING_KHR;
            // SAFETY: the command buffer is in the recording state, and the objects outlive its execution.
            unsafe {
                raw.cmd_bind_pipeline(commands, point, pipeline);
                raw.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.bindings.set], &[]);
                self.commands.cmd_trace_rays(
                    commands,
                    &region(0, 1),
                    &region(1, 1),
                    &region(3, 2),
                    &region(2, 1),
                    SIDE,
                    SIDE,
                    1,
                );
            }
        })
    }
}

impl Drop for Rays<'_> {
    fn drop(&mut self) {
        let raw = &self.device.raw;
        // SAFETY: no submission uses the pipelines: the cases wait for them, or the device is lost.
        unsafe {
            for pipeline in self.pipelines.drain(..).rev() {
                raw.destroy_pipeline(pipeline, None);
            }
            for module in self.modules.drain(..) {
                raw.destroy_shader_module(module, None);
            }
            raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}
