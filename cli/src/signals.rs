//! Signals that end programs, passed on to the one that `vkabort run` waits for: its answer is the answer.
//!
//! What a terminal sends (Ctrl-C) reaches the whole group, the program included, and is not passed on: twice would be
//! another message to many programs. What one process sends to this one alone is.

use std::ffi::{c_int, c_void};
use std::process::Child;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

const PASSED_ON: [c_int; 6] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Which of them have arrived for the program.
static ARRIVED: [AtomicBool; PASSED_ON.len()] = [const { AtomicBool::new(false) }; PASSED_ON.len()];

/// Keeps this process alive until its program has ended. Signals that it was started to ignore stay ignored, by both.
pub fn catch() {
    for signal in PASSED_ON {
        // SAFETY: the structures are ours, zero is a valid value of them, and the handler only does what a handler may.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &mut old) != 0 || old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = note;
            new.sa_sigaction = handler as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &new, ptr::null_mut());
        }
    }
}

extern "C" fn note(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO its structure.
    let from_terminal = unsafe { info.as_ref() }.is_some_and(|info| info.si_code == libc::SI_KERNEL);
    let known = PASSED_ON.iter().zip(&ARRIVED).find(|(known, _)| **known == signal);
    if let (Some((_, arrived)), false) = (known, from_terminal) {
        arrived.store(true, Ordering::Relaxed);
    }
}

/// Passes on what has arrived. The child has not been waited for yet: its number is still its own.
pub fn pass_on(child: &Child) {
    let Ok(process) = libc::pid_t::try_from(child.id()) else {
        return;
    };
    for (signal, arrived) in PASSED_ON.into_iter().zip(&ARRIVED) {
        if arrived.swap(false, Ordering::Relaxed) {
            // SAFETY: a number of a process, and of a signal.
            unsafe { libc::kill(process, signal) };
        }
    }
}
