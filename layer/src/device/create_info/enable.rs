//! Enables extensions and features in the edited create-info, in the structures that the application chains or in the
//! layer's own. A structure behind one of unknown size cannot be changed; its features may be enabled already.

use super::EditedCreateInfo;
use super::refusal::Refusal;
use crate::arena::AddressApi;
use crate::device::state::{Extensions, PhysicalDevice};
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
            let enabled = chain.change_or_add(|features: &mut ShaderAbortFeatures| features.shader_abort = vk::TRUE);
            required("shaderAbort", enabled)?;
        }
        if native.fault {
            let enabled = chain.change_or_add(|features: &mut FaultFeatures| features.device_fault = vk::TRUE);
            required("deviceFault", enabled)?;
        }
        if native.constant_data {
            let enable = |features: &mut ShaderConstantDataFeatures| features.shader_constant_data = vk::TRUE;
            required("shaderConstantData", chain.change_or_add(enable))?;
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
        if self.api == AddressApi::Ext {
            let enabled = self
                .chain
                .change_or_add::<vk::PhysicalDeviceBufferDeviceAddressFeaturesEXT<'_>>(|features| {
                    features.buffer_device_address = vk::TRUE;
                });
            return required(FEATURE, enabled);
        }
        // VUID-VkDeviceCreateInfo-pNext-02830: VkPhysicalDeviceVulkan12Features excludes the single structure.
        let enabled = self
            .chain
            .change(|core: &mut Core| core.buffer_device_address = vk::TRUE);
        let has_core = required(FEATURE, enabled)?;
        if !has_core {
            let enabled = self
                .chain
                .change_or_add(|single: &mut Single| single.buffer_device_address = vk::TRUE);
            required(FEATURE, enabled)?;
        }
        if device.capture_replay && !device.cpu {
            let enabled = match has_core {
                true => self
                    .chain
                    .change(|core: &mut Core| core.buffer_device_address_capture_replay = vk::TRUE),
                false => self
                    .chain
                    .change(|single: &mut Single| single.buffer_device_address_capture_replay = vk::TRUE),
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
        if !device.device_scope {
            return;
        }
        let core = self.chain.change(|core: &mut vk::PhysicalDeviceVulkan12Features<'_>| {
            core.vulkan_memory_model_device_scope |= core.vulkan_memory_model;
        });
        let single = self
            .chain
            .change(|single: &mut vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>| {
                single.vulkan_memory_model_device_scope |= single.vulkan_memory_model;
            });
        self.enabled_or_warning("vulkanMemoryModelDeviceScope", core.and(single).map(|_| ()));
    }

    /// VUID-VkDeviceCreateInfo-pNext-00373: the core features are in `pEnabledFeatures` or in the chain, never in both.
    pub(super) fn enable_stores(&mut self, enabled: Option<&vk::PhysicalDeviceFeatures>) -> Result<(), Refusal> {
        let stores = self.stores;
        let enable = |features: &mut vk::PhysicalDeviceFeatures| {
            features.vertex_pipeline_stores_and_atomics |= vk::Bool32::from(stores.vertex);
            features.fragment_stores_and_atomics |= vk::Bool32::from(stores.fragment);
        };
        let in_chain = match enabled {
            None => self
                .chain
                .change(|chained: &mut vk::PhysicalDeviceFeatures2<'_>| enable(&mut chained.features)),
            Some(_) => Ok(false),
        };
        if !required("vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics", in_chain)? {
            let mut features = enabled.copied().unwrap_or_default();
            enable(&mut features);
            self.features = vec![features];
        }
        Ok(())
    }

    pub(super) fn enable_device_coherent(&mut self, device: &PhysicalDevice, has: impl Fn(&CStr) -> bool) {
        let enabled = self
            .chain
            .change_or_add::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(|features| {
                features.device_coherent_memory = vk::TRUE;
            });
        self.device_coherent = self.enabled_or_warning("deviceCoherentMemory", enabled)
            && self.add_extension(device, vk::AMD_DEVICE_COHERENT_MEMORY_NAME, has);
    }

    /// Enables `VK_EXT_device_fault`, and the vendor binary if the application enables that of `VK_KHR_device_fault`.
    pub(super) fn enable_ext_fault(
        &mut self,
        device: &PhysicalDevice,
        has: impl Fn(&CStr) -> bool,
    ) -> Result<(), Refusal> {
        let binary = vk::Bool32::from(self.vendor_binary && device.ext_fault_vendor_binary);
        let enabled = self
            .chain
            .change_or_add::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>(|features| {
                features.device_fault = vk::TRUE;
                features.device_fault_vendor_binary |= binary;
            });
        if binary == vk::TRUE {
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
