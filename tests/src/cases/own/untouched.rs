//! What the layer leaves alone: devices that do not enable the extensions, whose commands are the driver's to the last
//! pointer, and the application's memory, which "must not be written" by a command that takes it as const.

use super::aborting;
use crate::case::{Case, Context};
use crate::pages::Pages;
use crate::vk::{Device, DeviceOptions, Gpu, khr, own};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CString;
use std::ptr;

pub(super) const CASES: &[Case] = &[
    Case::new("own_untouched::commands_are_the_drivers_own", pointers)
        .on_driver("ext_fault")
        .silent(),
    Case::new(
        "own_untouched::commands_are_the_drivers_own_on_a_native_driver",
        pointers,
    )
    .on_driver("native=abort+fault+data")
    .silent(),
    Case::new(
        "own_untouched::with_the_extension_recording_is_the_drivers_own",
        recording,
    )
    .on_driver(""),
    Case::new(
        "own_untouched::a_create_info_without_the_extensions_is_not_copied",
        not_copied,
    )
    .on_driver(""),
    Case::new("own_untouched::read_only_create_infos_with_single_structures", |c| {
        read_only(c, Chain::Single)
    })
    .on_driver("replay,ext_fault,abort=1"),
    Case::new(
        "own_untouched::read_only_create_infos_with_structures_of_versions",
        |c| read_only(c, Chain::Versions),
    )
    .on_driver("replay,ext_fault,abort=1"),
    Case::new("own_untouched::read_only_create_infos_with_features2", |c| {
        read_only(c, Chain::Features2)
    })
    .on_driver("ext_fault,abort=1"),
];

/// The registry's list of commands that may report a loss, all of which the layer can intercept.
const LOSABLE: &str = include_str!("../../../../layer/src/intercept/device_lost_commands.txt");

/// Further commands that the layer can intercept, and some that it never does.
const MORE: &str = "vkCreateFence vkDestroyFence vkResetFences vkCreateShaderModule vkDestroyShaderModule \
    vkCreateComputePipelines vkCreateGraphicsPipelines vkCreateRayTracingPipelinesKHR vkDestroyPipeline \
    vkDestroyDeferredOperationKHR vkGetDeviceFaultInfoEXT vkGetDeviceFaultReportsKHR vkGetDeviceFaultDebugInfoKHR \
    vkFreeCommandBuffers vkFreeDescriptorSets vkResetCommandPool vkResetDescriptorPool vkDestroyBuffer vkDestroyImage \
    vkDestroyCommandPool vkDestroyDescriptorPool vkDestroyEvent vkDestroyQueryPool vkDestroySampler vkDestroySemaphore \
    vkFreeMemory vkAllocateMemory vkMapMemory vkCreateBuffer vkGetBufferDeviceAddress vkGetPipelineCacheData \
    vkGetShaderModuleCreateInfoIdentifierEXT vkCreateShadersEXT";

/// Commands of recording.
const RECORDING: &str = "vkBeginCommandBuffer vkEndCommandBuffer vkResetCommandBuffer vkCmdBindPipeline vkCmdDispatch \
    vkCmdDispatchIndirect vkCmdDraw vkCmdDrawIndexed vkCmdTraceRaysKHR vkCmdPipelineBarrier vkCmdPipelineBarrier2 \
    vkCmdCopyBuffer vkCmdSetEvent vkCmdWaitEvents vkCmdResetQueryPool vkCmdWriteTimestamp vkCmdPushConstants \
    vkCmdBindDescriptorSets vkCmdExecuteCommands vkCmdBeginRendering vkCmdEndRendering";

/// The loader puts functions of its own before these two.
const LOADERS: [&str; 2] = ["vkCreateSwapchainKHR", "vkCreateSharedSwapchainsKHR"];

/// Compares what a program gets for each name with what the driver gives. How many there are.
fn compare<'name>(device: &Device<'_>, names: impl Iterator<Item = &'name str>) -> Result<usize> {
    let drivers = own::get_device_proc_addr(device)?;
    let mut found = 0;
    for name in names {
        let text = CString::new(name)?;
        let handle = device.raw.handle();
        // SAFETY: the device is alive and the name NUL-terminated.
        let (ours, own) = unsafe {
            (
                device.gpu.instance.get_device_proc_addr(handle, text.as_ptr()),
                drivers(handle, text.as_ptr()),
            )
        };
        let address = |function: vk::PFN_vkVoidFunction| function.map(|f| f as usize);
        ensure!(
            address(ours) == address(own),
            "{name} is {ours:?}, and the driver's is {own:?}"
        );
        found += usize::from(own.is_some());
    }
    Ok(found)
}

fn without<'gpu>(gpu: &'gpu Gpu) -> Result<Device<'gpu>> {
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    Device::with(gpu, options)
}

fn pointers(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = without(&gpu)?;
    let losable = LOSABLE
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("physical"))
        .filter_map(|line| line.split_once(' '))
        .map(|(_, name)| name);
    let names = losable
        .chain(MORE.split_whitespace())
        .chain(RECORDING.split_whitespace());
    let found = compare(&device, names.filter(|name| !LOADERS.contains(name)))?;
    ensure!(found > 60, "only {found} commands were compared");
    Ok(())
}

fn recording(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let found = compare(&device, RECORDING.split_whitespace())?;
    ensure!(
        found == RECORDING.split_whitespace().count(),
        "only {found} commands were compared"
    );
    Ok(())
}

/// The loader copies the structure itself; what it points to goes down as it is.
fn not_copied(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
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
    let device = Device::create(&gpu, &info, 0)?;
    let seen = own::seen(&device)?;
    ensure!(seen.queue_infos == queues.as_ptr() as u64, "other queues");
    ensure!(seen.features == &raw const features as u64, "other features");
    let own: Vec<u64> = seen.chain.into_iter().filter(|node| nodes.contains(node)).collect();
    ensure!(
        own == nodes,
        "the application's nodes are {nodes:x?}, the driver's {:x?}",
        seen.chain
    );
    Ok(())
}

/// How a program asks for features.
#[derive(Clone, Copy)]
enum Chain {
    Single,
    Versions,
    Features2,
}

/// Everything that a program passes as const stands in pages that cannot be written.
fn read_only(context: &Context, chain: Chain) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let pages = Pages::new(1 << 20)?;
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
    // SAFETY: the structure and all that it points to stand in the pages.
    let device = Device::create(&gpu, unsafe { &*info }, 0)?;
    run_read_only(&device)
}

/// The same for a shader, chained into its stage, a pipeline and a submission.
fn run_read_only(device: &Device<'_>) -> Result<()> {
    let pages = Pages::new(1 << 20)?;
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
    // SAFETY: the handles are of this device, and what the structures point to stands in the pages.
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
        let made = raw.create_compute_pipelines(vk::PipelineCache::null(), std::slice::from_ref(&*info), None);
        let pipeline = made.map_err(|(_, result)| result)?[0];
        raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
        raw.cmd_dispatch(commands, 1, 1, 1);
        raw.end_command_buffer(commands)?;
        // The driver may execute while the submission is made.
        let _ = raw.queue_submit(device.queue, std::slice::from_ref(&*submit), vk::Fence::null());
        let result = raw.device_wait_idle();
        ensure!(result == Err(vk::Result::ERROR_DEVICE_LOST), "{result:?}");
        ensure!(device.payloads()? == [super::payload(1, 0)], "no message");
        raw.destroy_pipeline(pipeline, None);
        raw.destroy_command_pool(pool, None);
        raw.destroy_pipeline_layout(layout, None);
    }
    Ok(())
}
