//! Plain data: the layer's state of the Vulkan objects that it tracks. It knows no feature.

mod binaries;
mod completion_signals;
mod edit_storage;
mod extensions;
mod fault_queue;
pub mod identifiers;
mod instance;
mod kept_objects;
mod loss;
mod module;
mod object_tables;
mod object_users;
mod objects;
mod queue;
mod queue_labels;
mod stores;
mod submit_counters;
mod submit_mark;
#[cfg(test)]
pub mod testing;

pub use completion_signals::{CompletionSignals, Signal};
pub use edit_storage::{DeferredCreation, EditStorage};
pub use extensions::Extensions;
pub use fault_queue::{FaultQueue, MAX_FAULT_COUNT};
pub use instance::{Instance, Messenger, Opaque, PhysicalDevice};
pub use kept_objects::KeptObjects;
pub use loss::{Loss, LossData, Phase};
pub use module::{Module, ModuleUse};
pub use object_users::Users;
pub use objects::Objects;
pub use queue::{FencePool, Queue, QueueLocation, QueueWork, create_fence};
pub use queue_labels::QueueLabels;
pub use stores::Stores;
pub use submit_mark::SubmitMark;
