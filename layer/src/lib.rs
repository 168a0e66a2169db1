//! The Vulkan layer: `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data` for drivers that lack
//! them.
//!
//! The path of a call:
//!
//! ```text
//! loader -> intercept/proc_addr     returns the layer's function on a device that uses the extensions, else the next layer's
//!        -> intercept/<object>      one file per Vulkan object
//!        -> device/registry         finds the state of the handle, without a lock
//!        -> loader/dispatch         calls the next layer
//!        -> device_loss/observe     checks whether a shader has aborted
//!        <- result                  VK_ERROR_DEVICE_LOST once all queues are idle
//! ```
//!
//! The path of an abort: a shader writes a record into the `arena`; `device_loss` drains the queues and takes a snapshot;
//! `report` builds the report and delivers it to the log, the messengers and the dump; `intercept/device_fault` answers the
//! fault queries.
//!
//! A module imports only from its own line and the lines below it; a test of `xtask` checks it:
//!
//! ```text
//! intercept
//! device_loss
//! report
//! device
//! arena, module_files
//! log
//! settings
//! loader
//! environment, private_file, locks
//! os, sync
//! ```
//!
//! The library starts no threads but that of the loop clock, leaves nothing behind when it is unloaded, and exports one symbol.
// The library's name follows the convention of Vulkan layers.
#![allow(non_snake_case)]

mod arena;
mod device;
mod device_loss;
mod environment;
mod intercept;
mod loader;
mod locks;
mod log;
mod module_files;
mod os;
mod private_file;
mod report;
mod settings;
mod sync;

use std::ffi::CStr;

/// The layer's name.
const LAYER_NAME: &CStr = c"VK_LAYER_vkabort_shader_abort";
/// The layer's description, in one line.
const DESCRIPTION: &CStr = c"VK_KHR_shader_abort for every driver";
