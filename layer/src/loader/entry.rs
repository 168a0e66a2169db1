//! What the loader calls first: negotiation, and the three functions that answer with functions.

use crate::intercept::{self, Kind, guarded};
use crate::loader::ffi::{LAYER_NEGOTIATE_INTERFACE_STRUCT, NegotiateLayerInterface};
use crate::loader::registry;
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char};

/// The loader/layer interface version that the layer speaks.
const INTERFACE_VERSION: u32 = 2;

/// The one symbol that the library exports.
///
/// # Safety
/// Called by the Vulkan loader with its negotiation structure.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: the loader gives a structure of its own, or at worst null.
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

/// `vkGetInstanceProcAddr`. Ours include the device functions: loaders that do not know a command take it from here.
///
/// # Safety
/// As the API has it.
pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: the name is a C string by the API's rules.
        let asked = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
        if let Some((_, own)) = intercept::find(asked) {
            return Some(own);
        }
        if instance.is_null() {
            return None;
        }
        // SAFETY: a valid instance.
        let known = unsafe { registry::instance_of(instance) }?;
        // SAFETY: forwarded as it came.
        unsafe { (known.next_gipa)(instance, name) }
    })
}

/// `vk_layerGetPhysicalDeviceProcAddr`: our own device and instance functions must not be taken for physical-device
/// functions of the driver, so they are answered with null and not passed on.
///
/// # Safety
/// As the loader's interface has it.
pub unsafe extern "system" fn get_physical_device_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: the name is a C string by the interface's rules.
        let asked = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
        match intercept::find(asked) {
            Some((Kind::PhysicalDevice, own)) => Some(own),
            Some(_) => None,
            None => {
                // SAFETY: a valid instance.
                let known = unsafe { registry::instance_of(instance) }?;
                // SAFETY: forwarded as it came.
                known.next_gpdpa.and_then(|next| unsafe { next(instance, name) })
            }
        }
    })
}

/// `vkGetDeviceProcAddr`. A device that does not use the extensions gets the next layer's functions, except for those
/// two that the layer has to see.
///
/// # Safety
/// As the API has it.
pub unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    guarded(None, || {
        // SAFETY: the name is a C string by the API's rules.
        let asked = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
        // SAFETY: a valid device.
        let known = unsafe { registry::device_of(device) }?;
        // SAFETY: forwarded as it came.
        let next = || unsafe { (known.next_gdpa)(device, name) };
        match intercept::find(asked) {
            Some((Kind::AlwaysDevice, own)) => Some(own),
            Some((Kind::Instance | Kind::PhysicalDevice, _)) => None,
            Some((Kind::Device, own)) => match &known.state {
                // Ours only where there is something to wrap: a missing function must stay missing.
                Some(_) => next().map(|_| own),
                None => next(),
            },
            Some((Kind::Fault, own)) => match &known.state {
                Some(state) if state.enabled.fault => Some(own),
                _ => next(),
            },
            None => next(),
        }
    })
}
