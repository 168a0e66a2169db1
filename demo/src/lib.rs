//! What a Vulkan program in Rust needs to use `VK_KHR_shader_abort`: the declarations that ash 0.38 does not have yet,
//! and a reader for the messages of GLSL's `abortEXT`.
//!
//! The program in `main.rs` shows their use. Nothing here knows the layer: it is the standard API only.

pub mod decode;
pub mod khr;
