//! End-to-end tests: programs of ours that use the standard API through the real loader, on real drivers.
//!
//! Nothing here links the layer. Each case of [`cases`] runs in a process of its own (the program `vkabort-e2e`), since
//! the loader's state and the environment that configures it belong to a process; [`harness`] starts those processes
//! for every driver, alone and with the validation layer on either side of ours.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs report what they found"
)]

pub mod assembly;
pub mod case;
pub mod cases;
pub mod command;
pub mod expected;
pub mod files;
pub mod glsl;
pub mod glsl_debug;
pub mod harness;
pub mod itself;
pub mod large;
pub mod logged;
pub mod measure;
pub mod over_words;
pub mod pages;
pub mod program;
pub mod slang;
pub mod stand_ins;
pub mod vk;
pub mod word_text;
