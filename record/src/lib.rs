//! The contract between the GPU code that vkabort writes and the host code that reads it.
//!
//! * [`layout`]: where every word of the arena and of a record stands.
//! * [`site`]: what is known of every place in a module that may abort, and the [`site::Type`] of its message.
//! * [`snapshot`]: an owned copy of an arena, and bounded iteration over the records in it.
//! * [`decode`], [`format`](mod@format), [`message`], [`fallback`]: a payload to typed values and to text.
//! * [`report`], with its [`filter`] and its views [`text`] for people and [`json`] for programs.
//!
//! Nothing here knows Vulkan, and nothing trusts the memory that it reads: a snapshot is copied first and
//! indexed with checks afterwards, so a torn or hostile arena yields fewer records, never a panic.
#![forbid(unsafe_code)]

pub mod convert;
pub mod decode;
pub mod encoding;
pub mod fallback;
pub mod filter;
pub mod format;
pub mod framing;
mod gather;
pub mod json;
pub mod json_value;
pub mod layout;
pub mod matching;
pub mod message;
mod phrase;
pub mod report;
pub mod scalar;
pub mod show;
pub mod site;
pub mod snapshot;
pub mod specifier;
pub mod string;
pub mod text;
