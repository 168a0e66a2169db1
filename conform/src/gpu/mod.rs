//! Vulkan calls of the checks, on top of the test kit's wrappers. All `unsafe` code of the checks is here.
//!
//! A check destroys nothing unless it calls [`Device::destroy`]: a driver that crashes in a destruction would hide the
//! verdict. Every check is a process of its own, whose end releases everything.
//!
//! A function that returns `CheckOutput` fails the check if a Vulkan call fails, unless its documentation says otherwise.

mod device;
mod fault;
mod instance;
mod result;
mod submission;

pub use device::{Buffer, Device, Enable, Kernel, Submission};
pub use fault::Fault;
pub use instance::{Gpu, Query};
pub use result::show;
pub use submission::{Timeline, Timestamp};
