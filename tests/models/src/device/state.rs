//! The layer's state of a device, without the parts that no model uses.

#[path = "../../../../layer/src/device/state/completion_signals.rs"]
mod completion_signals;
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

mod edit_storage {
    /// No model creates pipelines.
    pub struct DeferredCreation;
}

mod kept_objects {
    /// No model destroys objects.
    #[derive(Default)]
    pub struct KeptObjects;
}

pub(crate) mod identifiers {
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
pub use extensions::Extensions;
pub use instance::Instance;
pub use loss::{LossData, Phase};
pub use queue::{Queue, QueueWork};

pub(crate) use completion_signals::CompletionSignals;
pub(crate) use edit_storage::DeferredCreation;
pub(crate) use fault_queue::FaultQueue;
pub(crate) use kept_objects::KeptObjects;
pub(crate) use loss::Loss;
pub(crate) use objects::Objects;
pub(crate) use queue::{FencePool, create_fence};
