//! Devices are created in every way that the specification allows: features by any structures, extensions in any subset
//! and order, buffer device addresses in use already or not. The application's structures are only read.

use super::run_entry_point;
use crate::case::{Case, Context};
use crate::vk::khr::{self, FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use ash::vk::{self, ExtendsDeviceCreateInfo};
use std::ffi::CStr;

pub(super) const CASES: &[Case] = &[
    Case::new("device_creation::without_other_features", |context| {
        made(context, true, |_| Asked::default())
    }),
    Case::new("device_creation::never_taken", |context| {
        made(context, false, |_| Asked::default())
    })
    .silent(),
    Case::new("device_creation::with_pEnabledFeatures", |context| {
        made(context, true, |_| Asked {
            core: Some(robust()),
            ..Asked::default()
        })
    }),
    Case::new("device_creation::with_VkPhysicalDeviceFeatures2", |context| {
        made(context, true, |_| Asked {
            features: vec![Box::new(vk::PhysicalDeviceFeatures2::default().features(robust()))],
            ..Asked::default()
        })
    }),
    Case::new("device_creation::with_the_structures_of_versions", |context| {
        made(context, true, |_| Asked {
            features: vec![
                Box::new(vk::PhysicalDeviceVulkan13Features::default().synchronization2(true)),
                Box::new(vk::PhysicalDeviceFeatures2::default().features(robust())),
                Box::new(vk::PhysicalDeviceVulkan11Features::default()),
                Box::new(vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true)),
            ],
            ..Asked::default()
        })
    }),
    Case::new("device_creation::with_the_structure_of_Vulkan_1_4", |context| {
        made_as(context, vk::make_api_version(0, 1, 4, 0), true, |_| Asked {
            features: vec![
                Box::new(Vulkan14::default()),
                Box::new(vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true)),
            ],
            ..Asked::default()
        })
    }),
    Case::new("device_creation::with_single_structures", |context| {
        made(context, true, |_| Asked {
            features: vec![
                Box::new(vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true)),
                Box::new(vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true)),
                Box::new(vk::PhysicalDeviceBufferDeviceAddressFeatures::default()),
                Box::new(vk::PhysicalDeviceSynchronization2Features::default()),
            ],
            ..Asked::default()
        })
    }),
    Case::new(
        "device_creation::with_buffer_device_addresses_of_Vulkan_1_2",
        |context| {
            made(context, true, |_| Asked {
                features: vec![Box::new(
                    vk::PhysicalDeviceVulkan12Features::default()
                        .buffer_device_address(true)
                        .vulkan_memory_model(true)
                        .vulkan_memory_model_device_scope(true),
                )],
                ..Asked::default()
            })
        },
    ),
    Case::new(
        "device_creation::with_buffer_device_addresses_of_the_extension",
        |context| {
            made(context, true, |gpu| {
                let name = ash::khr::buffer_device_address::NAME;
                Asked {
                    names: if gpu.has_extension(name).unwrap_or(false) {
                        vec![name]
                    } else {
                        Vec::new()
                    },
                    features: vec![Box::new(
                        vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true),
                    )],
                    ..Asked::default()
                }
            })
        },
    ),
    Case::new("device_creation::extensions_in_any_order", any_order),
    Case::new("device_creation::some_of_the_extensions", some).silent(),
];

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

// SAFETY: the structure is laid out as the registry has it, and extends VkDeviceCreateInfo there.
unsafe impl ExtendsDeviceCreateInfo for Vulkan14 {}

/// What a device is asked for besides the abort extensions.
#[derive(Default)]
struct Asked {
    core: Option<vk::PhysicalDeviceFeatures>,
    names: Vec<&'static CStr>,
    features: Vec<Box<dyn ExtendsDeviceCreateInfo>>,
}

fn robust() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures::default().robust_buffer_access(true)
}

/// The family of a queue that computes.
fn family(gpu: &Gpu) -> u32 {
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
    families.iter().position(computes).unwrap_or(0) as u32
}

fn made(context: &Context, aborts: bool, ask: fn(&Gpu) -> Asked) -> Result<()> {
    made_as(context, vk::API_VERSION_1_3, aborts, ask)
}

fn made_as(context: &Context, version: u32, aborts: bool, ask: fn(&Gpu) -> Asked) -> Result<()> {
    // Asked of an older instance: a driver may refuse a newer one.
    let gpu = Gpu::open(context)?;
    gpu.require(
        (gpu.properties.api_version >= version).into(),
        &format!("Vulkan 1.{}", vk::api_version_minor(version)),
    )?;
    drop(gpu);
    let gpu = Gpu::open_as(context, version)?;
    let mut asked = ask(&gpu);
    expect_narrow(&gpu);
    let mut names = asked.names.clone();
    names.extend(khr::EXTENSION_NAMES);
    let device = create(&gpu, &names, &mut asked, (true, true, true))?;
    run_entry_point(&device, aborts)
}

/// The strings of the shader are 8-bit: see [`Device::with`].
fn expect_narrow(gpu: &Gpu) {
    gpu.messages.expect("declares SPIR-V Capability Int8");
    gpu.messages.expect("SPIR-V Capability Int8 was declared");
}

/// Creates the device, and holds the application's structures against what they were. `ours`: which of the structures of
/// abort, fault and constant data are chained.
fn create<'gpu>(gpu: &'gpu Gpu, names: &[&CStr], asked: &mut Asked, ours: (bool, bool, bool)) -> Result<Device<'gpu>> {
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
    if let Some(core) = &asked.core {
        info = info.enabled_features(core);
    }
    let (mut ours_first, mut count) = (true, 0);
    let mut chained: Vec<&mut dyn ExtendsDeviceCreateInfo> = Vec::new();
    for (wanted, one) in [
        (ours.0, &mut abort as &mut dyn ExtendsDeviceCreateInfo),
        (ours.1, &mut fault),
        (ours.2, &mut data),
    ] {
        if wanted {
            chained.push(one);
            count += 1;
        }
    }
    // Between the application's own structures.
    for (at, one) in asked.features.iter_mut().enumerate() {
        let at = if ours_first { at * 2 } else { count };
        ours_first = !ours_first;
        chained.insert(at.min(chained.len()), one.as_mut());
    }
    for one in chained {
        info = info.push_next(one);
    }
    let before = snapshot(&info);
    let device = Device::create(gpu, &info, family)?;
    ensure!(snapshot(&info) == before, "the application's structures were changed");
    Ok(device)
}

/// Type and successor of each structure of a chain, and the first words of its content.
fn snapshot(info: &vk::DeviceCreateInfo<'_>) -> Vec<(i32, usize, vk::Bool32)> {
    let mut all = vec![(info.s_type.as_raw(), info.p_next as usize, info.enabled_extension_count)];
    let mut at = info.p_next.cast::<vk::BaseInStructure<'_>>();
    while !at.is_null() {
        // SAFETY: the chain is valid, and each structure of it has a word behind `pNext`.
        unsafe {
            let content = at.add(1).cast::<vk::Bool32>().read();
            all.push(((*at).s_type.as_raw(), (*at).p_next as usize, content));
            at = (*at).p_next;
        }
    }
    all
}

fn any_order(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    expect_narrow(&gpu);
    let [a, b, c] = khr::EXTENSION_NAMES;
    for names in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        let device = create(&gpu, &names, &mut Asked::default(), (true, true, true))?;
        run_entry_point(&device, true)?;
    }
    Ok(())
}

/// The two extensions that do not need others, alone and together, and all three without any feature.
fn some(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let [abort, fault, data] = khr::EXTENSION_NAMES;
    let sets: [(&[&CStr], _); 5] = [
        (&[fault], (false, true, false)),
        (&[data], (false, false, true)),
        (&[fault, data], (false, true, true)),
        (&[fault, data], (false, false, false)),
        (&[abort, fault, data], (false, false, false)),
    ];
    for (names, ours) in sets {
        let device = create(&gpu, names, &mut Asked::default(), ours)?;
        let has_fault = device.fault().is_ok();
        ensure!(
            has_fault == names.contains(&fault),
            "{names:?}: fault queries: {has_fault}"
        );
        if ours.1 {
            let found = device.fault()?.report_count(0);
            ensure!(found == (vk::Result::TIMEOUT, 0), "a healthy device has {found:?}");
        }
        // SAFETY: no other thread uses the device.
        unsafe { device.raw.device_wait_idle() }?;
    }
    Ok(())
}
