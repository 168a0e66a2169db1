//! The edited copy of a device's create-info: without the emulated extensions, and with the features that the layer needs.
//! The application's own structures are only read.

mod enable;
mod refusal;
mod requested_features;

use crate::arena::AddressApi;
use crate::device::features::markers::MarkerExtension;
use crate::device::state::{Extensions, PhysicalDevice, Stores};
use crate::loader::chain::{self, ChainCopy, Edit};
use crate::loader::ffi::{elements, string};
use ash::vk::{self, StructureType, TaggedStructure};
pub use refusal::Refusal;
use requested_features::{RequestedFeatures, may_have_robust_buffers};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use vk_ext::{FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

/// An edited copy of a device's create-info, and the features that it enables.
pub struct EditedCreateInfo {
    chain: ChainCopy,
    extensions: Vec<*const c_char>,
    /// Replaces `pEnabledFeatures`. At most one element.
    features: Vec<vk::PhysicalDeviceFeatures>,
    /// Extensions of the layer that the application enables.
    pub requested: Extensions,
    /// Those and the ones that the layer enables.
    pub enabled: Extensions,
    /// Those of them that the layer emulates.
    pub emulated: Extensions,
    /// Stages with stores, for `emulation = partial`.
    pub stores: Stores,
    /// Families of the device's queues, in ascending order.
    pub families: Vec<u32>,
    /// One of the queues accepts protected submissions.
    pub has_protected_queue: bool,
    /// Buffers can have addresses.
    pub has_addresses: bool,
    /// The command that returns buffer addresses.
    pub api: AddressApi,
    /// `bufferDeviceAddressCaptureReplay` is enabled.
    pub capture_replay: bool,
    /// `VK_EXT_external_memory_host` is enabled.
    pub import: bool,
    /// `deviceCoherentMemory` is enabled.
    pub device_coherent: bool,
    /// `VK_EXT_device_fault` is enabled.
    pub ext_fault: bool,
    /// The application enables `deviceFaultVendorBinary`.
    pub vendor_binary: bool,
    /// The application enables `deviceFaultReportMasked`.
    pub report_masked: bool,
    /// Accesses to buffers may be robust.
    pub robust_buffers: bool,
    /// The extension that writes markers, if it is enabled.
    pub markers: Option<MarkerExtension>,
    /// Why optional features are not enabled.
    pub warnings: Vec<String>,
}

/// Extensions and features that the layer enables besides those that it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Extensions of the driver, with their features (`enable = always`).
    pub native: Extensions,
    /// `deviceFaultReportMasked` can be enabled.
    pub report_masked: bool,
    /// `deviceCoherentMemory`, if the driver supports it. The driver then offers its memory types to the application too, but
    /// after the other types, so that an application that takes the first suitable type does not get one of them.
    pub device_coherent: bool,
    /// An extension that writes markers (`commands = markers`).
    pub markers: bool,
}

/// The extensions of the layer that a create-info enables.
///
/// # Safety
/// `info` must be valid.
pub unsafe fn enabled(info: &vk::DeviceCreateInfo<'_>) -> Extensions {
    // SAFETY: the create-info is valid (the caller's contract).
    Extensions::of(unsafe { names(info) }.into_iter())
}

/// Whether a create-info enables the feature `shaderAbort`.
///
/// # Safety
/// `info` must be valid.
pub unsafe fn enables_shader_abort(info: &vk::DeviceCreateInfo<'_>) -> bool {
    // SAFETY: the chain is valid (the caller's contract).
    let features = unsafe { chain::find::<ShaderAbortFeatures>(info.p_next) };
    features.is_some_and(|features| features.shader_abort == vk::TRUE)
}

/// # Safety
/// `info` must be valid and outlive the names.
unsafe fn names<'a>(info: &vk::DeviceCreateInfo<'_>) -> Vec<&'a CStr> {
    // SAFETY: null, or an array of that many strings (the caller's contract).
    unsafe {
        let names = elements(info.pp_enabled_extension_names, info.enabled_extension_count);
        names.iter().filter_map(|name| string(*name)).collect()
    }
}

const VULKAN_1_2: StructureType = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;
const FEATURES_2: StructureType = vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE;
const ADDRESS: StructureType = vk::PhysicalDeviceBufferDeviceAddressFeatures::STRUCTURE_TYPE;
const ADDRESS_EXT: StructureType = vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT::STRUCTURE_TYPE;
const MEMORY_MODEL: StructureType = vk::PhysicalDeviceVulkanMemoryModelFeatures::STRUCTURE_TYPE;
const COHERENT_AMD: StructureType = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::STRUCTURE_TYPE;
const FAULT_EXT: StructureType = vk::PhysicalDeviceFaultFeaturesEXT::STRUCTURE_TYPE;

/// Whether a structure has the features of one of these extensions.
fn is_of(extensions: Extensions, s_type: StructureType) -> bool {
    (extensions.abort && s_type == ShaderAbortFeatures::STRUCTURE_TYPE)
        || (extensions.fault && s_type == FaultFeatures::STRUCTURE_TYPE)
        || (extensions.constant_data && s_type == ShaderConstantDataFeatures::STRUCTURE_TYPE)
}

/// The changes to a create-info: extensions and features to remove and to enable.
struct Plan {
    emulated: Extensions,
    native: Extensions,
    /// The device has an arena: aborts are emulated.
    arena: bool,
    addresses: bool,
    device_coherent: bool,
    ext_fault: bool,
    /// The application uses `pEnabledFeatures`, so the chain has no `VkPhysicalDeviceFeatures2`.
    has_features: bool,
}

impl Plan {
    fn new(device: &PhysicalDevice, emulated: Extensions, wanted: Wanted, has_features: bool) -> Self {
        let arena = emulated.abort;
        Self {
            emulated,
            native: wanted.native,
            arena,
            addresses: arena || emulated.constant_data,
            device_coherent: arena && wanted.device_coherent && device.device_coherent,
            // The driver's own reports of losses reach the application only through the fault queries of the layer.
            ext_fault: emulated.fault && device.ext_fault,
            has_features,
        }
    }

    /// The edit of a structure in the chain.
    fn edit(&self, s_type: StructureType) -> Edit {
        let changes = match s_type {
            s_type if is_of(self.emulated, s_type) => return Edit::Remove,
            s_type if is_of(self.native, s_type) => true,
            VULKAN_1_2 | ADDRESS | ADDRESS_EXT => self.addresses,
            MEMORY_MODEL => self.arena,
            FEATURES_2 => self.arena && !self.has_features,
            FAULT_EXT => self.ext_fault,
            COHERENT_AMD => self.device_coherent,
            _ => false,
        };
        if changes { Edit::Change } else { Edit::Keep }
    }
}

impl EditedCreateInfo {
    /// Edits a create-info: leaves out the emulated extensions and features, and enables the features that the layer needs.
    ///
    /// # Errors
    /// The application enables an unsupported feature, or a required feature is off in a structure that cannot be changed.
    ///
    /// # Safety
    /// `info` must be valid and outlive the result.
    pub unsafe fn new(
        info: &vk::DeviceCreateInfo<'_>,
        device: &PhysicalDevice,
        emulated: Extensions,
        wanted: Wanted,
    ) -> Result<Self, Refusal> {
        let head = info.p_next;
        // SAFETY: the create-info and its arrays are valid, and outlive the names (the caller's contract).
        let (names, queues, requested) = unsafe {
            (
                names(info),
                elements(info.p_queue_create_infos, info.queue_create_info_count),
                RequestedFeatures::read(head, device, emulated, wanted.report_masked)?,
            )
        };
        let has = |name: &CStr| names.contains(&name);
        let families: BTreeSet<u32> = queues.iter().map(|queue| queue.queue_family_index).collect();
        let protected = vk::DeviceQueueCreateFlags::PROTECTED;
        // SAFETY: `pEnabledFeatures` is null or valid (the caller's contract).
        let features = unsafe { info.p_enabled_features.as_ref() };
        let plan = Plan::new(device, emulated, wanted, features.is_some());
        // SAFETY: the chain is valid and outlives the copy (the caller's contract).
        let chain = unsafe { ChainCopy::new(head, |s_type| plan.edit(s_type)) };
        let mut edited = Self {
            chain,
            extensions: names
                .iter()
                .filter(|name| !emulated.contains(name))
                .map(|name| name.as_ptr())
                .collect(),
            features: Vec::new(),
            requested: Extensions::of(names.iter().copied()),
            enabled: Extensions::of(names.iter().copied()).or(emulated).or(wanted.native),
            emulated,
            stores: device.stores,
            families: families.into_iter().collect(),
            has_protected_queue: queues.iter().any(|queue| queue.flags.contains(protected)),
            has_addresses: false,
            api: match has(vk::EXT_BUFFER_DEVICE_ADDRESS_NAME) {
                true => AddressApi::Ext,
                false => AddressApi::Khr,
            },
            capture_replay: false,
            import: false,
            device_coherent: false,
            ext_fault: false,
            vendor_binary: requested.vendor_binary,
            report_masked: requested.report_masked,
            // SAFETY: the create-info is valid (the caller's contract).
            robust_buffers: unsafe { may_have_robust_buffers(info) },
            markers: None,
            warnings: Vec::new(),
        };
        edited.apply(&plan, device, features, has)?;
        if wanted.markers {
            edited.enable_markers(device, has);
        }
        Ok(edited)
    }

    /// Enables the features of a plan. `features`: the application's `pEnabledFeatures`.
    fn apply(
        &mut self,
        plan: &Plan,
        device: &PhysicalDevice,
        features: Option<&vk::PhysicalDeviceFeatures>,
        has: impl Fn(&CStr) -> bool + Copy,
    ) -> Result<(), Refusal> {
        self.enable_native(plan.native, has)?;
        if plan.addresses {
            match self.enable_addresses(device, has) {
                Ok(()) => self.has_addresses = true,
                Err(refusal) if plan.arena => return Err(refusal),
                // Constant data then becomes constants.
                Err(refusal) => self.warnings.push(refusal.reason),
            }
            self.import = self.has_addresses
                && device.imports
                && self.add_extension(device, vk::EXT_EXTERNAL_MEMORY_HOST_NAME, has);
        }
        if plan.arena {
            self.enable_device_scope(device);
            self.enable_stores(features)?;
        }
        if plan.device_coherent {
            self.enable_device_coherent(device, has);
        }
        if plan.ext_fault {
            self.enable_ext_fault(device, has)?;
        }
        Ok(())
    }

    /// Whether the edited create-info enables an extension.
    pub fn has_extension(&self, name: &CStr) -> bool {
        // SAFETY: the names are valid strings, of the application or of the layer (the caller's contract of `new`).
        self.extensions
            .iter()
            .any(|own| unsafe { CStr::from_ptr(*own) } == name)
    }

    /// The edited create-info. Borrows from this and from the original.
    pub fn create_info<'a>(&'a self, original: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        let mut info = *original;
        info.p_next = self.chain.head();
        info.enabled_extension_count = u32::try_from(self.extensions.len()).unwrap_or(u32::MAX);
        info.pp_enabled_extension_names = self.extensions.as_ptr();
        if let Some(features) = self.features.first() {
            info.p_enabled_features = features;
        }
        info
    }
}

#[cfg(test)]
mod tests;
