//! Host memory callbacks of the application that return no memory at the Nth request, for each N, while instance, messenger,
//! device and pipeline are created and a shader aborts. The error reaches the application, nothing leaks, and memory is
//! returned once, to the callbacks that allocated it.

use super::allocated_program::{Program, Shader};
use super::support::expect_narrow;
use crate::case::{Case, Context, cases, slowdown};
use crate::heap::Heap;
use crate::vk::test_driver::call_log;
use crate::vk::{DEVICE_VARIABLE, Device, ExtraDeviceInfo, Gpu, candidate, code, khr, with_create_info};
use anyhow::{Result, ensure};
use ash::prelude::VkResult;
use ash::{ext, vk};
use vkabort_gpu::device_choice::choose;

pub(super) const CASES: &[Case] = cases! {
    "allocation::callbacks_without_failures" => all_succeed(context, 5), logs(&["invocation 5"]);
    "allocation::callbacks_without_failures_or_aborts" => all_succeed(context, NEVER), silent();
    // Only on the test driver: lavapipe 22 to 26 and Mesa's device-select layer crash without memory.
    "allocation::each_request_fails_in_turn" => each_fails_on_test_driver(context, Shader::Compute, 5), on_driver("abort=*"),
        in_own_process(), within(300);
    "allocation::each_request_fails_in_turn_without_an_abort" => each_fails_on_test_driver(context, Shader::Compute, NEVER),
        on_driver(""), in_own_process(), within(300);
    "allocation::each_request_of_specialised_data_fails" => each_fails_on_test_driver(context, Shader::Specialised, 5),
        on_driver("abort=*"), in_own_process(), within(300);
    "allocation::each_request_of_shader_objects_fails" => each_fails_on_test_driver(context, Shader::Object, 5),
        on_driver("abort=*"), in_own_process(), within(300);
    "allocation::each_request_of_shader_objects_fails_without_an_abort" => each_fails_on_test_driver(context, Shader::Object, NEVER),
        on_driver(""), in_own_process(), within(300);
    "allocation::each_request_of_a_graphics_pipeline_fails" => each_fails_on_test_driver(context, Shader::Graphics, 5),
        on_driver("abort=*"), in_own_process(), within(300);
};

/// An invocation that does not exist.
const NEVER: u32 = u32::MAX;

fn all_succeed(context: &Context, aborts_at: u32) -> Result<()> {
    let heap = Heap::new(usize::MAX);
    run(&heap, context, Shader::Compute, aborts_at)?;
    ensure!(heap.requests() > 0, "no request for memory");
    heap.check()
}

/// [`each_fails`] on the test driver, whose objects are counted.
fn each_fails_on_test_driver(context: &Context, shader: Shader, aborts_at: u32) -> Result<()> {
    let objects = || -> Result<_> {
        let gpu = Gpu::open(context)?;
        call_log(&Device::new(&gpu)?)
    };
    let before = objects()?;
    each_fails(context, shader, aborts_at)?;
    let after = objects()?;
    ensure!(
        after.live == before.live,
        "{} objects, then {}",
        before.live,
        after.live
    );
    let mismatches = after.allocator_mismatches;
    ensure!(mismatches == 0, "{mismatches} objects were freed with other callbacks");
    Ok(())
}

fn each_fails(context: &Context, shader: Shader, aborts_at: u32) -> Result<()> {
    // Under a tool that makes the program slow, some requests stand for all.
    let step = if slowdown() > 1 { 7 } else { 1 };
    let mut failed = 0;
    for index in (0..).step_by(step) {
        let heap = Heap::new(index);
        let result = run(&heap, context, shader, aborts_at);
        heap.check()?;
        if heap.requests() <= index {
            result?;
            break;
        }
        match result {
            Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY) => failed += 1,
            // The loader and drivers can do without some memory.
            Ok(()) => {}
            Err(other) => anyhow::bail!("request {index}: {other:?}"),
        }
    }
    ensure!(failed > 10 / step, "only {failed} refused requests had an effect");
    Ok(())
}

/// Creates an instance with a messenger.
fn run(heap: &Heap, context: &Context, shader: Shader, aborts_at: u32) -> VkResult<()> {
    // The layer needs no shaderInt8 for the text of a message, but the validation layer above it reports its lack.
    expect_narrow(&context.messages);
    let callbacks = &heap.callbacks();
    let entry = Gpu::loader().map_err(|_| vk::Result::ERROR_INITIALIZATION_FAILED)?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let extensions = [ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extensions);
    // SAFETY: the structures are valid, and every object is destroyed after the last use.
    unsafe {
        let instance = entry.create_instance(&info, Some(callbacks))?;
        let utils = ext::debug_utils::Instance::new(&entry, &instance);
        let result = utils
            .create_debug_utils_messenger(&context.messages.messenger(), Some(callbacks))
            .and_then(|messenger| {
                let result = on_instance(&instance, callbacks, shader, aborts_at);
                utils.destroy_debug_utils_messenger(messenger, Some(callbacks));
                result
            });
        instance.destroy_instance(Some(callbacks));
        result
    }
}

/// Creates a device with the extensions.
///
/// # Safety
/// The instance must be live.
unsafe fn on_instance(
    instance: &ash::Instance,
    callbacks: &vk::AllocationCallbacks<'_>,
    shader: Shader,
    aborts_at: u32,
) -> VkResult<()> {
    // SAFETY: the instance is live, the structures are valid, and every object is destroyed after the last use.
    unsafe {
        let all = instance.enumerate_physical_devices()?;
        let properties: Vec<_> = all
            .iter()
            .map(|device| candidate(&instance.get_physical_device_properties(*device)))
            .collect();
        let name = std::env::var(DEVICE_VARIABLE).ok();
        let index = choose(&properties, name.as_deref()).map_err(|_| vk::Result::ERROR_INITIALIZATION_FAILED)?;
        let families = instance.get_physical_device_queue_family_properties(all[index]);
        let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let family = families.iter().position(computes).unwrap_or(0) as u32;
        let mut objects = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
        let mut more = ExtraDeviceInfo::default();
        if shader == Shader::Object {
            more.extensions.push(ext::shader_object::NAME);
            more.features.push(&mut objects);
        }
        let device = with_create_info(family, true, more, |info| {
            instance.create_device(all[index], &info, Some(callbacks))
        })?;
        let fault = khr::FaultCommands::load(instance, &device);
        let objects = ext::shader_object::Device::new(instance, &device);
        let result = Program::new(shader, &device, &objects, callbacks)
            .and_then(|program| dispatch(&device, family, &program, callbacks, aborts_at));
        let messages = match result {
            Ok(()) if aborts_at != NEVER => fault.map(|fault| fault.message_data()),
            _ => None,
        };
        device.destroy_device(Some(callbacks));
        messages.transpose()?;
        result
    }
}

/// Dispatches or draws, and waits. Succeeds if the device is lost where an invocation aborts.
///
/// # Safety
/// The device must be live, with queues of this family.
unsafe fn dispatch(
    device: &ash::Device,
    family: u32,
    program: &Program<'_>,
    callbacks: &vk::AllocationCallbacks<'_>,
    aborts_at: u32,
) -> VkResult<()> {
    // SAFETY: the device is live, the structures are valid, and every object is destroyed after the last use.
    unsafe {
        let queue = device.get_device_queue(family, 0);
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&info, Some(callbacks))?;
        let result = (|| {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            program.record(commands[0], aborts_at);
            device.end_command_buffer(commands[0])?;
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), Some(callbacks))?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            let submitted = device.queue_submit(queue, &submits, fence);
            let result = code(submitted.and_then(|()| device.wait_for_fences(&[fence], true, u64::MAX)));
            device.destroy_fence(fence, Some(callbacks));
            match (result, aborts_at != NEVER) {
                (vk::Result::SUCCESS, false) | (vk::Result::ERROR_DEVICE_LOST, true) => Ok(()),
                (vk::Result::SUCCESS, true) => Err(vk::Result::NOT_READY),
                (error, _) => Err(error),
            }
        })();
        device.destroy_command_pool(pool, Some(callbacks));
        result
    }
}
