//! The features of the layer's extensions that an application enables.

use super::refusal::Refusal;
use crate::device::state::{Extensions, PhysicalDevice};
use crate::loader::chain;
use ash::vk;
use std::ffi::c_void;
use vk_ext::{FaultFeatures, ShaderConstantDataFeatures};

/// `VkPhysicalDeviceVulkan14Features`, which has `pipelineRobustness`. ash lacks it.
const VULKAN_1_4: vk::StructureType = vk::StructureType::from_raw(55);

/// Features that an application enables and that the layer has to provide.
pub struct RequestedFeatures {
    /// `deviceFaultVendorBinary`.
    pub vendor_binary: bool,
    /// `deviceFaultReportMasked`.
    pub report_masked: bool,
}

impl RequestedFeatures {
    /// Reads the feature structures of a chain.
    ///
    /// # Errors
    /// An enabled feature is not supported, or the device consists of several physical devices.
    ///
    /// # Safety
    /// `head` must be null or start a valid chain.
    pub unsafe fn read(
        head: *const c_void,
        device: &PhysicalDevice,
        emulated: Extensions,
        report_masked: bool,
    ) -> Result<Self, Refusal> {
        // SAFETY: the chain is valid (the caller's contract).
        let (fault, group, constant_data) = unsafe {
            (
                chain::find::<FaultFeatures>(head),
                chain::find::<vk::DeviceGroupDeviceCreateInfo<'_>>(head),
                chain::find::<ShaderConstantDataFeatures>(head),
            )
        };
        debug_assert!(constant_data.is_none_or(|f| f.shader_constant_data <= 1));
        // Memory with an instance on each device cannot be mapped (VUID-vkMapMemory-memory-00683), so all devices would have to
        // share one CURSOR. No scope allows that: Device is the widest (VUID-StandaloneSpirv-None-04638).
        if emulated.abort && group.is_some_and(|g| g.physical_device_count > 1) {
            return Err(Refusal {
                result: vk::Result::ERROR_INITIALIZATION_FAILED,
                reason: "VK_KHR_shader_abort is not emulated on a device of several physical devices; create one device for \
                         each of them"
                    .to_owned(),
            });
        }
        let fault = fault.filter(|_| emulated.fault);
        let requested = Self {
            vendor_binary: fault.is_some_and(|f| f.device_fault_vendor_binary == vk::TRUE),
            report_masked: fault.is_some_and(|f| f.device_fault_report_masked == vk::TRUE),
        };
        let unsupported = [
            (
                requested.vendor_binary && !device.ext_fault_vendor_binary,
                "deviceFaultVendorBinary",
            ),
            (requested.report_masked && !report_masked, "deviceFaultReportMasked"),
            (
                fault.is_some_and(|f| f.device_fault_device_lost_on_masked == vk::TRUE),
                "deviceFaultDeviceLostOnMasked",
            ),
        ];
        match unsupported.iter().find(|(unsupported, _)| *unsupported) {
            Some((_, feature)) => Err(Refusal {
                result: vk::Result::ERROR_FEATURE_NOT_PRESENT,
                reason: format!("the feature {feature} is not supported on this device"),
            }),
            None => Ok(requested),
        }
    }
}

/// Whether a device enables `robustBufferAccess`, or pipelines and shader objects of it may ask for robust accesses: with the features
/// of Vulkan 1.4, whether or not they are enabled.
///
/// # Safety
/// `info` must be valid.
pub unsafe fn may_have_robust_buffers(info: &vk::DeviceCreateInfo<'_>) -> bool {
    // SAFETY: the chain and the features are valid (the caller's contract).
    let (own, chained, pipelines, has_core) = unsafe {
        (
            info.p_enabled_features.as_ref(),
            chain::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next),
            chain::find::<vk::PhysicalDevicePipelineRobustnessFeaturesEXT<'_>>(info.p_next),
            chain::nodes(info.p_next).any(|node| node.s_type == VULKAN_1_4),
        )
    };
    let features = own.or(chained.map(|chained| &chained.features));
    features.is_some_and(|features| features.robust_buffer_access == vk::TRUE)
        || pipelines.is_some_and(|features| features.pipeline_robustness == vk::TRUE)
        || has_core
}
