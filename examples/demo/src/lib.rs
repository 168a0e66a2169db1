//! What a Vulkan program in Rust needs to use `VK_KHR_shader_abort`: the declarations that ash 0.38 does not have yet,
//! a reader for the messages of GLSL's `abortEXT`, and the choice of a device.
//!
//! The program in `main.rs` shows their use. Nothing here knows the layer: it is the standard API only.

pub mod choose;
pub mod decode;
