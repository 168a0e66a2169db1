//! The contract between the GPU code that vkabort writes and the host code that reads it.
//!
//! * [`layout`]: where every word of the arena and of a record stands.
//! * [`site`]: what is known of every place in a module that may abort, and the [`site::Type`] of its message.
//! * [`snapshot`]: an owned copy of an arena, and bounded iteration over the records in it.
//! * [`framing`]: message data as drivers return it.
//! * [`decode`], [`format`](mod@format), [`message`]: a payload to typed values and to text.
//! * [`report`]: all aborts of a device, as text for people and JSON for programs.
//!
//! Nothing here knows Vulkan, and nothing trusts the memory that it reads: a snapshot is copied first and
//! indexed with checks afterwards, so a torn or hostile arena yields fewer records, never a panic.
#![forbid(unsafe_code)]

pub mod decode;
pub mod escape;
pub mod format;
pub mod framing;
pub mod hex;
pub mod invocation;
pub mod layout;
pub mod message;
pub mod message_type;
pub mod report;
pub mod scalar;
pub mod scalar_type;
pub mod site;
pub mod snapshot;
pub mod stage;
pub mod value;
