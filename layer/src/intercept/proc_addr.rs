//! The loader's entry into the layer: negotiation, and the three functions that look up entry points by name.

use super::guarded;
use super::table::{self, Kind};
use crate::device::Device;
use crate::device::registry;
use crate::loader::dispatch::VoidFn;
use crate::loader::ffi::{LAYER_NEGOTIATE_INTERFACE_STRUCT, NegotiateLayerInterface, string};
use crate::settings::Commands;
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char};

/// The version of the loader's layer interface that the layer implements.
const INTERFACE_VERSION: u32 = 2;

/// The only symbol that the library exports.
///
/// # Safety
/// `interface` must be null or point to a `VkNegotiateLayerInterface` that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: null, or a structure of the loader (the caller's contract).
    let Some(interface) = (unsafe { interface.as_mut() }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    if interface.s_type != LAYER_NEGOTIATE_INTERFACE_STRUCT
        || interface.loader_layer_interface_version < INTERFACE_VERSION
    {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.loader_layer_interface_version = INTERFACE_VERSION;
    interface.get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.get_device_proc_addr = Some(get_device_proc_addr);
    interface.get_physical_device_proc_addr = Some(get_physical_device_proc_addr);
    vk::Result::SUCCESS
}

/// The layer's entry point of a name, those of this file included.
fn find(name: &CStr) -> Option<(Kind, VoidFn)> {
    let (kind, own) = match name.to_bytes() {
        b"vkGetInstanceProcAddr" => (Kind::Instance, get_instance_proc_addr as *const ()),
        b"vk_layerGetPhysicalDeviceProcAddr" => (Kind::Instance, get_physical_device_proc_addr as *const ()),
        b"vkGetDeviceProcAddr" => (Kind::AlwaysDevice, get_device_proc_addr as *const ()),
        _ => return table::find(name),
    };
    // SAFETY: a function pointer; its caller casts it back to the type that belongs to the name.
    Some((kind, unsafe { std::mem::transmute::<*const (), VoidFn>(own) }))
}

/// `vkGetInstanceProcAddr`. Answers for device commands too: loaders that do not know a command look it up here.
///
/// # Safety
/// Valid usage of the command.
unsafe extern "system" fn get_instance_proc_addr(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: valid usage: the name is null-terminated, and the instance null or live.
        unsafe {
            let found = find(string(name)?);
            if let Some((_, own)) = found.filter(|(kind, _)| *kind != Kind::Recorded) {
                return Some(own);
            }
            if handle.is_null() {
                return None;
            }
            let instance = registry::instance_of(handle)?;
            match found.filter(|_| instance.settings.commands != Commands::Off) {
                Some((_, own)) => Some(own),
                None => (instance.next_gipa)(handle, name),
            }
        }
    })
}

/// `vk_layerGetPhysicalDeviceProcAddr`. Answers null for the layer's instance and device commands, so that the loader does
/// not take them for the driver's physical-device commands.
///
/// # Safety
/// Valid usage of the loader's layer interface.
unsafe extern "system" fn get_physical_device_proc_addr(
    handle: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: valid usage: the name is null-terminated, and the instance live.
        unsafe {
            match find(string(name)?) {
                Some((Kind::PhysicalDevice, own)) => Some(own),
                Some(_) => None,
                None => registry::instance_of(handle)?.next_gpdpa?(handle, name),
            }
        }
    })
}

/// Whether the commands of the device's command buffers are recorded.
fn records(device: &Device) -> bool {
    device.state.as_ref().is_some_and(|state| state.commands.is_some())
}

/// Whether addresses of the device's buffers are tested.
fn tests_addresses(device: &Device) -> bool {
    device.state.as_ref().is_some_and(|state| state.addresses.is_some())
}

/// `vkGetDeviceProcAddr`. A device that does not use the extensions gets the next layer's functions, except for
/// `vkGetDeviceProcAddr`, `vkDestroyDevice`, and unless nothing is logged or written the commands that take SPIR-V.
///
/// # Safety
/// Valid usage of the command.
unsafe extern "system" fn get_device_proc_addr(handle: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: valid usage: the name is null-terminated, and the device live.
        let (searched, device) = unsafe { (string(name)?, registry::device_of(handle)?) };
        // SAFETY: the device is live, and its next layer takes the same arguments.
        let next = || unsafe { (device.next_gdpa)(handle, name) };
        match find(searched) {
            Some((Kind::AlwaysDevice, own)) => Some(own),
            Some((Kind::Instance | Kind::PhysicalDevice, _)) => None,
            // A command that the next layer lacks stays missing, also under the alias of one that it has.
            Some((Kind::Device, own)) if device.state.is_some() => next().map(|_| own),
            Some((Kind::Shader, own)) if device.state.is_some() || device.instance.sees_modules() => {
                next().map(|_| own)
            }
            Some((Kind::Device | Kind::Shader, _)) => next(),
            Some((Kind::Recorded, own)) if records(device) => next().map(|_| own),
            Some((Kind::Addressed, own)) if tests_addresses(device) => next().map(|_| own),
            Some((Kind::Recorded | Kind::Addressed, _)) => next(),
            Some((Kind::Fault, own)) => match &device.state {
                Some(state) if state.requested.fault => Some(own),
                // Enabled by the layer: the application did not ask for the command.
                Some(state) if state.enabled.fault => None,
                _ => next(),
            },
            None => next(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::features::recordings::CommandBuffers;
    use crate::intercept::testing::{TestDevice, any_device_function};
    use crate::loader::dispatch::{DeviceTable, RecordedTable};
    use crate::loader::recorded::recorded;

    macro_rules! names {
        (
            actions { $($action:ident $(| $a_alias:ident)*: $a_pfn:ty => $bound:tt $a_parameters:tt;)* }
            states { $($state:ident $(| $s_alias:ident)*: $s_pfn:ty => $code:tt $s_parameters:tt;)* }
        ) => {
            &[$(stringify!($action), $(stringify!($a_alias),)*)* $(stringify!($state), $(stringify!($s_alias),)*)*]
        };
    }
    const RECORDED: &[&str] = recorded!(names);

    #[test]
    fn recorded_commands_are_intercepted_only_where_they_are_recorded() {
        for records in [false, true] {
            let commands = records.then(|| CommandBuffers::new(RecordedTable::EMPTY, None));
            let device = TestDevice::with_commands(DeviceTable::EMPTY, commands);
            for name in RECORDED {
                let name = std::ffi::CString::new(*name).expect("no NUL in a name");
                // SAFETY: the device is live, and the name null-terminated.
                let found = unsafe { get_device_proc_addr(device.handle(), name.as_ptr()) };
                let next: VoidFn = any_device_function;
                let is_own = found.is_some_and(|found| found as usize != next as usize);
                assert_eq!(is_own, records, "{name:?}");
            }
        }
    }
}
