//! Makes valid modules that abort: every shape of control flow, every kind of message, several entry points.
//!
//! Programs end, have no undefined behaviour, and do the same every time. Every abort, and every call that may abort, asks
//! the function `due` first: it counts, and says yes when the count reaches the word that the host stored for the
//! invocation. So the host picks the very moment at which an invocation aborts, in any iteration of any loop.

mod body;
mod builder;
mod loops;
mod message;
mod message_value;
mod selection;
mod straight;
mod world;

use crate::choices::Choices;
use crate::module::Id;
use body::{Body, Kind};
use world::World;

pub use world::{CONTROL, COUNTERS, DATA, DATA_BYTES, OUT, OUT_WORDS, SPEC_LENGTH, SPEC_LENGTH_ID};

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Aborts with messages of every kind. Without, the module only has the function to plant aborts with.
    pub aborts: bool,
    /// Roughly how many statements each function has.
    pub size: u32,
    /// Scalars of 8, 16 and 64 bits in messages.
    pub widths: bool,
    /// Floats of 8 bits and bfloat16 in messages, which few drivers have.
    pub encodings: bool,
    /// Messages without a member. Mesa refuses to build such a value.
    pub empty: bool,
    /// Invocations of a workgroup. More than one at a time write to the same words.
    pub workgroup: u32,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            aborts: true,
            size: 5,
            widths: true,
            encodings: true,
            empty: true,
            workgroup: 4,
        }
    }
}

/// A generated module.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Its words.
    pub words: Vec<u32>,
    /// `bool due()`: whether the running invocation is to abort now.
    pub due: Id,
    /// The variable that counts how often `due` was asked.
    pub ticks: Id,
    /// SPIR-V version: minor number of 1.x.
    pub minor: u32,
}

/// Makes a module.
pub fn generate(choices: &mut Choices, wish: Wish) -> Generated {
    let mut world = World::new(choices);
    let (due, ticks) = (world.due, world.ticks);
    let functions = choices.between(1, 4);
    for _ in 0..functions {
        let kind = Kind::callee(&mut world, choices);
        let budget = choices.between(60, 300);
        Body::function(&mut world, choices, wish, kind, budget);
    }
    for number in 0..choices.between(1, 3) {
        let entry = world.entry_point(choices, number, wish.workgroup);
        Body::function(&mut world, choices, wish, entry, 2500);
    }
    if choices.chance(20) {
        // A function that nothing calls.
        let kind = Kind::callee(&mut world, choices);
        Body::function(&mut world, choices, wish, kind, 100);
    }
    Generated {
        due,
        ticks,
        minor: world.builder.minor,
        words: world.builder.finish(),
    }
}
