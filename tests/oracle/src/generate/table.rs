//! Constant data outside messages: tables that the rewriter reads from memory, keeps as constants, or copies to variables.

use super::body::Body;
use crate::module::Id;
use crate::op::{self, storage_class as class};

/// Number of steps that a copy of the largest table takes in a rewrite, in instructions of the generator's budget.
pub(super) const COST: u32 = 100;

impl Body<'_> {
    /// An element of a new table, as a `uint`.
    pub(super) fn table(&mut self) -> Id {
        let widths: &[u32] = if self.options.widths { &[8, 16, 32, 64] } else { &[32] };
        let bits = self.choices.pick(widths).unwrap_or(32);
        // On both sides of the limit above which the rewriter prefers memory, 32 words.
        let words = self.choices.pick(&[1, 8, 33, 50]).unwrap_or(8);
        let count = (words * 32 / bits).max(2) - self.choices.below(2).min(words - 1);
        let (element, uint) = (self.int(bits, false), self.uint());
        let ty = self.array(element, count);
        let data: Vec<u32> = (0..(bits / 8 * count).div_ceil(4))
            .map(|_| self.choices.word())
            .collect();
        let table = self.new_value(op::ConstantDataKHR, ty, &data);
        self.cost = self.cost.saturating_add(COST.saturating_mul(self.times));
        let value = match self.choices.below(4) {
            0 => {
                let number = self.choices.below(count);
                self.emit(op::CompositeExtract, element, &[table, number])
            }
            form => {
                let (to_table, to_element) = (
                    self.pointer(class::Function, ty),
                    self.pointer(class::Function, element),
                );
                let variable = if form == 1 {
                    let variable = self.variable(ty);
                    self.emit_void(op::Store, &[variable, table]);
                    variable
                } else {
                    let variable = self.fresh();
                    self.variables.push([to_table, variable, table]);
                    variable
                };
                if form == 3 {
                    let (number, other) = (self.constant_below(count), self.choices.below(count));
                    let other = self.emit(op::CompositeExtract, element, &[table, other]);
                    let written = self.emit(op::AccessChain, to_element, &[variable, number]);
                    self.emit_void(op::Store, &[written, other]);
                }
                let (index, count) = (self.any_uint(), self.constant(count));
                let index = self.emit(op::UMod, uint, &[index, count]);
                let pointer = self.emit(op::AccessChain, to_element, &[variable, index]);
                self.emit(op::Load, element, &[pointer])
            }
        };
        match bits {
            32 => value,
            _ => self.emit(op::UConvert, uint, &[value]),
        }
    }
}
