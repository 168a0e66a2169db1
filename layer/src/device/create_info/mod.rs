//! The create-info of a device, edited: our extensions and features taken out, what the layer needs turned on. All in
//! copies; the application's memory is only read.

mod requested_features;

use crate::arena::AddressApi;
use crate::device::state::{Extensions, PhysicalDevice};
use crate::loader::chain::{ChainCopy, Edit};
use crate::loader::ffi::stype;
use ash::vk::{self, StructureType, TaggedStructure};
use requested_features::RequestedFeatures;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::slice;

/// Why a device cannot be made as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the application gets.
    pub result: vk::Result,
    /// Why.
    pub reason: String,
}

/// An edited create-info and what it turns on.
pub struct EditedCreateInfo {
    chain: ChainCopy,
    extensions: Vec<*const c_char>,
    features: Option<Box<vk::PhysicalDeviceFeatures>>,
    /// Extensions that the application enabled.
    pub enabled: Extensions,
    /// Those of them that the layer provides.
    pub emulated: Extensions,
    /// Families of the device's queues.
    pub families: Vec<u32>,
    /// How to ask for buffer addresses.
    pub api: AddressApi,
    /// `bufferDeviceAddressCaptureReplay` is on.
    pub capture_replay: bool,
    /// `VK_EXT_external_memory_host` is on.
    pub import: bool,
    /// `deviceCoherentMemory` is on.
    pub device_coherent: bool,
    /// `VK_EXT_device_fault` is on.
    pub ext_fault: bool,
    /// The application enabled `deviceFaultVendorBinary`.
    pub vendor_binary: bool,
    /// The application enabled `deviceFaultReportMasked`.
    pub report_masked: bool,
}

/// What the layer would like, beside what the application asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// `deviceFaultReportMasked` can be enabled.
    pub report_masked: bool,
    /// Memory that the device does not cache, if the driver has it. Its types then come to be among those that the driver
    /// offers the application too: behind the others, so that a program that takes the first that will do never meets them.
    pub device_coherent: bool,
}

/// The extensions of ours that a create-info enables.
///
/// # Safety
/// `info` must be valid.
pub unsafe fn enabled(info: &vk::DeviceCreateInfo<'_>) -> Extensions {
    // SAFETY: the caller vouches for the names.
    Extensions::of(unsafe { names(info) }.into_iter())
}

/// # Safety
/// `info` must be valid and outlive the names.
unsafe fn names<'a>(info: &vk::DeviceCreateInfo<'_>) -> Vec<&'a CStr> {
    if info.pp_enabled_extension_names.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for the array and for every string in it.
    unsafe {
        slice::from_raw_parts(info.pp_enabled_extension_names, info.enabled_extension_count as usize)
            .iter()
            .filter(|name| !name.is_null())
            .map(|name| CStr::from_ptr(*name))
            .collect()
    }
}

const VULKAN_1_2: StructureType = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;
const FEATURES_2: StructureType = vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE;
const ADDRESS: StructureType = vk::PhysicalDeviceBufferDeviceAddressFeatures::STRUCTURE_TYPE;
const ADDRESS_EXT: StructureType = vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT::STRUCTURE_TYPE;
const MEMORY_MODEL: StructureType = vk::PhysicalDeviceVulkanMemoryModelFeatures::STRUCTURE_TYPE;
const COHERENT_AMD: StructureType = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::STRUCTURE_TYPE;
const FAULT_EXT: StructureType = vk::PhysicalDeviceFaultFeaturesEXT::STRUCTURE_TYPE;

fn is_ours(emulated: Extensions, s_type: StructureType) -> bool {
    (emulated.abort && s_type == stype::SHADER_ABORT_FEATURES)
        || (emulated.fault && s_type == stype::FAULT_FEATURES)
        || (emulated.constant_data && s_type == stype::SHADER_CONSTANT_DATA_FEATURES)
}

impl EditedCreateInfo {
    /// Edits a create-info.
    ///
    /// # Errors
    /// The application asks for something that is not supported, or its chain cannot be edited.
    ///
    /// # Safety
    /// `info` must be valid and outlive the plan.
    pub unsafe fn new(
        info: &vk::DeviceCreateInfo<'_>,
        device: &PhysicalDevice,
        emulated: Extensions,
        wanted: Wanted,
    ) -> Result<Self, Refusal> {
        let head = info.p_next;
        // SAFETY: the caller vouches for the create-info.
        let names = unsafe { names(info) };
        let has = |name: &CStr| names.contains(&name);
        // SAFETY: as above.
        let asked = unsafe { RequestedFeatures::read(head, device, emulated, wanted.report_masked) }?;

        let arena = emulated.abort;
        let device_coherent = arena && wanted.device_coherent && device.device_coherent;
        let address_ext = has(vk::EXT_BUFFER_DEVICE_ADDRESS_NAME);
        // The driver's own word on losses goes through our queries only where they are ours.
        let ext_fault = emulated.fault && device.ext_fault;
        let touch = |s_type: StructureType| match s_type {
            VULKAN_1_2 | ADDRESS | ADDRESS_EXT | MEMORY_MODEL => arena,
            FEATURES_2 => arena && info.p_enabled_features.is_null(),
            FAULT_EXT => ext_fault,
            COHERENT_AMD => device_coherent,
            _ => false,
        };
        let edit = |s_type: StructureType| {
            if is_ours(emulated, s_type) {
                Edit::Remove
            } else if touch(s_type) {
                Edit::Change
            } else {
                Edit::Keep
            }
        };
        // SAFETY: as above.
        let chain = unsafe { ChainCopy::new(head, edit) }.map_err(|unknown| Refusal {
            result: vk::Result::ERROR_INITIALIZATION_FAILED,
            reason: format!(
                "the features of the device cannot be changed: structure type {} before them is not known",
                unknown.0.as_raw()
            ),
        })?;
        let mut edited = Self {
            chain,
            extensions: names
                .iter()
                .filter(|name| !emulated.contains(name))
                .map(|name| name.as_ptr())
                .collect(),
            features: None,
            enabled: Extensions::of(names.iter().copied()),
            emulated,
            // SAFETY: as above.
            families: unsafe { families(info) },
            api: if address_ext { AddressApi::Ext } else { AddressApi::Khr },
            capture_replay: false,
            import: false,
            device_coherent,
            ext_fault,
            vendor_binary: asked.vendor_binary,
            report_masked: asked.report_masked,
        };
        if arena {
            edited.turn_on_addresses(device, has);
            edited.turn_on_device_scope(device);
            edited.turn_on_stores(info);
            edited.import = device.imports && edited.add_extension(device, vk::EXT_EXTERNAL_MEMORY_HOST_NAME, has);
        }
        if device_coherent {
            edited.turn_on_device_coherent(device, has);
        }
        if ext_fault {
            edited.turn_on_driver_faults(device, has);
        }
        Ok(edited)
    }

    /// The edited create-info. It borrows from the plan and from the original.
    pub fn create_info<'a>(&'a self, original: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        let mut info = *original;
        info.p_next = self.chain.head();
        info.enabled_extension_count = u32::try_from(self.extensions.len()).unwrap_or(u32::MAX);
        info.pp_enabled_extension_names = self.extensions.as_ptr();
        if let Some(features) = &self.features {
            info.p_enabled_features = &**features;
        }
        info
    }

    /// Turns an extension on, unless the application did. False: the driver does not have it.
    fn add_extension(&mut self, device: &PhysicalDevice, name: &'static CStr, has: impl Fn(&CStr) -> bool) -> bool {
        if has(name) {
            return true;
        }
        let there = device.has(name);
        if there {
            self.extensions.push(name.as_ptr());
        }
        there
    }

    fn turn_on_addresses(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool) {
        let replay = vk::Bool32::from(device.capture_replay && !device.cpu);
        if self.api == AddressApi::Ext {
            let node = self
                .chain
                .copied::<vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT<'_>>(ADDRESS_EXT);
            if node.is_null() {
                let features = vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT::default().buffer_device_address(true);
                // SAFETY: a structure that extends VkDeviceCreateInfo.
                unsafe { self.chain.prepend(features) };
            } else {
                // SAFETY: the chain owns the node.
                unsafe { (*node).buffer_device_address = vk::TRUE };
            }
            return;
        }
        let core = self.chain.copied::<vk::PhysicalDeviceVulkan12Features<'_>>(VULKAN_1_2);
        let single = self
            .chain
            .copied::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>(ADDRESS);
        // SAFETY: the chain owns the nodes.
        unsafe {
            if !core.is_null() {
                (*core).buffer_device_address = vk::TRUE;
                (*core).buffer_device_address_capture_replay |= replay;
            } else if !single.is_null() {
                (*single).buffer_device_address = vk::TRUE;
                (*single).buffer_device_address_capture_replay |= replay;
            } else {
                let mut features = vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true);
                features.buffer_device_address_capture_replay = replay;
                self.chain.prepend(features);
            }
        }
        self.capture_replay = replay == vk::TRUE;
        if !device.at_least(vk::API_VERSION_1_2) {
            self.add_extension(device, vk::KHR_BUFFER_DEVICE_ADDRESS_NAME, has);
        }
    }

    /// Under the Vulkan memory model, messages have to be made available at device scope.
    fn turn_on_device_scope(&mut self, device: &PhysicalDevice) {
        if !device.device_scope {
            return;
        }
        let core = self.chain.copied::<vk::PhysicalDeviceVulkan12Features<'_>>(VULKAN_1_2);
        let single = self
            .chain
            .copied::<vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>>(MEMORY_MODEL);
        // SAFETY: the chain owns the nodes.
        unsafe {
            if !core.is_null() && (*core).vulkan_memory_model == vk::TRUE {
                (*core).vulkan_memory_model_device_scope = vk::TRUE;
            }
            if !single.is_null() && (*single).vulkan_memory_model == vk::TRUE {
                (*single).vulkan_memory_model_device_scope = vk::TRUE;
            }
        }
    }

    /// The core features stand in `pEnabledFeatures` or in `VkPhysicalDeviceFeatures2`, never in both.
    fn turn_on_stores(&mut self, info: &vk::DeviceCreateInfo<'_>) {
        let in_chain = self.chain.copied::<vk::PhysicalDeviceFeatures2<'_>>(FEATURES_2);
        let features = if in_chain.is_null() {
            // SAFETY: null or valid by the API's rules.
            let given = unsafe { info.p_enabled_features.as_ref() };
            self.features.insert(Box::new(given.copied().unwrap_or_default()))
        } else {
            // SAFETY: the chain owns the node.
            unsafe { &mut (*in_chain).features }
        };
        features.vertex_pipeline_stores_and_atomics = vk::TRUE;
        features.fragment_stores_and_atomics = vk::TRUE;
    }

    fn turn_on_device_coherent(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool) {
        self.add_extension(device, vk::AMD_DEVICE_COHERENT_MEMORY_NAME, has);
        let node = self
            .chain
            .copied::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(COHERENT_AMD);
        // SAFETY: the chain owns the node; the new one is a structure that extends VkDeviceCreateInfo.
        unsafe {
            if node.is_null() {
                let features = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::default().device_coherent_memory(true);
                self.chain.prepend(features);
            } else {
                (*node).device_coherent_memory = vk::TRUE;
            }
        }
    }

    fn turn_on_driver_faults(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool) {
        self.add_extension(device, vk::EXT_DEVICE_FAULT_NAME, has);
        let binary = vk::Bool32::from(self.vendor_binary && device.ext_fault_vendor_binary);
        let node = self.chain.copied::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>(FAULT_EXT);
        // SAFETY: the chain owns the node; the new one is a structure that extends VkDeviceCreateInfo.
        unsafe {
            if node.is_null() {
                let mut features = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
                features.device_fault_vendor_binary = binary;
                self.chain.prepend(features);
            } else {
                (*node).device_fault = vk::TRUE;
                (*node).device_fault_vendor_binary |= binary;
            }
        }
    }
}

/// # Safety
/// `info` must be valid.
unsafe fn families(info: &vk::DeviceCreateInfo<'_>) -> Vec<u32> {
    if info.p_queue_create_infos.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for the array.
    let infos = unsafe { slice::from_raw_parts(info.p_queue_create_infos, info.queue_create_info_count as usize) };
    let distinct: BTreeSet<u32> = infos.iter().map(|i| i.queue_family_index).collect();
    distinct.into_iter().collect()
}

#[cfg(test)]
mod tests;
