//! Values that change by a constant in each iteration of a loop: a phi of its header, of values or of memory, that takes a constant
//! where the loop is entered, and itself with a constant added where it is repeated, or shifted or divided by a constant.

use super::constants::Constants;
use super::progression::Progression;
use super::shifting::{Shifting, is_shift};
use crate::loop_nest::Loop;
use crate::view::{FunctionView, ObjectClass, Origin};
use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::constant::wrapped;
use vkabort_spirv::index::typed::{BlockIndex, DefIndex};
use vkabort_spirv::{Id, Inst, op};

/// A phi of the header of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phi {
    Value(Id),
    Memory(DefIndex),
}

/// Value that a phi takes from the back edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Itself.
    Same,
    Value(Id),
}

/// A phi and its addend.
#[derive(Clone, Copy)]
struct Sum {
    phi: Phi,
    added: u64,
}

/// The inductions of a loop.
pub(super) struct Inductions<'v, 'a, 'w> {
    pub(super) view: &'v FunctionView<'a, 'w>,
    constants: &'v Constants<'v>,
    header: BlockIndex,
    back: BlockIndex,
    /// Values that were followed.
    sums: HashMap<Id, Option<Sum>>,
}

impl<'v, 'a, 'w> Inductions<'v, 'a, 'w> {
    /// `back`: the block with the only back edge.
    pub(super) fn new(
        view: &'v FunctionView<'a, 'w>,
        constants: &'v Constants<'v>,
        l: &Loop,
        back: BlockIndex,
    ) -> Self {
        Self {
            view,
            constants,
            header: l.header,
            back,
            sums: HashMap::default(),
        }
    }

    /// How a value changes over the iterations of the loop. Amortised O(1) for each instruction between it and the phi.
    pub(super) fn of(&mut self, value: Id) -> Option<Progression> {
        let bits = self.bits(value)?;
        let Sum { phi, added } = self.sum(value)?;
        let (first, next) = self.operands(phi)?;
        let step = match next {
            Next::Same => 0,
            Next::Value(value) => self.sum(value).filter(|sum| sum.phi == phi)?.added,
        };
        Some(Progression {
            first: first.map(|first| wrapped(first.wrapping_add(added), bits)),
            step: wrapped(step, bits),
            bits,
        })
    }

    /// As [`Self::of`], for a value that is shifted or divided by a constant in each iteration.
    pub(super) fn shifted(&mut self, value: Id) -> Option<Shifting> {
        let bits = self.bits(value)?;
        let (phi, is_behind) = match self.sum(value) {
            Some(Sum { phi, added: 0 }) => (phi, false),
            Some(_) => return None,
            None => (self.shift(value)?.0, true),
        };
        let (first, Next::Value(next)) = self.operands(phi)? else {
            return None;
        };
        let (of, opcode, by) = self.shift(next)?;
        (of == phi).then_some(Shifting {
            first: first.map(|first| wrapped(first, bits)),
            is_behind,
            opcode,
            by,
            bits,
        })
    }

    /// The phi that an instruction shifts or divides, its opcode, and by how much.
    fn shift(&mut self, value: Id) -> Option<(Phi, u16, u64)> {
        let (mut at, mut before) = (value, usize::MAX);
        let inst = loop {
            let inst = self.view.index.def(at).filter(|inst| inst.offset < before)?;
            match self.copied(&inst) {
                Some(source) => (at, before) = (source, inst.offset),
                None => break inst,
            }
        };
        let by = Some(inst.opcode()).filter(|opcode| is_shift(*opcode) && inst.words.len() == 5);
        let by = by.and_then(|_| self.constant(inst.id(4)))?;
        match self.sum(inst.id(3))? {
            Sum { phi, added: 0 } => Some((phi, inst.opcode(), by)),
            Sum { .. } => None,
        }
    }

    /// The constant that a phi takes at loop entry, if it is one, and the value that it takes from the back edge.
    fn operands(&self, phi: Phi) -> Option<(Option<u64>, Next)> {
        let (mut first, mut next) = (Same::default(), Same::default());
        match phi {
            Phi::Value(id) => {
                let label = self.view.index.blocks.get(self.back)?.label;
                let phi = self.view.index.def(id)?;
                for (operand, from) in phi.phi_pairs() {
                    match from == label {
                        true => next.add(Some(Next::Value(operand))),
                        false => first.add(self.initial(operand)),
                    }
                }
            }
            Phi::Memory(number) => {
                let phi = self.view.memory.definitions.get(number)?;
                for (from, operand) in &phi.operands {
                    let stored = self.stored(*operand);
                    match *from == self.back {
                        true if *operand == number => next.add(Some(Next::Same)),
                        true => next.add(stored.map(Next::Value)),
                        false => first.add(stored.and_then(|stored| self.initial(stored))),
                    }
                }
            }
        }
        Some((first.value(), next.value()?))
    }

    pub(super) fn constant(&self, id: Id) -> Option<u64> {
        self.constants.value(self.view.index, id)
    }

    /// The constant that a value is where the loop is entered, through loads of variables that hold it.
    fn initial(&self, value: Id) -> Option<u64> {
        let (mut at, mut before) = (value, usize::MAX);
        loop {
            if let Some(constant) = self.constant(at) {
                return Some(constant);
            }
            // Without a phi between, a value is defined before what it is stored by.
            let inst = self.view.index.def(at).filter(|inst| inst.offset < before)?;
            (at, before) = (self.copied(&inst)?, inst.offset);
        }
    }

    fn bits(&self, value: Id) -> Option<u32> {
        let index = self.view.index;
        let ty = index.def(index.type_of(value))?;
        (ty.opcode() == op::TypeInt && (1..=64).contains(&ty.width())).then(|| ty.width())
    }

    /// The value that an instruction returns as it is.
    fn copied(&self, inst: &Inst<'_>) -> Option<Id> {
        match inst.opcode() {
            op::Load => self.stored(self.read(inst.result())?),
            op::CopyObject => Some(inst.first_operand()),
            op::Bitcast => Some(inst.first_operand())
                .filter(|source| self.bits(*source).is_some() && self.bits(*source) == self.bits(inst.result())),
            _ => None,
        }
    }

    /// The definition that a load reads, if it reads all of one cell that no other invocation writes.
    fn read(&self, load: Id) -> Option<DefIndex> {
        let view = self.view;
        let number = view.whole_of_load(load)?;
        let is_shared = matches!(view.object(number)?.class, ObjectClass::Workgroup | ObjectClass::Output);
        (!is_shared).then_some(number)
    }

    /// The phi of the header that an instruction returns.
    fn phi(&self, inst: &Inst<'_>) -> Option<Phi> {
        match inst.opcode() {
            op::Phi => {
                let is_in_header = self.view.block_at(inst.offset) == Some(self.header);
                is_in_header.then_some(Phi::Value(inst.result()))
            }
            op::Load => {
                let number = self.read(inst.result())?;
                let found = self.view.memory.definitions.get(number)?;
                (found.origin == Origin::Phi && found.block == self.header).then_some(Phi::Memory(number))
            }
            _ => None,
        }
    }

    /// The value that a definition gives all of its cell.
    fn stored(&self, number: DefIndex) -> Option<Id> {
        let view = self.view;
        let cell = view.cells.all.get(view.memory.definitions.get(number)?.cell)?;
        let initial = || view.initial_value(number).filter(|_| cell.path.is_empty());
        view.stored_value(number).or_else(initial)
    }

    /// The value that `inst` adds to, and the addend.
    fn addition(&self, inst: &Inst<'_>) -> Option<(Id, u64)> {
        if let Some(source) = self.copied(inst) {
            return Some((source, 0));
        }
        let (left, right) = (inst.id(3), inst.id(4));
        match (inst.opcode(), self.constant(left), self.constant(right)) {
            (op::IAdd, None, Some(step)) => Some((left, step)),
            (op::IAdd, Some(step), None) => Some((right, step)),
            (op::ISub, None, Some(step)) => Some((left, step.wrapping_neg())),
            _ => None,
        }
    }

    /// The phi of the header from which a value differs by a constant.
    fn sum(&mut self, value: Id) -> Option<Sum> {
        let (mut at, mut before) = (value, usize::MAX);
        let mut passed = Vec::new();
        let mut found = loop {
            if let Some(found) = self.sums.get(&at) {
                break *found;
            }
            // A value is defined before it is used, but for phis. In an invalid module it may be computed from itself.
            let Some(inst) = self.view.index.def(at).filter(|inst| inst.offset < before) else {
                break None;
            };
            if let Some(phi) = self.phi(&inst) {
                passed.push((at, 0));
                break Some(Sum { phi, added: 0 });
            }
            let Some((source, added)) = self.addition(&inst) else {
                passed.push((at, 0));
                break None;
            };
            passed.push((at, added));
            (at, before) = (source, inst.offset);
        };
        for (id, added) in passed.into_iter().rev() {
            found = found.map(|sum| Sum {
                added: sum.added.wrapping_add(added),
                ..sum
            });
            self.sums.insert(id, found);
        }
        found
    }
}

/// The loop-invariant operand, if there is one.
struct Same<T> {
    found: Option<Option<T>>,
}

impl<T> Default for Same<T> {
    fn default() -> Self {
        Self { found: None }
    }
}

impl<T: Copy + PartialEq> Same<T> {
    fn add(&mut self, value: Option<T>) {
        self.found = match self.found {
            None => Some(value),
            Some(found) => Some(found.filter(|found| Some(*found) == value)),
        };
    }

    fn value(self) -> Option<T> {
        self.found.flatten()
    }
}
