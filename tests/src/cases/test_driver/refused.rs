//! Allocations that the driver refuses during device creation: the layer falls back or `vkCreateDevice` fails with a clear
//! error, and no object leaks.

use super::support::{lose_with, not_advertised, payload};
use crate::case::{Case, cases};
use crate::cases::objects::error_code;
use crate::cases::support::{expect_lost, without_abort};
use crate::vk::{Device, ExtraDeviceInfo, Gpu, Kernel, test_driver, with_create_info};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_refused::a_buffer" => refused(gpu, DEVICE_MEMORY),
        on_driver("refuse=buffer:1"), validated(),
        logs(&["cannot emulate VK_KHR_shader_abort", "vkCreateBuffer failed"]);
    "test_driver_refused::a_buffer_for_lack_of_host_memory" => refused(gpu, HOST_MEMORY),
        on_driver("refuse=buffer:1:host"), validated(),
        logs(&["cannot emulate VK_KHR_shader_abort", "vkCreateBuffer failed"]);
    "test_driver_refused::memory" => refused(gpu, DEVICE_MEMORY),
        on_driver("refuse=memory:1"), validated(),
        logs(&["cannot emulate VK_KHR_shader_abort", "vkAllocateMemory failed"]);
    "test_driver_refused::memory_for_lack_of_host_memory" => refused(gpu, HOST_MEMORY),
        on_driver("refuse=memory:1:host"), validated(),
        logs(&["cannot emulate VK_KHR_shader_abort", "vkAllocateMemory failed"]);
    "test_driver_refused::memory_of_every_kind" => refused(gpu, HOST_MEMORY),
        on_driver("refuse=memory:*:host"), set(&[("memory", "cached")]), validated(),
        logs(&["memory = cached is not possible", "cannot emulate VK_KHR_shader_abort", "vkAllocateMemory failed"]);
    "test_driver_refused::a_mapping" => refused(gpu, INITIALIZATION),
        on_driver("refuse=map:1"), validated(), logs(&["cannot emulate VK_KHR_shader_abort", "vkMapMemory failed"]);
    "test_driver_refused::a_mapping_for_lack_of_host_memory" => refused(gpu, HOST_MEMORY),
        on_driver("refuse=map:1:host"), validated(),
        logs(&["cannot emulate VK_KHR_shader_abort", "vkMapMemory failed"]);
    "test_driver_refused::memory_under_enable_always" => refused(gpu, DEVICE_MEMORY),
        on_driver("refuse=memory:2"), set(&[("enable", "always")]),
        logs(&["vkCreateDevice: cannot emulate VK_KHR_shader_abort", "vkAllocateMemory failed"]);
    "test_driver_refused::host_visible_memory" => refused(gpu, INITIALIZATION),
        on_driver("memory=vram+incoherent"), validated(), logs(&["no memory type is host-visible and coherent"]);
    "test_driver_refused::the_device_itself" => the_device(gpu), on_driver("refuse=device:1"), validated();
    "test_driver_refused::an_import_is_replaced" => fallback(gpu),
        on_driver("kind=cpu,import,refuse=import:*"), validated();
    "test_driver_refused::a_replayed_buffer_is_replaced" => fallback(gpu),
        on_driver("replay,refuse=buffer:1"), validated();
    "test_driver_refused::replayed_memory_is_replaced" => fallback(gpu),
        on_driver("replay,refuse=memory:1"), validated();
    "test_driver_refused::fences_of_queues_are_not_needed" => without_fences(kernel),
        on_driver("abort=*,refuse=fence:1"), validated(), with(&[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "100")]);
    "test_driver_refused::missing_features" => not_advertised(gpu), on_driver("no_addresses"), validated();
    "test_driver_refused::missing_stores_of_vertex_shaders" => not_advertised(gpu),
        on_driver("no_vertex_stores"), validated();
    "test_driver_refused::missing_stores_of_fragment_shaders" => not_advertised(gpu),
        on_driver("no_fragment_stores"), validated();
    "test_driver_refused::features_behind_an_unknown_structure_that_are_on_already" => behind_unknown(gpu, true),
        on_driver("abort=1"), silent(), set(&[("log_file", "layer.log")]);
    "test_driver_refused::features_behind_an_unknown_structure_that_are_off" => behind_unknown(gpu, false),
        on_driver(""), logs(&["vkCreateDevice: cannot enable bufferDeviceAddress: the structure of type 1999999000"]);
    "test_driver_refused::vulkan_1_0" => not_advertised(gpu), on_driver("api=1.0"), validated();
};

const DEVICE_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
const HOST_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
/// The result if the layer's memory is refused by an error that `vkCreateDevice` does not have.
const INITIALIZATION: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

/// Programs may free memory and try again after an error of memory, and fail after others.
fn refused(gpu: &Gpu, expected: vk::Result) -> Result<()> {
    let witness = without_abort(gpu)?;
    let before = test_driver::call_log(&witness)?.live;
    let code = error_code(Device::new(gpu));
    ensure!(code == Some(expected), "{code:?}");
    let left = test_driver::call_log(&witness)?.live - before;
    ensure!(left == 0, "the refused device leaks {left} objects");
    // A device without the extensions makes none of these allocations.
    without_abort(gpu).map(drop)
}

fn the_device(gpu: &Gpu) -> Result<()> {
    let code = error_code(Device::new(gpu));
    ensure!(code == Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY), "{code:?}");
    Device::new(gpu).map(drop)
}

fn fallback(gpu: &Gpu) -> Result<()> {
    let witness = without_abort(gpu)?;
    let before = test_driver::call_log(&witness)?.live;
    for _ in 0..3 {
        drop(Device::new(gpu)?);
    }
    let left = test_driver::call_log(&witness)?.live - before;
    ensure!(left == 0, "{left} objects leaked");
    Ok(())
}

fn without_fences(kernel: &Kernel<'_>) -> Result<()> {
    let submission = kernel.record(1)?;
    expect_lost(submission.run())?;
    ensure!(kernel.device.payloads()?.len() == 1, "no message");
    Ok(())
}

/// A structure of an extension that the layer does not know. Drivers skip structures that they do not know either.
#[repr(C)]
struct Unknown {
    s_type: vk::StructureType,
    next: *mut std::ffi::c_void,
    data: [u64; 4],
}

// SAFETY: starts with the type and the next structure, like every structure of a chain.
unsafe impl vk::ExtendsDeviceCreateInfo for Unknown {}

/// The layer cannot change the structures behind one of unknown size, but they may have its features already.
fn behind_unknown(gpu: &Gpu, on: bool) -> Result<()> {
    let mut newer = vk::PhysicalDeviceVulkan12Features::default()
        .timeline_semaphore(true)
        .buffer_device_address(on);
    let mut unknown = Unknown {
        s_type: vk::StructureType::from_raw(1_999_999_000),
        next: std::ptr::null_mut(),
        data: [7; 4],
    };
    let more = ExtraDeviceInfo {
        // Each is put before the others.
        features: vec![&mut newer, &mut unknown],
        ..ExtraDeviceInfo::default()
    };
    let created = with_create_info(0, true, more, |info| Device::create(gpu, &info, 0));
    if on {
        return lose_with(&created?, &[payload(1, 0)]);
    }
    let code = error_code(created);
    ensure!(code == Some(vk::Result::ERROR_INITIALIZATION_FAILED), "{code:?}");
    Ok(())
}
