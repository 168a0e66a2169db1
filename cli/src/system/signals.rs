//! Forwards signals to the program that `vkabort run` waits for; the program's exit code becomes the command's.
//!
//! Ctrl-C on a terminal reaches the whole process group, the program included: such signals are not forwarded, because
//! many programs react differently to a second one. Signals that a process sends to this one alone are.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use std::ffi::c_int;
use std::io;
use std::process::{Child, Command};
use vkabort_runner::supervise::end_with_parent;

const FORWARDED: [c_int; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The signals that arrived for the program.
pub struct Supervisor(SignalsInfo<WithOrigin>);

impl Supervisor {
    /// Catches the signals, so that this process outlives its program. Signals that this process inherited as ignored
    /// stay ignored, by both.
    ///
    /// # Errors
    ///
    /// The operating system refuses a signal handler.
    pub fn new() -> io::Result<Self> {
        let ignored = ignored();
        let caught = FORWARDED.iter().filter(|&&signal| ignored & (1 << (signal - 1)) == 0);
        SignalsInfo::new(caught).map(Self)
    }

    /// Starts a program. If this process is killed, the program ends too, unless it is setuid.
    ///
    /// # Errors
    ///
    /// As [`Command::spawn`].
    pub fn start(&self, command: &mut Command) -> io::Result<Child> {
        end_with_parent(command);
        command.spawn()
    }

    /// Nothing: processes that the program has left behind live on.
    pub fn finish(self) {}

    /// Forwards the signals that have arrived. `child` must not have been waited for: its process id is still its own.
    pub fn forward(&mut self, child: &Child) {
        for origin in self.0.pending() {
            let signal = rustix::process::Signal::from_named_raw(origin.signal);
            if let (Some(signal), false) = (signal, origin.cause == Cause::Kernel) {
                // The program may have ended a moment ago.
                let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
            }
        }
    }
}

/// Set of ignored signals: bit `n - 1` is signal `n`.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
