//! Generates compute shaders whose invocations share memory.
//!
//! Between two barriers, each variable is used in one way: every invocation has elements of its own, all read, or all execute atomics.
//! An unsound program does so, too, but for some barriers that are left out, some accesses to other elements, and some invocations that
//! do not reach a barrier: the interpreter finds the consequences. Control flow depends on numbers of invocations only, so that a race
//! changes nothing but values.

mod accesses;
mod shared_memory;

use crate::choices::Choices;
use crate::module::Id;
use accesses::Usage;
use shared_memory::{SharedMemory, Writer};

/// How a program may be unsound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsound {
    /// It is sound.
    Never,
    /// Accesses may race.
    Races,
    /// Invocations may miss barriers.
    Barriers,
}

/// Elements that sequences of a program may contain.
struct Parts {
    unsound: Unsound,
    callees: Vec<Id>,
}

/// A compute shader, and the invocations of its workgroup. It stores a word for each to the buffer [`super::OUT`].
pub fn generate_workgroup(choices: &mut Choices, unsound: Unsound) -> (Vec<u32>, u32) {
    let invocations = choices.pick(&[2, 3, 4, 8]).unwrap_or(2);
    let mut writer = Writer::new(choices, invocations, SharedMemory::new);
    let mut parts = Parts {
        unsound,
        callees: Vec::new(),
    };
    for _ in 0..writer.choices.below(3) {
        writer.callee(&mut parts);
    }
    writer.entry_point(|writer| {
        writer.initialize();
        writer.sequence(&parts, 2);
    });
    (writer.builder.finish(), invocations)
}

impl Writer<'_> {
    /// A function that [`Writer::sequence`] may call. Barriers separate its accesses from those of the caller.
    fn callee(&mut self, parts: &mut Parts) {
        let function = self.begin_function();
        self.sequence(parts, 2);
        self.end_function();
        parts.callees.push(function);
    }

    /// Accesses and barriers; the last one is a barrier.
    fn sequence(&mut self, parts: &Parts, depth: u32) {
        for _ in 0..self.choices.between(1, 3) {
            match self.choices.below(6) {
                0 if depth > 0 => self.uniform_loop(parts, depth),
                1 if depth > 0 && parts.unsound == Unsound::Barriers => self.divergent(parts, depth),
                2 if !parts.callees.is_empty() => self.call(parts),
                _ => {
                    let usage = Usage::choose(self.choices, parts.unsound == Unsound::Races);
                    self.accesses(&usage, None);
                    self.barrier(parts);
                }
            }
        }
    }

    fn call(&mut self, parts: &Parts) {
        if let Some(callee) = self.choices.pick(&parts.callees) {
            self.call_function(callee);
        }
    }

    /// A loop that all invocations repeat as often. The number of the iteration moves the elements of each.
    fn uniform_loop(&mut self, parts: &Parts, depth: u32) {
        let count = self.choices.between(1, 3);
        let count = self.builder.constant(count);
        let open = self.open_loop(count);
        if self.choices.chance(50) {
            let usage = Usage::choose(self.choices, parts.unsound == Unsound::Races);
            self.accesses(&usage, Some(open.number));
            self.barrier(parts);
        }
        self.sequence(parts, depth - 1);
        self.close_loop(&open);
    }

    /// Barriers that some invocations may not reach, or not as often as others.
    fn divergent(&mut self, parts: &Parts, depth: u32) {
        match self.choices.below(3) {
            0 => {
                let condition = self.condition();
                let merge = self.open_selection(condition);
                self.return_early(merge);
            }
            1 => {
                let condition = self.condition();
                let merge = self.open_selection(condition);
                self.sequence(parts, depth - 1);
                self.close_selection(merge);
            }
            _ => {
                let count = self.number_below(3);
                let open = self.open_loop(count);
                self.sequence(parts, depth - 1);
                self.close_loop(&open);
            }
        }
    }

    /// A barrier, which an unsound program may leave out.
    fn barrier(&mut self, parts: &Parts) {
        if parts.unsound != Unsound::Races || !self.choices.chance(30) {
            self.write_barrier();
        }
    }
}
