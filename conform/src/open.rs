//! Opens the physical device that checks run on.

use anyhow::{Context as _, Error, Result};
use ash::vk;
use serde_json::{Value as Json, json};
use std::ops::Deref;
use vk_ext::EXTENSION_NAMES;
use vkabort_gpu::device_choice::Refusal;
use vkabort_gpu::{Chained, Context, Enable, Gpu, OwnedDevice, Owner, Skip, show, version};
use vkabort_runner::Finding;

/// A physical device, its instance of Vulkan 1.2, and the logical devices of a check.
pub struct CheckedGpu {
    gpu: Gpu,
    /// A queue family with compute support.
    family: u32,
    /// `timestampValidBits` of the queue family.
    pub timestamp_bits: u32,
    devices: Owner,
}

/// Opens the device and passes it to `check`. Objects of the check outlive it, in the context: a driver that crashes in a
/// destruction would hide the verdict.
///
/// # Errors
///
/// The check fails, or the device cannot be opened.
pub fn gpu(context: &Context, check: impl FnOnce(&'static CheckedGpu) -> Result<Finding>) -> Result<Finding> {
    check(context.owner.own(CheckedGpu::open(context)?))
}

impl Deref for CheckedGpu {
    type Target = Gpu;

    fn deref(&self) -> &Self::Target {
        &self.gpu
    }
}

impl CheckedGpu {
    /// Opens the device that the environment names, by default one of the fastest kind.
    ///
    /// # Errors
    ///
    /// The loader, a driver or a device is missing; [`Refusal`] if no device has this name; else a call's error.
    pub fn open(context: &Context) -> Result<Self> {
        let more = Chained {
            extensions: &[ash::khr::get_physical_device_properties2::NAME],
            ..Chained::default()
        };
        let gpu = Gpu::open_with(context, vk::API_VERSION_1_2, &more)?;
        // SAFETY: the handle belongs to the live instance.
        let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
        let mut numbered = families.iter().zip(0..);
        let found = numbered.find(|(family, _)| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let (properties, family) = found.context(Skip("the device has no compute queue".into()))?;
        Ok(Self {
            timestamp_bits: properties.timestamp_valid_bits,
            family,
            gpu,
            devices: Owner::default(),
        })
    }

    /// Requires one of the three extensions.
    ///
    /// # Errors
    ///
    /// [`Skip`] if the device lists none; else the call's error.
    pub fn require_any(&self) -> Result<()> {
        for name in EXTENSION_NAMES {
            if self.has_extension(name)? {
                return Ok(());
            }
        }
        self.require_extensions(&EXTENSION_NAMES)
    }

    /// Creates a logical device.
    ///
    /// # Errors
    ///
    /// The call fails. [`Skip`] if the physical device lacks an extension.
    pub fn device(&'static self, enable: Enable) -> Result<&'static OwnedDevice> {
        Ok(self.devices.own(OwnedDevice::new(&self.gpu, self.family, enable)?))
    }

    /// Name, driver and Vulkan version of the device.
    pub fn describe(&self) -> Json {
        json!({
            "name": self.name(),
            "driver": self.driver().join(" ").trim(),
            "api_version": version(self.properties.api_version),
        })
    }
}

impl Drop for CheckedGpu {
    fn drop(&mut self) {
        // SAFETY: the check is over, so it uses none of its devices, and it waited for their work or lost them.
        unsafe { self.devices.destroy() };
    }
}

/// Turns the lack of a loader, driver or device into a skip.
pub(crate) fn skip_without_device(error: Error) -> Error {
    let reason = match (error.downcast_ref::<vk::Result>(), error.downcast_ref::<Refusal>()) {
        (Some(&vk::Result::ERROR_INCOMPATIBLE_DRIVER), _) => "no Vulkan driver was found".into(),
        (Some(&result), _) if error.to_string() == "vkCreateInstance" => {
            format!("vkCreateInstance returned {}", show(result))
        }
        (Some(_), _) | (_, Some(Refusal::Unknown(..) | Refusal::Ambiguous(..))) => return error,
        _ if error.is::<Skip>() => return error,
        _ => format!("{error:#}"),
    };
    Skip(reason).into()
}
