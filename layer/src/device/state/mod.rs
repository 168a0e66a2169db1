//! Plain data: the layer's state of every Vulkan object that it tracks. `device_loss`, `report` and `intercept` act on it.

pub mod action;
mod binaries;
mod command_buffers;
mod completion_signals;
mod device;
mod edit_storage;
mod extensions;
mod fault_queue;
pub mod identifiers;
mod instance;
mod kept_objects;
mod loss;
pub mod markers;
mod module;
mod object_tables;
mod object_users;
mod objects;
mod pending_recordings;
mod queue;
mod queue_labels;
pub mod recording;
mod stores;
mod submit_counters;
#[cfg(test)]
pub mod testing;

pub use command_buffers::CommandBuffers;
pub use completion_signals::Signal;
pub use device::{AbortState, Device};
pub use edit_storage::{DeferredCreation, EditStorage};
pub use extensions::Extensions;
pub use fault_queue::MAX_FAULT_COUNT;
pub use instance::{Instance, Messenger, Opaque, PhysicalDevice};
pub use loss::{LossData, Phase};
pub use module::{Module, ModuleUse};
pub use object_users::Users;
pub use objects::Objects;
pub use pending_recordings::Suspects;
pub use queue::{Queue, QueueLocation, QueueWork};
pub use queue_labels::QueueLabels;
pub use recording::Recording;
pub use stores::Stores;
