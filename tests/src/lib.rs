//! End-to-end tests: programs that use the standard API through the real loader, on real drivers.
//!
//! Nothing here links the layer. The cases of [`cases`] run in child processes (the program `vkabort-e2e`), since the
//! loader's state and its environment belong to a process. [`harness`] starts those processes for every driver, with our
//! layer alone and with the validation layer on either side of it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs print their results"
)]

pub mod assembly;
pub mod case;
pub mod case_process;
pub mod cases;
pub mod command_test;
pub mod compile;
pub mod files;
pub mod glsl;
pub mod glsl_debug;
pub mod golden_case;
pub mod golden_pipelines;
pub mod gpu_matrix;
pub mod harness;
pub mod interface;
pub mod large_shader;
pub mod measure;
pub mod payload;
pub mod pipeline;
pub mod program;
pub mod read_only_pages;
pub mod report_files;
pub mod respawn;
pub mod slang;
pub mod statistics;
pub mod word_shader;
pub mod word_strings;

pub use vkabort_test_kit::vk;
