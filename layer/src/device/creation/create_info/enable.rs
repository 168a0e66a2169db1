//! Enables extensions and features in the edited create-info, in the structures that the application chains or in the
//! layer's own. A structure behind one of unknown size cannot be changed; its features may be enabled already.

use super::EditedCreateInfo;
use super::refusal::Refusal;
use crate::arena::AddressApi;
use crate::device::features::markers::MarkerExtension;
use crate::device::state::{Extensions, PhysicalDevice, Stores};
use crate::loader::chain::UnknownNode;
use ash::vk;
use std::ffi::CStr;
use vk_ext::{FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

impl EditedCreateInfo {
    /// Enables an extension that the application does not enable. False if the driver lacks it.
    pub(super) fn add_extension(
        &mut self,
        device: &PhysicalDevice,
        name: &'static CStr,
        has: impl Fn(&CStr) -> bool,
    ) -> bool {
        if has(name) {
            return true;
        }
        let supported = device.has(name);
        if supported {
            self.extensions.push(name.as_ptr());
        }
        supported
    }

    /// Whether an optional feature is enabled. If not, adds the reason to the warnings.
    fn enabled_or_warning(&mut self, feature: &str, enabled: Result<(), UnknownNode>) -> bool {
        let reason = enabled.err().map(|unknown| out_of_reach(feature, unknown));
        self.warnings.extend(reason.clone());
        reason.is_none()
    }

    /// Enables extensions of the driver, with the features that aborts need.
    pub(super) fn enable_native(&mut self, native: Extensions, has: impl Fn(&CStr) -> bool) -> Result<(), Refusal> {
        let missing = native.names().filter(|name| !has(name));
        self.extensions.extend(missing.map(CStr::as_ptr));
        let chain = &mut self.chain;
        if native.abort {
            let enabled = chain.enable_or_add(|features: &mut ShaderAbortFeatures| vec![&mut features.shader_abort]);
            required("shaderAbort", enabled)?;
        }
        if native.fault {
            let enabled = chain.enable_or_add(|features: &mut FaultFeatures| vec![&mut features.device_fault]);
            required("deviceFault", enabled)?;
        }
        if native.constant_data {
            let enabled = chain
                .enable_or_add(|features: &mut ShaderConstantDataFeatures| vec![&mut features.shader_constant_data]);
            required("shaderConstantData", enabled)?;
        }
        Ok(())
    }

    pub(super) fn enable_addresses(
        &mut self,
        device: &PhysicalDevice,
        has: impl Fn(&CStr) -> bool,
    ) -> Result<(), Refusal> {
        const FEATURE: &str = "bufferDeviceAddress";
        type Single = vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>;
        type Core = vk::PhysicalDeviceVulkan12Features<'static>;
        type Ext = vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT<'static>;
        let chain = &mut self.chain;
        if self.api == AddressApi::Ext {
            let enabled = chain.enable_or_add(|ext: &mut Ext| vec![&mut ext.buffer_device_address]);
            return required(FEATURE, enabled);
        }
        // VUID-VkDeviceCreateInfo-pNext-02830: VkPhysicalDeviceVulkan12Features excludes the single structure.
        let enabled = chain.enable(|core: &mut Core| vec![&mut core.buffer_device_address]);
        let has_core = required(FEATURE, enabled)?;
        if !has_core {
            let enabled = chain.enable_or_add(|single: &mut Single| vec![&mut single.buffer_device_address]);
            required(FEATURE, enabled)?;
        }
        if device.capture_replay && !device.cpu {
            let enabled = match has_core {
                true => chain.enable(|core: &mut Core| vec![&mut core.buffer_device_address_capture_replay]),
                false => chain.enable(|single: &mut Single| vec![&mut single.buffer_device_address_capture_replay]),
            };
            self.capture_replay = self.enabled_or_warning("bufferDeviceAddressCaptureReplay", enabled.map(|_| ()));
        }
        if !device.at_least(vk::API_VERSION_1_2) {
            self.add_extension(device, vk::KHR_BUFFER_DEVICE_ADDRESS_NAME, has);
        }
        Ok(())
    }

    /// With the Vulkan memory model enabled, only `vulkanMemoryModelDeviceScope` lets shaders make messages available to the
    /// host's scope.
    pub(super) fn enable_device_scope(&mut self, device: &PhysicalDevice) {
        type Single = vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>;
        type Core = vk::PhysicalDeviceVulkan12Features<'static>;
        fn scope(model: vk::Bool32, scope: &mut vk::Bool32) -> Vec<&mut vk::Bool32> {
            (model == vk::TRUE).then_some(scope).into_iter().collect()
        }
        if !device.device_scope {
            return;
        }
        let chain = &mut self.chain;
        let core =
            chain.enable(|core: &mut Core| scope(core.vulkan_memory_model, &mut core.vulkan_memory_model_device_scope));
        let single = chain.enable(|single: &mut Single| {
            scope(single.vulkan_memory_model, &mut single.vulkan_memory_model_device_scope)
        });
        let enabled = core.and(single);
        self.enabled_or_warning("vulkanMemoryModelDeviceScope", enabled.map(|_| ()));
    }

    /// VUID-VkDeviceCreateInfo-pNext-00373: the core features are in `pEnabledFeatures` or in the chain, never in both.
    pub(super) fn enable_stores(&mut self, enabled: Option<&vk::PhysicalDeviceFeatures>) -> Result<(), Refusal> {
        let stores = self.stores;
        fn select(stores: Stores, features: &mut vk::PhysicalDeviceFeatures) -> Vec<&mut vk::Bool32> {
            let vertex = stores
                .vertex
                .then_some(&mut features.vertex_pipeline_stores_and_atomics);
            let fragment = stores.fragment.then_some(&mut features.fragment_stores_and_atomics);
            vertex.into_iter().chain(fragment).collect()
        }
        let in_chain = match enabled {
            None => self
                .chain
                .enable(|chained: &mut vk::PhysicalDeviceFeatures2<'_>| select(stores, &mut chained.features)),
            Some(_) => Ok(false),
        };
        if !required("vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics", in_chain)? {
            let mut features = enabled.copied().unwrap_or_default();
            select(stores, &mut features)
                .into_iter()
                .for_each(|feature| *feature = vk::TRUE);
            self.features = vec![features];
        }
        Ok(())
    }

    pub(super) fn enable_device_coherent(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool) {
        type Coherent = vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'static>;
        let enabled = self
            .chain
            .enable_or_add(|features: &mut Coherent| vec![&mut features.device_coherent_memory]);
        self.device_coherent = self.enabled_or_warning("deviceCoherentMemory", enabled)
            && self.add_extension(device, vk::AMD_DEVICE_COHERENT_MEMORY_NAME, has);
    }

    /// Enables an extension that writes markers, if the driver has one and the device gets an arena. In protected command buffers they
    /// cannot be written to memory that the host reads.
    pub(super) fn enable_markers(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool + Copy) {
        if !self.emulated.abort || !self.has_addresses || self.has_protected_queue {
            return;
        }
        self.markers = if self.add_extension(device, vk::AMD_BUFFER_MARKER_NAME, has) {
            Some(MarkerExtension::BufferMarker)
        } else {
            // A marker has 64 bits. The extension depends on version 1.1, or an instance extension.
            let can_set = size_of::<usize>() == 8 && device.at_least(vk::API_VERSION_1_1);
            (can_set && self.add_extension(device, vk::NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_NAME, has))
                .then_some(MarkerExtension::Checkpoints)
        };
    }

    /// Enables `VK_EXT_device_fault`, and the vendor binary if the application enables that of `VK_KHR_device_fault`.
    pub(super) fn enable_ext_fault(
        &mut self,
        device: &PhysicalDevice,
        has: impl Fn(&CStr) -> bool,
    ) -> Result<(), Refusal> {
        let has_binary = self.vendor_binary && device.ext_fault_vendor_binary;
        let enabled = self
            .chain
            .enable_or_add(|features: &mut vk::PhysicalDeviceFaultFeaturesEXT<'_>| {
                let binary = has_binary.then_some(&mut features.device_fault_vendor_binary);
                binary.into_iter().chain([&mut features.device_fault]).collect()
            });
        if has_binary {
            required("deviceFaultVendorBinary", enabled)?;
        }
        self.ext_fault = self.enabled_or_warning("deviceFault", enabled)
            && self.add_extension(device, vk::EXT_DEVICE_FAULT_NAME, has);
        Ok(())
    }
}

/// Refuses the device if a required feature is not enabled.
fn required<T>(feature: &str, enabled: Result<T, UnknownNode>) -> Result<T, Refusal> {
    enabled.map_err(|unknown| Refusal {
        result: vk::Result::ERROR_INITIALIZATION_FAILED,
        reason: out_of_reach(feature, unknown),
    })
}

fn out_of_reach(feature: &str, unknown: UnknownNode) -> String {
    format!(
        "cannot enable {feature}: the structure of type {} precedes its structure in the chain of VkDeviceCreateInfo, and the \
         layer does not know its size; enable the feature in the application, or move the structure of type {0} to the end",
        unknown.0.as_raw()
    )
}
