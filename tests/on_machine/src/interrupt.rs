//! Records SIGINT, SIGTERM and SIGHUP. The supervisor polls for them, kills its children and cleans up.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that arrived; 0 = none.
static ARRIVED: AtomicI32 = AtomicI32::new(0);

/// Installs the handlers. Inherited SIG_IGN stays in effect.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: zero is a valid `sigaction`, and the handler only stores an atomic, which is async-signal-safe.
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

/// The last signal that arrived.
pub fn arrived() -> Option<c_int> {
    Some(ARRIVED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// The name of a signal.
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
