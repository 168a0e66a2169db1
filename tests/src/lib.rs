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
#[cfg(unix)]
pub mod case_process;
pub mod cases;
#[cfg(unix)]
pub mod command_test;
pub mod compile;
pub mod files;
pub mod glsl;
pub mod glsl_debug;
pub mod glsl_request;
pub mod golden_case;
pub mod golden_diff;
pub mod golden_digest;
#[cfg(unix)]
pub mod golden_pipelines;
#[cfg(unix)]
pub mod gpu_matrix;
pub mod harness;
pub mod heap;
pub mod interface;
pub mod large_shader;
#[cfg(unix)]
pub mod machine;
#[cfg(unix)]
pub mod measure;
pub mod memory;
pub mod open;
pub mod payload;
#[cfg(unix)]
pub mod pipeline;
pub mod processor_time;
pub mod program;
pub mod read_only_pages;
pub mod report_files;
pub mod respawn;
pub mod shader_cache;
pub mod slang;
pub mod statistics;
pub mod test_driver;
pub mod word_shader;
pub mod word_strings;

/// The wrappers of Vulkan, with the commands of the test driver.
pub mod vk {
    pub use crate::test_driver;
    pub use vkabort_gpu::*;
}
