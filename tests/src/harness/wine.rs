//! Drivers, exclusions and results of cases that run as a program for Windows in Wine.

use crate::case::Case;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use vkabort_test_kit::drivers::TestDriver;

/// The drivers below Wine's own. The others are newer builds of the first.
pub const DRIVERS: [TestDriver; 2] = [TestDriver::Lavapipe, TestDriver::SwiftShader];

/// Factor of time limits: a process takes seconds to start.
pub const SLOWDOWN: u32 = 5;

/// Exit code of a Windows program that has called `abort`: Wine's own process ends with the last byte of the program's code, which
/// is `STATUS_STACK_BUFFER_OVERRUN` (0xC0000409).
pub const ABORTED: i32 = 9;

/// Beginnings of the names of cases that cannot run, and the reasons. Cases with assembly or Slang are not among them: they skip
/// themselves in a program for Windows.
const EXCLUDED: &[(&str, &str)] = &[
    (
        "allocation::each_request",
        "the loader for Windows answers a refused request of its own with other errors",
    ),
    ("forked::", "Windows has no `fork`"),
    (
        "programs",
        "random programs test the rewriter, which is the same on every system, and most need SPIRV-Tools",
    ),
    (
        "settings::the_environment_overrides_the_file_which_overrides_the_application",
        "writes settings to folders of Linux, where Windows has a list in the registry",
    ),
    (
        "test_driver_secure_execution::",
        "needs a setuid program and the access rights of Unix",
    ),
];

/// Beginnings of the names of cases that run on SwiftShader too. The others would take minutes, and differ little from those on
/// lavapipe: the same code of the layer for Windows runs.
const ON_SWIFTSHADER: [&str; 3] = ["abort::", "message::", "recovery::"];

/// Why a case does not run on a driver.
pub fn exclusion(case: &Case, driver: &str) -> Option<&'static str> {
    let starts_with = |prefix: &&str| case.name.starts_with(prefix);
    if let Some((_, reason)) = EXCLUDED.iter().find(|(prefix, _)| starts_with(prefix)) {
        return Some(reason);
    }
    if case.rule.is_some() {
        return Some("`vkabort conform` runs it in Wine");
    }
    let is_left_out = driver == TestDriver::SwiftShader.name() && !ON_SWIFTSHADER.iter().any(starts_with);
    is_left_out.then_some("in Wine, runs on lavapipe alone to save time")
}

/// Whether Wine's server has killed a process that had ended.
///
/// A program for Windows that exits closes its connection to the server, and then calls the `exit` of the Linux process, where the
/// driver's libraries clean up. The server kills a process that still exists a second after its last thread has ended
/// (`process_sigkill` in Wine's `server/process.c`). So the kill follows the verdict, the layer's log and the unloading of every
/// library for Windows, and takes nothing but the exit code. A program that calls `abort` ends without this clean-up.
pub fn is_killed_by_server(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGKILL)
}
