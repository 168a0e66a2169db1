//! The layer's settings, which `vkabort_settings` declares and reads, and their sources in this process.

#[cfg(test)]
mod manifest_tests;
mod source;

pub use source::of_process;
pub use vkabort_settings::{
    Choice, Commands, ControlBlock, Emulation, Enable, Format, Level, Memory, MessengerSeverity, OnAbort, Printf,
    Settings,
};
