//! The commands of `VK_KHR_device_fault`, for applications.

use crate::{FaultDebugInfo, FaultInfo, GetDeviceFaultDebugInfo, GetDeviceFaultReports, ShaderAbortMessageInfo};
use ash::vk;
use std::ffi::CStr;
use std::ptr;

/// The device commands of `VK_KHR_device_fault`.
#[derive(Clone, Copy, Debug)]
pub struct FaultCommands {
    /// The device.
    pub device: vk::Device,
    /// `vkGetDeviceFaultReportsKHR`.
    pub get_reports: GetDeviceFaultReports,
    /// `vkGetDeviceFaultDebugInfoKHR`.
    pub get_debug_info: GetDeviceFaultDebugInfo,
}

impl FaultCommands {
    /// Looks up the commands. None if `vkGetDeviceProcAddr` lacks one of them.
    pub fn load(instance: &ash::Instance, device: &ash::Device) -> Option<Self> {
        let look_up = |name: &CStr| {
            // SAFETY: the device is live and the name null-terminated.
            unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) }
        };
        let reports = look_up(c"vkGetDeviceFaultReportsKHR")?;
        let debug_info = look_up(c"vkGetDeviceFaultDebugInfoKHR")?;
        // SAFETY: the registry declares the command with this signature.
        let get_reports = unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetDeviceFaultReports>(reports) };
        // SAFETY: the registry declares the command with this signature.
        let get_debug_info =
            unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetDeviceFaultDebugInfo>(debug_info) };
        Some(Self {
            device: device.handle(),
            get_reports,
            get_debug_info,
        })
    }

    /// The number of pending reports. Waits up to `timeout` nanoseconds for one.
    pub fn report_count(&self, timeout: u64) -> (vk::Result, u32) {
        let mut count = 0;
        // SAFETY: the device is live; a null array queries the count.
        let result = unsafe { (self.get_reports)(self.device, timeout, &raw mut count, ptr::null_mut()) };
        (result, count)
    }

    /// Up to `capacity` reports. Waits up to `timeout` nanoseconds for one.
    pub fn reports(&self, timeout: u64, capacity: u32) -> (vk::Result, Vec<FaultInfo>) {
        let mut infos = vec![FaultInfo::default(); capacity as usize];
        let mut count = capacity;
        // SAFETY: `infos` has `count` initialised elements.
        let result = unsafe { (self.get_reports)(self.device, timeout, &raw mut count, infos.as_mut_ptr()) };
        infos.truncate(count as usize);
        (result, infos)
    }

    /// Size of the message data in bytes.
    pub fn message_size(&self) -> (vk::Result, u64) {
        let mut messages = ShaderAbortMessageInfo::sizing();
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        // SAFETY: `info` chains to `messages`, which queries the size; both outlive the call.
        let result = unsafe { (self.get_debug_info)(self.device, &raw mut info) };
        (result, messages.message_data_size)
    }

    /// Copies message data to `buffer`. Returns the result and the number of bytes written.
    pub fn messages_into(&self, buffer: &mut [u8]) -> (vk::Result, u64) {
        let mut messages = ShaderAbortMessageInfo::filling(buffer);
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        // SAFETY: `info` chains to `messages`, which points to as many writable bytes as its size; all outlive the call.
        let result = unsafe { (self.get_debug_info)(self.device, &raw mut info) };
        (result, messages.message_data_size)
    }

    /// All message data: the sizing call, then the filling call.
    ///
    /// # Errors
    /// The result of the first call that does not return `VK_SUCCESS`.
    pub fn message_data(&self) -> Result<Vec<u8>, vk::Result> {
        let (result, size) = self.message_size();
        result.result()?;
        let mut data = vec![0; usize::try_from(size).unwrap_or(0)];
        let (result, written) = self.messages_into(&mut data);
        result.result()?;
        data.truncate(usize::try_from(written).unwrap_or(0));
        Ok(data)
    }
}
