//! A scene to trace rays into, and ray tracing pipelines over it.
//!
//! The scene is a square of 8 by 8. Rays that go down at x < 4 meet a quad of instance 0, those at 4 <= x < 6 the box of
//! instance 1, which an intersection shader decides about, and the others nothing.

use super::{Buffer, Device, Kernel, Stage, Submission};
use anyhow::Result;
use ash::prelude::VkResult;
use ash::{khr, vk};

/// Rays in a row, and rows.
pub const SIDE: u32 = 8;

/// Acceleration structures with what they are made of.
pub struct Scene<'device> {
    commands: khr::acceleration_structure::Device,
    structures: Vec<vk::AccelerationStructureKHR>,
    /// Destroyed after the structures in them.
    buffers: Vec<Buffer<'device>>,
}

type Input = vk::BufferUsageFlags;

impl<'device> Scene<'device> {
    /// Builds the scene on the device.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(device: &'device Device<'device>) -> Result<Self> {
        let mut scene = Self {
            commands: khr::acceleration_structure::Device::new(&device.gpu.instance, &device.raw),
            structures: Vec::new(),
            buffers: Vec::new(),
        };
        let words = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
        let corners = [
            0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 8.0, 0.0, 4.0, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0, 8.0, 0.0,
        ];
        let quad = scene.input(device, &words(&corners))?;
        let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
            .vertex_format(vk::Format::R32G32B32_SFLOAT)
            .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: quad })
            .vertex_stride(12)
            .max_vertex(5)
            .index_type(vk::IndexType::NONE_KHR);
        let geometry = vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
            .flags(vk::GeometryFlagsKHR::NO_DUPLICATE_ANY_HIT_INVOCATION);
        let quad = scene.build(device, geometry, 2, vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL)?;

        let bounds = scene.input(device, &words(&[4.0, 0.0, -0.5, 6.0, 8.0, 0.5]))?;
        let aabbs = vk::AccelerationStructureGeometryAabbsDataKHR::default()
            .data(vk::DeviceOrHostAddressConstKHR { device_address: bounds })
            .stride(24);
        let geometry = vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::AABBS)
            .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs })
            .flags(vk::GeometryFlagsKHR::OPAQUE);
        let bounds = scene.build(device, geometry, 1, vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL)?;

        let mut instances = Vec::new();
        for (number, bottom) in [quad, bounds].into_iter().enumerate() {
            let number = number as u32;
            instances.extend(words(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]));
            // Custom index and mask; offset of the hit group and flags; the structure.
            instances.extend([0xFF00_0000 | number, number, bottom as u32, (bottom >> 32) as u32]);
        }
        let instances = scene.input(device, &instances)?;
        let data = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(vk::DeviceOrHostAddressConstKHR {
            device_address: instances,
        });
        let geometry = vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::INSTANCES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
        scene.build(device, geometry, 2, vk::AccelerationStructureTypeKHR::TOP_LEVEL)?;
        Ok(scene)
    }

    fn input(&mut self, device: &'device Device<'device>, words: &[u32]) -> Result<u64> {
        let usage = Input::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let buffer = Buffer::addressed(device, words, usage)?;
        let address = buffer.address();
        self.buffers.push(buffer);
        Ok(address)
    }

    /// Builds one structure of one geometry. Returns its address.
    fn build(
        &mut self,
        device: &'device Device<'device>,
        geometry: vk::AccelerationStructureGeometryKHR<'_>,
        count: u32,
        kind: vk::AccelerationStructureTypeKHR,
    ) -> Result<u64> {
        let geometries = [geometry];
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(kind)
            .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
            .geometries(&geometries);
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        // SAFETY: the structures are valid.
        unsafe {
            self.commands.get_acceleration_structure_build_sizes(
                vk::AccelerationStructureBuildTypeKHR::DEVICE,
                &info,
                &[count],
                &mut sizes,
            );
        }
        let zeros = |bytes: u64| vec![0; bytes.div_ceil(4) as usize + 64];
        let storage = Input::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let backing = Buffer::addressed(device, &zeros(sizes.acceleration_structure_size), storage)?;
        let scratch = Buffer::addressed(device, &zeros(sizes.build_scratch_size), Input::STORAGE_BUFFER)?;
        let create = vk::AccelerationStructureCreateInfoKHR::default()
            .buffer(backing.raw)
            .size(sizes.acceleration_structure_size)
            .ty(kind);
        // SAFETY: the handles belong to this device, and the buffers are large enough.
        let structure = unsafe { self.commands.create_acceleration_structure(&create, None) }?;
        self.structures.push(structure);
        info = info
            .dst_acceleration_structure(structure)
            .scratch_data(vk::DeviceOrHostAddressKHR {
                device_address: scratch.address().next_multiple_of(256),
            });
        let range = vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(count);
        let submission = Submission::record(device, |_, commands| {
            // SAFETY: the command buffer is being recorded, and what it uses outlives its use.
            unsafe {
                self.commands
                    .cmd_build_acceleration_structures(commands, &[info], &[&[range]]);
            }
        })?;
        submission.submit().result()?;
        submission.wait().result()?;
        self.buffers.push(backing);
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
        // SAFETY: the structure was just built.
        Ok(unsafe { self.commands.get_acceleration_structure_device_address(&info) })
    }

    /// The structure that rays are traced into.
    pub fn top(&self) -> vk::AccelerationStructureKHR {
        self.structures.last().copied().unwrap_or_default()
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        for structure in self.structures.drain(..) {
            // SAFETY: submissions that use it are over: the cases wait for them, or the device is lost.
            unsafe { self.commands.destroy_acceleration_structure(structure, None) };
        }
    }
}

/// A ray tracing pipeline in the making: the stages' order is that of [`groups`], the buffer stands at binding 0 and
/// the scene at binding 1 of its set.
pub struct Rays<'device> {
    device: &'device Device<'device>,
    /// The commands of ray tracing pipelines.
    pub commands: khr::ray_tracing_pipeline::Device,
    bindings: Kernel<'device>,
    /// The pipeline's layout.
    pub layout: vk::PipelineLayout,
    /// Libraries first.
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

/// The groups of a pipeline whose stages are [`RAY_STAGES`]: three general ones, the quad's and the box's.
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
    /// Layouts and descriptors, without a pipeline yet.
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

    /// Stages of module objects, which live as long as `self`.
    ///
    /// # Errors
    ///
    /// A module cannot be made.
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

    /// Makes a pipeline of one create-info, now.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub fn create(&mut self, info: vk::RayTracingPipelineCreateInfoKHR<'_>) -> VkResult<()> {
        let info = info.layout(self.layout).max_pipeline_ray_recursion_depth(1);
        let none = vk::DeferredOperationKHR::null();
        // SAFETY: the handles belong to this device and the structures are valid.
        let made = unsafe {
            self.commands
                .create_ray_tracing_pipelines(none, vk::PipelineCache::null(), &[info], None)
        };
        self.pipelines.push(made.map_err(|(_, result)| result)?[0]);
        Ok(())
    }

    /// Traces 8 by 8 rays. The pipeline's groups are those of [`groups`].
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
        // Each group has its own place; the hit groups stand one behind the other.
        let stride = base;
        let mut bytes = vec![0u8; (count as u64 * stride + base) as usize];
        let empty = vec![0; bytes.len() / 4];
        let table = Buffer::addressed(self.device, &empty, Input::SHADER_BINDING_TABLE_KHR)?;
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
            // SAFETY: the command buffer is being recorded, and what it uses outlives its use.
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
        // SAFETY: submissions that use the pipelines are over: the cases wait for them, or the device is lost.
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
