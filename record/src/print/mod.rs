//! Prints: `NonSemantic.DebugPrintf` as records that do not end the invocation.
//!
//! [`layout`] is the memory that shaders write them to, [`PrintSite`](crate::site::PrintSite) a print of a module, and [`record`] reads
//! what a shader has written.

pub mod layout;
pub mod record;
mod text;
