//! The application's feature structs for our extensions: what they turn on, and what they cannot have.

use super::Refusal;
use crate::device::state::{Extensions, PhysicalDevice};
use crate::loader::chain;
use crate::loader::ffi::{FaultFeatures, OneFeature, stype};
use ash::vk::{self, TaggedStructure};
use std::ffi::c_void;

/// What the application's own feature structs ask of the layer.
pub struct RequestedFeatures {
    /// `deviceFaultVendorBinary`.
    pub vendor_binary: bool,
    /// `deviceFaultReportMasked`.
    pub report_masked: bool,
}

impl RequestedFeatures {
    /// Reads them.
    ///
    /// # Errors
    /// They ask for what is not supported.
    ///
    /// # Safety
    /// `head` must be null or a valid chain.
    pub unsafe fn read(
        head: *const c_void,
        device: &PhysicalDevice,
        emulated: Extensions,
        report_masked: bool,
    ) -> Result<Self, Refusal> {
        // SAFETY: the caller vouches for the chain; the types say what the nodes are.
        let (fault, group) = unsafe {
            (
                chain::find::<FaultFeatures>(head, stype::FAULT_FEATURES),
                chain::find::<vk::DeviceGroupDeviceCreateInfo<'_>>(
                    head,
                    vk::DeviceGroupDeviceCreateInfo::STRUCTURE_TYPE,
                ),
            )
        };
        // SAFETY: as above.
        let constant_data = unsafe { chain::find::<OneFeature>(head, stype::SHADER_CONSTANT_DATA_FEATURES) };
        debug_assert!(constant_data.is_none_or(|f| f.feature <= 1));
        if emulated.abort && group.is_some_and(|g| g.physical_device_count > 1) {
            return Err(Refusal {
                result: vk::Result::ERROR_INITIALIZATION_FAILED,
                reason: "VK_KHR_shader_abort is not emulated on a group of several physical devices".to_owned(),
            });
        }
        let fault = fault.filter(|_| emulated.fault);
        let asked = Self {
            vendor_binary: fault.is_some_and(|f| f.device_fault_vendor_binary == vk::TRUE),
            report_masked: fault.is_some_and(|f| f.device_fault_report_masked == vk::TRUE),
        };
        let refused = [
            (
                asked.vendor_binary && !device.ext_fault_vendor_binary,
                "deviceFaultVendorBinary",
            ),
            (asked.report_masked && !report_masked, "deviceFaultReportMasked"),
            (
                fault.is_some_and(|f| f.device_fault_device_lost_on_masked == vk::TRUE),
                "deviceFaultDeviceLostOnMasked",
            ),
        ];
        match refused.iter().find(|(refused, _)| *refused) {
            Some((_, feature)) => Err(Refusal {
                result: vk::Result::ERROR_FEATURE_NOT_PRESENT,
                reason: format!("the feature {feature} is not supported here"),
            }),
            None => Ok(asked),
        }
    }
}
