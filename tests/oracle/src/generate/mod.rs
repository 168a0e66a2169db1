//! Generates valid modules that abort: all shapes of control flow, all kinds of messages, several entry points.
//!
//! Programs terminate, have no undefined behaviour and are deterministic. Every abort, and every call that may abort, first
//! calls the function `due`. It counts its calls and returns true when the count reaches the word that the host stored for
//! the invocation. This lets the host choose the exact moment of each abort, in any iteration of any loop.

mod addresses;
mod body;
mod compute_writer;
mod data_buffer;
mod element;
mod globals;
mod loops;
mod message;
mod message_value;
mod options;
mod scalar;
mod selection;
mod shapes;
mod signature;
mod straight_line;
mod table;
mod variables;
mod workgroup;

use crate::choices::Choices;
use crate::module::Id;
use body::Body;
use globals::Globals;
use signature::Kind;

pub use addresses::{ADDRESSES, NEXT_OFFSET, NODE_BYTES, generate_addresses};
pub use element::{Elements, generate_element};
pub use globals::{
    CONTROL, COUNTERS, DATA, DATA_BYTES, FAULTS, FAULTS_WORDS, OUT, OUT_WORDS, SPEC_LENGTH, SPEC_LENGTH_ID,
};
pub use options::GeneratorOptions;
pub use shapes::{Shape, ShapeInputs, generate_shape};
pub use workgroup::{Unsound, generate_workgroup};

/// A generated module.
#[derive(Clone, Debug)]
pub struct Generated {
    /// SPIR-V of the module.
    pub words: Vec<u32>,
    /// `bool due()`: whether the invocation must abort now.
    pub due: Id,
    /// Variable that counts the calls of `due`.
    pub ticks: Id,
}

/// Generates a module.
pub fn generate(choices: &mut Choices, options: GeneratorOptions) -> Generated {
    let mut globals = Globals::new(choices);
    let (due, ticks) = (globals.due, globals.ticks);
    let functions = choices.between(1, 4);
    for _ in 0..functions {
        let kind = Kind::callee(choices);
        let budget = choices.between(60, 300);
        Body::function(&mut globals, choices, options, kind, budget);
    }
    for number in 0..choices.between(1, 3) {
        let entry = globals.entry_point(choices, number, options.workgroup);
        Body::function(&mut globals, choices, options, entry, 2500);
    }
    if choices.chance(20) {
        // An uncalled function.
        let kind = Kind::callee(choices);
        Body::function(&mut globals, choices, options, kind, 100);
    }
    Generated {
        due,
        ticks,
        words: globals.builder.finish(),
    }
}
