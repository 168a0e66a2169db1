//! `VkPhysicalDevice`: what is advertised.

use super::instance::{copy_text, fill, own_properties};
use super::{MISSING, command, guarded};
use crate::LAYER_NAME;
use crate::device::probe;
use crate::device::state::Instance;
use crate::loader::chain::{for_each_output, hiding};
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::{FaultFeatures, FaultProperties, OneFeature, SPEC_VERSION, ShaderAbortProperties, stype};
use crate::loader::registry::instance_of;
use crate::report::driver_fault as fault;
use crate::settings::OnAbort;
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// An entry point of a physical device that fills a chain of output structures.
type AnswerFn<T> = unsafe extern "system" fn(vk::PhysicalDevice, *mut T);

/// An entry of an extension list.
pub fn extension(name: &CStr, version: u32) -> vk::ExtensionProperties {
    let mut entry = vk::ExtensionProperties {
        spec_version: version,
        ..Default::default()
    };
    copy_text(&mut entry.extension_name, name);
    entry
}

/// The loader reads the list with no layer name when a device is created: what is not in it cannot be enabled.
pub unsafe extern "system" fn enumerate_extensions(
    device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid physical device.
        let Some(instance) = (unsafe { instance_of(device) }) else {
            return MISSING;
        };
        // SAFETY: null or a C string by the API's rules.
        let asked = (!layer.is_null()).then(|| unsafe { CStr::from_ptr(layer) });
        let own = || {
            let emulated = probe::physical_device(instance, device).emulated;
            emulated
                .names()
                .map(|name| extension(name, SPEC_VERSION))
                .collect::<Vec<_>>()
        };
        match asked {
            // SAFETY: as the API has it.
            Some(name) if name == LAYER_NAME => unsafe { fill(&own(), count, properties) },
            None => {
                // Asked afresh each time: the next layers may answer differently later.
                let mut all = match probe::extensions(&instance.next, device) {
                    Ok(all) => all,
                    Err(error) => return error,
                };
                for entry in own() {
                    if !all.iter().any(|known| known.extension_name == entry.extension_name) {
                        all.push(entry);
                    }
                }
                // SAFETY: as the API has it.
                unsafe { fill(&all, count, properties) }
            }
            Some(_) => match instance.next.vkEnumerateDeviceExtensionProperties {
                // SAFETY: forwarded as it came.
                Some(next) => unsafe { next(device, layer, count, properties) },
                None => MISSING,
            },
        }
    })
}

pub unsafe extern "system" fn enumerate_layers(
    _device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: as the API has it.
    command(|| unsafe { fill(&[own_properties()], count, properties) })
}

/// Fills a chain of output structures by the entry point of the next layer that `which` picks, without those that the
/// layer alone answers, and then by `own`.
///
/// # Safety
/// The arguments must be those of a call that the API allows.
unsafe fn answer_by<T>(
    which: fn(&InstanceTable) -> Option<AnswerFn<T>>,
    own: unsafe fn(&Instance, vk::PhysicalDevice, *mut c_void),
    device: vk::PhysicalDevice,
    answer: *mut T,
) {
    guarded((), || {
        // SAFETY: a valid physical device.
        let Some(instance) = (unsafe { instance_of(device) }) else {
            return;
        };
        // SAFETY: forwarded as it came; afterwards the chain may be written, as it is the answer.
        unsafe {
            if let Some(next) = which(&instance.next) {
                hiding(
                    answer.cast(),
                    |s_type| is_emulated(instance, device, s_type),
                    || next(device, answer),
                );
            }
            own(instance, device, answer.cast());
        }
    });
}

/// Whether the layer alone answers a structure.
fn is_emulated(instance: &Instance, device: vk::PhysicalDevice, s_type: vk::StructureType) -> bool {
    // Not asked before one of the structs is seen: probing costs a few calls down.
    let emulated = || probe::physical_device(instance, device).emulated;
    match s_type {
        stype::SHADER_ABORT_FEATURES | stype::SHADER_ABORT_PROPERTIES => emulated().abort,
        stype::SHADER_CONSTANT_DATA_FEATURES => emulated().constant_data,
        stype::FAULT_FEATURES | stype::FAULT_PROPERTIES => emulated().fault,
        _ => false,
    }
}

/// Overwrites what the layers below cannot know of features.
///
/// # Safety
/// `head` must be null or a chain of output structures.
unsafe fn own_features(instance: &Instance, device: vk::PhysicalDevice, head: *mut c_void) {
    // Not asked before one of the structs is seen: probing costs a few calls down.
    let emulated = || probe::physical_device(instance, device).emulated;
    // SAFETY: the caller vouches for the chain; the types say what the nodes are.
    unsafe {
        for_each_output(head, |s_type, node| match s_type {
            stype::SHADER_ABORT_FEATURES if emulated().abort => {
                (*node.cast::<OneFeature>()).feature = vk::TRUE;
            }
            stype::SHADER_CONSTANT_DATA_FEATURES if emulated().constant_data => {
                (*node.cast::<OneFeature>()).feature = vk::TRUE;
            }
            stype::FAULT_FEATURES => {
                let known = probe::physical_device(instance, device);
                if known.emulated.fault {
                    let node = &mut *node.cast::<FaultFeatures>();
                    node.device_fault = vk::TRUE;
                    node.device_fault_vendor_binary = vk::Bool32::from(known.ext_fault_vendor_binary);
                    node.device_fault_report_masked = vk::Bool32::from(reports_masked(instance));
                    node.device_fault_device_lost_on_masked = vk::FALSE;
                }
            }
            _ => {}
        });
    }
}

/// Faults that do not lose the device exist only where aborts do not.
pub fn reports_masked(instance: &Instance) -> bool {
    instance.settings.on_abort == OnAbort::Continue
}

pub unsafe extern "system" fn features2(device: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: forwarded as it came.
    unsafe { answer_by(InstanceTable::features2, own_features, device, features) }
}

pub unsafe extern "system" fn features2_khr(
    device: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    let which = |t: &InstanceTable| t.vkGetPhysicalDeviceFeatures2KHR.or(t.vkGetPhysicalDeviceFeatures2);
    // SAFETY: forwarded as it came.
    unsafe { answer_by(which, own_features, device, features) }
}

/// Overwrites what the layers below cannot know of properties.
///
/// # Safety
/// `head` must be null or a chain of output structures.
unsafe fn own_properties2(instance: &Instance, device: vk::PhysicalDevice, head: *mut c_void) {
    // SAFETY: the caller vouches for the chain; the types say what the nodes are.
    unsafe {
        for_each_output(head, |s_type, node| match s_type {
            stype::SHADER_ABORT_PROPERTIES if probe::physical_device(instance, device).emulated.abort => {
                (*node.cast::<ShaderAbortProperties>()).max_shader_abort_message_size =
                    u64::from(instance.settings.max_message_size);
            }
            stype::FAULT_PROPERTIES => {
                let known = probe::physical_device(instance, device);
                if known.emulated.fault {
                    (*node.cast::<FaultProperties>()).max_device_fault_count =
                        fault::max_device_fault_count(known.ext_fault);
                }
            }
            _ => {}
        });
    }
}

pub unsafe extern "system" fn properties2(
    device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: forwarded as it came.
    unsafe { answer_by(InstanceTable::properties2, own_properties2, device, properties) }
}

pub unsafe extern "system" fn properties2_khr(
    device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    let which = |t: &InstanceTable| t.vkGetPhysicalDeviceProperties2KHR.or(t.vkGetPhysicalDeviceProperties2);
    // SAFETY: forwarded as it came.
    unsafe { answer_by(which, own_properties2, device, properties) }
}

unsafe fn tool_properties_by(
    which: fn(&InstanceTable) -> Option<vk::PFN_vkGetPhysicalDeviceToolProperties>,
    device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid physical device.
        let Some(instance) = (unsafe { instance_of(device) }) else {
            return MISSING;
        };
        let mut own = vk::PhysicalDeviceToolProperties {
            purposes: vk::ToolPurposeFlags::ADDITIONAL_FEATURES | vk::ToolPurposeFlags::MODIFYING_FEATURES,
            ..Default::default()
        };
        copy_text(&mut own.name, c"vkabort");
        copy_text(&mut own.version, VERSION);
        copy_text(&mut own.description, crate::DESCRIPTION);
        copy_text(&mut own.layer, LAYER_NAME);
        // SAFETY: as the API has it; our entry comes first, the next layers' behind it.
        unsafe {
            let Some(count) = count.as_mut() else {
                return MISSING;
            };
            // Asked first: not every driver says how many it has written.
            let next = which(&instance.next);
            let mut there = 0;
            if let Some(next) = next {
                match next(device, &mut there, ptr::null_mut()) {
                    vk::Result::SUCCESS => {}
                    error => return error,
                }
            }
            if properties.is_null() {
                *count = there + 1;
                return vk::Result::SUCCESS;
            }
            if *count == 0 {
                return vk::Result::INCOMPLETE;
            }
            own.p_next = (*properties).p_next;
            properties.write(own);
            let mut rest = there.min(*count - 1);
            let result = match next {
                Some(next) if rest > 0 => next(device, &mut rest, properties.add(1)),
                _ => vk::Result::SUCCESS,
            };
            let result = match result {
                vk::Result::SUCCESS if rest < there => vk::Result::INCOMPLETE,
                other => other,
            };
            *count = rest + 1;
            result
        }
    })
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

pub unsafe extern "system" fn tool_properties(
    device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    let which = |t: &InstanceTable| {
        t.vkGetPhysicalDeviceToolProperties
            .or(t.vkGetPhysicalDeviceToolPropertiesEXT)
    };
    // SAFETY: forwarded as it came.
    unsafe { tool_properties_by(which, device, count, properties) }
}

pub unsafe extern "system" fn tool_properties_ext(
    device: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    let which = |t: &InstanceTable| {
        t.vkGetPhysicalDeviceToolPropertiesEXT
            .or(t.vkGetPhysicalDeviceToolProperties)
    };
    // SAFETY: forwarded as it came.
    unsafe { tool_properties_by(which, device, count, properties) }
}
