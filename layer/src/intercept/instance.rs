//! `VkInstance`.

use super::enumerate::{extension, fill, own_layer};
use super::{command, guarded};
use crate::LAYER_NAME;
use crate::device::registry::{self, dispatch_key};
use crate::device::state::{Instance, Messenger};
use crate::environment;
use crate::loader::chain;
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::{LayerLink, PfnGetPhysicalDeviceProcAddr, string};
use crate::loader::link::{restore_link, take_link};
use crate::log::{Level, Log};
use crate::module_files::ModuleFiles;
use crate::os;
use crate::settings::{self, Emulation, Settings};
use ash::vk::{self, Handle};
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Disables the layer, even where the application enables it. The implicit manifest has it as `disable_environment`.
const DISABLE: &str = "VKABORT_DISABLE";
/// The version of Vulkan with buffer device addresses. Instances of lower versions are created with this one: drivers
/// support the addresses in them only by `VK_KHR_buffer_device_address`, which not every driver of a later version lists.
const REQUIRED_VERSION: u32 = vk::API_VERSION_1_2;

pub unsafe extern "system" fn create(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    handle: *mut vk::Instance,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage; the loader's link precedes the application's chain.
        unsafe {
            let Some(link) = info
                .as_ref()
                .and_then(|info| take_link::<PfnGetPhysicalDeviceProcAddr>(info.p_next))
            else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let Some(next_gipa) = link.next_get_instance_proc_addr else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let Some(create) = next_gipa(vk::Instance::null(), c"vkCreateInstance".as_ptr()) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let create = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(create);
            // Read before the call: layers below may change the application's chain.
            let settings = read_settings(&*info);
            let version = requested_version(&*info);
            if version < REQUIRED_VERSION && settings.0.emulation != Emulation::Off {
                let mut application = (*info).p_application_info.as_ref().copied().unwrap_or_default();
                application.api_version = REQUIRED_VERSION;
                let mut raised = *info;
                raised.p_application_info = &application;
                // The loader finds its own object through the handle.
                let loader_handle = *handle;
                if create(&raised, allocator, handle) == vk::Result::SUCCESS {
                    register(&*info, *handle, next_gipa, &link, settings, REQUIRED_VERSION);
                    return vk::Result::SUCCESS;
                }
                // A driver of Vulkan 1.0 "must return VK_ERROR_INCOMPATIBLE_DRIVER" for a later version.
                *handle = loader_handle;
                restore_link((*info).p_next, &link);
            }
            let result = create(info, allocator, handle);
            if result == vk::Result::SUCCESS {
                register(&*info, *handle, next_gipa, &link, settings, version);
            }
            result
        }
    })
}

/// The version that the application requests.
///
/// # Safety
/// `info` must be valid.
unsafe fn requested_version(info: &vk::InstanceCreateInfo<'_>) -> u32 {
    // SAFETY: null or valid (the caller's contract).
    let version = unsafe { info.p_application_info.as_ref() }.map_or(0, |application| application.api_version);
    // An apiVersion of 0 means 1.0, as does a missing application info.
    version.max(vk::API_VERSION_1_0)
}

/// The settings of a new instance, and the problems in their sources.
///
/// # Safety
/// `info` must be valid.
unsafe fn read_settings(info: &vk::InstanceCreateInfo<'_>) -> (Settings, Vec<String>) {
    // SAFETY: the chain is valid (the caller's contract).
    let (mut settings, problems) = Settings::resolve(&unsafe { settings::of_process(info.p_next) });
    if environment::variable(DISABLE).is_some() {
        settings.switch_off();
    }
    (settings, problems)
}

/// Registers a new instance, which is of `version` below this layer.
///
/// # Safety
/// The next layer, whose `vkGetInstanceProcAddr` is `next_gipa`, must just have created `handle` from `info`.
unsafe fn register(
    info: &vk::InstanceCreateInfo<'_>,
    handle: vk::Instance,
    next_gipa: vk::PFN_vkGetInstanceProcAddr,
    link: &LayerLink<PfnGetPhysicalDeviceProcAddr>,
    (settings, problems): (Settings, Vec<String>),
    version: u32,
) {
    let log = Log::new(settings.log_level, settings.log_format, settings.log_file.as_deref());
    for problem in &problems {
        log.line(Level::Error, problem);
    }
    // SAFETY: the instance and its create-info are valid, and `next_gipa` returns functions of their names' types (the
    // caller's contract).
    let (next, messengers, key) = unsafe {
        let messenger = chain::find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(info.p_next)
            .map(|info| Messenger::new(vk::DebugUtilsMessengerEXT::null(), info));
        (
            InstanceTable::load(|name| next_gipa(handle, name.as_ptr())),
            messenger.into_iter().collect(),
            dispatch_key(handle.as_raw()),
        )
    };
    registry::INSTANCES.insert(
        key,
        Arc::new(Instance {
            next,
            next_gipa,
            next_gpdpa: link.next_get_proc_addr,
            module_files: ModuleFiles::new(&settings, &log),
            settings,
            log,
            api_version: version,
            physical: Mutex::new(HashMap::new()),
            messengers: Mutex::new(messengers),
            leaked: AtomicBool::new(false),
            reported_modules: Default::default(),
            unchecked_modules: Default::default(),
            opaque_code: Default::default(),
            binaries: Default::default(),
        }),
    );
}

pub unsafe extern "system" fn destroy(handle: vk::Instance, allocator: *const vk::AllocationCallbacks<'_>) {
    guarded((), || {
        if handle.is_null() {
            return;
        }
        // Removed before the call: another thread may get the same key as soon as the loader frees the handle.
        // SAFETY: valid usage: the instance is live, and nothing else uses it any more.
        let Some(instance) = registry::INSTANCES.remove(unsafe { dispatch_key(handle.as_raw()) }) else {
            return;
        };
        instance.module_files.log_unused(&instance.log);
        if instance.leaked.load(Ordering::Acquire) {
            // A driver that still executes work of a leaked device must stay loaded, and so must the layers below.
            os::pin_libraries();
            return;
        }
        if let Some(next) = instance.next.vkDestroyInstance {
            // SAFETY: valid usage: the instance is live, and all its objects are destroyed.
            unsafe { next(handle, allocator) };
        }
    });
}

/// The layer's one instance extension is `VK_EXT_layer_settings`. Layers answer for their own name only (LLP_LAYER_16).
pub unsafe extern "system" fn enumerate_extensions(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the name is null or null-terminated, and the list null or of `count` elements.
        unsafe {
            match string(layer) == Some(LAYER_NAME) {
                true => fill(&[extension(vk::EXT_LAYER_SETTINGS_NAME, 2)], count, properties),
                false => vk::Result::ERROR_LAYER_NOT_PRESENT,
            }
        }
    })
}

pub unsafe extern "system" fn enumerate_layers(count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result {
    // SAFETY: valid usage: the list is null or has `count` elements.
    command(|| unsafe { fill(&[own_layer()], count, properties) })
}
