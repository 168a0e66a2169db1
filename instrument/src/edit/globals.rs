//! Declarations that a pass adds: types, constants, variables, decorations, names, capabilities, extensions.
//!
//! Types that must be unique in a module are looked up before they are added, and so are constants.

use super::{Edits, Ids};
use crate::analysis::index::Index;
use crate::spv::op::{decoration, storage_class};
use crate::spv::words::MAX_BOUND;
use crate::spv::{Code, Id, Literal, Operands, Words, op};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;

/// Constants below this are cached in an array.
const SMALL: usize = 64;

/// A shared declaration: opcode, type (0 for types) and operands.
type Key = (u16, Id, SmallVec<[u32; 4]>);

/// Declarations of a module and added ones. [`Globals::finish`] turns the added ones into edits.
#[derive(Debug)]
pub(crate) struct Globals {
    ids: Ids,
    /// Types and constants of the module and added ones.
    shared: HashMap<Key, Id>,
    /// Ids of the module that were reused, some of them more than once.
    reused: Vec<Id>,
    /// Ids from here on are new.
    bound: Id,
    /// Frequent types, [`Id::NONE`] until they are declared.
    void: Id,
    bool: Id,
    /// The 32-bit unsigned integer type and its constants below [`SMALL`], [`Id::NONE`] until they are declared.
    uint: Id,
    small: [Id; SMALL],
    declarations: Code,
    annotations: Code,
    names: Code,
    capabilities: Code,
    extensions: Code,
}

impl Globals {
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let mut shared = HashMap::default();
        shared.reserve(96);
        for inst in index.globals() {
            let (ty, id, operands) = match (inst.opcode(), inst.words) {
                (
                    op::TypeVoid
                    | op::TypeBool
                    | op::TypeInt
                    | op::TypeFloat
                    | op::TypeVector
                    | op::TypePointer
                    | op::TypeFunction,
                    [_, id, operands @ ..],
                ) => (Id::NONE, *id, operands),
                (
                    op::Constant | op::ConstantTrue | op::ConstantFalse | op::ConstantNull,
                    [_, ty, id, operands @ ..],
                ) => (Id::new(*ty), *id, operands),
                _ => continue,
            };
            let key = (inst.opcode(), ty, SmallVec::from_slice(operands));
            shared.entry(key).or_insert(Id::new(id));
        }
        Self {
            ids: Ids::new(index.bound),
            shared,
            reused: Vec::with_capacity(32),
            bound: Id::new(index.bound),
            void: Id::NONE,
            bool: Id::NONE,
            uint: Id::NONE,
            small: [Id::NONE; SMALL],
            declarations: Code::with_room(512),
            annotations: Code::with_room(128),
            names: Code::with_room(128),
            capabilities: Code::default(),
            extensions: Code::default(),
        }
    }

    /// A new id.
    pub(crate) fn fresh(&mut self) -> Id {
        self.ids.fresh()
    }

    /// Whether more ids were taken than a module may have. Its edits will be rejected, so a pass that makes many copies
    /// can stop.
    pub(crate) fn is_out_of_ids(&self) -> bool {
        self.ids.bound() > MAX_BOUND
    }

    /// The id of a declaration; declares it if the module does not. `ty` is [`Id::NONE`] for types.
    fn find_or_declare(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        let operands: SmallVec<[u32; 4]> = operands.words().collect();
        match self.shared.entry((opcode, ty, operands)) {
            Entry::Occupied(entry) => {
                let id = *entry.get();
                if id < self.bound {
                    self.reused.push(id);
                }
                id
            }
            Entry::Vacant(entry) => {
                let id = self.ids.fresh();
                let (_, _, operands) = entry.key();
                let ty = ty.is_some().then_some(ty);
                self.declarations.op(opcode, (ty, id, Words(operands)));
                *entry.insert(id)
            }
        }
    }

    fn unique(&mut self, opcode: u16, operands: impl Operands) -> Id {
        self.find_or_declare(opcode, Id::NONE, operands)
    }

    pub(crate) fn void(&mut self) -> Id {
        if !self.void.is_some() {
            self.void = self.unique(op::TypeVoid, ());
        }
        self.void
    }

    pub(crate) fn bool(&mut self) -> Id {
        if !self.bool.is_some() {
            self.bool = self.unique(op::TypeBool, ());
        }
        self.bool
    }

    pub(crate) fn uint(&mut self) -> Id {
        if !self.uint.is_some() {
            self.uint = self.unique(op::TypeInt, (Literal(32), Literal(0)));
        }
        self.uint
    }

    pub(crate) fn float(&mut self, bits: u32) -> Id {
        self.unique(op::TypeFloat, Literal(bits))
    }

    pub(crate) fn vector(&mut self, component: Id, count: u32) -> Id {
        self.unique(op::TypeVector, (component, Literal(count)))
    }

    pub(crate) fn pointer(&mut self, class: u32, pointee: Id) -> Id {
        self.unique(op::TypePointer, (Literal(class), pointee))
    }

    pub(crate) fn function_type(&mut self, result: Id, parameters: &[Id]) -> Id {
        self.unique(op::TypeFunction, (result, parameters))
    }

    /// A new structure type, not shared.
    pub(crate) fn structure(&mut self, members: &[Id]) -> Id {
        let id = self.ids.fresh();
        self.declarations.op(op::TypeStruct, (id, members));
        id
    }

    /// A new array type without a stride, not shared.
    pub(crate) fn array(&mut self, element: Id, length: Id) -> Id {
        let id = self.fresh();
        self.declarations.op(op::TypeArray, (id, element, length));
        id
    }

    /// A new runtime array type with a stride, not shared.
    pub(crate) fn runtime_array(&mut self, element: Id, stride: u32) -> Id {
        let id = self.ids.fresh();
        self.declarations.op(op::TypeRuntimeArray, (id, element));
        self.decorate(id, decoration::ArrayStride, &[stride]);
        id
    }

    /// A 32-bit unsigned constant.
    pub(crate) fn constant(&mut self, value: u32) -> Id {
        if let Some(id) = self.small.get(value as usize).filter(|id| id.is_some()) {
            return *id;
        }
        let ty = self.uint();
        let id = self.value(op::Constant, ty, Literal(value));
        if let Some(slot) = self.small.get_mut(value as usize) {
            *slot = id;
        }
        id
    }

    /// A new 32-bit unsigned specialisation constant.
    pub(crate) fn spec_constant(&mut self, default: u32, spec_id: u32) -> Id {
        let (ty, id) = (self.uint(), self.fresh());
        self.declarations.op(op::SpecConstant, (ty, id, Literal(default)));
        self.decorate(id, decoration::SpecId, &[spec_id]);
        id
    }

    /// A constant of four words.
    pub(crate) fn constant4(&mut self, words: [u32; 4]) -> Id {
        let parts = words.map(|w| self.constant(w));
        let uint = self.uint();
        let ty = self.vector(uint, 4);
        self.value(op::ConstantComposite, ty, parts)
    }

    pub(crate) fn null(&mut self, ty: Id) -> Id {
        self.value(op::ConstantNull, ty, ())
    }

    /// A constant instruction, shared with an equal one.
    pub(crate) fn value(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        self.find_or_declare(opcode, ty, operands)
    }

    /// A global variable.
    pub(crate) fn variable(&mut self, class: u32, pointee: Id, initializer: Option<Id>) -> Id {
        let ty = self.pointer(class, pointee);
        let id = self.ids.fresh();
        self.declarations
            .op(op::Variable, (ty, id, Literal(class), initializer));
        id
    }

    /// A variable of class `Private`.
    pub(crate) fn private(&mut self, pointee: Id, initializer: Id) -> Id {
        self.variable(storage_class::Private, pointee, Some(initializer))
    }

    pub(crate) fn decorate(&mut self, target: Id, decoration: u32, literals: &[u32]) {
        self.annotations
            .op(op::Decorate, (target, Literal(decoration), Words(literals)));
    }

    /// Decorates new ids `NonUniform` if the value that they derive from is.
    pub(crate) fn inherit_non_uniform(&mut self, index: &Index<'_>, from: Id, to: &[Id]) {
        let mut decorations = index.decorations_of(from);
        if decorations.any(|d| d.kind == decoration::NonUniform) {
            to.iter().for_each(|id| self.decorate(*id, decoration::NonUniform, &[]));
        }
    }

    /// Gives a target the decorations of a group of the module.
    pub(crate) fn decorate_by_group(&mut self, group: Id, target: Id) {
        self.annotations.op(op::GroupDecorate, (group, target));
    }

    pub(crate) fn decorate_member(&mut self, target: Id, member: u32, decoration: u32, literals: &[u32]) {
        self.annotations.op(
            op::MemberDecorate,
            (target, Literal(member), Literal(decoration), Words(literals)),
        );
    }

    pub(crate) fn name(&mut self, target: Id, name: &str) {
        self.names.op(op::Name, (target, name));
    }

    pub(crate) fn capability(&mut self, capability: u32) {
        self.capabilities.op(op::Capability, Literal(capability));
    }

    pub(crate) fn extension(&mut self, name: &str) {
        self.extensions.op(op::Extension, name);
    }

    /// Ids of the module that were reused, some of them more than once.
    pub(crate) fn reused(&self) -> &[Id] {
        &self.reused
    }

    /// The types, constants and variables added so far.
    pub(crate) fn declarations(&self) -> &[u32] {
        &self.declarations.words
    }

    /// Adds the declarations to a module.
    pub(crate) fn finish(self, index: &Index<'_>, edits: &mut Edits) {
        let at = &index.sections;
        // Extensions may have the same offset as capabilities and come after them.
        edits.insert(at.capabilities, &self.capabilities);
        edits.insert(at.extensions, &self.extensions);
        edits.insert(at.names, &self.names);
        edits.insert(at.annotations, &self.annotations);
        edits.insert(at.globals, &self.declarations);
        edits.take_ids(&self.ids);
    }
}
