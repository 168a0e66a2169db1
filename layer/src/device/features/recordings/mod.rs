//! The commands that command buffers record (`commands = on`), for reports.

pub mod action;
mod command_buffers;
mod pending_recordings;
pub mod recording;
mod retire;
mod submission;
#[cfg(test)]
mod tests;

pub use command_buffers::CommandBuffers;
pub use pending_recordings::Suspects;
pub use recording::Recording;
