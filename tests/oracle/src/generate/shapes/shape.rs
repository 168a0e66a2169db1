//! The shapes of code.

/// A shape of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Straight code with 12 to 80 accesses to shared memory and to storage buffers.
    Straight,
    /// 12 to 80 accesses through one address of a buffer.
    OneAddress,
    /// Values that leave loops which invocations leave at different times, by phis and by variables.
    DivergentLoops,
    /// Functions that access shared arrays through their parameters, and copies of whole arrays.
    Callees,
    /// Functions that return pointers to shared arrays (`VariablePointers`).
    ReturnedPointers,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 5] = [
        Self::Straight,
        Self::OneAddress,
        Self::DivergentLoops,
        Self::Callees,
        Self::ReturnedPointers,
    ];
}
