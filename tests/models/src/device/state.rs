//! The layer's state of a device, without the parts that no model uses.

#[path = "../../../../layer/src/device/state/completion_signals.rs"]
mod completion_signals;
#[path = "../../../../layer/src/device/state/device.rs"]
mod device;
#[path = "../../../../layer/src/device/state/extensions.rs"]
mod extensions;
#[path = "../../../../layer/src/device/state/fault_queue.rs"]
mod fault_queue;
#[path = "../../../../layer/src/device/state/loss.rs"]
mod loss;
#[path = "../../../../layer/src/device/state/queue.rs"]
mod queue;
#[path = "../../../../layer/src/device/state/queue_labels.rs"]
mod queue_labels;
#[path = "../../../../layer/src/device/state/submit_counters.rs"]
mod submit_counters;

mod command_buffers {
    /// No model records commands.
    pub struct CommandBuffers;
}

mod markers {
    /// No model records commands.
    pub struct Markers;
}

mod recording {
    /// No model records commands.
    pub struct Recording;
}

mod pending_recordings {
    use super::Recording;
    use crate::sync::Arc;

    use vkabort_report::QueueUse;

    /// See `layer/src/device/state/pending_recordings.rs`.
    pub struct Suspects {
        /// Its queues.
        pub queues: Vec<QueueUse>,
        /// No model records commands.
        pub recordings: Vec<Arc<Recording>>,
    }

    /// No model records commands.
    #[derive(Default)]
    pub struct PendingRecordings;

    impl PendingRecordings {
        pub fn after(&self, _: u64) -> Vec<Arc<Recording>> {
            Vec::new()
        }
    }
}

mod edit_storage {
    /// No model creates pipelines.
    pub struct DeferredCreation;
}

mod kept_objects {
    /// No model destroys objects.
    #[derive(Default)]
    pub struct KeptObjects;
}

mod identifiers {
    /// No model creates modules.
    #[derive(Default)]
    pub struct Identifiers;
}

mod objects {
    use ash::vk;

    /// No model names objects or creates modules.
    #[derive(Default)]
    pub struct Objects;

    impl Objects {
        pub fn name(&self, _: vk::ObjectType, _: u64) -> Option<String> {
            None
        }

        pub fn destroyed(&self) -> usize {
            0
        }

        pub fn forget_destroyed(&self, _: usize) {}

        pub fn find_sites(&self, _: ()) {}
    }
}

mod instance {
    use crate::report::Delivery;
    use crate::settings::Settings;
    use std::sync::Mutex;

    /// An instance, with the reports that its devices delivered.
    pub struct Instance {
        /// Its settings.
        pub settings: Settings,
        /// The reports. Not a primitive of loom, so that it orders no accesses.
        pub deliveries: Mutex<Vec<Delivery>>,
    }
}

pub use completion_signals::Signal;
pub use device::{AbortState, Device};
pub use extensions::Extensions;
pub use instance::Instance;
pub use loss::{LossData, Phase};
pub use pending_recordings::Suspects;
pub use queue::{Queue, QueueWork};
pub use recording::Recording;
