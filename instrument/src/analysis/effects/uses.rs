//! What becomes of an item at each of its uses.

use super::items::{Item, ItemId, ItemKind, Items};
use super::parts::{ValuePart, results};
use super::point::{Condition, Test};
use crate::analysis::index::typed::{AccessIndex, BlockIndex, DefIndex, FunctionIndex, Key as _};
use crate::analysis::view::path::{Path, overlap, part_count, suffix_after};
use crate::analysis::view::{
    AccessKind, Event, EventKind, FunctionView, MemoryUse, ModuleView, Object, ObjectClass, Origin, Place, Use,
};
use crate::spv::{Id, Inst, op, op_sets};
use smallvec::{SmallVec, smallvec};

/// Parts of a composite result of a call that are looked at. One with more counts as dropped.
const MOST_PARTS: usize = 64;

/// What becomes of an item at a use.
#[derive(Clone, Debug)]
pub(super) enum UseEffect {
    /// It has an effect.
    Effect,
    /// It determines each of these items, if the conditions hold.
    Becomes(SmallVec<[ItemId; 2]>, SmallVec<[Condition; 2]>),
    /// A phi takes it, at the end of the block of the use.
    Phi(ItemId),
    /// It has an effect if all of these items are observed.
    All(Vec<ItemId>),
}

/// A use of an item.
#[derive(Clone, Debug)]
pub(super) struct ItemUse {
    pub(super) block: BlockIndex,
    /// Word offset.
    pub(super) offset: usize,
    pub(super) effect: UseEffect,
}

/// Finds the uses of items.
pub(super) struct UseFinder<'v, 'a, 'w> {
    pub(super) view: &'v ModuleView<'a, 'w>,
    /// Whether a returned value has an effect: answers what a function does with its arguments if its result is used.
    pub(super) returns_are_effects: bool,
}

/// Whether the operand in word `word` is a value that other invocations of the subgroup may read, and need not.
fn is_read_by_others(inst: &Inst<'_>, word: usize) -> bool {
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

impl<'v, 'a, 'w> UseFinder<'v, 'a, 'w> {
    pub(super) fn new(view: &'v ModuleView<'a, 'w>, returns_are_effects: bool) -> Self {
        Self {
            view,
            returns_are_effects,
        }
    }

    /// The uses of an item, without those at which nothing becomes of it. O(uses).
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
        let value = |id, path| Item {
            function: function.number,
            kind: ItemKind::Value(ValuePart { id, path }),
        };
        match (inst.opcode(), at.word) {
            (op::Phi, _) => UseEffect::Phi(items.intern(value(inst.result(), part.path.clone()))),
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
            _ => {
                let paths = results(index, &inst, at.word, &part.path).into_iter();
                let parts = paths.map(|path| items.intern(value(inst.result(), path))).collect();
                UseEffect::Becomes(parts, self.conditions(part, &inst, at.word))
            }
        }
    }

    /// A returned value: the results of all calls.
    fn returned(&self, callee: FunctionIndex, path: &Path, items: &mut Items) -> UseEffect {
        let calls = self.view.calls_of(callee).map(|(caller, offset)| {
            let id = self.view.index.inst(offset).result();
            let path = path.clone();
            let kind = ItemKind::Value(ValuePart { id, path });
            let function = caller;
            items.intern(Item { function, kind })
        });
        let calls: Vec<ItemId> = calls.collect();
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
        let kind = ItemKind::Value(ValuePart {
            id: parameter.result(),
            path: path.clone(),
        });
        let parameter = items.intern(Item { function: callee, kind });
        let is_void = index.opcode(call.result_type()) == op::TypeVoid;
        if !self.returns_are_effects || is_void {
            return UseEffect::Becomes(smallvec![parameter], SmallVec::new());
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
    ) -> Option<Vec<ItemId>> {
        let leaves = leaves(self.view, call.result_type())?;
        let results = leaves.into_iter().map(|path| {
            let id = call.result();
            let kind = ItemKind::Value(ValuePart { id, path });
            items.intern(Item { function, kind })
        });
        Some(results.collect())
    }

    fn at_memory(&self, part: &MemoryPart<'_, 'a, 'w>, at: MemoryUse, items: &mut Items, found: &mut Vec<ItemUse>) {
        let function = part.function;
        match at {
            MemoryUse::Read(number) => {
                let Some(access) = function.accesses.accesses.get(number) else {
                    return;
                };
                let effect = match access.kind {
                    _ if !part.is_exact || !access.place.is_exact || !overlap(part.path, &access.place.path) => return,
                    AccessKind::Load(id) => {
                        let path = suffix_after(part.path, &access.place.path).unwrap_or_default();
                        let kind = ItemKind::Value(ValuePart { id, path });
                        let function = function.number;
                        UseEffect::Becomes(smallvec![items.intern(Item { function, kind })], SmallVec::new())
                    }
                    AccessKind::CopyFrom => {
                        let next = AccessIndex::from_usize(number.to_usize() + 1);
                        let Some(target) = function.accesses.accesses.get(next) else {
                            return;
                        };
                        let path = suffix_after(part.path, &access.place.path).unwrap_or_default();
                        match (target.offset == access.offset, target.kind) {
                            (true, AccessKind::CopyTo) => stored(function, next, &target.place, &path, items),
                            _ => UseEffect::Effect,
                        }
                    }
                    AccessKind::Other => UseEffect::Effect,
                    _ => return,
                };
                push(found, access.block, access.offset, effect);
            }
            MemoryUse::Phi(phi, from) => {
                let offset = self.view.index.blocks.get(from).map_or(0, |block| block.terminator);
                push(found, from, offset, UseEffect::Phi(part.in_definition(phi, items)));
            }
            MemoryUse::Changed(next) => {
                let Some(changed) = function.memory.definitions.get(next) else {
                    return;
                };
                let is_kept = match changed.origin {
                    Origin::Access(by) => function
                        .accesses
                        .accesses
                        .get(by)
                        .is_some_and(|by| !overlap(part.path, &by.place.path)),
                    _ => false,
                };
                if is_kept {
                    let items = smallvec![part.in_definition(next, items)];
                    push(
                        found,
                        changed.block,
                        changed.offset,
                        UseEffect::Becomes(items, SmallVec::new()),
                    );
                }
            }
            MemoryUse::Seen(event) => {
                let Some(object) = function.object(part.definition) else {
                    return;
                };
                let effect = self.seen(part, object, event, items);
                push(found, event.block, event.offset, effect);
            }
        }
    }

    fn seen(&self, part: &MemoryPart<'_, 'a, 'w>, object: &Object, event: Event, items: &mut Items) -> UseEffect {
        let function = part.function;
        match event.kind {
            EventKind::Emit => UseEffect::Effect,
            EventKind::Barrier if object.class == ObjectClass::Output => UseEffect::Effect,
            EventKind::Barrier => match self.view.is_read_behind_barrier(function, object.pointer, event) {
                true => UseEffect::Effect,
                false => nothing(),
            },
            EventKind::Return if self.view.is_entry_point(function.number) => match object.class {
                ObjectClass::Output => UseEffect::Effect,
                _ => nothing(),
            },
            EventKind::Return => self.left(part, object, items),
            EventKind::Call => self.read_by_call(part, object, event.offset, items),
        }
    }

    /// What a function leaves in memory when it returns: what its calls leave.
    fn left(&self, part: &MemoryPart<'_, 'a, 'w>, object: &Object, items: &mut Items) -> UseEffect {
        let mut all = Vec::new();
        for (caller, offset) in self.view.calls_of(part.function.number) {
            let Some(caller) = self.view.function(caller) else {
                return nothing();
            };
            let Some(place) = place_in_caller(caller, object, offset) else {
                return nothing();
            };
            let path: Path = place.path.iter().chain(part.path.iter()).copied().collect();
            let is_exact = part.is_exact && place.is_exact;
            let before = all.len();
            for definition in caller.memory.left_by_event(offset) {
                let is_of_it = caller.cell_has(definition, place.object, &path);
                if is_of_it {
                    let path = path.clone();
                    let kind = ItemKind::Memory {
                        definition,
                        path,
                        is_exact,
                    };
                    let function = caller.number;
                    all.push(items.intern(Item { function, kind }));
                }
            }
            if all.len() == before {
                return nothing();
            }
        }
        if all.is_empty() { nothing() } else { UseEffect::All(all) }
    }

    /// What a called function does with memory that it finds.
    fn read_by_call(
        &self,
        part: &MemoryPart<'_, 'a, 'w>,
        object: &Object,
        offset: usize,
        items: &mut Items,
    ) -> UseEffect {
        let call = self.view.index.inst(offset);
        let Some(callee) = self
            .view
            .index
            .function_of(call.callee())
            .and_then(|callee| self.view.function(callee))
        else {
            return nothing();
        };
        let is_variable = object.class.is_variable_of_module();
        let mut found = SmallVec::new();
        let mut add = |pointer: &dyn Fn(&Object) -> bool, path: Path| {
            let target = callee.accesses.objects.iter().find(|(_, object)| pointer(object));
            for cell in target
                .into_iter()
                .flat_map(|(object, _)| callee.cells.at(object, &path).iter())
            {
                if let Some(definition) = callee.memory.entry(cell) {
                    let kind = ItemKind::Memory {
                        definition,
                        path: path.clone(),
                        is_exact: part.is_exact,
                    };
                    let function = callee.number;
                    found.push(items.intern(Item { function, kind }));
                }
            }
        };
        if is_variable {
            add(&|other: &Object| other.pointer == object.pointer, part.path.clone());
        }
        for access in part.function.accesses.at(offset) {
            let AccessKind::Argument(position) = access.kind else {
                continue;
            };
            let is_it = part
                .function
                .accesses
                .objects
                .get(access.place.object)
                .is_some_and(|of| of.pointer == object.pointer);
            if is_it
                && access.place.is_exact
                && let Some(path) = suffix_after(part.path, &access.place.path)
            {
                add(&|other: &Object| other.class == ObjectClass::Parameter(position), path);
            }
        }
        UseEffect::Becomes(found, SmallVec::new())
    }

    /// Whether an instruction has no effect but its result.
    fn is_pure(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::ExtInst => {
                let takes_pointers = inst.ids(5).any(|id| {
                    let ty = self.view.index.type_of(id);
                    self.view.index.storage_class(ty).is_some()
                });
                self.view.glsl.contains(&inst.ext_inst_set()) && !takes_pointers
            }
            op::SampledImage..=op::ImageRead
            | op::Image..=op::ImageQuerySamples
            | op::DPdx..=op::FwidthCoarse
            | op::PtrAccessChain
            | op::FreezeKHR => true,
            opcode => op_sets::writes_no_memory(opcode) || op_sets::base_pointer(inst).is_some(),
        }
    }

    /// The conditions without which an instruction drops the part of its operand in word `word`.
    fn conditions(&self, part: &ValuePart, inst: &Inst<'_>, word: usize) -> SmallVec<[Condition; 2]> {
        let index = self.view.index;
        let component = part.path.first().copied();
        let is_vector = |value: Id| index.opcode(index.type_of(value)) == op::TypeVector;
        match (inst.opcode(), word) {
            (op::Select, 4 | 5) => {
                let value = inst.id(3);
                let test = if word == 4 { Test::True } else { Test::False };
                let component = component.filter(|_| is_vector(value));
                smallvec![Condition { value, component, test }]
            }
            (op::LogicalAnd | op::LogicalOr, _) => {
                let is_and = inst.opcode() == op::LogicalAnd;
                let test = if is_and { Test::True } else { Test::False };
                let parts = self.operands_of(inst.opcode(), inst.id(7 - word)).into_iter();
                parts.map(|value| Condition { value, component, test }).collect()
            }
            // All or any of what a vector is made of.
            (op::Any | op::All, _) => {
                let is_all = inst.opcode() == op::All;
                let test = if is_all { Test::True } else { Test::False };
                let construct = index
                    .def(inst.id(3))
                    .filter(|inst| inst.opcode() == op::CompositeConstruct);
                let parts = construct.into_iter().flat_map(|inst| inst.ids(3).enumerate());
                let is_scalar = |part: Id| index.opcode(index.type_of(part)) == op::TypeBool;
                let others = parts.filter(|(at, part)| is_scalar(*part) && component != Some(*at as u32));
                let component = None;
                others.map(|(_, value)| Condition { value, component, test }).collect()
            }
            (op::BitwiseAnd, _) => {
                let value = inst.id(7 - word);
                let test = Test::NonZero;
                match index.opcode(value) {
                    op::Constant | op::ConstantComposite => SmallVec::new(),
                    _ => smallvec![Condition { value, component, test }],
                }
            }
            _ => SmallVec::new(),
        }
    }

    /// The operands of nested instructions of one opcode, up to four.
    fn operands_of(&self, opcode: u16, value: Id) -> SmallVec<[Id; 4]> {
        let (mut parts, mut worklist) = (SmallVec::new(), vec![value]);
        while let Some(id) = worklist.pop() {
            match self.view.index.def(id).filter(|inst| inst.opcode() == opcode) {
                Some(inst) if parts.len() + worklist.len() < 4 => worklist.extend(inst.ids(3)),
                _ => parts.push(id),
            }
        }
        parts
    }
}

/// A part of what a definition holds.
struct MemoryPart<'p, 'a, 'w> {
    function: &'p FunctionView<'a, 'w>,
    definition: DefIndex,
    path: &'p Path,
    is_exact: bool,
}

impl MemoryPart<'_, '_, '_> {
    /// The same part of another definition.
    fn in_definition(&self, definition: DefIndex, items: &mut Items) -> ItemId {
        let kind = ItemKind::Memory {
            definition,
            path: self.path.clone(),
            is_exact: self.is_exact,
        };
        let function = self.function.number;
        items.intern(Item { function, kind })
    }
}

fn nothing() -> UseEffect {
    UseEffect::Becomes(SmallVec::new(), SmallVec::new())
}

fn push(found: &mut Vec<ItemUse>, block: BlockIndex, offset: usize, effect: UseEffect) {
    if !matches!(&effect, UseEffect::Becomes(items, _) if items.is_empty()) {
        found.push(ItemUse { block, offset, effect });
    }
}

/// The part at `path` of a value that an access writes to a place.
fn stored(
    function: &FunctionView<'_, '_>,
    access: AccessIndex,
    place: &Place,
    path: &Path,
    items: &mut Items,
) -> UseEffect {
    let is_exact = place.is_exact;
    let part: Path = match is_exact {
        true => place.path.iter().chain(path).copied().collect(),
        false => place.path.clone(),
    };
    let mut found = SmallVec::new();
    for definition in function.memory.written(access) {
        if function.cell_has(definition, place.object, &part) {
            // A cell that is smaller than the part is all of it.
            let path = function.part_in_cell(definition, &part);
            let kind = ItemKind::Memory {
                definition,
                path,
                is_exact,
            };
            let function = function.number;
            found.push(items.intern(Item { function, kind }));
        }
    }
    UseEffect::Becomes(found, SmallVec::new())
}

/// The place of a caller that an object of the called function is.
fn place_in_caller(caller: &FunctionView<'_, '_>, object: &Object, offset: usize) -> Option<Place> {
    match object.class {
        ObjectClass::Function | ObjectClass::Described(_) => None,
        ObjectClass::Parameter(position) => {
            let mut passed = caller.accesses.at(offset);
            let access = passed.find(|access| access.kind == AccessKind::Argument(position))?;
            Some(access.place.clone())
        }
        _ => {
            let (number, _) = caller
                .accesses
                .objects
                .iter()
                .find(|(_, other)| other.pointer == object.pointer)?;
            Some(Place {
                object: number,
                path: Path::new(),
                is_exact: true,
            })
        }
    }
}

/// Paths to the scalars and vectors' components of a type. `None` if they are more than [`MOST_PARTS`] or not known.
fn leaves(view: &ModuleView<'_, '_>, ty: Id) -> Option<Vec<Path>> {
    let index = view.index;
    let (mut found, mut worklist) = (Vec::new(), vec![(Path::new(), ty)]);
    while let Some((path, ty)) = worklist.pop() {
        let is_composite = matches!(
            index.opcode(ty),
            op::TypeStruct | op::TypeVector | op::TypeMatrix | op::TypeArray
        );
        if !is_composite {
            found.push(path);
        } else {
            let count = part_count(index, ty).filter(|count| *count <= MOST_PARTS as u64)?;
            worklist.extend((0..count as u32).map(|part| {
                let path = path.iter().copied().chain([part]).collect();
                (path, index.part_type(ty, part))
            }));
        }
        if found.len() + worklist.len() > MOST_PARTS {
            return None;
        }
    }
    Some(found)
}
