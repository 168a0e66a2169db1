//! Device creation in the ways that the specification allows: features in any structures, extensions in any subset and
//! order, buffer device addresses enabled or not. The layer must not write the application's structures.

use super::support::{expect_narrow, expect_no_reports, run_entry_point};
use crate::case::{Case, Context, cases};
use crate::vk::khr::{self, FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use ash::vk::{self, ExtendsDeviceCreateInfo};
use std::ffi::CStr;

pub(super) const CASES: &[Case] = cases! {
    "device_creation::without_other_features" => check(context, true, |_| Request::default());
    "device_creation::without_a_taken_abort" => check(context, false, |_| Request::default()), silent();
    "device_creation::with_pEnabledFeatures" => check(context, true, core);
    "device_creation::with_VkPhysicalDeviceFeatures2" => check(context, true, features2);
    "device_creation::with_the_structures_of_versions" => check(context, true, versions);
    "device_creation::with_the_structure_of_Vulkan_1_4" => check_as(context, VULKAN_1_4, true, newest);
    "device_creation::with_single_structures" => check(context, true, single);
    "device_creation::with_buffer_device_addresses_of_Vulkan_1_2" => check(context, true, addresses);
    "device_creation::with_buffer_device_addresses_of_the_extension" => check(context, true, addresses_by_extension);
    "device_creation::extensions_in_any_order" => any_order(gpu);
    "device_creation::some_of_the_extensions" => some(gpu), silent();
};

const VULKAN_1_4: u32 = vk::make_api_version(0, 1, 4, 0);

/// `VkPhysicalDeviceVulkan14Features`, which ash does not have.
#[repr(C)]
struct Vulkan14 {
    s_type: vk::StructureType,
    next: *mut std::ffi::c_void,
    features: [vk::Bool32; 21],
}

impl Default for Vulkan14 {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(55),
            next: std::ptr::null_mut(),
            features: [vk::FALSE; 21],
        }
    }
}

// SAFETY: the layout matches the registry, where the structure extends VkDeviceCreateInfo.
unsafe impl ExtendsDeviceCreateInfo for Vulkan14 {}

/// Features and extensions to request besides those of aborts.
#[derive(Default)]
struct Request {
    core: Option<vk::PhysicalDeviceFeatures>,
    names: Vec<&'static CStr>,
    features: Vec<Box<dyn ExtendsDeviceCreateInfo>>,
}

impl Request {
    fn features(features: Vec<Box<dyn ExtendsDeviceCreateInfo>>) -> Self {
        Self {
            features,
            ..Self::default()
        }
    }
}

fn robust() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures::default().robust_buffer_access(true)
}

fn timeline() -> vk::PhysicalDeviceVulkan12Features<'static> {
    vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true)
}

fn core(_: &Gpu) -> Request {
    Request {
        core: Some(robust()),
        ..Request::default()
    }
}

fn features2(_: &Gpu) -> Request {
    let features = vk::PhysicalDeviceFeatures2::default().features(robust());
    Request::features(vec![Box::new(features)])
}

fn versions(_: &Gpu) -> Request {
    Request::features(vec![
        Box::new(vk::PhysicalDeviceVulkan13Features::default().synchronization2(true)),
        Box::new(vk::PhysicalDeviceFeatures2::default().features(robust())),
        Box::new(vk::PhysicalDeviceVulkan11Features::default()),
        Box::new(timeline()),
    ])
}

fn newest(_: &Gpu) -> Request {
    Request::features(vec![Box::new(Vulkan14::default()), Box::new(timeline())])
}

fn single(_: &Gpu) -> Request {
    Request::features(vec![
        Box::new(vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true)),
        Box::new(vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true)),
        Box::new(vk::PhysicalDeviceBufferDeviceAddressFeatures::default()),
        Box::new(vk::PhysicalDeviceSynchronization2Features::default()),
    ])
}

fn addresses(_: &Gpu) -> Request {
    let features = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .vulkan_memory_model(true)
        .vulkan_memory_model_device_scope(true);
    Request::features(vec![Box::new(features)])
}

fn addresses_by_extension(gpu: &Gpu) -> Request {
    let name = ash::khr::buffer_device_address::NAME;
    let features = vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true);
    Request {
        names: gpu
            .has_extension(name)
            .unwrap_or(false)
            .then_some(name)
            .into_iter()
            .collect(),
        ..Request::features(vec![Box::new(features)])
    }
}

/// Index of the first queue family with compute.
fn family(gpu: &Gpu) -> u32 {
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
    families.iter().position(computes).unwrap_or(0) as u32
}

fn check(context: &Context, aborts: bool, request: fn(&Gpu) -> Request) -> Result<()> {
    check_as(context, vk::API_VERSION_1_3, aborts, request)
}

fn check_as(context: &Context, version: u32, aborts: bool, request: fn(&Gpu) -> Request) -> Result<()> {
    // Query the version through an older instance: a driver may refuse a newer one.
    let gpu = Gpu::open(context)?;
    gpu.require(
        (gpu.properties.api_version >= version).into(),
        &format!("Vulkan 1.{}", vk::api_version_minor(version)),
    )?;
    drop(gpu);
    let gpu = Gpu::open_as(context, version)?;
    let mut request = request(&gpu);
    expect_narrow(&gpu.messages);
    let mut names = request.names.clone();
    names.extend(khr::EXTENSION_NAMES);
    let device = create(&gpu, &names, &mut request, (true, true, true))?;
    run_entry_point(&device, aborts)
}

/// Creates the device and checks that the application's structures are unchanged. `ours` selects the chained structures
/// of abort, fault and constant data.
fn create<'gpu>(
    gpu: &'gpu Gpu,
    names: &[&CStr],
    request: &mut Request,
    ours: (bool, bool, bool),
) -> Result<Device<'gpu>> {
    let family = family(gpu);
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&priorities)];
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let mut abort = ShaderAbortFeatures::new(true);
    let mut fault = FaultFeatures::new(true);
    let mut data = ShaderConstantDataFeatures::new(true);
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names);
    if let Some(core) = &request.core {
        info = info.enabled_features(core);
    }
    let (mut ours_first, mut count) = (true, 0);
    let mut chained: Vec<&mut dyn ExtendsDeviceCreateInfo> = Vec::new();
    for (enabled, feature) in [
        (ours.0, &mut abort as &mut dyn ExtendsDeviceCreateInfo),
        (ours.1, &mut fault),
        (ours.2, &mut data),
    ] {
        if enabled {
            chained.push(feature);
            count += 1;
        }
    }
    // Interleaves them with the application's own structures.
    for (at, feature) in request.features.iter_mut().enumerate() {
        let at = if ours_first { at * 2 } else { count };
        ours_first = !ours_first;
        chained.insert(at.min(chained.len()), feature.as_mut());
    }
    for feature in chained {
        info = info.push_next(feature);
    }
    let before = snapshot(&info);
    let device = Device::create(gpu, &info, family)?;
    ensure!(snapshot(&info) == before, "the application's structures were changed");
    Ok(device)
}

/// Type, successor and first content word of each structure of a chain.
fn snapshot(info: &vk::DeviceCreateInfo<'_>) -> Vec<(i32, usize, vk::Bool32)> {
    let mut all = vec![(info.s_type.as_raw(), info.p_next as usize, info.enabled_extension_count)];
    let mut at = info.p_next.cast::<vk::BaseInStructure<'_>>();
    while !at.is_null() {
        // SAFETY: the chain is valid, and each of its structures has a word after `pNext`.
        unsafe {
            let content = at.add(1).cast::<vk::Bool32>().read();
            all.push(((*at).s_type.as_raw(), (*at).p_next as usize, content));
            at = (*at).p_next;
        }
    }
    all
}

fn any_order(gpu: &Gpu) -> Result<()> {
    expect_narrow(&gpu.messages);
    let [a, b, c] = khr::EXTENSION_NAMES;
    for names in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        let device = create(gpu, &names, &mut Request::default(), (true, true, true))?;
        run_entry_point(&device, true)?;
    }
    Ok(())
}

/// The two extensions without dependencies, alone and together; and enabled extensions without features.
fn some(gpu: &Gpu) -> Result<()> {
    let [abort, fault, data] = khr::EXTENSION_NAMES;
    let sets: [(&[&CStr], _); 5] = [
        (&[fault], (false, true, false)),
        (&[data], (false, false, true)),
        (&[fault, data], (false, true, true)),
        (&[fault, data], (false, false, false)),
        (&[abort, fault, data], (false, false, false)),
    ];
    for (names, ours) in sets {
        let device = create(gpu, names, &mut Request::default(), ours)?;
        let has_fault = device.fault().is_ok();
        ensure!(
            has_fault == names.contains(&fault),
            "{names:?}: fault queries: {has_fault}"
        );
        if ours.1 {
            expect_no_reports(&device)?;
        }
        device.wait_idle()?;
    }
    Ok(())
}
