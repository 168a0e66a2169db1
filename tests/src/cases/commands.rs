//! `commands = on`: reports name the dispatch that they are of. Secondary, reused, one-time and simultaneous command buffers.

use super::command_pool::{ON, Pool};
use super::deliver::shader;
use super::support::{MARK, entry_point, expect_lost, expect_success, marked};
use crate::case::{Case, Skip, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel, WordKernel};
use anyhow::{Result, ensure};
use ash::vk;

const MARKERS: &[(&str, &str)] = &[("commands", "markers")];
const CONTINUE: &[(&str, &str)] = &[("commands", "on"), ("on_abort", "continue"), ("log_file", "layer.log")];
const SECOND: &[&str] = &[
    "= command: vkCmdDispatch(2, 1, 1), the 2nd of command buffer \"frame\"\n",
    "= labels: frame > cull\n",
];

pub(super) const CASES: &[Case] = cases! {
    "commands::names_one_dispatch_of_three" => three(device), set(ON), logs(SECOND);
    "commands::reports_no_command_if_it_is_off" => off(device), alone(), set(&[("log_file", "layer.log")]), silent();
    "commands::reports_one_command" => labelled(device, 1), alone(), set(ON), reports("commands");
    "commands::reports_one_command_as_json" => labelled(device, 1),
        alone(), set(&[("commands", "on"), ("log_format", "json")]), reports("commands");
    "commands::reports_four_commands" => labelled(device, 4), alone(), set(ON), reports("commands_several");
    "commands::reports_four_commands_as_json" => labelled(device, 4),
        alone(), set(&[("commands", "on"), ("log_format", "json")]), reports("commands_several");
    "commands::an_indirect_dispatch_is_a_candidate" => indirect(gpu), set(ON),
        logs(&["one of 2 commands:", "vkCmdDispatchIndirect(offset 4), the 2nd of", "vkCmdDispatch(2, 1, 1), the 3rd of"]);
    "commands::a_dispatch_with_a_base" => base(device), set(ON),
        logs(&["= command: vkCmdDispatchBase(1, 0, 0, 1, 1, 1), the 2nd of command buffer \"frame\""]);
    "commands::of_a_secondary_command_buffer" => secondary(device), set(ON),
        logs(&[
            "= command: vkCmdDispatch(2, 1, 1), the 2nd of command buffer \"pass\" in command buffer \"frame\"",
            "= labels: outer > inner",
        ]);
    "commands::of_a_command_buffer_that_is_recorded_again" => again(device, Reuse::Begin), set(ON), logs(AGAIN);
    "commands::of_a_command_buffer_that_is_reset" => again(device, Reuse::Reset), set(ON), logs(AGAIN);
    "commands::of_a_command_buffer_whose_pool_is_reset" => again(device, Reuse::ResetPool), set(ON), logs(AGAIN);
    "commands::of_a_one_time_command_buffer" => again(device, Reuse::OneTime), set(ON), logs(AGAIN);
    "commands::of_a_command_buffer_that_is_pending_twice" => simultaneous(device), set(ON),
        logs(&["= command: vkCmdDispatch(2, 1, 1), the 1st of command buffer \"frame\""]);
    "commands::of_work_that_is_pending" => completed(device), set(ON),
        logs(&["= command: vkCmdDispatch(2, 1, 1), the 1st of command buffer \"second\""]);
    "commands::on_a_device_that_continues" => continues(device), alone(), set(CONTINUE), silent();
    "commands::pending_when_the_driver_loses_the_device" => lost_by_driver(kernel),
        on_driver("lose=execute:2"), set(ON), logs(PENDING);
    "commands::pending_behind_an_abort_when_the_driver_loses_the_device" => lost_by_driver(kernel),
        on_driver("abort=2,lose=execute:2"), set(ON), logs(PENDING);
    "commands::markers_in_memory_when_the_driver_loses_the_device" => lost_by_driver(kernel),
        on_driver("markers=amd,begun=2,ended=1,lose=execute:2"), set(MARKERS), logs(&[BETWEEN]);
    "commands::checkpoints_when_the_driver_loses_the_device" => lost_behind_checkpoints(kernel),
        on_driver("markers=nv,begun=2,ended=1,lose=execute:2"), set(MARKERS), logs(&[BETWEEN]);
    "commands::markers_of_a_command_that_does_not_end" => lost_by_driver(kernel),
        on_driver("markers=amd,begun=1,ended=0,lose=execute:2"), set(MARKERS),
        logs(&["lost at queue (family 0, index 0): before the end of vkCmdDispatch(1, 1, 1), the 1st of command buffer \"frame\" (labels: \
                shadows), which had begun"]);
    "commands::markers_of_commands_that_have_all_ended" => lost_behind_checkpoints(kernel),
        on_driver("markers=nv,lose=execute:2"), set(MARKERS),
        logs(&["lost at queue (family 0, index 0): behind vkCmdDispatch(1, 1, 1), the 2nd of command buffer \"frame\" (labels: shadows > \
                cull), which had ended"]);
    "commands::markers_behind_an_abort_when_the_driver_loses_the_device" => lost_by_driver(kernel),
        on_driver("markers=amd,begun=2,ended=1,abort=2,lose=execute:2"), set(MARKERS), logs(&[BETWEEN]);
    "commands::of_a_specialised_pipeline" => specialised(device), set(ON),
        logs(&["= command: vkCmdDispatch(2, 1, 1), the 2nd of command buffer \"frame\""]);
};

const PENDING: &[&str] = &["was pending: command buffer \"frame\" with 2 commands (labels: shadows, shadows > cull)"];
const BETWEEN: &str = "lost at queue (family 0, index 0): between vkCmdDispatch(1, 1, 1), the 1st of command buffer \"frame\" (labels: shadows), \
                       which had ended, and vkCmdDispatch(1, 1, 1), the 2nd of command buffer \"frame\" (labels: shadows > cull), which \
                       had begun";
const AGAIN: &[&str] = &[
    "= command: vkCmdDispatch(2, 1, 1), the 1st of command buffer \"frame\"",
    "= labels: second\n",
];

const PRIMARY: vk::CommandBufferLevel = vk::CommandBufferLevel::PRIMARY;
const SECONDARY: vk::CommandBufferLevel = vk::CommandBufferLevel::SECONDARY;
const ONCE: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;

/// The index of a word that invocation 6 of the second of two workgroups aborts at.
const FAR: usize = 38;

/// Three dispatches of a pipeline under labels, and one of another. Only the second is large enough.
fn run_three(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[FAR]))?;
    let other = WordKernel::new(device, &glsl::compile("abort/nothing.comp")?, &marked(&[]))?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        pool.label(frame, c"frame", || {
            pool.dispatch(frame, c"shadows", &kernel, 1);
            pool.dispatch(frame, c"cull", &kernel, 2);
            pool.dispatch(frame, c"lights", &kernel, 1);
            pool.dispatch(frame, c"nothing", &other, 2);
        });
    })?;
    pool.lose(frame)
}

fn three(device: &Device<'_>) -> Result<()> {
    run_three(device)
}

fn off(device: &Device<'_>) -> Result<()> {
    run_three(device)?;
    let log = std::fs::read_to_string("layer.log")?;
    ensure!(
        log.contains("word 38 is 7") && !log.contains("command:") && !log.contains("labels"),
        "{log}"
    );
    Ok(())
}

/// Dispatches of a shader with debug information, all objects named. Each aborts.
fn labelled(device: &Device<'_>, count: usize) -> Result<()> {
    device.name(device.raw.handle(), c"the device")?;
    device.name(device.queue, c"the queue")?;
    let buffer = Buffer::storage(device, &marked(&[5]))?;
    let names = [c"the module", c"the pipeline"];
    let kernel = Kernel::named(device, &shader()?, &[&buffer], names)?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        pool.label(frame, c"shadows", || {
            for label in [c"cull", c"draw", c"blur", c"merge"].into_iter().take(count) {
                pool.dispatch(frame, label, &kernel, 1);
            }
        });
    })?;
    pool.lose(frame)
}

fn indirect(gpu: &Gpu) -> Result<()> {
    let device = &Device::with(gpu, DeviceOptions::ADDRESSES)?;
    let kernel = entry_point(device, &marked(&[FAR]))?;
    let groups = Buffer::addressed(device, &[0, 1, 1, 1], vk::BufferUsageFlags::INDIRECT_BUFFER)?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        kernel.dispatch(&device.raw, frame, 0);
        // SAFETY: the command buffer is being recorded, and the buffer outlives its use.
        unsafe { device.raw.cmd_dispatch_indirect(frame, groups.raw, 4) };
        pool.dispatch(frame, c"direct", &kernel, 2);
    })?;
    pool.lose(frame)
}

fn base(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[FAR]))?;
    let mut kernel = Kernel::bound(device, &[&buffer])?;
    let info = vk::ComputePipelineCreateInfo::default()
        .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
        .layout(kernel.layout);
    kernel.pipeline = super::objects::create_pipeline(device, &glsl::compile("abort/entry_point.comp")?, info)?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        kernel.dispatch(&device.raw, frame, 1);
        // SAFETY: the command buffer is being recorded, and the pipeline allows a base.
        unsafe { device.raw.cmd_dispatch_base(frame, 1, 0, 0, 1, 1, 1) };
    })?;
    pool.lose(frame)
}

fn secondary(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[FAR]))?;
    let pool = Pool::new(device)?;
    let (frame, pass) = (pool.allocate(PRIMARY, c"frame")?, pool.allocate(SECONDARY, c"pass")?);
    pool.record(pass, ONCE, || {
        pool.dispatch(pass, c"first", &kernel, 1);
        pool.dispatch(pass, c"inner", &kernel, 2);
    })?;
    pool.record(frame, ONCE, || {
        kernel.dispatch(&device.raw, frame, 1);
        // SAFETY: the secondary command buffer is recorded, and executed once.
        pool.label(frame, c"outer", || unsafe {
            device.raw.cmd_execute_commands(frame, &[pass])
        });
    })?;
    pool.lose(frame)
}

/// How a command buffer is made ready for its next recording.
#[derive(Clone, Copy)]
enum Reuse {
    Begin,
    Reset,
    ResetPool,
    /// It is freed, and another one allocated.
    OneTime,
}

/// Records and runs a command buffer without an abort, then others.
fn again(device: &Device<'_>, reuse: Reuse) -> Result<()> {
    let kernel = entry_point(device, &marked(&[]))?;
    let pool = Pool::new(device)?;
    let mut frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || pool.dispatch(frame, c"first", &kernel, 2))?;
    pool.submit(frame)?;
    // A wait that the layer does not relate to the submission.
    device.wait_idle()?;
    // SAFETY: the command buffer is not pending.
    unsafe {
        match reuse {
            Reuse::Begin => {}
            Reuse::Reset => device
                .raw
                .reset_command_buffer(frame, vk::CommandBufferResetFlags::empty())?,
            Reuse::ResetPool => device
                .raw
                .reset_command_pool(pool.pool, vk::CommandPoolResetFlags::RELEASE_RESOURCES)?,
            Reuse::OneTime => {
                device.raw.free_command_buffers(pool.pool, &[frame]);
                frame = pool.allocate(PRIMARY, c"frame")?;
            }
        }
    }
    kernel.write(&marked(&[FAR]));
    pool.record(frame, ONCE, || pool.dispatch(frame, c"second", &kernel, 2))?;
    pool.lose(frame)
}

fn simultaneous(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[FAR]))?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    let usage = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
    pool.record(frame, usage, || pool.dispatch(frame, c"pass", &kernel, 2))?;
    pool.submit(frame)?;
    // The first submission may have aborted by now.
    let _ = pool.submit(frame);
    expect_lost(device.queue_wait_idle())
}

/// Work that is complete cannot have aborted.
fn completed(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[]))?;
    let pool = Pool::new(device)?;
    let first = pool.allocate(PRIMARY, c"first")?;
    let second = pool.allocate(PRIMARY, c"second")?;
    for buffer in [first, second] {
        let usage = vk::CommandBufferUsageFlags::empty();
        pool.record(buffer, usage, || pool.dispatch(buffer, c"pass", &kernel, 2))?;
    }
    pool.submit(first)?;
    expect_success(device.queue_wait_idle())?;
    kernel.write(&marked(&[FAR]));
    pool.lose(second)
}

fn continues(device: &Device<'_>) -> Result<()> {
    let pool = Pool::new(device)?;
    let spirv = shader()?;
    for (name, at) in [(c"first", 5), (c"second", 6)] {
        let kernel = WordKernel::new(device, &spirv, &marked(&[at]))?;
        let frame = pool.allocate(PRIMARY, name)?;
        pool.record(frame, ONCE, || pool.dispatch(frame, name, &kernel, 1))?;
        pool.submit(frame)?;
        expect_success(device.queue_wait_idle())?;
        ensure!(kernel.words()[at] == MARK, "the invocation continued after its abort");
    }
    let log = std::fs::read_to_string("layer.log")?;
    let command = "= command: vkCmdDispatch(1, 1, 1), the 1st of command buffer \"first\"";
    ensure!(log.contains(command) && !log.contains("commands:"), "{log}");
    Ok(())
}

/// Two pipelines of one module, of which one aborts.
fn specialised(device: &Device<'_>) -> Result<()> {
    let spirv = glsl::compile("report/specialized.comp")?;
    let buffer = Buffer::storage(device, &marked(&[FAR]))?;
    let mut kernels = Vec::new();
    for size in [16u32, 32] {
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        kernel.create(&spirv, &[(2, size.to_le_bytes().to_vec())], None)?;
        kernels.push(kernel);
    }
    let pool = Pool::new(device)?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        for kernel in &kernels {
            kernel.dispatch(&device.raw, frame, 2);
        }
    })?;
    pool.lose(frame)
}

/// The driver loses the device in the second submission; the first is complete.
fn lost_by_driver(kernel: &Kernel<'_>) -> Result<()> {
    let device = kernel.device;
    let pool = Pool::new(device)?;
    let first = pool.allocate(PRIMARY, c"first")?;
    pool.record(first, ONCE, || kernel.dispatch(&device.raw, first, 1))?;
    pool.submit(first)?;
    expect_success(device.queue_wait_idle())?;
    let frame = pool.allocate(PRIMARY, c"frame")?;
    pool.record(frame, ONCE, || {
        pool.label(frame, c"shadows", || {
            kernel.dispatch(&device.raw, frame, 1);
            pool.dispatch(frame, c"cull", kernel, 1);
        });
    })?;
    let _ = pool.submit(frame);
    expect_lost(device.queue_wait_idle())
}

/// The same where a checkpoint, which is a pointer, has room for a marker.
fn lost_behind_checkpoints(kernel: &Kernel<'_>) -> Result<()> {
    if cfg!(not(target_pointer_width = "64")) {
        return Err(Skip("a marker has 64 bits, and a checkpoint of a 32-bit program has 32".into()).into());
    }
    lost_by_driver(kernel)
}
