//! The layer's state of a device.

pub mod state;

/// No module of the models looks at the clock of loops.
pub mod loop_clock {
    /// Stands for the clock.
    pub struct LoopClock;
}

/// No model tests addresses.
pub mod addresses {
    /// Stands for the buffers.
    pub struct Addresses;
}

/// No module of the models prints.
pub mod prints {
    /// Stands for the prints.
    pub struct Prints;
}
