//! `VkInstance`.

use super::{MISSING, command, guarded};
use crate::LAYER_NAME;
use crate::device::state::{Instance, Messenger};
use crate::loader::chain;
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::{self, LayerInstanceCreateInfo};
use crate::loader::pin_libraries as pin;
use crate::loader::registry::{self, dispatch_key};
use crate::report::log::{Level, Log};
use crate::settings::{Emulation, Settings, Sources};
use ash::vk::{self, Handle, TaggedStructure};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The variable that switches the layer off, also where it was activated explicitly.
const DISABLE: &str = "VKABORT_DISABLE";

pub unsafe extern "system" fn create(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    command(|| {
        // SAFETY: called by the loader with its own chain in front of the application's.
        unsafe {
            let Some(given) = info.as_ref() else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let Some(link) = link(given.p_next) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let Some(layer) = (*link).layer_info.as_ref() else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let (Some(next_gipa), next_gpdpa) = (
                layer.next_get_instance_proc_addr,
                layer.next_get_physical_device_proc_addr,
            ) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            // The next layer finds its own link in the same node.
            (*link).layer_info = layer.next;
            let Some(create) = next_gipa(vk::Instance::null(), c"vkCreateInstance".as_ptr()) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let create = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(create);
            let sources = Sources::of_process(given.p_next);
            let result = create(info, allocator, instance);
            if result != vk::Result::SUCCESS {
                return result;
            }
            remember(given, *instance, next_gipa, next_gpdpa, &sources);
            result
        }
    })
}

/// The loader's node that links the layers.
///
/// # Safety
/// `head` must be the chain that the loader gave.
unsafe fn link(head: *const c_void) -> Option<*mut LayerInstanceCreateInfo> {
    // SAFETY: the caller vouches for the chain.
    unsafe { chain::nodes(head) }
        .filter(|node| node.s_type == ffi::LOADER_INSTANCE_CREATE_INFO)
        .map(|node| std::ptr::from_ref(node).cast::<LayerInstanceCreateInfo>().cast_mut())
        // SAFETY: the type says what the node is.
        .find(|node| unsafe { (**node).function } == ffi::LAYER_LINK_INFO)
}

/// # Safety
/// `instance` was just made from `info` by the next layer, whose function `next_gipa` is.
unsafe fn remember(
    info: &vk::InstanceCreateInfo<'_>,
    instance: vk::Instance,
    next_gipa: vk::PFN_vkGetInstanceProcAddr,
    next_gpdpa: Option<ffi::PfnGetPhysicalDeviceProcAddr>,
    sources: &Sources,
) {
    let (mut settings, problems) = Settings::resolve(sources);
    if std::env::var_os(DISABLE).is_some() {
        settings.emulation = Emulation::Off;
    }
    let log = Log::new(settings.log_level, settings.log_format, settings.log_file.as_deref());
    for problem in &problems {
        log.line(Level::Error, problem);
    }
    // SAFETY: the caller vouches for the instance and the create-info.
    let (next, version, messengers, key) = unsafe {
        let version = info.p_application_info.as_ref().map_or(0, |app| app.api_version);
        let messenger = chain::find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(
            info.p_next,
            vk::DebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
        )
        .map(|info| Messenger::new(vk::DebugUtilsMessengerEXT::null(), info));
        (
            InstanceTable::load(|name| next_gipa(instance, name.as_ptr())),
            if version == 0 { vk::API_VERSION_1_0 } else { version },
            messenger.into_iter().collect(),
            dispatch_key(instance.as_raw()),
        )
    };
    registry::instances().insert(
        key,
        Arc::new(Instance {
            handle: instance,
            next,
            next_gipa,
            next_gpdpa,
            settings,
            log,
            api_version: version,
            physical: Mutex::new(HashMap::new()),
            messengers: Mutex::new(messengers),
            leaked: AtomicBool::new(false),
            binaries: Default::default(),
        }),
    );
}

pub unsafe extern "system" fn destroy(instance: vk::Instance, allocator: *const vk::AllocationCallbacks<'_>) {
    guarded((), || {
        if instance.is_null() {
            return;
        }
        // The entry goes first: the handle's memory may be used again before the next layer's function returns.
        // SAFETY: a valid instance.
        let Some(known) = registry::instances().remove(unsafe { dispatch_key(instance.as_raw()) }) else {
            return;
        };
        if known.leaked.load(Ordering::Acquire) {
            // A driver that is still busy with a leaked device must stay in memory, and so must all below it.
            pin::everything();
            return;
        }
        if let Some(next) = known.next.vkDestroyInstance {
            // SAFETY: forwarded as it came.
            unsafe { next(instance, allocator) };
        }
    });
}

/// The layer has one instance extension, `VK_EXT_layer_settings`, whose structure it reads.
pub unsafe extern "system" fn enumerate_extensions(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    command(|| {
        // SAFETY: null or a C string by the API's rules.
        if layer.is_null() || unsafe { CStr::from_ptr(layer) } != LAYER_NAME {
            return vk::Result::ERROR_LAYER_NOT_PRESENT;
        }
        let settings = super::physical_device::extension(vk::EXT_LAYER_SETTINGS_NAME, 2);
        // SAFETY: as the API has it.
        unsafe { fill(&[settings], count, properties) }
    })
}

pub unsafe extern "system" fn enumerate_layers(count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result {
    // SAFETY: as the API has it.
    command(|| unsafe { fill(&[own_properties()], count, properties) })
}

/// What the layer says of itself.
pub fn own_properties() -> vk::LayerProperties {
    let mut own = vk::LayerProperties {
        spec_version: vk::make_api_version(0, 1, 4, 350),
        implementation_version: 1,
        ..Default::default()
    };
    copy_text(&mut own.layer_name, LAYER_NAME);
    copy_text(&mut own.description, crate::DESCRIPTION);
    own
}

/// Writes a C string into an array of the API.
pub fn copy_text(to: &mut [c_char], text: &CStr) {
    let room = to.len().saturating_sub(1);
    for (to, from) in to.iter_mut().zip(text.to_bytes().iter().take(room)) {
        *to = *from as c_char;
    }
}

/// Answers a query of a list: the count, or as many elements as there is room for.
///
/// # Safety
/// `count` must be valid, and `list` null or of that many elements.
pub unsafe fn fill<T: Copy>(all: &[T], count: *mut u32, list: *mut T) -> vk::Result {
    // SAFETY: the caller vouches for both.
    unsafe {
        let Some(count) = count.as_mut() else {
            return MISSING;
        };
        let there = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if list.is_null() {
            *count = there;
            return vk::Result::SUCCESS;
        }
        let written = (*count).min(there);
        std::ptr::copy_nonoverlapping(all.as_ptr(), list, written as usize);
        *count = written;
        if written < there {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_counted_filled_and_cut() {
        let all = [1, 2, 3];
        let mut count = 9;
        let mut room = [0; 4];
        // SAFETY: the count and the array are ours.
        unsafe {
            assert_eq!(fill(&all, &mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
            assert_eq!(count, 3);
            count = 2;
            assert_eq!(fill(&all, &mut count, room.as_mut_ptr()), vk::Result::INCOMPLETE);
            assert_eq!((count, room), (2, [1, 2, 0, 0]));
            count = 4;
            assert_eq!(fill(&all, &mut count, room.as_mut_ptr()), vk::Result::SUCCESS);
            assert_eq!((count, room), (3, [1, 2, 3, 0]));
        }
    }
}
