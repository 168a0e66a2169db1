//! Prints: `NonSemantic.DebugPrintf` as records that do not end the invocation.
//!
//! [`layout`] is the memory that shaders write them to, [`PrintSite`](crate::site::PrintSite) a print of a module, [`record`] reads
//! what a shader has written, and [`PrintLine`](crate::report::PrintLine) is what people and programs see of it.

pub mod layout;
pub mod record;
mod text;
