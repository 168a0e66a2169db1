//! Collects all uses of an item.

use super::items::{Item, ItemKind, Items};
use super::memory_uses::{MemoryPart, push, stored};
use super::parts::{ValuePart, leaves, results};
use super::use_finder::{ItemUse, UseEffect, UseFinder, ValueClass, nothing};
use crate::view::path::{Path, type_at};
use crate::view::{FunctionView, ObjectClass, Use};
use smallvec::smallvec;
use vkabort_spirv::index::typed::{FunctionIndex, ItemIndex};
use vkabort_spirv::{Id, Inst, op};

/// Whether the operand in word `word` is a value that other invocations of the subgroup may read, and need not.
pub(super) fn is_read_by_others(inst: &Inst<'_>, word: usize) -> bool {
    match inst.opcode() {
        op::GroupNonUniformBroadcast
        | op::GroupNonUniformBroadcastFirst
        | op::GroupNonUniformShuffle..=op::GroupNonUniformShuffleDown
        | op::GroupNonUniformQuadBroadcast
        | op::GroupNonUniformQuadSwap
        | op::GroupNonUniformRotateKHR => word == 4,
        op::SubgroupReadInvocationKHR | op::SubgroupFirstInvocationKHR => word == 3,
        _ => false,
    }
}

impl<'a, 'w> UseFinder<'_, 'a, 'w> {
    /// The uses of an item, without those that drop it. O(uses).
    pub(super) fn uses(&self, item: &Item, items: &mut Items) -> Vec<ItemUse> {
        let Some(function) = self.view.function(item.function) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        match &item.kind {
            ItemKind::Value(part) => {
                for at in function.uses.of(part.id) {
                    let effect = self.at_value(function, part, &at, items);
                    push(&mut found, at.block, at.offset, effect);
                }
            }
            ItemKind::Memory {
                definition,
                path,
                is_exact,
            } => {
                let part = MemoryPart {
                    function,
                    definition: *definition,
                    path,
                    is_exact: *is_exact,
                };
                for at in function.memory.uses(*definition) {
                    self.at_memory(&part, at, items, &mut found);
                }
            }
        }
        found
    }

    fn at_value(&self, function: &FunctionView<'a, 'w>, part: &ValuePart, at: &Use, items: &mut Items) -> UseEffect {
        let index = self.view.index;
        let inst = index.inst(at.offset);
        let value = |id, path| Item::value(function.number, id, path);
        match (inst.opcode(), at.word) {
            (op::Phi, _) => UseEffect::Phi(items.intern(value(inst.result(), part.path.clone()))),
            (_, word)
                if self.value_class == ValueClass::Unstored && self.is_part_of_copy(function, part, &inst, word) =>
            {
                nothing()
            }
            (_, word)
                if self.value_class == ValueClass::NotFinite && !self.keeps_not_finite(function, part, &inst, word) =>
            {
                nothing()
            }
            (op::Store, 2) => match function.access_at(at.offset) {
                Some((access, found)) => {
                    let is_shared = function.accesses.objects.get(found.place.object).is_some_and(|object| {
                        object.is_escaped && matches!(object.class, ObjectClass::Output | ObjectClass::Workgroup)
                    });
                    match is_shared {
                        true => UseEffect::Effect,
                        false => stored(function, access, &found.place, &part.path, items),
                    }
                }
                None => UseEffect::Effect,
            },
            (op::FunctionCall, 4..) => self.passed(function, &inst, at.word - 4, &part.path, items),
            (op::ReturnValue, _) => match self.returns_are_effects {
                true => UseEffect::Effect,
                false => self.returned(function.number, &part.path, items),
            },
            _ if is_read_by_others(&inst, at.word) => nothing(),
            _ if !self.is_pure(&inst) => UseEffect::Effect,
            // It may be dropped.
            (_, word) if !self.conditions(part, &inst, word).is_empty() => nothing(),
            _ => {
                let is_part = |path: &Path| path.is_empty() || type_at(index, inst.result_type(), path) != Id::NONE;
                let paths = results(index, &inst, at.word, &part.path).into_iter().filter(is_part);
                let paths = paths.flat_map(|path| self.components(&inst, path));
                let parts = paths.map(|path| items.intern(value(inst.result(), path))).collect();
                UseEffect::Becomes(parts)
            }
        }
    }

    /// A returned value: the results of all calls.
    fn returned(&self, callee: FunctionIndex, path: &Path, items: &mut Items) -> UseEffect {
        let calls = self.view.calls_of(callee).map(|(caller, offset)| {
            let id = self.view.index.inst(offset).result();
            items.intern(Item::value(caller, id, path.clone()))
        });
        let calls: Vec<ItemIndex> = calls.collect();
        if calls.is_empty() {
            nothing()
        } else {
            UseEffect::All(calls)
        }
    }

    /// An argument: the parameter of the called function.
    fn passed(
        &self,
        function: &FunctionView<'a, 'w>,
        call: &Inst<'_>,
        position: usize,
        path: &Path,
        items: &mut Items,
    ) -> UseEffect {
        let index = self.view.index;
        let Some(callee) = index.function_of(call.callee()) else {
            return nothing();
        };
        let Some(parameter) = index.functions.get(callee).and_then(|callee| {
            let mut parameters = index.insts(callee.offset, callee.end).skip(1);
            parameters
                .nth(position)
                .filter(|inst| inst.opcode() == op::FunctionParameter)
        }) else {
            return nothing();
        };
        // A pointer is followed as memory.
        if index.storage_class(parameter.result_type()).is_some() {
            return nothing();
        }
        let parameter = items.intern(Item::value(callee, parameter.result(), path.clone()));
        let is_void = index.opcode(call.result_type()) == op::TypeVoid;
        if !self.returns_are_effects || is_void {
            return UseEffect::Becomes(smallvec![parameter]);
        }
        match self.results_of(function.number, call, items) {
            Some(results) => UseEffect::All(std::iter::once(parameter).chain(results).collect()),
            None => nothing(),
        }
    }

    /// The items that the result of a call consists of, all of which are observed if a value that the function returns parts of is.
    pub(super) fn results_of(
        &self,
        function: FunctionIndex,
        call: &Inst<'_>,
        items: &mut Items,
    ) -> Option<Vec<ItemIndex>> {
        let leaves = leaves(self.view.index, call.result_type())?;
        let results = leaves
            .into_iter()
            .map(|path| items.intern(Item::value(function, call.result(), path)));
        Some(results.collect())
    }
}
