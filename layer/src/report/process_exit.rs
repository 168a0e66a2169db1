//! The end of a process that does not destroy its devices.

use super::deliver::conclude;
use crate::loader::registry;

/// Concludes the reports of the devices that still live.
extern "C" fn conclude_devices() {
    // The function runs outside of any call that could report a failure.
    let _ = std::panic::catch_unwind(|| registry::devices().values().iter().for_each(|device| conclude(device)));
}

/// The dynamic linker calls it when the process exits, and when the library is unloaded.
#[used]
// SAFETY: `.fini_array` holds pointers to functions of this type (System V ABI, "Initialization and Termination Functions").
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = conclude_devices;
