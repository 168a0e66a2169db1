//! Ctrl-C and its like: noted here, and acted upon where processes are waited for, so that they end too and nothing stays
//! behind.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that arrived.
static ARRIVED: AtomicI32 = AtomicI32::new(0);

/// From now on these signals do not end this process by themselves. One that it was started to ignore stays ignored.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the structures are ours, zero is a valid value of them, and the handler only stores a number.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut old) != 0 || old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int) = note;
            new.sa_sigaction = handler as usize;
            new.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, std::ptr::null_mut());
        }
    }
}

extern "C" fn note(signal: c_int) {
    ARRIVED.store(signal, Ordering::Relaxed);
}

/// The signal that arrived, if one has.
pub fn arrived() -> Option<c_int> {
    Some(ARRIVED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// What a signal is called.
pub fn name(signal: c_int) -> String {
    let names = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    let name = names.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
