//! Accesses of a function to the memory that only its invocation sees: variables of the storage classes Function,
//! Private, Output and Workgroup, and pointees of pointer parameters.
//!
//! [`FunctionAccesses::read`] is the only place that decides the memory accesses of an instruction; summaries and definitions follow it.

use super::access::{Access, AccessKind, Object, ObjectClass, Place};
use super::path::Path;
use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::debug_variables::LocalVariable;
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, ObjectIndex, Table};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op::{glsl, storage_class};
use vkabort_spirv::op_sets::is_atomic_read;
use vkabort_spirv::{Id, Inst, op, operands};

/// The objects of a function, and its accesses in module order.
#[derive(Clone, Debug, Default)]
pub struct FunctionAccesses {
    pub objects: Table<ObjectIndex, Object>,
    pub accesses: Table<AccessIndex, Access>,
    places: HashMap<Id, Place>,
    /// Positions of the pointer parameters that are not followed: they may point to shared memory.
    pub(super) other_pointers: Vec<usize>,
    /// Variables of which debug information describes the values, with the object of each.
    pub described: Vec<(ObjectIndex, LocalVariable)>,
}

impl FunctionAccesses {
    /// O(words of the function).
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut found = Self::default();
        let first = index
            .blocks_of(function)
            .first()
            .map_or(function.end, |block| block.offset);
        let parameters = index.insts(function.offset, first);
        for (position, parameter) in parameters
            .filter(|inst| inst.opcode() == op::FunctionParameter)
            .enumerate()
        {
            match index.storage_class(parameter.result_type()) {
                Some(storage_class::Function | storage_class::Private) => {
                    found.add_object(index, &parameter, ObjectClass::Parameter(position), None);
                }
                Some(_) => found.other_pointers.push(position),
                None => {}
            }
        }
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                found.read(index, number, &inst);
            }
        }
        found
    }

    /// Adds the variables that `DebugValue`s describe. O(words of the function * variables of a name).
    pub(super) fn add_described(&mut self, index: &Index<'_>, function: &Function) {
        let mut objects: HashMap<String, Vec<ObjectIndex>> = HashMap::default();
        let mut stores = Vec::new();
        for (block, of) in function.blocks.iter().zip(index.blocks_of(function)) {
            let mut position = Position::default();
            for inst in index.body(of) {
                index.advance(&mut position, inst.offset, inst.end());
                let described = index.described_variable(&inst, &position);
                let Some(of) = described.filter(|of| !of.is_declaration) else {
                    continue;
                };
                let same_name = objects.entry(of.variable.name.clone()).or_default();
                let is_it = |object: &&ObjectIndex| match self.objects.get(**object).map(|object| object.class) {
                    Some(ObjectClass::Described(at)) => {
                        self.described.get(at).is_some_and(|(_, other)| *other == of.variable)
                    }
                    _ => false,
                };
                let object = match same_name.iter().find(is_it) {
                    Some(object) => *object,
                    None => {
                        let object = self.objects.next_key();
                        self.objects.push(Object {
                            pointer: Id::NONE,
                            ty: Id::NONE,
                            class: ObjectClass::Described(self.described.len()),
                            initializer: None,
                            is_escaped: false,
                        });
                        self.described.push((object, of.variable));
                        same_name.push(object);
                        object
                    }
                };
                stores.push(Access {
                    block,
                    offset: inst.offset,
                    kind: AccessKind::Store(of.value),
                    place: Place {
                        object,
                        path: Path::new(),
                        is_exact: true,
                    },
                });
            }
        }
        if !stores.is_empty() {
            let mut all: Vec<Access> = self.accesses.values().iter().cloned().chain(stores).collect();
            all.sort_by_key(|access| access.offset);
            self.accesses = Table::default();
            all.into_iter().for_each(|access| {
                self.accesses.push(access);
            });
        }
    }

    fn add_object(&mut self, index: &Index<'_>, pointer: &Inst<'_>, class: ObjectClass, initializer: Option<Id>) {
        let object = self.objects.next_key();
        let ty = index.def(pointer.result_type()).map_or(Id::NONE, |ty| ty.pointee());
        self.objects.push(Object {
            pointer: pointer.result(),
            ty,
            class,
            initializer,
            is_escaped: false,
        });
        let place = Place {
            object,
            path: Path::new(),
            is_exact: true,
        };
        self.places.insert(pointer.result(), place);
    }

    /// The accesses of the instruction at a word offset. O(log(accesses)).
    pub fn at(&self, offset: usize) -> impl Iterator<Item = &Access> {
        let all = self.accesses.values();
        let first = all.partition_point(|access| access.offset < offset);
        let from = all.get(first..).unwrap_or_default().iter();
        from.take_while(move |access| access.offset == offset)
    }

    /// The place that a pointer points to, if it is in an object of the function.
    pub fn place(&self, pointer: Id) -> Option<&Place> {
        self.places.get(&pointer)
    }

    /// As [`Self::place`], for any pointer of the walk: adds the object of a global variable.
    fn place_or_global(&mut self, index: &Index<'_>, pointer: Id) -> Option<Place> {
        if let Some(place) = self.places.get(&pointer) {
            return Some(place.clone());
        }
        let variable = index.def(pointer).filter(|inst| inst.opcode() == op::Variable)?;
        let class = match variable.storage_class() {
            storage_class::Private => ObjectClass::Private,
            storage_class::Output => ObjectClass::Output,
            storage_class::Workgroup => ObjectClass::Workgroup,
            _ => return None,
        };
        let initializer = variable.words.get(4).map(|word| Id::new(*word));
        self.add_object(index, &variable, class, initializer);
        self.places.get(&pointer).cloned()
    }

    fn read(&mut self, index: &Index<'_>, block: BlockIndex, inst: &Inst<'_>) {
        match inst.opcode() {
            op::Variable => {
                let initializer = inst.words.get(4).map(|word| Id::new(*word));
                self.add_object(index, inst, ObjectClass::Function, initializer);
            }
            op::AccessChain | op::InBoundsAccessChain => {
                if let Some(base) = self.place_or_global(index, inst.id(3)) {
                    self.places.insert(inst.result(), extended(index, &base, inst.ids(4)));
                }
            }
            op::CopyObject => {
                if let Some(place) = self.place_or_global(index, inst.id(3)) {
                    self.places.insert(inst.result(), place);
                }
            }
            op::Load => self.add(index, block, inst, inst.pointer(), AccessKind::Load(inst.result())),
            op::Store => {
                self.add(
                    index,
                    block,
                    inst,
                    inst.pointer(),
                    AccessKind::Store(inst.stored_value()),
                );
                self.escape(index, inst.stored_value());
            }
            op::CopyMemory => {
                self.add(index, block, inst, inst.id(2), AccessKind::CopyFrom);
                self.add(index, block, inst, inst.id(1), AccessKind::CopyTo);
            }
            op::FunctionCall => {
                for (position, argument) in inst.ids(4).enumerate() {
                    self.add(index, block, inst, argument, AccessKind::Argument(position));
                }
            }
            op::ExtInst if index.is_debug_inst(inst) => {}
            op::ExtInst if matches!(inst.ext_inst(), glsl::Modf | glsl::Frexp) => {
                self.add(index, block, inst, inst.id(6), AccessKind::Write)
            }
            op::AtomicStore => self.add(index, block, inst, inst.id(1), AccessKind::Other),
            opcode if is_atomic_read(opcode) => self.add(index, block, inst, inst.pointer(), AccessKind::Other),
            // Pointers that are returned, selected or a part of a value.
            op::ReturnValue => self.escape(index, inst.id(1)),
            op::ImageTexelPointer
            | op::ArrayLength
            | op::Phi
            | op::Select
            | op::PtrAccessChain
            | op::CompositeConstruct
            | op::CompositeInsert
            | op::Bitcast => {
                inst.ids(3).for_each(|id| self.escape(index, id));
            }
            _ => {
                let is_pointer = index.storage_class(inst.result_type()).is_some();
                let mut others = Vec::new();
                let is_listed =
                    operands::visit_ids(inst, index.selector_words(inst), |word| others.push(inst.id(word)));
                if !is_listed {
                    others.extend(inst.ids(1));
                }
                for id in others {
                    match is_pointer {
                        true => self.escape(index, id),
                        false => self.add(index, block, inst, id, AccessKind::Other),
                    }
                }
            }
        }
    }

    fn add(&mut self, index: &Index<'_>, block: BlockIndex, inst: &Inst<'_>, pointer: Id, kind: AccessKind) {
        if let Some(place) = self.place_or_global(index, pointer) {
            self.accesses.push(Access {
                block,
                offset: inst.offset,
                kind,
                place,
            });
        }
    }

    /// The objects for which `is_aliased` are accessed in ways that are not followed.
    pub(super) fn escape_where(&mut self, is_aliased: impl Fn(&Object) -> bool) {
        for number in self.objects.keys() {
            if let Some(object) = self.objects.get_mut(number).filter(|object| is_aliased(object)) {
                object.is_escaped = true;
            }
        }
    }

    /// A pointer is used in a way that is not followed.
    fn escape(&mut self, index: &Index<'_>, pointer: Id) {
        let place = self.place_or_global(index, pointer);
        if let Some(object) = place.and_then(|place| self.objects.get_mut(place.object)) {
            object.is_escaped = true;
        }
    }
}

fn extended(index: &Index<'_>, base: &Place, indices: impl Iterator<Item = Id>) -> Place {
    let mut place = base.clone();
    for id in indices.take_while(|_| base.is_exact) {
        let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant);
        let value = constant.and_then(|inst| u32::try_from(index.literal(&inst)?).ok());
        match value {
            Some(value) if place.is_exact => place.path.push(value),
            _ => place.is_exact = false,
        }
    }
    place
}
