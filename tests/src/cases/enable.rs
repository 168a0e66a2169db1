//! Applications that do not enable the extension: under `enable = always` the layer enables it, and otherwise reports
//! shaders that abort in vain.

use super::objects::create_module;
use super::settings;
use super::support::{expect_lost, expect_success, incremented, marked, run, same_words, without_abort, words};
use crate::assembly::assemble;
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, ExtraDeviceInfo, Gpu, Kernel, khr, with_create_info};
use crate::word_shader::word_shader;
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CStr;

const ALWAYS: &[(&str, &str)] = &[("enable", "always")];
const EMULATED: &[(&str, &str)] = &[("log_level", "warning"), ("emulation", "force")];

pub(super) const CASES: &[Case] = cases! {
    "enable::always_reports_the_abort_of_an_application_that_enables_nothing" => always(gpu, true),
        set(ALWAYS), logs(&["shader aborted: word 3 is 7"]);
    "enable::always_by_a_setting_of_the_application" => by_application(context),
        alone(), logs(&["shader aborted: word 3 is 7"]);
    "enable::always_without_a_taken_abort" => always(gpu, false), set(ALWAYS), silent();
    "enable::always_with_an_application_that_enables_some_of_it" => some(gpu),
        alone(), set(ALWAYS), logs(&["shader aborted: word 3 is 7"]);
    "enable::always_on_a_native_driver" => always(gpu, true), on_native(), set(ALWAYS), logs(&["shader aborted: word"]);
    "enable::always_on_a_native_driver_without_a_taken_abort" => always(gpu, false), on_native(), set(ALWAYS), silent();
    "enable::a_device_that_cannot_is_left_alone" => left_alone(gpu),
        on_driver("no_addresses"), set(ALWAYS),
        logs(&["enable = always: cannot enable VK_KHR_shader_abort on `vkabort test driver`: the driver lacks bufferDeviceAddress"]);
    "enable::a_device_whose_memory_cannot_be_allocated_is_left_alone" => left_alone(gpu),
        on_driver("refuse=memory:1"), set(ALWAYS),
        logs(&["enable = always: cannot enable VK_KHR_shader_abort on `vkabort test driver`: vkAllocateMemory failed"]);
    "enable::a_device_that_the_driver_refuses_is_created_as_requested" => left_alone(gpu),
        on_driver("refuse=device:1"), set(ALWAYS),
        logs(&["enable = always: cannot enable VK_KHR_shader_abort on `vkabort test driver`: the driver's vkCreateDevice returned"]);
    "enable::always_with_emulation_off" => left_alone(gpu),
        on_driver(""), set(&[("enable", "always"), ("emulation", "off")]),
        logs(&["enable = always: cannot enable VK_KHR_shader_abort on `vkabort test driver`: emulation = off"]);

    "enable::a_module_on_a_device_without_the_extension_is_reported_once" => unused_module(gpu),
        alone(), reports("unused_module");
    "enable::a_chained_module_on_a_device_without_the_extension_is_reported_once" => unused_chained(gpu),
        on_driver(""), reports("unused_module");
    "enable::a_module_on_a_device_that_cannot_enable_the_extension" => unused_module(gpu),
        on_driver("no_addresses"), logs(&["The layer cannot provide it on this device: the driver lacks bufferDeviceAddress"]);
    "enable::a_module_without_aborts_is_not_reported" => left_alone(gpu), alone(), silent();
    "enable::nothing_is_reported_when_the_log_is_off" => unused_module(gpu),
        alone(), set(&[("log_level", "off")]), silent();
    "enable::a_module_on_a_device_without_the_feature" => without_feature(gpu),
        alone(), set(EMULATED),
        logs(&["but this device did not enable the feature shaderAbort of VK_KHR_shader_abort: this layer executes the aborts"]);
    "enable::a_module_on_a_native_device_without_the_feature" => without_feature_module(gpu),
        on_driver("native=abort+fault+data"),
        logs(&["but this device did not enable the feature shaderAbort of VK_KHR_shader_abort: the aborts have no effect"]);
};

fn shader() -> Result<Vec<u32>> {
    glsl::compile("abort/entry_point.comp")
}

/// The validation layer above ours correctly reports that the application uses a feature that it has not enabled.
fn expect_invalid_use(gpu: &Gpu) {
    for text in ["Capability", "SPV_KHR_abort", "SPV_KHR_constant_data"] {
        gpu.messages.expect(text);
    }
}

/// The application gets an ordinary lost device, and no command that it has not enabled.
fn always(gpu: &Gpu, aborts: bool) -> Result<()> {
    expect_invalid_use(gpu);
    let device = without_abort(gpu)?;
    for name in [c"vkGetDeviceFaultReportsKHR", c"vkGetDeviceFaultDebugInfoKHR"] {
        ensure!(!device.has_command(name), "{name:?} exists");
    }
    let initial = words(aborts);
    let buffer = Buffer::storage(&device, &initial)?;
    let kernel = Kernel::new(&device, &shader()?, &[&buffer])?;
    let result = kernel.run_to_end(2)?;
    match aborts {
        true => expect_lost(result),
        false => expect_success(result).and_then(|()| same_words(&buffer.read(), &incremented(&initial))),
    }
}

/// The application sets `enable` through `VK_EXT_layer_settings`.
fn by_application(context: &Context) -> Result<()> {
    let value = [c"always".as_ptr()];
    always(&settings::open(context, &[settings::text(c"enable", &value)])?, true)
}

/// A device with extensions, but without their features.
fn create<'gpu>(gpu: &'gpu Gpu, names: &[&CStr]) -> Result<Device<'gpu>> {
    let mut timeline = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let more = ExtraDeviceInfo {
        extensions: names.to_vec(),
        features: vec![&mut timeline],
    };
    with_create_info(0, false, more, |info| Device::create(gpu, &info, 0))
}

/// Two of the three extensions, and no feature.
fn some(gpu: &Gpu) -> Result<()> {
    let device = create(gpu, &[khr::DEVICE_FAULT_NAME, khr::SHADER_CONSTANT_DATA_NAME])?;
    let (_, payloads) = run(&device, &shader()?, &words(true))?.lost()?;
    ensure!(payloads.len() == 1, "{payloads:?}");
    Ok(())
}

/// The device works, without the extension.
fn left_alone(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    run(&device, &assemble(&word_shader(&["add"], &[])?)?, &marked(&[]))?
        .succeeded()
        .map(drop)
}

/// Creates modules, since drivers may crash when they compile the aborts.
fn create_modules(device: &Device<'_>) -> Result<()> {
    let words = shader()?;
    create_module(device, &words)?;
    Ok(create_module(device, &words)?)
}

fn unused_module(gpu: &Gpu) -> Result<()> {
    create_modules(&without_abort(gpu)?)?;
    // Once for the instance, not for each device.
    create_modules(&without_abort(gpu)?)
}

fn unused_chained(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &words(false))?;
    for _ in 0..2 {
        let mut kernel = Kernel::bound(&device, &[&buffer])?;
        kernel.create_inline(&shader()?, &[])?;
    }
    Ok(())
}

fn without_feature(gpu: &Gpu) -> Result<()> {
    let device = create(gpu, &khr::EXTENSION_NAMES)?;
    let (_, payloads) = run(&device, &shader()?, &words(true))?.lost()?;
    ensure!(payloads.len() == 1, "{payloads:?}");
    Ok(())
}

fn without_feature_module(gpu: &Gpu) -> Result<()> {
    create_modules(&create(gpu, &khr::EXTENSION_NAMES)?)
}
