//! A process that forks. The child inherits everything that the layer has in memory, but the devices stay the parent's.

use super::report::continues;
use crate::case::{Case, Context, Skip, cases, slowdown};
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result, bail, ensure};
use std::io::Error;
use std::mem::ManuallyDrop;

const CONTINUE: &[(&str, &str)] = &[("on_abort", "continue"), ("log_file", LOG)];
const LOG: &str = "layer.log";
/// The first words of each device's last report, and of the table that follows it.
const AGAIN: &str = "vkabort: again: 2 invocations";
const TABLE: &str = "vkabort: 3 invocations aborted at 1 site";
/// Seconds after which the child is killed.
const LIMIT: u32 = 10;

pub(super) const CASES: &[Case] = cases! {
    "forked::a_child_that_exits_does_not_report_its_parents_device" => exits(context),
        on_driver("abort=*"), in_own_process(), set(CONTINUE);
    "forked::a_child_of_a_process_with_a_real_driver" => real_driver(context), alone(), in_own_process(), set(CONTINUE);
    "forked::a_child_that_destroys_its_parents_device_does_not_report_it" => destroys(gpu),
        on_driver("abort=*"), in_own_process(), set(CONTINUE);
    "forked::a_child_reports_its_own_device" => own_device(context),
        on_driver("abort=*"), in_own_process(), set(CONTINUE);
    "forked::a_childs_device_uses_the_address_of_earlier_runs" => own_address(context),
        on_driver("replay"), in_own_process(), set(&[("log_level", "info"), ("log_file", LOG)]);
};

/// Runs `body` in a child that then calls `exit`. Returns the child's status.
fn status_of_child(body: impl FnOnce() -> Result<()>) -> Result<i32> {
    // SAFETY: no other thread of this process but those of the driver, which is idle, holds a lock that the child needs.
    let child = unsafe { libc::fork() };
    ensure!(child >= 0, "fork: {}", Error::last_os_error());
    if child == 0 {
        // SAFETY: takes no pointer. The signal ends a child that waits for a thread of its parent.
        unsafe { libc::alarm(LIMIT * slowdown()) };
        let result = body();
        if let Err(error) = &result {
            eprintln!("the child: {error:#}");
        }
        std::process::exit(i32::from(result.is_err()));
    }
    let mut status = 0;
    // SAFETY: `status` is writable for the call.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    ensure!(ended == child, "waitpid: {}", Error::last_os_error());
    Ok(status)
}

/// Runs `body` in a child, and expects that it exits with success.
fn in_child(body: impl FnOnce() -> Result<()>) -> Result<()> {
    let status = status_of_child(body)?;
    ensure!(status == 0, "the child ended with status {status:#x}");
    Ok(())
}

/// Checks how often the log says that a device's aborts were repeated, and shows their table.
fn expect_ends(count: usize) -> Result<()> {
    let log = std::fs::read_to_string(LOG).context("there is no log")?;
    let found = [AGAIN, TABLE].map(|text| log.matches(text).count());
    ensure!(found == [count; 2], "{found:?} ends of {count} in the log\n{log}");
    Ok(())
}

/// Two children exit while the device lives: also the totals of the first are not those of the second.
fn exits(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    continues(&device)?;
    for _ in 0..2 {
        in_child(|| Ok(()))?;
        expect_ends(0)?;
    }
    drop(device);
    expect_ends(1)
}

/// With the threads of a driver, which the child lacks.
fn real_driver(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    continues(&device)?;
    let status = status_of_child(|| Ok(()))?;
    expect_ends(0)?;
    drop(device);
    expect_ends(1)?;
    match status {
        0 => Ok(()),
        // Mesa 26.2, also without the layer.
        libc::SIGALRM => Err(Skip("in a child that exits, the driver waits for a thread of the parent".into()).into()),
        _ => bail!("the child ended with status {status:#x}"),
    }
}

/// As the destructors of a C++ program that run when the child exits.
fn destroys(gpu: &Gpu) -> Result<()> {
    let mut device = ManuallyDrop::new(Device::new(gpu)?);
    continues(&device)?;
    in_child(|| {
        // SAFETY: the child uses its copy of the device no more.
        unsafe { ManuallyDrop::drop(&mut device) };
        Ok(())
    })?;
    expect_ends(0)?;
    drop(ManuallyDrop::into_inner(device));
    expect_ends(1)
}

fn own_device(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    continues(&device)?;
    in_child(|| {
        let gpu = Gpu::open(context)?;
        let _device = ManuallyDrop::new(Device::new(&gpu)?);
        continues(&_device)
    })?;
    expect_ends(1)?;
    drop(device);
    expect_ends(2)
}

/// The child has an address space of its own on the GPU, so its device gets what that of a process without parent gets.
fn own_address(context: &Context) -> Result<()> {
    let created = |source: &str| -> Result<()> {
        let gpu = Gpu::open(context)?;
        drop(Device::new(&gpu)?);
        let log = std::fs::read_to_string(LOG)?;
        let last = log
            .lines()
            .rev()
            .find(|line| line.contains("message address"))
            .context("no address")?;
        ensure!(last.contains(source) && last.ends_with("-0"), "{last}");
        Ok(())
    };
    created("new, saved for later runs")?;
    let gpu = Gpu::open(context)?;
    let _device = Device::new(&gpu)?;
    in_child(|| created("same as in an earlier run"))
}
