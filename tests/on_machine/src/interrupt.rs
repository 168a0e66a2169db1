//! Records SIGINT, SIGTERM and SIGHUP. The supervisor polls for them, kills its children and cleans up.

use anyhow::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The signal that arrived; 0 = none.
static ARRIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Installs the handlers. Inherited SIG_IGN stays in effect.
///
/// # Errors
///
/// The operating system refuses a handler.
pub fn catch() -> Result<()> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Bit `n - 1` is signal `n`.
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if ignored.is_none_or(|ignored| ignored >> (signal - 1) & 1 == 0) {
            signal_hook::flag::register_usize(signal, Arc::clone(&ARRIVED), signal as usize)?;
        }
    }
    Ok(())
}

/// The last signal that arrived.
pub fn arrived() -> Option<c_int> {
    Some(ARRIVED.load(Ordering::Relaxed) as c_int).filter(|signal| *signal != 0)
}

/// The name of a signal.
pub fn name(signal: c_int) -> String {
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}
