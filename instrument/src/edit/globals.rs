//! Declarations that a pass adds: types, constants, variables, decorations, names, capabilities, extensions.
//!
//! Types that must be unique in a module are looked up before they are added, and so are constants.

use super::{Edits, Ids};
use crate::analysis::index::Index;
use crate::spv::op::{decoration, storage_class};
use crate::spv::words::MAX_BOUND;
use crate::spv::{Code, Id, op};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::iter;

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
    /// Frequent types, 0 until they are declared.
    void: Id,
    bool: Id,
    /// The 32-bit unsigned integer type and its constants below [`SMALL`], 0 until they are declared.
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
                ) => (0, *id, operands),
                (
                    op::Constant | op::ConstantTrue | op::ConstantFalse | op::ConstantNull,
                    [_, ty, id, operands @ ..],
                ) => (*ty, *id, operands),
                _ => continue,
            };
            let key = (inst.opcode(), ty, SmallVec::from_slice(operands));
            shared.entry(key).or_insert(id);
        }
        Self {
            ids: Ids::new(index.bound),
            shared,
            reused: Vec::with_capacity(32),
            bound: index.bound,
            void: 0,
            bool: 0,
            uint: 0,
            small: [0; SMALL],
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
        self.ids.next > MAX_BOUND
    }

    /// The id of a declaration; declares it if the module does not. `ty` is 0 for types.
    fn find_or_declare(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = match self.shared.entry((opcode, ty, SmallVec::from_slice(operands))) {
            Entry::Occupied(entry) => {
                let id = *entry.get();
                if id < self.bound {
                    self.reused.push(id);
                }
                return id;
            }
            Entry::Vacant(entry) => *entry.insert(self.ids.fresh()),
        };
        let head = [ty, id];
        self.declarations
            .op2(opcode, if ty == 0 { &head[1..] } else { &head }, operands);
        id
    }

    fn unique(&mut self, opcode: u16, operands: &[u32]) -> Id {
        self.find_or_declare(opcode, 0, operands)
    }

    pub(crate) fn void(&mut self) -> Id {
        if self.void == 0 {
            self.void = self.unique(op::TypeVoid, &[]);
        }
        self.void
    }

    pub(crate) fn bool(&mut self) -> Id {
        if self.bool == 0 {
            self.bool = self.unique(op::TypeBool, &[]);
        }
        self.bool
    }

    pub(crate) fn uint(&mut self) -> Id {
        if self.uint == 0 {
            self.uint = self.unique(op::TypeInt, &[32, 0]);
        }
        self.uint
    }

    pub(crate) fn float(&mut self, bits: u32) -> Id {
        self.unique(op::TypeFloat, &[bits])
    }

    pub(crate) fn vector(&mut self, component: Id, count: u32) -> Id {
        self.unique(op::TypeVector, &[component, count])
    }

    pub(crate) fn pointer(&mut self, class: u32, pointee: Id) -> Id {
        self.unique(op::TypePointer, &[class, pointee])
    }

    pub(crate) fn function_type(&mut self, result: Id, parameters: &[Id]) -> Id {
        let operands: SmallVec<[Id; 8]> = iter::once(result).chain(parameters.iter().copied()).collect();
        self.unique(op::TypeFunction, &operands)
    }

    /// A new structure type, not shared.
    pub(crate) fn structure(&mut self, members: &[Id]) -> Id {
        let id = self.ids.fresh();
        self.declarations.op2(op::TypeStruct, &[id], members);
        id
    }

    /// A new array type without a stride, not shared.
    pub(crate) fn array(&mut self, element: Id, length: Id) -> Id {
        let id = self.fresh();
        self.declarations.op(op::TypeArray, &[id, element, length]);
        id
    }

    /// A new runtime array type with a stride, not shared.
    pub(crate) fn runtime_array(&mut self, element: Id, stride: u32) -> Id {
        let id = self.ids.fresh();
        self.declarations.op(op::TypeRuntimeArray, &[id, element]);
        self.decorate(id, decoration::ArrayStride, &[stride]);
        id
    }

    /// A 32-bit unsigned constant.
    pub(crate) fn constant(&mut self, value: u32) -> Id {
        if let Some(id) = self.small.get(value as usize).filter(|id| **id != 0) {
            return *id;
        }
        let ty = self.uint();
        let id = self.value(op::Constant, ty, &[value]);
        if let Some(slot) = self.small.get_mut(value as usize) {
            *slot = id;
        }
        id
    }

    /// A constant of four words.
    pub(crate) fn constant4(&mut self, words: [u32; 4]) -> Id {
        let parts = words.map(|w| self.constant(w));
        let uint = self.uint();
        let ty = self.vector(uint, 4);
        self.value(op::ConstantComposite, ty, &parts)
    }

    pub(crate) fn null(&mut self, ty: Id) -> Id {
        self.value(op::ConstantNull, ty, &[])
    }

    /// A constant instruction, shared with an equal one.
    pub(crate) fn value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        self.find_or_declare(opcode, ty, operands)
    }

    /// A global variable, with an initialiser if that is not 0.
    pub(crate) fn variable(&mut self, class: u32, pointee: Id, initializer: Id) -> Id {
        let ty = self.pointer(class, pointee);
        let id = self.ids.fresh();
        let initializer = (initializer != 0).then_some(initializer);
        self.declarations
            .op2(op::Variable, &[ty, id, class], initializer.as_slice());
        id
    }

    /// A variable of class `Private`.
    pub(crate) fn private(&mut self, pointee: Id, initializer: Id) -> Id {
        self.variable(storage_class::Private, pointee, initializer)
    }

    pub(crate) fn decorate(&mut self, target: Id, decoration: u32, literals: &[u32]) {
        self.annotations.op2(op::Decorate, &[target, decoration], literals);
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
        self.annotations.op(op::GroupDecorate, &[group, target]);
    }

    pub(crate) fn decorate_member(&mut self, target: Id, member: u32, decoration: u32, literals: &[u32]) {
        self.annotations
            .op2(op::MemberDecorate, &[target, member, decoration], literals);
    }

    pub(crate) fn name(&mut self, target: Id, name: &str) {
        self.names.text(op::Name, &[target], name);
    }

    pub(crate) fn capability(&mut self, capability: u32) {
        self.capabilities.op(op::Capability, &[capability]);
    }

    pub(crate) fn extension(&mut self, name: &str) {
        self.extensions.text(op::Extension, &[], name);
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
        edits.insert(at.capabilities, &self.capabilities.words);
        edits.insert(at.extensions, &self.extensions.words);
        edits.insert(at.names, &self.names.words);
        edits.insert(at.annotations, &self.annotations.words);
        edits.insert(at.globals, &self.declarations.words);
        edits.take_ids(&self.ids);
    }
}
