//! A Vulkan driver for tests. It executes no shaders. It implements enough for the loader and the layer, and simulates on
//! demand what healthy drivers never do: it loses the device, hangs, refuses allocations and returns wrong answers.
//! [`settings`] documents the switches.
//!
//! ```text
//! loader -> entry       table of all functions
//!        -> instance, physical/*, device, memory, buffer, sync, event, command, shader, pipeline, swapchain
//!                       one file per kind of object; state holds their shared data
//!        -> submit, queue   submissions: executed immediately, or by the queue's thread if they have to wait
//!        -> abort       records that an aborting shader would write
//!        -> fault       fault queries
//!        -> call_log    extra commands that tell tests which calls reached the driver
//! ```
#![cfg_attr(not(target_pointer_width = "64"), allow(unused))]

mod abort;
mod addresses;
mod binary;
mod buffer;
mod call_log;
mod code;
mod command;
mod deferred;
mod device;
mod entry;
mod enumerate;
mod event;
mod fault;
mod handle;
mod instance;
mod markers;
mod memory;
mod object;
mod physical;
mod pipeline;
mod queue;
mod settings;
mod shader;
mod shader_object;
mod state;
mod submit;
mod swapchain;
mod sync;
