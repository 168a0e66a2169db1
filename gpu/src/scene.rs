//! A scene of 8 by 8 units for ray tracing. Downward rays at x < 4 hit a quad (instance 0), rays at 4 <= x < 6 intersect
//! the box of instance 1, where an intersection shader decides, and all others miss.

use crate::{Buffer, Device, Submission};
use anyhow::Result;
use ash::{khr, vk};

/// Acceleration structures and their buffers.
pub struct Scene<'device> {
    commands: khr::acceleration_structure::Device,
    structures: Vec<vk::AccelerationStructureKHR>,
    /// Storage of the structures; destroyed after them.
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
            // Custom index and mask; hit group offset and flags; address of the structure.
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

    /// Builds a structure with one geometry. Returns its address.
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
            // SAFETY: the command buffer is in the recording state, and the objects outlive its execution.
            unsafe {
                self.commands
                    .cmd_build_acceleration_structures(commands, &[info], &[&[range]]);
            }
        })?;
        submission.submit().result()?;
        submission.wait().result()?;
        self.buffers.push(backing);
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
        // SAFETY: the structure belongs to this device and is alive.
        Ok(unsafe { self.commands.get_acceleration_structure_device_address(&info) })
    }

    /// The top-level acceleration structure.
    pub fn top(&self) -> vk::AccelerationStructureKHR {
        self.structures.last().copied().unwrap_or_default()
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        for structure in self.structures.drain(..) {
            // SAFETY: no submission uses it: the cases wait for them, or the device is lost.
            unsafe { self.commands.destroy_acceleration_structure(structure, None) };
        }
    }
}
