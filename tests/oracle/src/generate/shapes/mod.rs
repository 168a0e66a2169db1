//! Generates compute shaders of the shapes that compilers and authors write, but small tests do not have: straight code with many accesses,
//! many accesses through one address, values that leave divergent loops, and pointers to shared arrays in callees.
//!
//! The programs are sound: no access races, none is out of bounds, and each element is stored before it is loaded. Between two barriers,
//! each shared array is used in one way: every invocation has elements of its own, or all load any. A third array holds divisors, from 1
//! to 16, which no analysis can know to be valid as divisors, shifts or indices.

mod callees;
mod divergent_loops;
mod inputs;
mod one_address;
mod shared_arrays;
mod straight;

use crate::choices::Choices;
pub use inputs::ShapeInputs;
use shared_arrays::SharedArrays;

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

/// Fewest and most accesses of straight code.
const ACCESSES: (u32, u32) = (12, 80);

/// A compute shader of a shape, and the invocations of its one workgroup. It needs [`ShapeInputs`], and stores a word for each invocation
/// to the buffer [`super::OUT`], and some behind these.
pub fn generate_shape(choices: &mut Choices, shape: Shape) -> (Vec<u32>, u32) {
    let invocations = choices.pick(&[4, 8, 32]).unwrap_or(4);
    let mut writer = shared_arrays::Writer::new(choices, invocations, |builder| SharedArrays::new(builder, shape));
    match shape {
        Shape::Straight => writer.straight(),
        Shape::OneAddress => writer.one_address(),
        Shape::DivergentLoops => writer.divergent_loops(),
        Shape::Callees | Shape::ReturnedPointers => writer.callees(shape == Shape::ReturnedPointers),
    }
    (writer.builder.finish(), invocations)
}
