//! The Vulkan layer: `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data` for drivers that lack
//! them.
//!
//! The way of a call:
//!
//! ```text
//! loader -> entry: which function?   ours for a device that uses the extensions, else the next layer's
//!        -> intercept/<object>       one file per Vulkan object
//!        -> registry                 what is known of the handle, without a lock
//!        -> dispatch                 the next layer's function
//!        -> lost: observe            has a shader aborted meanwhile?
//!        <- result                   VK_ERROR_DEVICE_LOST once everything has come to rest
//! ```
//!
//! and the way of an abort: the arena (`arena`) -> a snapshot (`readback`) -> the report (`report`) -> the fault queries
//! (`fault`, `intercept/device_fault`), the log (`log`), the messengers and the dump (`dump`).
//!
//! The library starts no threads, keeps nothing when it is unloaded, and exports one symbol.
// The library's name follows the custom of Vulkan layers.
#![allow(non_snake_case)]

mod arena;
mod device;
mod device_loss;
mod intercept;
mod loader;
mod locks;
mod report;
mod settings;

use std::ffi::CStr;

/// The layer's name.
const LAYER_NAME: &CStr = c"VK_LAYER_vkabort_shader_abort";
/// What the layer is, in one line.
const DESCRIPTION: &CStr = c"VK_KHR_shader_abort for every driver";
