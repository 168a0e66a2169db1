//! The layer's settings, declared once.
//!
//! [`table`] has a row for each: key, field, type, default, form and text. The layer reads its [`Settings`] by the rows, the command
//! `vkabort` lists, checks and completes them, and `generated` writes the files that describe them: both manifests,
//! `vk_layer_settings.txt` and the guide's page.
#![forbid(unsafe_code)]

mod choice;
mod declare;
mod form;
#[cfg(test)]
mod generated;
mod implied;
mod misspelt;
mod resolve;
mod setting;
mod settings_file;
pub mod sources;
mod table;
#[cfg(test)]
mod tests;
pub mod value;

pub use choice::{
    Choice, Commands, ControlBlock, Emulation, Enable, Format, Level, Memory, MessengerSeverity, Named, OnAbort,
    Printf, list,
};
pub use form::Form;
pub use implied::{IMPLICATIONS, Implication};
pub use setting::{Invalid, View};
pub use sources::Sources;
pub use table::{SETTINGS, Setting, Settings, find};

/// The layer's name in a settings file: lower case, without `VK_LAYER_`.
pub const FILE_PREFIX: &str = "vkabort_shader_abort.";
/// Prefixes of a key in the environment, in the order of precedence.
pub const ENV_PREFIXES: [&str; 3] = ["VK_VKABORT_SHADER_ABORT_", "VK_SHADER_ABORT_", "VK_"];
