//! A Vulkan driver for tests. It executes no shader; it has what the loader and the layer need to believe in it, and does
//! on demand what drivers on healthy machines never do: it loses the device, hangs, refuses allocations, and answers
//! badly. [`settings`] says what can be demanded.
//!
//! ```text
//! loader -> entry       which function?
//!        -> instance, physical/*, device, memory, sync, command, shader, swapchain    one file per kind of object
//!        -> submit, queue   submissions: executed at once, or by a thread of the queue when they have to wait
//!        -> abort       what an aborting shader would have written
//!        -> fault       what the driver says of a loss
//!        -> seen        commands of its own, by which tests learn what reached the driver
//! ```
#![cfg_attr(not(target_pointer_width = "64"), allow(unused))]

mod abort;
mod addresses;
mod code;
mod command;
mod device;
mod entry;
mod fault;
mod handle;
mod identifier;
mod instance;
mod memory;
mod physical;
mod queue;
mod seen;
mod settings;
mod shader;
mod submit;
mod swapchain;
mod sync;
