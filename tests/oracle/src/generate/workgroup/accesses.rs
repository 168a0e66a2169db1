//! Accesses to shared memory between two barriers.

use super::shared_memory::{SCALARS, WORKGROUP, Writer};
use crate::choices::Choices;
use crate::module::Id;
use crate::op;

/// Pattern of the invocations' accesses to the scalars of a variable.
#[derive(Clone, Copy, Debug)]
enum Use {
    /// Invocation `l` has the scalar `l * factor + first`, modulo their number.
    Own { factor: u32, first: u32 },
    /// All load any.
    Read,
    /// All execute atomics on any.
    Atomic,
    /// Anybody does anything.
    Any,
    /// All store one constant to one scalar.
    Clear { scalar: u32 },
}

/// Patterns of the invocations' accesses to the array of words and to that of vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage([Use; 2]);

impl Usage {
    pub(super) fn choose(choices: &mut Choices, may_race: bool) -> Self {
        Self([true, false].map(|has_atomics| {
            let own = Use::Own {
                factor: 2 * choices.below(SCALARS / 2) + 1,
                first: choices.below(SCALARS),
            };
            match choices.below(8) {
                0..4 => own,
                4 | 5 => Use::Read,
                6 if has_atomics && choices.chance(30) => Use::Atomic,
                7 if may_race => Use::Any,
                _ => Use::Clear {
                    scalar: choices.below(SCALARS),
                },
            }
        }))
    }
}

impl Writer<'_> {
    /// Some accesses, of which not all invocations may execute each.
    pub(super) fn accesses(&mut self, usage: &Usage, iteration: Option<Id>) {
        for _ in 0..self.choices.between(1, 4) {
            let guard = self.choices.chance(30).then(|| {
                let condition = self.condition();
                self.open_selection(condition)
            });
            for _ in 0..self.choices.between(1, 2) {
                let is_array = self.choices.chance(60);
                let [array, vectors] = usage.0;
                self.access(is_array, if is_array { array } else { vectors }, iteration);
            }
            if let Some(merge) = guard {
                self.close_selection(merge);
            }
        }
    }

    fn access(&mut self, is_array: bool, usage: Use, iteration: Option<Id>) {
        let any = |writer: &mut Self| {
            let (factor, first) = (writer.choices.below(SCALARS), writer.choices.below(SCALARS));
            writer.scalar_number(factor, first, iteration)
        };
        match usage {
            Use::Own { factor, first } => {
                let number = self.scalar_number(factor, first, iteration);
                match self.choices.chance(50) {
                    true => self.store(is_array, number),
                    false => self.load(is_array, number),
                }
            }
            Use::Read if !is_array && self.choices.chance(30) => {
                let number = any(self);
                self.load_vector(number);
            }
            Use::Read => {
                let number = any(self);
                self.load(is_array, number);
            }
            Use::Atomic => {
                let number = any(self);
                self.atomic(number);
            }
            Use::Any => {
                let number = any(self);
                match self.choices.chance(40) {
                    true => self.store(is_array, number),
                    false => self.load(is_array, number),
                }
            }
            Use::Clear { scalar } => {
                let number = self.builder.constant(scalar);
                let pointer = self.scalar_pointer(is_array, number);
                let zero = self.builder.constant(0);
                self.push(op::Store, &[pointer, zero]);
            }
        }
    }

    /// `(l * factor + first + iteration) % SCALARS`
    fn scalar_number(&mut self, factor: u32, first: u32, iteration: Option<Id>) -> Id {
        let invocation = self.invocation();
        let [factor, first, mask] = [factor, first, SCALARS - 1].map(|value| self.builder.constant(value));
        let scaled = self.word(op::IMul, &[invocation, factor]);
        let mut number = self.word(op::IAdd, &[scaled, first]);
        if let Some(iteration) = iteration {
            number = self.word(op::IAdd, &[number, iteration]);
        }
        self.word(op::BitwiseAnd, &[number, mask])
    }

    fn store(&mut self, is_array: bool, number: Id) {
        let pointer = self.scalar_pointer(is_array, number);
        let sum = self.sum();
        let invocation = self.invocation();
        let value = self.word(op::IAdd, &[sum, invocation]);
        self.push(op::Store, &[pointer, value]);
    }

    fn load(&mut self, is_array: bool, number: Id) {
        let pointer = self.scalar_pointer(is_array, number);
        let value = self.word(op::Load, &[pointer]);
        self.add(value);
    }

    fn load_vector(&mut self, number: Id) {
        let vector = self.builder.constant(2);
        let vector = self.word(op::ShiftRightLogical, &[number, vector]);
        let value = self.load_whole_vector(vector);
        let component = self.choices.below(4);
        let value = self.word(op::CompositeExtract, &[value, component]);
        self.add(value);
    }

    fn atomic(&mut self, number: Id) {
        let pointer = self.scalar_pointer(true, number);
        let [workgroup, relaxed, one] = [WORKGROUP, 0, 1].map(|value| self.builder.constant(value));
        let before = self.word(op::AtomicIAdd, &[pointer, workgroup, relaxed, one]);
        // Its value depends on the order of the invocations.
        let zero = self.word(op::ISub, &[before, before]);
        self.add(zero);
    }
}
