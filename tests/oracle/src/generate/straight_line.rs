//! Straight-line code: arithmetic, memory and calls.

use super::body::Body;
use super::signature::{Parameter, Returns};
use super::table;
use crate::module::Id;
use crate::op::{self, decoration, storage_class as class};

impl Body<'_> {
    /// A `uint` in scope, or a constant.
    pub(super) fn any_uint(&mut self) -> Id {
        if self.choices.chance(75) {
            // Recent values come from the latest constructs and are more interesting.
            let recent = self.scope.uints.len().saturating_sub(6);
            let from = if self.choices.chance(60) { recent } else { 0 };
            if let Some(id) = self.choices.pick(&self.scope.uints[from..]) {
                return id;
            }
        }
        let value = match self.choices.below(4) {
            0 => self.choices.below(4),
            1 => self.choices.word(),
            _ => self.choices.below(1000),
        };
        self.constant(value)
    }

    /// A Boolean in scope, or a comparison.
    pub(super) fn any_bool(&mut self) -> Id {
        if self.choices.chance(30)
            && let Some(id) = self.choices.pick(&self.scope.bools)
        {
            return id;
        }
        let (bool, uint) = (self.bool(), self.uint());
        let mut a = self.any_uint();
        let mut b = self.any_uint();
        let comparisons = [
            op::ULessThan,
            op::IEqual,
            op::INotEqual,
            op::UGreaterThanEqual,
            op::SLessThan,
        ];
        let comparison = self.choices.pick(&comparisons).unwrap_or(op::ULessThan);
        if self.choices.chance(60) {
            // One bit, so that both results are likely.
            let one = self.constant(1);
            a = self.emit(op::BitwiseAnd, uint, &[a, one]);
            b = self.emit(op::BitwiseAnd, uint, &[b, one]);
        }
        let id = self.emit(comparison, bool, &[a, b]);
        self.scope.bools.push(id);
        id
    }

    pub(super) fn uvec4(&mut self) -> Id {
        if self.choices.chance(60)
            && let Some(id) = self.choices.pick(&self.scope.uvec4s)
        {
            return id;
        }
        let ty = self.type_of(Returns::Uvec4);
        let parts = [(); 4].map(|()| self.any_uint());
        let id = self.emit(op::CompositeConstruct, ty, &parts);
        self.scope.uvec4s.push(id);
        id
    }

    pub(super) fn pair(&mut self) -> Id {
        if self.choices.chance(60)
            && let Some(id) = self.choices.pick(&self.scope.pairs)
        {
            return id;
        }
        let uint = self.uint();
        let uvec2 = self.vector(uint, 2);
        let parts = [(); 2].map(|()| self.any_uint());
        let vector = self.emit(op::CompositeConstruct, uvec2, &parts);
        let (ty, first) = (self.globals.pair, self.any_uint());
        let id = self.emit(op::CompositeConstruct, ty, &[first, vector]);
        self.scope.pairs.push(id);
        id
    }

    /// Emits a statement without branches.
    pub(super) fn straight_line(&mut self) {
        match self.choices.below(10) {
            0..=3 => self.compute(),
            4 => self.access(),
            5 => self.result(),
            6 => self.count(),
            _ => self.call(),
        }
    }

    /// Emits up to `most` statements without branches.
    pub(super) fn straight_lines(&mut self, most: u32) {
        for _ in 0..self.choices.below(most + 1) {
            if self.can_afford(20) {
                self.straight_line();
            }
        }
    }

    fn compute(&mut self) {
        let uint = self.uint();
        let (a, b) = (self.any_uint(), self.any_uint());
        let kinds = if self.options.tables { 13 } else { 12 };
        if self.is_faulty() {
            let (opcode, by) = match self.choices.chance(50) {
                true => (op::UDiv, self.small(2)),
                false => (op::ShiftLeftLogical, self.small(6)),
            };
            let value = self.emit(opcode, uint, &[a, by]);
            self.scope.uints.push(value);
            return;
        }
        let value = match self.choices.below(kinds) {
            0..=3 => {
                let opcodes = [
                    op::IAdd,
                    op::ISub,
                    op::IMul,
                    op::BitwiseXor,
                    op::BitwiseAnd,
                    op::BitwiseOr,
                ];
                let opcode = self.choices.pick(&opcodes).unwrap_or(op::IAdd);
                self.emit(opcode, uint, &[a, b])
            }
            4 => {
                let by = self.constant_below(32);
                let opcodes = [op::ShiftLeftLogical, op::ShiftRightLogical, op::ShiftRightArithmetic];
                let opcode = self.choices.pick(&opcodes).unwrap_or(op::ShiftLeftLogical);
                self.emit(opcode, uint, &[a, by])
            }
            5 => {
                let by = self.choices.between(1, 9);
                let by = self.constant(by);
                let opcode = self.choices.pick(&[op::UDiv, op::UMod]).unwrap_or(op::UDiv);
                self.emit(opcode, uint, &[a, by])
            }
            6 => {
                let condition = self.any_bool();
                self.emit(op::Select, uint, &[condition, a, b])
            }
            7 => {
                let vector = self.uvec4();
                let component = self.choices.below(4);
                self.emit(op::CompositeExtract, uint, &[vector, component])
            }
            8 => {
                let pair = self.pair();
                let component = self.choices.below(2);
                self.emit(op::CompositeExtract, uint, &[pair, 1, component])
            }
            9 => {
                let (ty, x, y) = (self.type_of(Returns::Uvec4), self.uvec4(), self.uvec4());
                let sum = self.emit(op::IAdd, ty, &[x, y]);
                self.scope.uvec4s.push(sum);
                self.emit(op::CompositeExtract, uint, &[sum, 2])
            }
            10 if self.globals.poison => self.poison(a, b),
            12 if self.can_afford(table::COST) => self.table(),
            _ => {
                let float = self.float(32);
                let mask = self.constant(0xFFF);
                let low = self.emit(op::BitwiseAnd, uint, &[a, mask]);
                let x = self.emit(op::ConvertUToF, float, &[low]);
                let sum = self.emit(op::FAdd, float, &[x, x]);
                self.emit(op::ConvertFToU, uint, &[sum])
            }
        };
        self.scope.uints.push(value);
    }

    /// Whether the next division or shift may have any second operand.
    fn is_faulty(&mut self) -> bool {
        self.options.faulty > 0 && self.choices.chance(self.options.faulty)
    }

    /// A number of so many bits.
    fn small(&mut self, bits: u32) -> Id {
        let (uint, value) = (self.uint(), self.any_uint());
        let mask = self.constant((1 << bits) - 1);
        self.emit(op::BitwiseAnd, uint, &[value, mask])
    }

    /// An expression whose value does not depend on the frozen value of poison.
    fn poison(&mut self, a: Id, b: Id) -> Id {
        let (uint, bool) = (self.uint(), self.bool());
        let opcodes = [op::UDiv, op::UMod, op::SDiv, op::SRem, op::SMod];
        let poison = match self.choices.below(3) {
            0 => self.value(op::PoisonKHR, uint, &[]),
            1 => self.emit(op::PoisonKHR, uint, &[]),
            _ => {
                let opcode = self.choices.pick(&opcodes).unwrap_or(op::UDiv);
                self.emit(opcode, uint, &[a, b])
            }
        };
        let frozen = self.emit(op::FreezeKHR, uint, &[poison]);
        if self.choices.chance(50) {
            return self.emit(op::BitwiseXor, uint, &[frozen, frozen]);
        }
        let same = self.emit(op::IEqual, bool, &[frozen, frozen]);
        let sum = self.emit(op::IAdd, uint, &[a, b]);
        if self.choices.chance(50) {
            if self.minor < 4 {
                self.extension("SPV_KHR_no_integer_wrap_decoration");
            }
            self.decorate(sum, decoration::NoUnsignedWrap, &[]);
        }
        self.emit(op::Select, uint, &[same, a, b])
    }

    /// Emits a load or a store through a new or existing pointer.
    fn access(&mut self) {
        let uint = self.uint();
        if self.choices.chance(40)
            && let Some(array) = self.locals.first().copied()
        {
            let pointer = self.pointer(class::Function, uint);
            let (three, index) = (self.constant(3), self.any_uint());
            let index = self.emit(op::BitwiseAnd, uint, &[index, three]);
            let element = self.emit(op::AccessChain, pointer, &[array, index]);
            self.scope.pointers.push(element);
        }
        let Some(pointer) = self.choices.pick(&self.scope.pointers) else {
            return;
        };
        if self.choices.chance(50) {
            let value = self.any_uint();
            self.emit_void(op::Store, &[pointer, value]);
        } else {
            let value = self.emit(op::Load, uint, &[pointer]);
            self.scope.uints.push(value);
        }
    }

    /// Stores a result word.
    fn result(&mut self) {
        let pointer = self.result_pointer();
        let value = self.any_uint();
        self.emit_void(op::Store, &[pointer, value]);
        if self.choices.chance(20) {
            self.scope.pointers.push(pointer);
        }
    }

    /// Adds to a counter that all invocations share.
    fn count(&mut self) {
        let (class, scope, counters) = (self.globals.buffer_class, self.globals.scope, self.globals.counters);
        let uint = self.uint();
        let pointer = self.pointer(class, uint);
        let (zero, scope, index) = (self.constant(0), self.constant(scope), self.constant_below(8));
        let counter = self.emit(op::AccessChain, pointer, &[counters, zero, index]);
        let value = self.any_uint();
        let old = self.emit(op::AtomicIAdd, uint, &[counter, scope, zero, value]);
        if self.choices.chance(20) {
            self.scope.uints.push(old);
        }
    }

    /// Calls an existing function.
    pub(super) fn call(&mut self) {
        let callees = self.globals.callees.iter().enumerate();
        let affordable = callees.filter(|(_, callee)| self.can_afford(callee.cost));
        let affordable: Vec<usize> = affordable.map(|(index, _)| index).collect();
        let callee = self.choices.pick(&affordable);
        let Some(callee) = callee.and_then(|index| self.globals.callees.get(index).cloned()) else {
            return self.compute();
        };
        let ty = self.type_of(callee.returns);
        let mut operands = vec![callee.id];
        for parameter in &callee.parameters {
            let argument = match parameter {
                Parameter::Uint => self.any_uint(),
                Parameter::Uvec4 => self.uvec4(),
                Parameter::Local => {
                    let words = self.locals.get(1..).unwrap_or(&[]).to_vec();
                    self.choices.pick(&words).unwrap_or(0)
                }
                Parameter::Private => self.globals.shared,
            };
            operands.push(argument);
        }
        let result = self.emit(op::FunctionCall, ty, &operands);
        self.cost = self.cost.saturating_add(callee.cost.saturating_mul(self.times));
        match callee.returns {
            Returns::Void => {}
            Returns::Uint => self.scope.uints.push(result),
            Returns::Uvec4 => self.scope.uvec4s.push(result),
            Returns::Pair => self.scope.pairs.push(result),
        }
    }
}
