//! Things that the layer leaves unchanged: the command pointers of devices without the extensions, and the application's
//! const memory, which a command "must not" write.

use super::support::aborting;
use crate::case::{Case, cases};
use crate::cases::support::without_abort;
use crate::read_only_pages::ReadOnlyPages;
use crate::vk::{Device, Gpu, khr, test_driver};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CString;
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_untouched::commands_without_shaders_are_those_of_the_driver" => pointers(gpu, false),
        on_driver("ext_fault"), silent();
    "test_driver_untouched::commands_without_shaders_are_those_of_a_native_driver" => pointers(gpu, false),
        on_driver("native=abort+fault+data"), silent();
    "test_driver_untouched::without_a_log_all_commands_are_those_of_the_driver" => pointers(gpu, true),
        on_driver("ext_fault"), set(&[("log_level", "off")]), silent();
    "test_driver_untouched::recording_commands_are_those_of_the_driver_with_the_extension" => recording(device),
        on_driver("");
    "test_driver_untouched::a_create_info_without_the_extensions_is_not_copied" => not_copied(gpu), on_driver("");
    "test_driver_untouched::read_only_create_infos_with_single_structures" => read_only(gpu, Chain::Single),
        on_driver("replay,ext_fault,abort=1");
    "test_driver_untouched::read_only_create_infos_with_structures_of_versions" => read_only(gpu, Chain::Versions),
        on_driver("replay,ext_fault,abort=1");
    "test_driver_untouched::read_only_create_infos_with_features2" => read_only(gpu, Chain::Features2),
        on_driver("ext_fault,abort=1");
};

/// Commands of the registry that may report a loss. The layer can intercept all of them.
const DEVICE_LOST_COMMANDS: &str = include_str!("../../../../layer/src/intercept/device_lost_commands.txt");

/// Other commands that the layer can intercept, and some that it never does.
const MORE: &str = "vkCreateFence vkDestroyFence vkResetFences vkCreateShaderModule vkDestroyShaderModule \
    vkCreateComputePipelines vkCreateGraphicsPipelines vkCreateRayTracingPipelinesKHR vkDestroyPipeline \
    vkDestroyDeferredOperationKHR vkGetDeviceFaultInfoEXT vkGetDeviceFaultReportsKHR vkGetDeviceFaultDebugInfoKHR \
    vkBeginCommandBuffer vkResetCommandBuffer vkFreeCommandBuffers vkFreeDescriptorSets vkResetCommandPool \
    vkResetDescriptorPool vkDestroyBuffer vkDestroyImage vkDestroyCommandPool vkDestroyDescriptorPool vkDestroyEvent vkDestroyQueryPool vkDestroySampler vkDestroySemaphore \
    vkFreeMemory vkAllocateMemory vkMapMemory vkCreateBuffer vkGetBufferDeviceAddress vkGetPipelineCacheData \
    vkGetShaderModuleCreateInfoIdentifierEXT vkCreateShadersEXT";

/// Recording commands.
const RECORDING: &str = "vkEndCommandBuffer vkCmdBindPipeline vkCmdDispatch vkCmdDispatchIndirect \
    vkCmdDraw vkCmdDrawIndexed vkCmdTraceRaysKHR vkCmdPipelineBarrier vkCmdPipelineBarrier2 \
    vkCmdCopyBuffer vkCmdSetEvent vkCmdWaitEvents vkCmdResetQueryPool vkCmdWriteTimestamp vkCmdPushConstants \
    vkCmdBindDescriptorSets vkCmdExecuteCommands vkCmdBeginRendering vkCmdEndRendering";

/// Commands that take SPIR-V. The layer reads it to report aborts without effect, unless nothing is logged.
const SHADERS: [&str; 5] = [
    "vkCreateShaderModule",
    "vkCreateComputePipelines",
    "vkCreateGraphicsPipelines",
    "vkCreateRayTracingPipelinesKHR",
    "vkCreateShadersEXT",
];

/// The loader wraps these two commands.
const WRAPPED_BY_LOADER: [&str; 2] = ["vkCreateSwapchainKHR", "vkCreateSharedSwapchainsKHR"];

/// Compares the pointers that a program gets with those of the driver. Returns the number of commands.
fn compare<'name>(device: &Device<'_>, names: impl Iterator<Item = &'name str>) -> Result<usize> {
    let driver_lookup = test_driver::get_device_proc_addr(device)?;
    let mut found = 0;
    for name in names {
        let text = CString::new(name)?;
        let handle = device.raw.handle();
        // SAFETY: the device is alive and the name NUL-terminated.
        let (application, driver) = unsafe {
            (
                device.gpu.instance.get_device_proc_addr(handle, text.as_ptr()),
                driver_lookup(handle, text.as_ptr()),
            )
        };
        let address = |function: vk::PFN_vkVoidFunction| function.map(|f| f as usize);
        ensure!(
            address(application) == address(driver),
            "{name} is {application:?}, the driver's is {driver:?}"
        );
        found += usize::from(driver.is_some());
    }
    Ok(found)
}

fn pointers(gpu: &Gpu, with_shaders: bool) -> Result<()> {
    let device = without_abort(gpu)?;
    let device_lost = DEVICE_LOST_COMMANDS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("physical"))
        .filter_map(|line| line.split_once(' '))
        .map(|(_, name)| name);
    let names = device_lost
        .chain(MORE.split_whitespace())
        .chain(RECORDING.split_whitespace());
    let is_compared = |name: &&str| !WRAPPED_BY_LOADER.contains(name) && (with_shaders || !SHADERS.contains(name));
    let found = compare(&device, names.filter(is_compared))?;
    ensure!(found > 60, "only {found} commands were compared");
    Ok(())
}

fn recording(device: &Device<'_>) -> Result<()> {
    let found = compare(device, RECORDING.split_whitespace())?;
    ensure!(
        found == RECORDING.split_whitespace().count(),
        "only {found} commands were compared"
    );
    Ok(())
}

/// The loader copies the create info itself, but not the structures that it points to.
fn not_copied(gpu: &Gpu) -> Result<()> {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let features = vk::PhysicalDeviceFeatures::default();
    let mut newer = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut newest = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    let nodes = [&raw const newest as u64, &raw const newer as u64];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(&features)
        .push_next(&mut newer)
        .push_next(&mut newest);
    let device = Device::create(gpu, &info, 0)?;
    let calls = test_driver::call_log(&device)?;
    ensure!(calls.queue_infos == queues.as_ptr() as u64, "the queues were copied");
    ensure!(calls.features == &raw const features as u64, "the features were copied");
    let passed: Vec<u64> = calls.chain.into_iter().filter(|node| nodes.contains(node)).collect();
    ensure!(
        passed == nodes,
        "the application's nodes are {nodes:x?}, the driver's {:x?}",
        calls.chain
    );
    Ok(())
}

/// Structures that carry the requested features.
#[derive(Clone, Copy)]
enum Chain {
    Single,
    Versions,
    Features2,
}

/// Creates a device from structures in read-only pages.
fn read_only(gpu: &Gpu, chain: Chain) -> Result<()> {
    let pages = ReadOnlyPages::new(1 << 20)?;
    let mut head = ptr::null_mut::<std::ffi::c_void>();
    macro_rules! chained {
        ($($structure:ident { $($field:ident: $value:expr),* }),*) => {
            {$(
                head = pages
                    .put(&[vk::$structure {
                        p_next: head.cast(),
                        $($field: $value,)*
                        ..Default::default()
                    }])?
                    .cast();
            )*}
        };
    }
    let stores = vk::PhysicalDeviceFeatures::default().shader_int64(true);
    let mut core = ptr::null();
    match chain {
        Chain::Single => {
            core = pages.put(&[stores])?.cast_const();
            chained!(
                PhysicalDeviceBufferDeviceAddressFeatures {},
                PhysicalDeviceVulkanMemoryModelFeatures {
                    vulkan_memory_model: vk::TRUE
                }
            );
        }
        Chain::Versions => {
            core = pages.put(&[stores])?.cast_const();
            chained!(
                PhysicalDeviceVulkan12Features {
                    vulkan_memory_model: vk::TRUE
                },
                PhysicalDeviceVulkan13Features {
                    synchronization2: vk::TRUE
                }
            );
        }
        Chain::Features2 => chained!(
            PhysicalDeviceVulkan12Features {},
            PhysicalDeviceFeatures2 { features: stores }
        ),
    }
    let mut abort = khr::ShaderAbortFeatures::new(true);
    abort.p_next = head;
    let mut fault = khr::FaultFeatures::new(true);
    fault.p_next = pages.put(&[abort])?.cast();
    let mut data = khr::ShaderConstantDataFeatures::new(true);
    data.p_next = pages.put(&[fault])?.cast();
    head = pages.put(&[data])?.cast();
    let names = khr::EXTENSION_NAMES.map(|name| pages.put(name.to_bytes_with_nul()).map(|at| at.cast_const().cast()));
    let names = names.into_iter().collect::<Result<Vec<_>>>()?;
    let priorities = pages.put(&[1.0f32])?;
    let queues = pages.put(&[vk::DeviceQueueCreateInfo {
        queue_count: 1,
        p_queue_priorities: priorities,
        ..Default::default()
    }])?;
    let info = pages.put(&[vk::DeviceCreateInfo {
        p_next: head.cast_const(),
        queue_create_info_count: 1,
        p_queue_create_infos: queues,
        enabled_extension_count: u32::try_from(names.len())?,
        pp_enabled_extension_names: pages.put(&names)?,
        p_enabled_features: core,
        ..Default::default()
    }])?;
    pages.freeze()?;
    // SAFETY: the create info and everything it points to is in `pages`.
    let device = Device::create(gpu, unsafe { &*info }, 0)?;
    run_read_only(&device)
}

/// Creates a pipeline with a chained module and submits it, from structures in read-only pages.
fn run_read_only(device: &Device<'_>) -> Result<()> {
    let pages = ReadOnlyPages::new(1 << 20)?;
    let spirv = aborting()?;
    let module = pages.put(&[vk::ShaderModuleCreateInfo {
        code_size: size_of_val(spirv.as_slice()),
        p_code: pages.put(&spirv)?,
        ..Default::default()
    }])?;
    let stage = vk::PipelineShaderStageCreateInfo {
        p_next: module.cast_const().cast(),
        stage: vk::ShaderStageFlags::COMPUTE,
        p_name: pages.put(c"main".to_bytes_with_nul())?.cast_const().cast(),
        ..Default::default()
    };
    let raw = &device.raw;
    // SAFETY: the handles belong to this device; the structures point into `pages`.
    unsafe {
        let layout = raw.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let pool = raw.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let commands = raw.allocate_command_buffers(&allocate)?[0];
        let info = pages.put(&[vk::ComputePipelineCreateInfo {
            stage,
            layout,
            ..Default::default()
        }])?;
        let submit = pages.put(&[vk::SubmitInfo {
            command_buffer_count: 1,
            p_command_buffers: pages.put(&[commands])?,
            ..Default::default()
        }])?;
        pages.freeze()?;
        let pipelines = raw.create_compute_pipelines(vk::PipelineCache::null(), std::slice::from_ref(&*info), None);
        let pipeline = pipelines.map_err(|(_, result)| result)?[0];
        raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
        raw.cmd_dispatch(commands, 1, 1, 1);
        raw.end_command_buffer(commands)?;
        // The driver may execute during the submission.
        let _ = raw.queue_submit(device.queue, std::slice::from_ref(&*submit), vk::Fence::null());
        let result = raw.device_wait_idle();
        ensure!(result == Err(vk::Result::ERROR_DEVICE_LOST), "{result:?}");
        ensure!(device.payloads()? == [super::support::payload(1, 0)], "no message");
        raw.destroy_pipeline(pipeline, None);
        raw.destroy_command_pool(pool, None);
        raw.destroy_pipeline_layout(layout, None);
    }
    Ok(())
}
