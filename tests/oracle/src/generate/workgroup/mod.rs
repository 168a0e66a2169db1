//! Generates compute shaders whose invocations share memory.
//!
//! Between two barriers, each variable is used in one way: every invocation has elements of its own, all read, or all execute atomics.
//! An unsound program does so, too, but for some barriers that are left out, some accesses to other elements, and some invocations that
//! do not reach a barrier: the interpreter knows what comes of it. Control flow depends on numbers of invocations only, so that a race
//! changes nothing but values.

mod accesses;
mod writer;

use crate::choices::Choices;
use accesses::Usage;
use writer::Writer;

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

/// A compute shader, and the invocations of its workgroup. It stores a word for each to the buffer [`super::OUT`].
pub fn generate_workgroup(choices: &mut Choices, unsound: Unsound) -> (Vec<u32>, u32) {
    let invocations = choices.pick(&[2, 3, 4, 8]).unwrap_or(2);
    let mut writer = Writer::new(choices, unsound, invocations);
    for _ in 0..writer.choices.below(3) {
        writer.callee();
    }
    writer.entry_point();
    (writer.builder.finish(), invocations)
}

impl Writer<'_> {
    /// A function that [`Writer::sequence`] may call. Barriers separate what it does from what the caller does.
    fn callee(&mut self) {
        let function = self.begin_function();
        self.sequence(2);
        self.end_function();
        self.callees.push(function);
    }

    /// Accesses and barriers; the last one is a barrier.
    fn sequence(&mut self, depth: u32) {
        for _ in 0..self.choices.between(1, 3) {
            match self.choices.below(6) {
                0 if depth > 0 => self.uniform_loop(depth),
                1 if depth > 0 && self.unsound == Unsound::Barriers => self.divergent(depth),
                2 if !self.callees.is_empty() => self.call(),
                _ => {
                    let usage = Usage::choose(self.choices, self.unsound == Unsound::Races);
                    self.accesses(&usage, None);
                    self.barrier();
                }
            }
        }
    }

    fn call(&mut self) {
        if let Some(callee) = self.choices.pick(&self.callees) {
            self.call_function(callee);
        }
    }

    /// A loop that all invocations repeat as often. The number of the iteration moves the elements of each.
    fn uniform_loop(&mut self, depth: u32) {
        let count = self.choices.between(1, 3);
        let count = self.builder.constant(count);
        let open = self.open_loop(count);
        if self.choices.chance(50) {
            let usage = Usage::choose(self.choices, self.unsound == Unsound::Races);
            self.accesses(&usage, Some(open.number));
            self.barrier();
        }
        self.sequence(depth - 1);
        self.close_loop(&open);
    }

    /// Barriers that some invocations may not reach, or not as often as others.
    fn divergent(&mut self, depth: u32) {
        match self.choices.below(3) {
            0 => {
                let condition = self.condition();
                let merge = self.open_selection(condition);
                self.return_early(merge);
            }
            1 => {
                let condition = self.condition();
                let merge = self.open_selection(condition);
                self.sequence(depth - 1);
                self.close_selection(merge);
            }
            _ => {
                let count = self.number_below(3);
                let open = self.open_loop(count);
                self.sequence(depth - 1);
                self.close_loop(&open);
            }
        }
    }

    /// A barrier, which an unsound program may leave out.
    fn barrier(&mut self) {
        if self.unsound != Unsound::Races || !self.choices.chance(15) {
            self.write_barrier();
        }
    }
}
