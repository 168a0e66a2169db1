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
mod shape;
mod shared_arrays;
mod straight;

use crate::choices::Choices;
pub use inputs::ShapeInputs;
pub use shape::Shape;
use shared_arrays::SharedArrays;

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
