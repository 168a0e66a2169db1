//! Every command that may return VK_ERROR_DEVICE_LOST does so at once on a lost device: "after the first
//! VK_ERROR_DEVICE_LOST on a thread, each later command on it returns VK_ERROR_DEVICE_LOST".

use super::support::{Extra, device_with, kernel, lose};
use crate::case::{Case, cases, slowdown};
use crate::cases::support::expect_lost;
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk::{self, Handle};
use std::ffi::CString;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_commands::all_return_device_lost_after_an_abort" => all(gpu), on_driver("abort=1");
    "test_driver_commands::all_return_device_lost_after_a_loss_of_the_driver" => all(gpu), on_driver("lose=execute:1");
    "test_driver_commands::all_return_device_lost_on_a_native_driver" => all(gpu),
        on_driver("native=abort+fault+data,abort=1");
    "test_driver_commands::all_return_device_lost_on_a_busy_device" => all(gpu),
        on_driver("abort=1,hang=1"), with(&[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "100")]);
};

/// Commands of the registry that can return `VK_ERROR_DEVICE_LOST`.
const COMMANDS: &str = include_str!("../../../../layer/src/intercept/device_lost_commands.txt");

/// A command with unspecified arguments. No command of the list has more than eight, each is one machine word, and the
/// caller cleans up arguments that the callee does not read.
type AnyCommand = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> vk::Result;

fn all(gpu: &Gpu) -> Result<()> {
    // The loader returns some commands only if their extension is enabled.
    let extensions = [ash::khr::swapchain::NAME, ash::khr::display_swapchain::NAME];
    let device = device_with(gpu, &Extra::extensions(&extensions))?;
    let commands = commands(&device)?;
    let kernel = kernel(&device)?;
    let submission = lose(&kernel)?;
    // Stands for any structure or array of handles; every count, handle and `pNext` in it is 0.
    let zeros = vec![0u64; 512];
    let pointer = zeros.as_ptr() as u64;
    for round in 0..3 {
        for (name, owner, command) in &commands {
            let arguments = match name.as_str() {
                "vkGetFenceStatus" => [submission.fence.as_raw(), 0, 0, 0, 0, 0, 0],
                "vkWaitForFences" => [1, &raw const submission.fence as u64, 1, u64::MAX, 0, 0, 0],
                "vkQueueWaitIdle" | "vkDeviceWaitIdle" => [0; 7],
                "vkQueueSubmit" | "vkQueueSubmit2" | "vkQueueSubmit2KHR" | "vkQueueBindSparse" => [0; 7],
                // All others start with a handle or a pointer to a structure; null handles are not dereferenced.
                name if name.contains("Semaphore") || name.contains("Past") || name.contains("2KHR") => {
                    [pointer, pointer, pointer, 0, 0, 0, 0]
                }
                _ => [0, pointer, pointer, pointer, pointer, 0, 0],
            };
            let [a, b, c, d, e, f, g] = arguments;
            let start = Instant::now();
            // SAFETY: handles are valid or null, pointers are to zeros, and on a lost device the commands dereference neither.
            let result = unsafe { command(*owner, a, b, c, d, e, f, g) };
            let took = start.elapsed();
            expect_lost(result).with_context(|| format!("{name} in round {round}"))?;
            ensure!(took < Duration::from_secs(2) * slowdown(), "{name} took {took:?}");
        }
    }
    Ok(())
}

/// The device's commands of the list, each with its dispatchable handle.
fn commands(device: &Device<'_>) -> Result<Vec<(String, u64, AnyCommand)>> {
    let mut commands = Vec::new();
    let listed = COMMANDS.lines().filter(|line| !line.starts_with('#'));
    for (owner, name) in listed.filter_map(|line| line.split_once(' ')) {
        let owner = match owner {
            "device" => device.raw.handle().as_raw(),
            "queue" => device.queue.as_raw(),
            "physical" => continue,
            other => bail!("unknown dispatch level {other}"),
        };
        let found = device.command(&CString::new(name)?)?;
        // SAFETY: the function has the C calling convention and takes at most eight words, which the caller passes.
        let command = unsafe { std::mem::transmute::<unsafe extern "system" fn(), AnyCommand>(found) };
        commands.push((name.to_owned(), owner, command));
    }
    ensure!(commands.len() == 27, "{} commands", commands.len());
    Ok(commands)
}
