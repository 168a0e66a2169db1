//! Writes the faults of the values of a function beside them.

use super::shapes::{Shape, larger_word};
use super::{Faults, tests};
use crate::module::ModulePlanter;
use crate::planter::Planter;
use rustc_hash::FxHashMap as HashMap;
use std::mem;
use vkabort_analysis::effects::Carrier;
use vkabort_analysis::view::FunctionView;
use vkabort_analysis::view::path::Path;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::local_variable::local_variable;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, Words, op};

/// The faults of the values of one function.
pub(super) struct FaultWriter<'p, 'f, 'a, 'w> {
    pub(super) planter: &'p mut Planter<'f, 'a, 'w>,
    pub(super) view: &'p FunctionView<'a, 'w>,
    pub(super) faults: Faults<'w>,
    /// The faults of values; the result of an instruction that is not listed has none.
    pub(super) values: HashMap<Id, Id>,
    /// Phis, with the variables of their faults.
    phis: Vec<(BlockIndex, Inst<'w>, Id)>,
}

/// Writes the faults of a function's values, and the tests of its effects.
pub(crate) fn plant_faults<'w>(planter: &mut Planter<'_, '_, 'w>) {
    let faults = mem::take(&mut planter.module.faults);
    let Some(view) = planter
        .view
        .filter(|_| !faults.carriers.is_empty() || !faults.tests.is_empty())
    else {
        planter.module.faults = faults;
        return;
    };
    let mut writer = FaultWriter {
        planter,
        view,
        faults,
        values: HashMap::default(),
        phis: Vec::new(),
    };
    writer.parameters();
    writer.blocks();
    writer.finish_phis();
    tests::plant(&mut writer);
    let FaultWriter { planter, faults, .. } = writer;
    planter.module.faults = faults;
}

impl<'w> FaultWriter<'_, '_, '_, 'w> {
    /// Whether a value of the function carries faults.
    pub(super) fn carries(&self, value: Id) -> bool {
        self.faults.carriers.contains(&Carrier::Value(self.view.number, value))
    }

    /// The form of the faults of a type.
    pub(super) fn shape(&mut self, ty: Id) -> Option<Shape> {
        let index = self.planter.index;
        self.faults.shapes.of(index, &mut self.planter.module.out, ty)
    }

    pub(super) fn shape_of(&mut self, value: Id) -> Option<Shape> {
        let ty = self.planter.index.type_of(value);
        self.shape(ty)
    }

    /// The faults of a value, or none of this form.
    pub(super) fn fault_or_none(&mut self, value: Id, shape: Shape) -> Id {
        match self.values.get(&value) {
            Some(fault) => *fault,
            None => {
                let ty = self.faults.shapes.ty(shape);
                self.planter.module.out.null(ty)
            }
        }
    }

    /// Inserts code at a word offset.
    pub(super) fn insert<T>(&mut self, offset: usize, write: impl FnOnce(&mut Faults<'w>, &mut Emitter) -> T) -> T {
        let faults = &mut self.faults;
        self.planter.insert(offset, |out| write(faults, out))
    }

    /// A variable for faults: of the function, or a private one, which starts at none.
    pub(super) fn variable(&mut self, carrier: Carrier, (shape, is_local): (Shape, bool)) -> Id {
        let ty = self.faults.shapes.ty(shape);
        let earlier = self.faults.variables.get(&carrier).copied();
        let ModulePlanter { out, edits, .. } = &mut *self.planter.module;
        let variable = earlier.unwrap_or_else(|| {
            let none = out.null(ty);
            match is_local {
                true => local_variable(
                    self.planter.index,
                    self.planter.function,
                    (out, edits),
                    (ty, Some(none)),
                ),
                false => out.private(ty, none),
            }
        });
        self.faults.variables.insert(carrier, variable);
        self.planter.module.planted.fault_variables.insert(variable);
        if !is_local {
            self.planter.module.list_in_interfaces(self.view.number, variable);
        }
        variable
    }

    /// Loads the faults that the caller has stored of parameters.
    fn parameters(&mut self) {
        let index = self.planter.index;
        let Some(first) = index.blocks_of(self.planter.function).first() else {
            return;
        };
        let variables = index.body(first).take_while(|inst| inst.opcode() == op::Variable);
        let start = variables.last().map_or(first.offset + 2, |inst| inst.end());
        let parameters = index.insts(self.planter.function.offset, first.offset);
        for inst in parameters.filter(|inst| inst.opcode() == op::FunctionParameter) {
            let carrier = Carrier::Value(self.view.number, inst.result());
            if !self.faults.carriers.contains(&carrier) {
                continue;
            }
            if let Some(shape) = self.shape(inst.result_type()) {
                let variable = self.variable(carrier, (shape, false));
                let fault = self.insert(start, |faults, out| {
                    out.emit(op::Load, faults.shapes.ty(shape), variable)
                });
                self.values.insert(inst.result(), fault);
            }
        }
    }

    fn blocks(&mut self) {
        let index = self.planter.index;
        for (number, block) in self
            .planter
            .function
            .blocks
            .iter()
            .zip(index.blocks_of(self.planter.function))
        {
            if !self.view.graph.is_reachable(number) {
                continue;
            }
            for inst in index.insts(block.offset, block.end) {
                self.memory(&inst);
                let Some(shape) = self.carries_result(&inst) else {
                    continue;
                };
                let fault = match inst.opcode() {
                    op::Phi => Some(self.phi(number, &inst, shape)),
                    _ => self.of_operands(&inst, shape),
                };
                let own = self.faults.by_result.get(&inst.result()).cloned();
                let fault = own
                    .into_iter()
                    .flatten()
                    .fold(fault, |fault, at| self.own(&inst, shape, (fault, at)));
                self.values.extend(fault.map(|fault| (inst.result(), fault)));
            }
        }
    }

    fn carries_result(&mut self, inst: &Inst<'_>) -> Option<Shape> {
        let has_result = vkabort_spirv::operands::result_index(inst.opcode()) == Some(2);
        if !has_result || !self.carries(inst.result()) {
            return None;
        }
        self.shape(inst.result_type())
    }

    /// Adds the faults of an operation itself to those of its operands.
    fn own(&mut self, inst: &Inst<'w>, shape: Shape, (operands, at): (Option<Id>, usize)) -> Option<Id> {
        let first = self.faults.number(at);
        let origin = self
            .faults
            .all
            .get(at)
            .map(|faulty| std::rc::Rc::clone(&faulty.origin))?;
        let index = self.planter.index;
        let fault = self.insert(inst.end(), |faults, out| {
            let failed = origin.write_failed(out, index);
            let (uint, none) = (out.uint(), out.constant(0));
            let numbered = (first..).zip(origin.parts()).zip(failed);
            let words: Vec<(Path, Id)> = numbered
                .map(|((number, path), failed)| {
                    let number = out.constant(number);
                    (path, out.emit(op::Select, uint, (failed, number, none)))
                })
                .collect();
            with_words(faults, out, shape, (operands, &words))
        });
        Some(fault)
    }

    fn phi(&mut self, number: BlockIndex, inst: &Inst<'w>, shape: Shape) -> Id {
        let index = self.planter.index;
        let ty = self.faults.shapes.ty(shape);
        let ModulePlanter { out, edits, .. } = &mut *self.planter.module;
        let none = out.null(ty);
        let variable = local_variable(index, self.planter.function, (out, edits), (ty, Some(none)));
        self.phis.push((number, *inst, variable));
        self.planter.module.planted.fault_variables.insert(variable);
        let behind = index
            .blocks
            .get(number)
            .map_or(inst.end(), |block| after_phis(index, block));
        self.insert(behind, |_, out| out.emit(op::Load, ty, variable))
    }

    /// Stores the faults that phis take, where the blocks before them end, after those of all values have been written.
    fn finish_phis(&mut self) {
        let index = self.planter.index;
        for (_, phi, variable) in mem::take(&mut self.phis) {
            let Some(shape) = self.shape(phi.result_type()) else {
                continue;
            };
            for (value, label) in phi.phi_pairs() {
                let before = index.block_of_label(self.planter.function, label);
                let Some(before) = before.filter(|before| self.view.graph.is_reachable(*before)) else {
                    continue;
                };
                let fault = self.fault_or_none(value, shape);
                let end = index.blocks.get(before).map_or(0, |block| block.before_end());
                self.insert(end, |_, out| out.op(op::Store, (variable, fault)));
            }
        }
    }

    /// Stores faults to a part of the faults of a variable. `pointer` points to that part of the variable.
    pub(super) fn store(&mut self, at: usize, pointer: Id, fault: Option<Id>) {
        let Some((place, shape)) = self.place(at, pointer) else {
            return;
        };
        let ty = self.faults.shapes.ty(shape);
        self.insert(at, |_, out| {
            let fault = fault.unwrap_or_else(|| out.null(ty));
            out.op(op::Store, (place, fault));
        });
    }

    /// The class of the variable with the faults of a variable or parameter.
    pub(super) fn class_of(&self, base: Id) -> u32 {
        let is_local = self
            .planter
            .index
            .def(base)
            .is_some_and(|inst| inst.opcode() == op::Variable && inst.storage_class() == storage_class::Function);
        if is_local {
            storage_class::Function
        } else {
            storage_class::Private
        }
    }
}

/// Adds words to the faults of operands, if there are any. A path to a vector stands for all of its components.
fn with_words(
    faults: &mut Faults<'_>,
    out: &mut Emitter,
    shape: Shape,
    (operands, words): (Option<Id>, &[(Path, Id)]),
) -> Id {
    let whole = match words {
        [(path, word)] if path.is_empty() => faults.shapes.repeated(out, shape, *word),
        _ => None,
    };
    let (Some(operands), ty) = (operands, faults.shapes.ty(shape)) else {
        return whole.unwrap_or_else(|| faults.shapes.composed(out, shape, words));
    };
    if let Some(whole) = whole {
        return faults.shapes.larger(out, shape, (whole, operands));
    }
    words.iter().fold(operands, |all, (path, word)| {
        let uint = out.uint();
        let old = out.emit(op::CompositeExtract, uint, (all, Words(path)));
        let word = larger_word(out, *word, old);
        out.emit(op::CompositeInsert, ty, (word, all, Words(path)))
    })
}
