//! Stands for the features of the layer, of which no model uses one.

/// No model tests addresses.
pub mod addresses {
    /// Stands for the buffers.
    pub struct Addresses;
}

/// No module of the models reads the clock of loops.
pub mod loop_clock {
    /// Stands for the clock.
    pub struct LoopClock;
}

/// No module of the models prints.
pub mod prints {
    /// Stands for the prints.
    pub struct Prints;
}

/// No model records commands.
pub mod recordings {
    use crate::device::state::Queue;
    use crate::sync::Arc;
    use vkabort_report::QueueUse;

    /// Stands for a recording.
    pub struct Recording;

    /// Stands for the command buffers.
    pub struct CommandBuffers;

    impl CommandBuffers {
        /// See `layer/src/device/features/recordings/submission.rs`.
        pub fn pending_on(&self, _: &Queue) -> Vec<Arc<Recording>> {
            Vec::new()
        }
    }

    /// See `layer/src/device/features/recordings/pending_recordings.rs`.
    pub struct Suspects {
        /// Its queues.
        pub queues: Vec<QueueUse>,
        /// No model records commands.
        pub recordings: Vec<Arc<Recording>>,
    }
}

/// No module of the models has shadows.
pub mod shadow {
    /// Stands for the shadow area.
    pub struct Shadow;
}
