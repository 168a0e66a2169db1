//! Loops that invocations leave at different times, and the values that leave them.

use super::shared_arrays::{Use, Writer};
use crate::module::Id;
use crate::op;
use crate::words::push;

/// How a value leaves a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// By a phi behind the loop.
    Phi,
    /// By a variable that is stored in each iteration.
    Variable,
}

/// Variables of the function: one for each depth of loops.
type Locals = [Id; 3];

impl Writer<'_> {
    pub(super) fn divergent_loops(&mut self) {
        let uint = self.builder.uint();
        self.entry_point(|writer| {
            let locals = [(); 3].map(|()| writer.local(uint));
            writer.initialize(Self::store_element);
            for _ in 0..writer.choices.between(1, 3) {
                let uses = [writer.choose_use(), Use::Read];
                let value = writer.divergent_loop(locals, uses, 2);
                writer.use_value(value, uses);
                writer.barrier();
            }
        });
    }

    /// A loop, and the value that leaves it. `depth`: how many more may be in one another.
    fn divergent_loop(&mut self, locals: Locals, uses: [Use; 2], depth: u32) -> Id {
        let exit = match self.choices.chance(50) {
            true => Exit::Phi,
            false => Exit::Variable,
        };
        let local = locals.get(depth as usize).copied().unwrap_or_default();
        let invocation = self.invocation();
        let (factor, first, most) = (
            self.choices.between(1, 3),
            self.choices.below(4),
            self.choices.between(2, 6),
        );
        let scaled = self.with_constant(op::IMul, invocation, factor);
        let moved = self.with_constant(op::IAdd, scaled, first);
        let trips = self.with_constant(op::UMod, moved, most);
        let sum = self.sum();
        self.push(op::Store, &[local, sum]);
        let [header, next, merge, number, following, value, changed] = [(); 7].map(|()| self.builder.fresh());
        let (uint, zero, before) = (self.builder.uint(), self.number(0), self.block);
        let is_tested_first = self.choices.chance(50);
        self.push(op::Branch, &[header]);
        self.label(header);
        self.push(op::Phi, &[uint, number, zero, before, following, next]);
        self.push(op::Phi, &[uint, value, sum, before, changed, next]);
        self.push(op::LoopMerge, &[merge, next, 0]);
        let [inside, body] = [(); 2].map(|()| self.builder.fresh());
        self.push(op::Branch, &[inside]);
        self.label(inside);
        // Edges to the merge block, with the value on each.
        let mut exits = Vec::new();
        if is_tested_first {
            let is_inside = self.with_bound(number, most + 2);
            self.push(op::BranchConditional, &[is_inside, body, merge]);
            exits.extend([value, self.block]);
            self.label(body);
        }
        let term = self.iteration(locals, uses, (number, value), depth);
        self.push(op::IAdd, &[uint, changed, term, value]);
        if exit == Exit::Variable {
            self.push(op::Store, &[local, changed]);
        }
        let is_last = self.compare(op::UGreaterThanEqual, number, trips);
        if is_tested_first {
            // A break.
            let [leave, stay] = [(); 2].map(|()| self.builder.fresh());
            self.push(op::SelectionMerge, &[stay, 0]);
            self.push(op::BranchConditional, &[is_last, leave, stay]);
            self.label(leave);
            self.push(op::Branch, &[merge]);
            exits.extend([changed, leave]);
            self.label(stay);
            self.push(op::Branch, &[next]);
            self.label(next);
        } else {
            // The condition of a do-while.
            self.push(op::Branch, &[next]);
            self.label(next);
            exits.extend([changed, next]);
        }
        let one = self.number(1);
        self.push(op::IAdd, &[uint, following, number, one]);
        match is_tested_first {
            true => self.push(op::Branch, &[header]),
            false => self.push(op::BranchConditional, &[is_last, merge, header]),
        }
        self.label(merge);
        match exit {
            Exit::Phi => self.word(op::Phi, &exits),
            Exit::Variable => self.word(op::Load, &[local]),
        }
    }

    fn with_bound(&mut self, number: Id, bound: u32) -> Id {
        let bound = self.number(bound);
        self.compare(op::ULessThan, number, bound)
    }

    /// Writes an iteration, which computes a value from its number and the value so far.
    fn iteration(&mut self, locals: Locals, uses: [Use; 2], (number, value): (Id, Id), depth: u32) -> Id {
        let moved = self.word(op::IAdd, &[number, value]);
        match self.choices.below(if depth == 0 { 6 } else { 8 }) {
            0 => {
                let divisor = self.divisor(moved);
                let opcode = self.choices.pick(&[op::UDiv, op::UMod]).unwrap_or(op::UDiv);
                self.word(opcode, &[value, divisor])
            }
            1 => {
                let shift = self.divisor(moved);
                self.word(op::ShiftLeftLogical, &[value, shift])
            }
            2 => {
                let index = self.divisor(moved);
                self.load_element(self.memory.arrays[1], index)
            }
            3 => {
                let (place, is_own) = self.place(uses[0], moved);
                let loaded = self.load_element(self.memory.arrays[0], place);
                if is_own {
                    self.store_element(self.memory.arrays[0], place, moved);
                }
                loaded
            }
            4 => self.load_data(moved),
            5 => self.switch(moved),
            _ => self.divergent_loop(locals, uses, depth - 1),
        }
    }

    /// A switch, whose cases do not compute the same.
    fn switch(&mut self, value: Id) -> Id {
        let selector = self.with_constant(op::UMod, value, 3);
        let [merge, first, second, other] = [(); 4].map(|()| self.builder.fresh());
        self.push(op::SelectionMerge, &[merge, 0]);
        push(
            &mut self.builder.functions,
            op::Switch,
            &[selector, other, 0, first, 1, second],
        );
        let mut results = Vec::new();
        for (number, label) in (0..).zip([first, second, other]) {
            self.label(label);
            let result = match number {
                0 => {
                    let divisor = self.divisor(value);
                    self.word(op::UDiv, &[value, divisor])
                }
                1 => self.with_constant(op::BitwiseXor, value, 0x55),
                _ => self.load_data(value),
            };
            results.extend([result, label]);
            self.push(op::Branch, &[merge]);
        }
        self.label(merge);
        self.word(op::Phi, &results)
    }

    /// Uses a value behind its loop.
    fn use_value(&mut self, value: Id, uses: [Use; 2]) {
        for _ in 0..self.choices.between(1, 3) {
            match self.choices.below(5) {
                0 => {
                    let divisor = self.with_constant(op::BitwiseOr, value, 1);
                    let thousand = self.number(100_000);
                    let quotient = self.word(op::UDiv, &[thousand, divisor]);
                    self.add(quotient);
                }
                1 => {
                    let shift = self.with_constant(op::BitwiseAnd, value, 31);
                    let five = self.number(5);
                    let shifted = self.word(op::ShiftLeftLogical, &[five, shift]);
                    self.add(shifted);
                }
                2 => {
                    let number = self.with_constant(op::BitwiseAnd, value, 31);
                    let loaded = self.load_element(self.memory.arrays[1], number);
                    self.add(loaded);
                }
                3 => {
                    let (place, is_own) = self.place(uses[0], value);
                    match is_own {
                        true => self.store_element(self.memory.arrays[0], place, value),
                        false => {
                            let loaded = self.load_element(self.memory.arrays[0], place);
                            self.add(loaded);
                        }
                    }
                }
                _ => {
                    let word = self.own_word();
                    self.push(op::Store, &[word, value]);
                }
            }
        }
        self.add(value);
    }
}
