//! Faults of values: they travel to the results of computations, to phis, parameters and results, and are tested at effects.

use super::{Carrier, FlowFinder, parameter};
use crate::effects::items::Item;
use crate::effects::memory_uses::stored;
use crate::effects::parts::{ValuePart, leaves};
use crate::effects::use_finder::{UseEffect, ValueClass};
use crate::effects::uses::is_read_by_others;
use crate::view::path::Path;
use crate::view::{FunctionView, Place, Use};
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, FunctionIndex};
use vkabort_spirv::{Id, Inst, op};

impl<'a, 'w> FlowFinder<'_, '_, 'a, 'w> {
    /// Whether all parts of a value are certain to have an effect, from its definition on.
    fn is_observed(&mut self, function: FunctionIndex, id: Id) -> bool {
        let index = self.solver.view.index;
        let Some(paths) = leaves(index, index.type_of(id)) else {
            return false;
        };
        paths.into_iter().all(|path| {
            let item = self.solver.items.intern(Item::value(function, id, path));
            self.solver.is_observed(item)
        })
    }

    /// Follows a value to its uses. One that is certain to have an effect is tested where it is defined.
    pub(super) fn value(&mut self, node: usize, function: FunctionIndex, id: Id) {
        let Some(of) = self.written(function) else { return };
        if !self.graph.is_first(node) && self.is_observed(function, id) {
            let definition = self.solver.items.intern(Item::value(function, id, Path::new()));
            if let Some((block, offset)) = self.solver.position(definition) {
                let offset = behind_definition(of, id, block, offset);
                self.test(of, (block, offset), (Carrier::Value(function, id), None));
            }
            return;
        }
        let uses: Vec<Use> = of.uses.of(id).collect();
        for at in uses {
            self.at_use(node, of, id, &at);
        }
    }

    fn at_use(&mut self, node: usize, function: &FunctionView<'a, 'w>, id: Id, at: &Use) {
        let index = self.solver.view.index;
        let inst = index.inst(at.offset);
        let this = Carrier::Value(function.number, id);
        match (inst.opcode(), at.word) {
            (op::Phi, _) => self
                .graph
                .edge(node, Carrier::Value(function.number, inst.result()), false),
            (op::FreezeKHR, _) => {}
            (op::Store, 2) if self.stores(node, function, &inst, at) => {}
            (op::FunctionCall, 4..) => {
                let parameter = parameter(index, &inst, at.word - 4);
                let is_pointer = parameter.is_none_or(|(_, of)| index.storage_class(of.result_type()).is_some());
                if let Some((callee, parameter)) = parameter.filter(|_| !is_pointer) {
                    self.graph.edge(node, Carrier::Value(callee, parameter.result()), false);
                }
            }
            (op::ReturnValue, _) => self.graph.edge(node, Carrier::Result(function.number), false),
            _ if is_read_by_others(&inst, at.word) => {}
            (_, word) if !self.is_kept(function, id, &inst, word) => {}
            _ if self.solver.finder.is_pure(&inst) => {
                self.graph
                    .edge(node, Carrier::Value(function.number, inst.result()), true);
            }
            _ => {
                let parts = self.parts_with_effects(function, id, &inst, at.word);
                if parts.as_ref().is_none_or(|parts| !parts.is_empty()) {
                    let before = index.blocks.get(at.block).map_or(at.offset, |block| block.before_end());
                    self.test(function, (at.block, at.offset.min(before)), (this, parts));
                }
            }
        }
    }

    /// Whether an instruction passes on the faults of this class.
    fn is_kept(&self, function: &FunctionView<'a, 'w>, id: Id, inst: &Inst<'_>, word: usize) -> bool {
        let part = ValuePart::whole(id);
        self.solver.value_class() != ValueClass::NotFinite
            || self.solver.finder.keeps_not_finite(function, &part, inst, word)
    }

    /// The parts of a value that have an effect at an instruction. `None`: all.
    fn parts_with_effects(
        &self,
        function: &FunctionView<'a, 'w>,
        id: Id,
        inst: &Inst<'_>,
        word: usize,
    ) -> Option<Vec<Path>> {
        let class = self.solver.value_class();
        if class == ValueClass::Undefined {
            return None;
        }
        let index = self.solver.view.index;
        let paths = leaves(index, index.type_of(id))?;
        let count = paths.len();
        let has_effect = |path: &Path| {
            let part = ValuePart { id, path: path.clone() };
            match class {
                ValueClass::Unstored => !self.solver.finder.is_part_of_copy(function, &part, inst, word),
                _ => self.solver.finder.keeps_not_finite(function, &part, inst, word),
            }
        };
        let kept: Vec<Path> = paths.into_iter().filter(has_effect).collect();
        (kept.len() < count).then_some(kept)
    }

    /// Follows a value that is stored to memory of the invocation. False: others may see it.
    fn stores(&mut self, node: usize, function: &FunctionView<'a, 'w>, inst: &Inst<'_>, at: &Use) -> bool {
        let Some((access, found)) = function.access_at(inst.offset) else {
            return false;
        };
        let Some(object) = function.accesses.objects.get(found.place.object) else {
            return false;
        };
        let id = inst.stored_value();
        let is_certain = self.is_certain_store(function, access, &found.place, id);
        if is_certain {
            let carrier = Carrier::Value(function.number, id);
            self.test(function, (at.block, inst.offset), (carrier, None));
        } else if self.variables.follows(object.pointer) {
            self.graph.edge(node, Carrier::Variable(object.pointer), false);
        }
        true
    }

    /// Whether all parts of a stored value are certain to have an effect.
    fn is_certain_store(
        &mut self,
        function: &FunctionView<'a, 'w>,
        access: AccessIndex,
        place: &Place,
        id: Id,
    ) -> bool {
        let index = self.solver.view.index;
        let Some(paths) = leaves(index, index.type_of(id)) else {
            return false;
        };
        paths.iter().all(
            |path| match stored(function, access, place, path, &mut self.solver.items) {
                UseEffect::Becomes(items) => {
                    !items.is_empty() && items.iter().any(|item| self.solver.is_observed(*item))
                }
                _ => false,
            },
        )
    }
}

/// The word offset at which a value can be tested: behind its definition, and behind the phis or variables of the block.
fn behind_definition(function: &FunctionView<'_, '_>, id: Id, block: BlockIndex, offset: usize) -> usize {
    let index = function.index;
    let Some((def, block)) = index.def(id).zip(index.blocks.get(block)) else {
        return offset;
    };
    match def.opcode() {
        op::Phi | op::FunctionParameter => {
            let leading = index
                .body(block)
                .take_while(|inst| matches!(inst.opcode(), op::Phi | op::Variable));
            leading.last().map_or(block.offset + 2, |inst| inst.end())
        }
        _ => def.end().min(block.before_end()),
    }
}
