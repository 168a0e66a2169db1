//! A device with one queue, and optionally the abort extensions.

use crate::device_options::{DeviceOptions, ExtraDeviceInfo, with_create_info};
use crate::message_data;
use crate::{Gpu, code, khr};
use anyhow::{Context, Result};
use ash::vk;
use std::ffi::CStr;

/// A device with one queue that computes and renders.
pub struct Device<'gpu> {
    /// The physical device's instance.
    pub gpu: &'gpu Gpu,
    /// The device.
    pub raw: ash::Device,
    /// Its queue.
    pub queue: vk::Queue,
    /// The queue's family.
    pub family: u32,
    fault: Option<khr::FaultCommands>,
}

impl<'gpu> Device<'gpu> {
    /// Creates a device with the abort extensions.
    ///
    /// # Errors
    ///
    /// The device cannot be created.
    pub fn new(gpu: &'gpu Gpu) -> Result<Self> {
        Self::with(gpu, DeviceOptions::default())
    }

    /// Creates a device with `options` and every supported feature for 8-, 16- and 64-bit scalars.
    ///
    /// # Errors
    ///
    /// The device cannot be created.
    pub fn with(gpu: &'gpu Gpu, options: DeviceOptions) -> Result<Self> {
        Self::extended(gpu, options, ExtraDeviceInfo::default())
    }

    /// A device with the abort extensions, further extensions and their feature structures.
    ///
    /// # Errors
    ///
    /// The device cannot be created. [`Skip`](crate::Skip) if it lacks one of the extensions.
    pub fn with_extensions<'a>(
        gpu: &'gpu Gpu,
        names: &[&'a CStr],
        features: Vec<&'a mut dyn vk::ExtendsDeviceCreateInfo>,
    ) -> Result<Self> {
        names.iter().try_for_each(|name| gpu.require_extension(name))?;
        let extensions = names.to_vec();
        Self::extended(gpu, DeviceOptions::default(), ExtraDeviceInfo { extensions, features })
    }

    /// Like [`with`](Self::with), plus `more`.
    ///
    /// # Errors
    ///
    /// The device cannot be created.
    pub fn extended(gpu: &'gpu Gpu, options: DeviceOptions, more: ExtraDeviceInfo<'_>) -> Result<Self> {
        // SAFETY: the handle belongs to the living instance.
        let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
        let wanted = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS;
        let family = families.iter().position(|family| family.queue_flags.contains(wanted));
        let family = u32::try_from(family.context("no queue computes and renders")?)?;
        let (core, newer) = gpu.features();
        let core = vk::PhysicalDeviceFeatures {
            shader_int16: core.shader_int16,
            shader_int64: core.shader_int64,
            shader_float64: core.shader_float64,
            vertex_pipeline_stores_and_atomics: core.vertex_pipeline_stores_and_atomics,
            fragment_stores_and_atomics: core.fragment_stores_and_atomics,
            tessellation_shader: core.tessellation_shader,
            geometry_shader: core.geometry_shader,
            sparse_binding: core.sparse_binding,
            ..Default::default()
        };
        let mut newer = vk::PhysicalDeviceVulkan12Features {
            shader_int8: newer.shader_int8,
            shader_float16: newer.shader_float16,
            timeline_semaphore: vk::TRUE,
            host_query_reset: newer.host_query_reset,
            storage_buffer8_bit_access: newer.storage_buffer8_bit_access,
            buffer_device_address: vk::Bool32::from(options.buffer_device_address),
            vulkan_memory_model: vk::Bool32::from(options.vulkan_memory_model),
            ..Default::default()
        };
        if options.abort && newer.shader_int8 == vk::FALSE {
            // Strings of GLSL's aborts need the capability Int8. The layer supports it without shaderInt8, but
            // the validation layer above reports the application's use.
            gpu.messages.expect("declares SPIR-V Capability Int8");
            gpu.messages.expect("SPIR-V Capability Int8 was declared");
        }
        let mut newest = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(true)
            .synchronization2(true);
        let mut narrow = vk::PhysicalDevice16BitStorageFeatures::default();
        gpu.ask(&mut narrow);
        narrow = vk::PhysicalDevice16BitStorageFeatures::default()
            .storage_buffer16_bit_access(narrow.storage_buffer16_bit_access == vk::TRUE);
        let mut features: Vec<&mut dyn vk::ExtendsDeviceCreateInfo> = vec![&mut narrow, &mut newer, &mut newest];
        for feature in more.features {
            features.push(feature);
        }
        let extensions = more.extensions;
        with_create_info(
            family,
            options.abort,
            ExtraDeviceInfo { extensions, features },
            |info| Self::create(gpu, &info.enabled_features(&core), family),
        )
    }

    /// Creates a device from `info`, and gets the first queue of `family`.
    ///
    /// # Errors
    ///
    /// The device cannot be created.
    pub fn create(gpu: &'gpu Gpu, info: &vk::DeviceCreateInfo<'_>, family: u32) -> Result<Self> {
        // SAFETY: `info` and its pointers are valid for the call.
        let raw = unsafe { gpu.instance.create_device(gpu.physical, info, None) }.context("vkCreateDevice")?;
        // SAFETY: the device has this queue.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        // A loader may return pointers to commands without an implementation, so the extension list decides.
        // SAFETY: `info` is valid, so its names are NUL-terminated.
        let enabled = unsafe {
            let names = info.pp_enabled_extension_names;
            let count = info.enabled_extension_count as usize;
            let names = if names.is_null() {
                &[][..]
            } else {
                std::slice::from_raw_parts(names, count)
            };
            names.iter().any(|&name| CStr::from_ptr(name) == khr::DEVICE_FAULT_NAME)
        };
        let fault = enabled.then(|| khr::FaultCommands::load(&gpu.instance, &raw)).flatten();
        Ok(Self {
            gpu,
            raw,
            queue,
            family,
            fault,
        })
    }

    /// Gives an object of the device its debug-utils name.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn name(&self, object: impl vk::Handle, name: &CStr) -> Result<()> {
        let commands = ash::ext::debug_utils::Device::new(&self.gpu.instance, &self.raw);
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(name);
        // SAFETY: the object belongs to the living device, and the name is NUL-terminated.
        Ok(unsafe { commands.set_debug_utils_object_name(&info) }?)
    }

    /// Commands of the fault queries.
    ///
    /// # Errors
    ///
    /// The device was created without the extension.
    pub fn fault(&self) -> Result<&khr::FaultCommands> {
        self.fault.as_ref().context("the device has no fault queries")
    }

    /// Payloads of all messages, in order.
    ///
    /// # Errors
    ///
    /// A query fails, or the data is truncated.
    pub fn payloads(&self) -> Result<Vec<Vec<u8>>> {
        let data = self.fault()?.message_data().context("vkGetDeviceFaultDebugInfoKHR")?;
        message_data::split(&data)
    }

    /// `vkDeviceWaitIdle`.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn wait_idle(&self) -> ash::prelude::VkResult<()> {
        // SAFETY: no other thread uses the queues of the device.
        unsafe { self.raw.device_wait_idle() }
    }

    /// `vkQueueWaitIdle`.
    pub fn queue_wait_idle(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device, and no other thread uses it.
        code(unsafe { self.raw.queue_wait_idle(self.queue) })
    }

    /// `vkQueueSubmit` without work.
    pub fn submit_nothing(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device, and no other thread uses it.
        code(unsafe { self.raw.queue_submit(self.queue, &[], vk::Fence::null()) })
    }

    /// A command that ash lacks. Cast it to the type of its name before a call.
    ///
    /// # Errors
    ///
    /// `vkGetDeviceProcAddr` returns NULL.
    pub fn command(&self, name: &CStr) -> Result<unsafe extern "system" fn()> {
        // SAFETY: the device is alive and the name NUL-terminated.
        let found = unsafe { self.gpu.instance.get_device_proc_addr(self.raw.handle(), name.as_ptr()) };
        found.with_context(|| format!("vkGetDeviceProcAddr returns NULL for {}", name.to_string_lossy()))
    }

    /// Whether `vkGetDeviceProcAddr` returns a command.
    pub fn has_command(&self, name: &CStr) -> bool {
        self.command(name).is_ok()
    }

    /// Index of a host-visible, coherent memory type among `allowed`, preferably with the flags `best`.
    pub fn host_memory(&self, allowed: u32, best: vk::MemoryPropertyFlags) -> Result<u32> {
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let found = self.memory_type(allowed, [wanted | best, wanted]);
        found.context("no memory type for buffers is host-visible and coherent")
    }

    /// Index of a memory type among `allowed`, preferably one of the device's own memory.
    pub(super) fn device_memory(&self, allowed: u32) -> Result<u32> {
        let preferred = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let found = self.memory_type(allowed, [preferred, vk::MemoryPropertyFlags::empty()]);
        found.context("the resource has no memory type")
    }

    /// Index of a memory type among `allowed` that has the first of `choices` which some type has.
    fn memory_type(&self, allowed: u32, choices: [vk::MemoryPropertyFlags; 2]) -> Option<u32> {
        // SAFETY: the handle belongs to the living instance.
        let memory = unsafe {
            self.gpu
                .instance
                .get_physical_device_memory_properties(self.gpu.physical)
        };
        let with = |flags: vk::MemoryPropertyFlags| {
            let mut types = memory.memory_types_as_slice().iter().zip(0..);
            types.find(|(kind, i)| allowed & (1 << i) != 0 && kind.property_flags.contains(flags))
        };
        choices.into_iter().find_map(with).map(|(_, i)| i)
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // SAFETY: objects of the device borrow it, so none exists.
        unsafe { self.raw.destroy_device(None) };
    }
}
