//! Faults of variables: what is stored to one travels to all that is loaded from it.

use super::{Carrier, FlowFinder, parameter};
use crate::effects::parts::leaves;
use crate::effects::use_finder::ValueClass;
use crate::view::path::Path;
use crate::view::{Access, AccessKind, FunctionView, Object, ObjectClass};
use vkabort_spirv::{Id, op};

impl<'a, 'w> FlowFinder<'_, '_, 'a, 'w> {
    /// Follows a variable, or the pointee of a parameter.
    pub(super) fn variable(&mut self, node: usize, variable: Id) {
        for (number, object) in self.variables.functions(variable) {
            let Some(function) = self.written(number) else { continue };
            let Some(of) = function.accesses.objects.get(object) else {
                continue;
            };
            match of.class {
                ObjectClass::Parameter(position) => self.at_callers(node, function, position),
                ObjectClass::Output => self.at_ends(function, variable, of.ty),
                _ => {}
            }
        }
        for (number, access) in self.variables.accesses(variable) {
            let Some(function) = self.written(number) else { continue };
            if let Some(access) = function.accesses.accesses.get(access) {
                self.access(node, function, access);
            }
        }
    }

    /// A store through a parameter is one to the variable of the caller.
    fn at_callers(&mut self, node: usize, function: &FunctionView<'a, 'w>, position: usize) {
        let view = self.solver.view;
        for (caller, offset) in view.calls_of(function.number) {
            let passed = view.function(caller).and_then(|caller| {
                let mut accesses = caller.accesses.at(offset);
                let access = accesses.find(|access| access.kind == AccessKind::Argument(position))?;
                caller.accesses.objects.get(access.place.object)
            });
            if let Some(object) = passed.filter(|object| self.variables.follows(object.pointer)) {
                self.graph.edge(node, Carrier::Variable(object.pointer), false);
            }
        }
    }

    fn access(&mut self, node: usize, function: &FunctionView<'a, 'w>, access: &Access) {
        let index = self.solver.view.index;
        match access.kind {
            AccessKind::Load(id) => self.graph.edge(node, Carrier::Value(function.number, id), false),
            AccessKind::CopyFrom => self.copy(node, function, access),
            AccessKind::Argument(position) => {
                let call = index.inst(access.offset);
                let parameter = parameter(index, &call, position).map(|(_, parameter)| parameter.result());
                if let Some(parameter) = parameter.filter(|id| self.variables.follows(*id)) {
                    self.graph.edge(node, Carrier::Variable(parameter), false);
                }
            }
            _ => {}
        }
    }

    /// `OpCopyMemory` from a variable: to another one, or to memory that others see.
    fn copy(&mut self, node: usize, function: &FunctionView<'a, 'w>, from: &Access) {
        let objects = &function.accesses.objects;
        let mut others = function.accesses.at(from.offset);
        let target = others.find(|other| other.kind == AccessKind::CopyTo);
        match target.and_then(|target| objects.get(target.place.object)) {
            Some(target) if self.variables.follows(target.pointer) => {
                self.graph.edge(node, Carrier::Variable(target.pointer), false);
            }
            Some(_) => {}
            None => {
                let source = objects.get(from.place.object);
                if let Some(source) = source.filter(|_| self.solver.value_class() == ValueClass::Undefined) {
                    self.copy_outside(function, source, from);
                }
            }
        }
    }

    /// Tests the part of a variable that is copied to memory that others see.
    fn copy_outside(&mut self, function: &FunctionView<'a, 'w>, source: &Object, from: &Access) {
        let place = &from.place;
        if !place.is_exact {
            return;
        }
        let parts = leaves(self.solver.view.index, source.ty).map(|paths| {
            let inside = paths.into_iter().filter(|path| path.starts_with(&place.path));
            inside.collect::<Vec<Path>>()
        });
        if parts.is_some() || place.path.is_empty() {
            let carrier = Carrier::Variable(source.pointer);
            self.test(function, (from.block, from.offset), (carrier, parts));
        }
    }

    /// Tests an output where the stage passes it on.
    fn at_ends(&mut self, function: &FunctionView<'a, 'w>, variable: Id, ty: Id) {
        let view = self.solver.view;
        let index = view.index;
        let is_entry = view.is_entry_point(function.number);
        let first_only = self.solver.value_class() == ValueClass::Unstored;
        let parts = match first_only {
            true => leaves(index, ty).map(|paths| {
                let is_first = |path: &Path| path.last().is_none_or(|component| *component == 0);
                paths
                    .into_iter()
                    .filter(|path| path.len() < 2 && is_first(path))
                    .collect()
            }),
            false => None,
        };
        for (number, block) in function.function.blocks.iter().zip(index.blocks_of(function.function)) {
            for inst in index.insts(block.offset, block.end) {
                let is_end = match inst.opcode() {
                    op::Return => is_entry,
                    op::EmitVertex | op::EmitStreamVertex => true,
                    _ => false,
                };
                if is_end && function.graph.is_reachable(number) {
                    let place = (number, inst.offset.min(block.before_end()));
                    self.test(function, place, (Carrier::Variable(variable), parts.clone()));
                }
            }
        }
    }
}
