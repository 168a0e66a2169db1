//! An instance, and the physical device that the cases run on.

use crate::context::{Context, Skip};
use crate::device_choice::{Candidate, choose};
use crate::instance_owner::{InstanceOwner, Messenger};
use crate::messages::Messages;
use anyhow::{Context as _, Result};
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// Environment variable that names the physical device, in the syntax of [`choose`].
pub const DEVICE_VARIABLE: &str = "VKABORT_TEST_DEVICE";

/// An instance and its physical device.
pub struct Gpu {
    /// The loader.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// Its properties.
    pub properties: vk::PhysicalDeviceProperties,
    /// Vulkan version that instance and device support.
    pub api_version: u32,
    /// Messages of the instance's messenger.
    pub messages: Arc<Messages>,
    _owner: Arc<InstanceOwner>,
}

/// Additions to an instance's create info.
#[derive(Clone, Copy, Default)]
pub struct Chained<'a> {
    /// Messenger that replaces the one for the validation layer.
    pub messenger: Option<vk::DebugUtilsMessengerCreateInfoEXT<'a>>,
    /// Layer settings.
    pub settings: &'a [vk::LayerSettingEXT<'a>],
    /// Extensions besides `VK_EXT_debug_utils`.
    pub extensions: &'a [&'a CStr],
}

impl Gpu {
    /// Creates an instance of Vulkan 1.3 and chooses the device.
    ///
    /// # Errors
    ///
    /// The loader, a driver or a device is missing.
    pub fn open(context: &Context) -> Result<Self> {
        Self::open_as(context, vk::API_VERSION_1_3)
    }

    /// Creates an instance of `api_version` and chooses the device.
    ///
    /// # Errors
    ///
    /// The loader, a driver or a device is missing.
    pub fn open_as(context: &Context, api_version: u32) -> Result<Self> {
        Self::open_with(context, api_version, &Chained::default())
    }

    /// Like [`open_as`](Self::open_as), with `more` in the create info.
    ///
    /// # Errors
    ///
    /// The loader, a driver or a device is missing. [`Skip`] if an extension is missing.
    pub fn open_with(context: &Context, api_version: u32, more: &Chained<'_>) -> Result<Self> {
        let entry = Self::loader()?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"vkabort-e2e")
            .api_version(api_version);
        let mut extensions = vec![ash::ext::debug_utils::NAME.as_ptr()];
        extensions.extend(more.extensions.iter().map(|name| name.as_ptr()));
        // A structure must not occur twice in a chain.
        let mut chained = more.messenger.unwrap_or_else(|| context.messages.messenger());
        let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(more.settings);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions)
            .push_next(&mut chained);
        if !more.settings.is_empty() {
            info = info.push_next(&mut settings);
        }
        let device = std::env::var(DEVICE_VARIABLE).ok();
        let created = Self::create(entry.clone(), &info, device.as_deref(), Some(&context.messages));
        created.map_err(|error| match error.downcast_ref() {
            Some(&vk::Result::ERROR_EXTENSION_NOT_PRESENT) => {
                missing(&entry, more.extensions).map_or(error, Into::into)
            }
            _ => error,
        })
    }

    /// Loads the Vulkan loader.
    ///
    /// # Errors
    ///
    /// The library is missing.
    pub fn loader() -> Result<ash::Entry> {
        // SAFETY: loading the system's Vulkan loader is sound, and the entry keeps it loaded.
        unsafe { ash::Entry::load() }.context("the Vulkan loader (libvulkan.so.1) cannot be loaded")
    }

    /// Opens `device`, in the syntax of [`choose`], in an instance of `info`. A messenger collects in `messages`.
    ///
    /// # Errors
    ///
    /// A call fails, with the call's name, or [`choose`] finds no device.
    pub fn create(
        entry: ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
        device: Option<&str>,
        messages: Option<&Arc<Messages>>,
    ) -> Result<Self> {
        let mut all = Self::all(entry, info, messages)?;
        let candidates: Vec<_> = all.iter().map(|gpu| candidate(&gpu.properties)).collect();
        Ok(all.swap_remove(choose(&candidates, device)?))
    }

    /// Opens all devices in an instance of `info`. A messenger collects in `messages`.
    ///
    /// # Errors
    ///
    /// A call fails, with the call's name.
    pub fn all(
        entry: ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
        messages: Option<&Arc<Messages>>,
    ) -> Result<Vec<Self>> {
        // SAFETY: `info` and the data that it points to are valid for the call.
        let instance = unsafe { entry.create_instance(info, None) }.context("vkCreateInstance")?;
        let owner = Arc::new(InstanceOwner::new(&entry, &instance, messages)?);
        // SAFETY: the instance is alive.
        let devices = unsafe { instance.enumerate_physical_devices() }.context("vkEnumeratePhysicalDevices")?;
        // SAFETY: `info` and the data that it points to are valid for the call.
        let application = unsafe { info.p_application_info.as_ref() };
        let api_version = application.map_or(vk::API_VERSION_1_0, |application| application.api_version);
        let open = |physical| {
            // SAFETY: the handle was just enumerated.
            let properties = unsafe { instance.get_physical_device_properties(physical) };
            Self {
                entry: entry.clone(),
                instance: instance.clone(),
                physical,
                properties,
                api_version: properties.api_version.min(api_version),
                messages: Arc::clone(&owner.messages),
                _owner: Arc::clone(&owner),
            }
        };
        Ok(devices.into_iter().map(open).collect())
    }

    /// Creates a messenger.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn messenger(&self, info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Result<Messenger> {
        Messenger::new(&self.entry, &self.instance, info)
    }

    /// Device extensions of the physical device.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn extensions(&self) -> Result<Vec<vk::ExtensionProperties>> {
        // SAFETY: the handle belongs to the living instance.
        unsafe { self.instance.enumerate_device_extension_properties(self.physical) }
            .context("vkEnumerateDeviceExtensionProperties")
    }

    /// Device extensions of a layer, or of the driver and its implicit layers if `layer` is null, in an array with room for
    /// `room` of them; without an array if that is `None`. Returns the result, the count and the whole array.
    ///
    /// # Safety
    ///
    /// `layer` is null or points to a NUL-terminated string.
    pub unsafe fn extensions_into(
        &self,
        layer: *const std::ffi::c_char,
        room: Option<u32>,
    ) -> (vk::Result, u32, Vec<vk::ExtensionProperties>) {
        let enumerate = self.instance.fp_v1_0().enumerate_device_extension_properties;
        let mut count = room.unwrap_or(0);
        // Elements past the room show an overrun.
        let mut list = vec![vk::ExtensionProperties::default(); count as usize + 5];
        let at = room.map_or(std::ptr::null_mut(), |_| list.as_mut_ptr());
        // SAFETY: the array has room for `count` elements; the caller keeps to the rules for `layer`.
        let result = unsafe { enumerate(self.physical, layer, &raw mut count, at) };
        (result, count, list)
    }

    /// Whether the device has an extension.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn has_extension(&self, name: &CStr) -> Result<bool> {
        Ok(self
            .extensions()?
            .iter()
            .any(|extension| extension.extension_name_as_c_str() == Ok(name)))
    }

    /// The device's features of Vulkan 1.0 and 1.2.
    pub fn features(&self) -> (vk::PhysicalDeviceFeatures, vk::PhysicalDeviceVulkan12Features<'static>) {
        let mut newer = vk::PhysicalDeviceVulkan12Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut newer);
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe {
            self.instance
                .get_physical_device_features2(self.physical, &mut features)
        };
        let core = features.features;
        newer.p_next = std::ptr::null_mut();
        (core, newer)
    }

    /// Fills a feature structure.
    pub fn ask<T: vk::ExtendsPhysicalDeviceFeatures2>(&self, features: &mut T) {
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(features);
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe { self.instance.get_physical_device_features2(self.physical, &mut all) };
    }

    /// Ends the case as skipped if the device lacks an extension.
    ///
    /// # Errors
    ///
    /// [`Skip`] if the extension is missing; else the call's error.
    pub fn require_extension(&self, name: &CStr) -> Result<()> {
        self.require(self.has_extension(name)?.into(), &name.to_string_lossy())
    }

    /// Whether the device supports the structures of an extension that Vulkan 1.2 includes.
    pub fn has_since_1_2(&self, name: &CStr) -> bool {
        let as_extension = || self.api_version >= vk::API_VERSION_1_1 && self.has_extension(name).unwrap_or(false);
        self.api_version >= vk::API_VERSION_1_2 || as_extension()
    }

    /// `driverName` and `driverInfo` of the driver, if it reports them.
    pub fn driver(&self) -> [String; 2] {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        if self.has_since_1_2(vk::KHR_DRIVER_PROPERTIES_NAME) {
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            // SAFETY: the handle belongs to the living instance; the chain is valid.
            unsafe {
                self.instance
                    .get_physical_device_properties2(self.physical, &mut properties);
            }
        }
        [driver.driver_name_as_c_str(), driver.driver_info_as_c_str()]
            .map(|text| text.unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Ends the case as skipped if the device lacks a feature.
    ///
    /// # Errors
    ///
    /// [`Skip`] if `has` is `VK_FALSE`.
    pub fn require(&self, has: vk::Bool32, feature: &str) -> Result<()> {
        if has == vk::FALSE {
            let name = self.properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy();
            return Err(Skip(format!("{name} has no {feature}")).into());
        }
        Ok(())
    }
}

/// Says which instance extension is missing.
fn missing(entry: &ash::Entry, names: &[&CStr]) -> Option<Skip> {
    // SAFETY: without a layer name the call has no preconditions.
    let there = unsafe { entry.enumerate_instance_extension_properties(None) }.ok()?;
    let is_there = |name: &CStr| there.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
    let name = names.iter().find(|name| !is_there(name))?;
    Some(Skip(format!("no {}", name.to_string_lossy())))
}

/// The device as a [`Candidate`] for [`choose`].
pub fn candidate(properties: &vk::PhysicalDeviceProperties) -> Candidate {
    let name = properties.device_name_as_c_str().unwrap_or_default();
    Candidate {
        name: name.to_string_lossy().into_owned(),
        kind: properties.device_type,
    }
}

/// `MAJOR.MINOR.PATCH` of a Vulkan version number.
pub fn version(number: u32) -> String {
    let (major, minor) = (vk::api_version_major(number), vk::api_version_minor(number));
    format!("{major}.{minor}.{}", vk::api_version_patch(number))
}
