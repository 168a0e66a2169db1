//! `VkPhysicalDevice`: the extensions, features and properties that applications see.

use super::enumerate::{copy_text, extension, fill, own_layer};
use super::{MISSING, command, guarded};
use crate::LAYER_NAME;
use crate::device::creation::probe;
use crate::device::registry::instance_of;
use crate::device::state::{Instance, MAX_FAULT_COUNT};
use crate::loader::chain::{hiding, nodes};
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::string;
use crate::settings::OnAbort;
use ash::vk::{self, TaggedStructure};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use vk_ext::{
    FaultFeatures, FaultProperties, SPEC_VERSION, ShaderAbortFeatures, ShaderAbortProperties,
    ShaderConstantDataFeatures,
};

/// A physical-device command that fills a chain of output structures.
type QueryFn<T> = unsafe extern "system" fn(vk::PhysicalDevice, *mut T);

/// The loader checks the extensions that a device enables against the list without a layer name.
pub unsafe extern "system" fn enumerate_extensions(
    handle: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the physical device is live, the name null or null-terminated, and `properties` null or of `count`
        // elements.
        unsafe {
            let Some(instance) = instance_of(handle) else {
                return MISSING;
            };
            let own = || -> Vec<_> {
                let emulated = probe::physical_device(instance, handle).emulated;
                emulated.names().map(|name| extension(name, SPEC_VERSION)).collect()
            };
            match string(layer) {
                Some(name) if name == LAYER_NAME => fill(&own(), count, properties),
                None => {
                    // Not from the probe: the layers below may list other extensions later.
                    let mut all = match probe::extensions(&instance.next, handle) {
                        Ok(all) => all,
                        Err(error) => return error,
                    };
                    for entry in own() {
                        if !all.iter().any(|listed| listed.extension_name == entry.extension_name) {
                            all.push(entry);
                        }
                    }
                    fill(&all, count, properties)
                }
                Some(_) => match instance.next.vkEnumerateDeviceExtensionProperties {
                    Some(next) => next(handle, layer, count, properties),
                    None => MISSING,
                },
            }
        }
    })
}

pub unsafe extern "system" fn enumerate_layers(
    _: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: valid usage: `properties` is null or has `count` elements.
    command(|| unsafe { fill(&[own_layer()], count, properties) })
}

/// Fills a chain of output structures: first by the next layer's command that `pick` selects, with the emulated structures
/// hidden, then by the layer.
///
/// # Safety
/// Valid usage of the command.
pub unsafe fn query<T>(
    pick: impl FnOnce(&InstanceTable) -> Option<QueryFn<T>>,
    handle: vk::PhysicalDevice,
    output: *mut T,
) {
    guarded((), || {
        // SAFETY: the physical device is live, and `output` starts a chain that may be written (the caller's contract).
        unsafe {
            let Some(instance) = instance_of(handle) else { return };
            if let Some(next) = pick(&instance.next) {
                let hidden = |s_type| is_emulated(instance, handle, s_type);
                hiding(output.cast(), hidden, || next(handle, output));
            }
            write_emulated(instance, handle, output.cast());
        }
    });
}

/// Whether only the layer can fill a structure. Probes the physical device for structures of the extensions alone.
fn is_emulated(instance: &Instance, handle: vk::PhysicalDevice, s_type: vk::StructureType) -> bool {
    let emulated = || probe::physical_device(instance, handle).emulated;
    match s_type {
        ShaderAbortFeatures::STRUCTURE_TYPE | ShaderAbortProperties::STRUCTURE_TYPE => emulated().abort,
        ShaderConstantDataFeatures::STRUCTURE_TYPE => emulated().constant_data,
        FaultFeatures::STRUCTURE_TYPE | FaultProperties::STRUCTURE_TYPE => emulated().fault,
        _ => false,
    }
}

/// Writes every emulated structure of a chain.
///
/// # Safety
/// `head` must be null or start a valid output chain.
unsafe fn write_emulated(instance: &Instance, handle: vk::PhysicalDevice, head: *mut c_void) {
    // SAFETY: the chain is valid, and its structures may be written (the caller's contract).
    unsafe {
        for node in nodes(head).filter(|node| is_emulated(instance, handle, node.s_type)) {
            let device = probe::physical_device(instance, handle);
            if let Some(features) = node.cast::<ShaderAbortFeatures>() {
                (*features).shader_abort = vk::TRUE;
            } else if let Some(features) = node.cast::<ShaderConstantDataFeatures>() {
                (*features).shader_constant_data = vk::TRUE;
            } else if let Some(features) = node.cast::<FaultFeatures>() {
                (*features).device_fault = vk::TRUE;
                (*features).device_fault_vendor_binary = vk::Bool32::from(device.ext_fault_vendor_binary);
                (*features).device_fault_report_masked = vk::Bool32::from(reports_masked(instance));
                (*features).device_fault_device_lost_on_masked = vk::FALSE;
            } else if let Some(properties) = node.cast::<ShaderAbortProperties>() {
                (*properties).max_shader_abort_message_size = u64::from(instance.settings.max_message_size);
            } else if let Some(properties) = node.cast::<FaultProperties>() {
                (*properties).max_device_fault_count = MAX_FAULT_COUNT as u32;
            }
        }
    }
}

/// Whether `deviceFaultReportMasked` is supported: with `on_abort = continue`, aborts are faults that do not lose the device.
pub fn reports_masked(instance: &Instance) -> bool {
    instance.settings.on_abort != OnAbort::Lose
}

/// Returns the layer's entry first, then those of the next layer's command that `pick` selects.
///
/// # Safety
/// Valid usage of the command.
pub unsafe fn query_tools(
    pick: impl FnOnce(&InstanceTable) -> Option<vk::PFN_vkGetPhysicalDeviceToolProperties>,
    handle: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the physical device is live.
        let Some(instance) = (unsafe { instance_of(handle) }) else {
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
        // SAFETY: valid usage: `properties` is null or has `count` elements.
        unsafe {
            let Some(count) = count.as_mut() else {
                return MISSING;
            };
            // The number of entries below is queried first: not every driver writes it when it fills the array.
            let next = pick(&instance.next);
            let mut below = 0;
            if let Some(next) = next {
                match next(handle, &mut below, ptr::null_mut()) {
                    vk::Result::SUCCESS => {}
                    error => return error,
                }
            }
            if properties.is_null() {
                *count = below + 1;
                return vk::Result::SUCCESS;
            }
            if *count == 0 {
                return vk::Result::INCOMPLETE;
            }
            own.p_next = (*properties).p_next;
            properties.write(own);
            let mut rest = below.min(*count - 1);
            let result = match next {
                Some(next) if rest > 0 => next(handle, &mut rest, properties.add(1)),
                _ => vk::Result::SUCCESS,
            };
            *count = rest + 1;
            match result {
                vk::Result::SUCCESS if rest < below => vk::Result::INCOMPLETE,
                other => other,
            }
        }
    })
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};
