//! The instance, the surface and the physical device. They outlive a lost device.

use crate::surface::{Handles, Surface};
use anyhow::{Context, Result, bail};
use ash::{ext, khr, vk};
use std::ffi::CStr;
use std::rc::Rc;
use winit::window::Window;

/// An instance, a physical device, and the surface of the window if there is one.
pub struct Gpu {
    /// Keeps the loader's library loaded.
    _entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The surface; none without a window.
    pub surface: Option<Surface>,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// A queue family for graphics, compute and the surface.
    pub family: u32,
    /// Name of the physical device.
    pub name: String,
    /// The extensions for aborts that the device does not support.
    pub missing: Vec<&'static CStr>,
    /// Whether objects can have names, which reports show.
    pub has_names: bool,
    /// Use no extension, and shaders without aborts.
    pub is_plain: bool,
}

impl Gpu {
    /// Creates an instance, and chooses a device of the fastest type that can draw to the window.
    pub fn open(window: Option<Rc<Window>>, is_plain: bool) -> Result<Self> {
        // SAFETY: the library is the Vulkan loader, whose initialisation has no preconditions.
        let entry = unsafe { ash::Entry::load() }.context("cannot load the Vulkan loader")?;
        let handles = match &window {
            Some(window) => Some(Handles::of(&entry, window)?),
            None => None,
        };
        let mut extensions = handles
            .map(Handles::extensions)
            .transpose()?
            .unwrap_or_default()
            .to_vec();
        // SAFETY: the Vulkan loader is loaded.
        let offered = unsafe { entry.enumerate_instance_extension_properties(None) }?;
        let has_names = has(&offered, ext::debug_utils::NAME);
        if has_names {
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"vkabort-cube")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions);
        // SAFETY: `info` and what it points to are valid for the call.
        let instance = unsafe { entry.create_instance(&info, None) }.context("cannot create a Vulkan instance")?;
        let mut gpu = Self {
            _entry: entry,
            instance,
            surface: None,
            physical: vk::PhysicalDevice::null(),
            family: 0,
            name: String::new(),
            missing: Vec::new(),
            has_names,
            is_plain,
        };
        if let (Some(handles), Some(window)) = (handles, window) {
            gpu.surface = Some(Surface::new(&gpu._entry, &gpu.instance, handles, window)?);
        }
        gpu.choose()?;
        Ok(gpu)
    }

    /// Whether shaders may abort.
    pub fn has_aborts(&self) -> bool {
        self.missing.is_empty() && !self.is_plain
    }

    fn choose(&mut self) -> Result<()> {
        // SAFETY: the instance is alive.
        let mut devices = unsafe { self.instance.enumerate_physical_devices() }?;
        devices.sort_by_key(|&device| match self.properties(device).device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 0,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            _ => 3,
        });
        let mut refused = Vec::new();
        for device in devices {
            let properties = self.properties(device);
            let name = properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy();
            match self.family_of(device)? {
                Ok(family) => {
                    self.physical = device;
                    self.family = family;
                    self.name = name.into_owned();
                    let extensions = self.extensions(device)?;
                    self.missing = vk_ext::EXTENSION_NAMES.to_vec();
                    self.missing.retain(|name| !has(&extensions, name));
                    return Ok(());
                }
                Err(reason) => refused.push(format!("{name}: {reason}")),
            }
        }
        if refused.is_empty() {
            bail!(
                "there is no Vulkan device: install a driver; Debian's mesa-vulkan-drivers has one that runs on the CPU"
            );
        }
        bail!("no Vulkan device can draw the cube: {}", refused.join("; "))
    }

    fn properties(&self, device: vk::PhysicalDevice) -> vk::PhysicalDeviceProperties {
        // SAFETY: the instance enumerated the device.
        unsafe { self.instance.get_physical_device_properties(device) }
    }

    fn extensions(&self, device: vk::PhysicalDevice) -> Result<Vec<vk::ExtensionProperties>> {
        // SAFETY: the instance enumerated the device.
        Ok(unsafe { self.instance.enumerate_device_extension_properties(device) }?)
    }

    /// The queue family to use, or the reason why the device is not suitable.
    fn family_of(&self, device: vk::PhysicalDevice) -> Result<Result<u32, &'static str>> {
        let extensions = self.extensions(device)?;
        if self.properties(device).api_version < vk::API_VERSION_1_3 {
            return Ok(Err("it does not support Vulkan 1.3"));
        }
        if self.surface.is_some() && !has(&extensions, khr::swapchain::NAME) {
            return Ok(Err("it does not support VK_KHR_swapchain"));
        }
        // SAFETY: the instance enumerated the device.
        let families = unsafe { self.instance.get_physical_device_queue_family_properties(device) };
        for (family, properties) in (0u32..).zip(&families) {
            let presents = match &self.surface {
                // SAFETY: the device has this family, and the surface is alive.
                Some(surface) => unsafe {
                    let functions = &surface.functions;
                    functions.get_physical_device_surface_support(device, family, surface.raw)?
                },
                None => true,
            };
            let work = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            if presents && properties.queue_flags.contains(work) {
                return Ok(Ok(family));
            }
        }
        Ok(Err("it has no queue for graphics, compute and the window"))
    }
}

fn has(extensions: &[vk::ExtensionProperties], name: &CStr) -> bool {
    extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: each `Device` keeps the `Gpu` alive, so no device, swapchain or other child object exists any more.
        unsafe {
            if let Some(surface) = &self.surface {
                surface.functions.destroy_surface(surface.raw, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}
