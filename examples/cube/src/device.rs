//! The logical device, its queue and its memory. After an abort it is lost, and a new one replaces it.

use crate::gpu::Gpu;
use anyhow::{Context, Result};
use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings, MemoryLocation};
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::rc::Rc;
use vk_ext::{FaultCommands, FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

const MIB: u64 = 1 << 20;

/// A device with one queue. Every object of the device keeps it alive.
pub struct Device {
    /// The physical device and the instance.
    pub gpu: Rc<Gpu>,
    /// The commands.
    pub raw: ash::Device,
    /// The queue.
    pub queue: vk::Queue,
    /// The commands of `VK_KHR_device_fault`; none if the device does not support aborts.
    pub fault: Option<FaultCommands>,
    names: Option<ext::debug_utils::Device>,
    /// None while the device is being destroyed.
    allocator: RefCell<Option<Allocator>>,
}

impl Device {
    /// Creates a device, with the extensions for aborts where they are supported.
    pub fn new(gpu: &Rc<Gpu>) -> Result<Rc<Self>> {
        let mut names = Vec::new();
        if gpu.surface.is_some() {
            names.push(khr::swapchain::NAME.as_ptr());
        }
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(gpu.family)
            .queue_priorities(&priorities)];
        let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
        let mut synchronization = vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true);
        let mut abort = ShaderAbortFeatures::new(true);
        let mut fault = FaultFeatures::new(true);
        // GLSL's strings are constant data.
        let mut data = ShaderConstantDataFeatures::new(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut rendering)
            .push_next(&mut synchronization);
        if gpu.has_aborts() {
            names.extend(vk_ext::EXTENSION_NAMES.map(CStr::as_ptr));
            info = info.push_next(&mut abort).push_next(&mut fault).push_next(&mut data);
        }
        let info = info.enabled_extension_names(&names);
        // SAFETY: `info` and what it points to are valid for the call.
        let raw = unsafe { gpu.instance.create_device(gpu.physical, &info, None) }
            .context("cannot create a Vulkan device")?;
        // SAFETY: the device has one queue of this family.
        let queue = unsafe { raw.get_device_queue(gpu.family, 0) };
        let device = Self {
            gpu: gpu.clone(),
            queue,
            fault: FaultCommands::load(&gpu.instance, &raw).filter(|_| gpu.has_aborts()),
            names: gpu
                .has_names
                .then(|| ext::debug_utils::Device::new(&gpu.instance, &raw)),
            allocator: RefCell::new(None),
            raw,
        };
        device.name(queue, "frames");
        *device.allocator.borrow_mut() = Some(Allocator::new(&AllocatorCreateDesc {
            instance: gpu.instance.clone(),
            device: device.raw.clone(),
            physical_device: gpu.physical,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::new(16 * MIB, 8 * MIB),
        })?);
        Ok(Rc::new(device))
    }

    /// Names an object in reports of aborts, if the loader can.
    pub fn name<T: vk::Handle>(&self, object: T, name: &str) {
        let Ok(name) = CString::new(name) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        if let Some(names) = &self.names {
            // A name is not worth an error.
            // SAFETY: `info` is valid, and the caller's object is one of this device.
            let _ = unsafe { names.set_debug_utils_object_name(&info) };
        }
    }

    /// Puts the commands that `record` records under a label, which reports of aborts show.
    pub fn label(&self, commands: vk::CommandBuffer, name: &CStr, record: impl FnOnce()) {
        let label = vk::DebugUtilsLabelEXT::default().label_name(name);
        if let Some(names) = &self.names {
            // SAFETY: the caller records into the command buffer.
            unsafe { names.cmd_begin_debug_utils_label(commands, &label) };
        }
        record();
        if let Some(names) = &self.names {
            // SAFETY: as above; the label was begun.
            unsafe { names.cmd_end_debug_utils_label(commands) };
        }
    }

    /// Allocates memory for a buffer or image.
    pub fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        is_buffer: bool,
    ) -> Result<Allocation> {
        let mut allocator = self.allocator.borrow_mut();
        let allocator = allocator.as_mut().context("the device is being destroyed")?;
        allocator
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear: is_buffer,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .with_context(|| format!("cannot allocate {} bytes for {name}", requirements.size))
    }

    /// Returns memory whose buffer or image is destroyed.
    pub fn free(&self, allocation: Allocation) {
        if let Some(Err(error)) = self.allocator.borrow_mut().as_mut().map(|a| a.free(allocation)) {
            eprintln!("vkabort-cube: cannot free memory: {error}");
        }
    }

    /// Waits until the device has finished all work.
    pub fn wait(&self) -> Result<(), vk::Result> {
        // SAFETY: the program has one thread, so nothing uses the queue meanwhile.
        unsafe { self.raw.device_wait_idle() }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Frees the memory blocks, which have to be freed before the device is destroyed.
        drop(self.allocator.take());
        // SAFETY: each object of the device keeps it alive, so none exists any more.
        unsafe { self.raw.destroy_device(None) };
    }
}
