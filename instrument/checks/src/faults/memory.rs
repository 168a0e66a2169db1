//! Faults of variables, arguments and results: each is a variable of faults, which stores and loads follow.

use super::plant::FaultWriter;
use super::shapes::Shape;
use crate::accesses::{Step, indices};
use crate::scalars::Scalar;
use vkabort_analysis::effects::Carrier;
use vkabort_analysis::view::AccessKind;
use vkabort_analysis::view::path::part_count;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op};

/// A parameter of a called function, and the argument.
type Passed = (Id, Id);

impl FaultWriter<'_, '_, '_, '_> {
    /// Follows what an instruction does to memory, in front of it or behind it.
    pub(super) fn memory(&mut self, inst: &Inst<'_>) {
        match inst.opcode() {
            op::Store => {
                let fault = self.values.get(&inst.stored_value()).copied();
                self.store(inst.end(), inst.pointer(), fault);
            }
            op::CopyMemory => {
                let fault = self.load(inst.end(), inst.id(2));
                self.store(inst.end(), inst.id(1), fault);
            }
            op::FunctionCall => self.call(inst),
            op::ReturnValue => self.result(inst),
            op::ExtInst => {
                let accesses = self.view.accesses.at(inst.offset);
                let writes = accesses.filter(|access| access.kind == AccessKind::Write).count();
                if writes > 0 {
                    self.store(inst.end(), inst.id(6), None);
                }
            }
            _ => {}
        }
    }

    /// Loads the faults of a part of a variable, if it carries any.
    pub(super) fn load(&mut self, at: usize, pointer: Id) -> Option<Id> {
        let (place, shape) = self.place(at, pointer)?;
        Some(self.insert(at, |faults, out| out.emit(op::Load, faults.shapes.ty(shape), place)))
    }

    /// The faults of all of a variable, with their form.
    pub(super) fn load_all(&mut self, at: usize, variable: Id) -> Option<(Id, Shape)> {
        let (place, shape) = self.place(at, variable)?;
        let fault = self.insert(at, |faults, out| out.emit(op::Load, faults.shapes.ty(shape), place));
        Some((fault, shape))
    }

    /// A pointer to the faults of the memory that `pointer` points to. `None` if its variable carries none.
    pub(super) fn place(&mut self, at: usize, pointer: Id) -> Option<(Id, Shape)> {
        let index = self.planter.index;
        let found = indices(index, pointer).or_else(|| {
            // A variable or parameter itself.
            let of = self.view.accesses.place(pointer)?;
            let object = self.view.accesses.objects.get(of.object)?;
            (object.pointer == pointer).then(|| crate::accesses::Indices {
                base: pointer,
                class: storage_class::Function,
                steps: Vec::new(),
            })
        })?;
        let carrier = Carrier::Variable(found.base);
        if !self.faults.carriers.contains(&carrier) {
            return None;
        }
        let all = index.def(index.type_of(found.base))?.pointee();
        let class = self.class_of(found.base);
        let whole = self.shape(all)?;
        let variable = self.variable(carrier, (whole, class == storage_class::Function));
        if found.steps.is_empty() {
            return Some((variable, whole));
        }
        let part = self.shape(index.def(index.type_of(pointer))?.pointee())?;
        let inside: Vec<Id> = found.steps.iter().map(|step| self.inside(at, step)).collect();
        let place = self.insert(at, |faults, out| {
            let ty = out.pointer(class, faults.shapes.ty(part));
            out.emit(op::AccessChain, ty, (variable, inside.as_slice()))
        });
        Some((place, part))
    }

    /// An index into faults: one that is outside of its composite becomes 0.
    fn inside(&mut self, at: usize, step: &Step) -> Id {
        let index = self.planter.index;
        let count = part_count(index, step.composite).filter(|_| index.opcode(step.index) != op::Constant);
        match count {
            Some(count) => self.clamped(at, step.index, count),
            None => step.index,
        }
    }

    pub(super) fn clamped(&mut self, at: usize, number: Id, count: u64) -> Id {
        let index = self.planter.index;
        let ty = index.type_of(number);
        self.insert(at, |_, out| {
            let bool = out.bool();
            let scalar = Scalar { ty, id: number };
            let (count, zero) = (scalar.constant(out, index, count), out.null(ty));
            let is_inside = out.emit(op::ULessThan, bool, (number, count));
            out.emit(op::Select, ty, (is_inside, number, zero))
        })
    }

    /// Stores the faults of arguments in front of a call, and loads those of their pointees behind it. A pointee whose parameter is not
    /// followed has none behind the call: the callee may have stored to it.
    fn call(&mut self, call: &Inst<'_>) {
        let Some((callee, passed)) = self.passed(call) else {
            return;
        };
        for (parameter, argument) in &passed {
            let ty = self.planter.index.type_of(*parameter);
            if self.is_pointer(*parameter) {
                let Some((variable, _)) = self.of_pointee(*parameter) else {
                    continue;
                };
                let fault = self.load(call.offset, *argument);
                self.put(call.offset, *parameter, (variable, fault));
            } else if self.faults.carriers.contains(&Carrier::Value(callee, *parameter)) {
                let Some(shape) = self.shape(ty) else { continue };
                let variable = self.variable(Carrier::Value(callee, *parameter), (shape, false));
                let fault = self.fault_or_none(*argument, shape);
                self.insert(call.offset, |_, out| out.op(op::Store, (variable, fault)));
            }
        }
        for (parameter, argument) in passed {
            if !self.is_pointer(parameter) {
                continue;
            }
            let fault = self.of_pointee(parameter).map(|(variable, shape)| {
                self.insert(call.end(), |faults, out| {
                    out.emit(op::Load, faults.shapes.ty(shape), variable)
                })
            });
            self.store(call.end(), argument, fault);
        }
    }

    fn put(&mut self, at: usize, parameter: Id, (variable, fault): (Id, Option<Id>)) {
        let Some((_, shape)) = self.of_pointee(parameter) else {
            return;
        };
        self.insert(at, |faults, out| {
            let fault = fault.unwrap_or_else(|| out.null(faults.shapes.ty(shape)));
            out.op(op::Store, (variable, fault));
        });
    }

    /// The variable with the faults of a parameter's pointee, and their form.
    fn of_pointee(&mut self, parameter: Id) -> Option<(Id, Shape)> {
        let carrier = Carrier::Variable(parameter);
        if !self.faults.carriers.contains(&carrier) {
            return None;
        }
        let index = self.planter.index;
        let shape = self.shape(index.def(index.type_of(parameter))?.pointee())?;
        Some((self.variable(carrier, (shape, false)), shape))
    }

    fn is_pointer(&self, parameter: Id) -> bool {
        let index = self.planter.index;
        index.storage_class(index.type_of(parameter)).is_some()
    }

    /// The function that a call calls, with the arguments that it takes.
    fn passed(&self, call: &Inst<'_>) -> Option<(FunctionIndex, Vec<Passed>)> {
        let index = self.planter.index;
        let callee = index.function_of(call.callee())?;
        let function = index.functions.get(callee)?;
        let parameters = index.insts(function.offset, function.end).skip(1);
        let parameters = parameters.take_while(|inst| inst.opcode() == op::FunctionParameter);
        let passed = parameters.map(|parameter| parameter.result()).zip(call.ids(4));
        Some((callee, passed.collect()))
    }

    /// Stores the faults of what the function returns.
    fn result(&mut self, inst: &Inst<'_>) {
        let carrier = Carrier::Result(self.view.number);
        if !self.faults.carriers.contains(&carrier) {
            return;
        }
        let Some(shape) = self.shape_of(inst.id(1)) else {
            return;
        };
        let variable = self.variable(carrier, (shape, false));
        let fault = self.fault_or_none(inst.id(1), shape);
        let block = self
            .view
            .block_at(inst.offset)
            .and_then(|block| self.planter.index.blocks.get(block));
        let end = block.map_or(inst.offset, |block| block.before_end());
        self.insert(end, |_, out| out.op(op::Store, (variable, fault)));
    }

    /// The faults of the result of a call.
    pub(super) fn returned(&mut self, call: &Inst<'_>, shape: Shape) -> Option<Id> {
        let callee = self.planter.index.function_of(call.callee())?;
        let carrier = Carrier::Result(callee);
        if !self.faults.carriers.contains(&carrier) {
            return None;
        }
        let variable = self.variable(carrier, (shape, false));
        Some(self.insert(call.end(), |faults, out| {
            out.emit(op::Load, faults.shapes.ty(shape), variable)
        }))
    }
}
