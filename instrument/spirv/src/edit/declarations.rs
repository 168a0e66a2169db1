//! Declarations that a pass adds: types, constants, variables, decorations, names, capabilities, extensions.
//!
//! Types that must be unique in a module are looked up before they are added, and so are constants.

use super::emitter::Emitter;
use crate::index::Index;
use crate::op::{decoration, storage_class};
use crate::{Id, Literal, Operands, Words, op};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;

impl Emitter {
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

    pub fn void(&mut self) -> Id {
        if !self.void.is_some() {
            self.void = self.unique(op::TypeVoid, ());
        }
        self.void
    }

    pub fn bool(&mut self) -> Id {
        if !self.bool.is_some() {
            self.bool = self.unique(op::TypeBool, ());
        }
        self.bool
    }

    pub fn uint(&mut self) -> Id {
        if !self.uint.is_some() {
            self.uint = self.unique(op::TypeInt, (Literal(32), Literal(0)));
        }
        self.uint
    }

    pub fn int(&mut self) -> Id {
        self.unique(op::TypeInt, (Literal(32), Literal(1)))
    }

    pub fn float(&mut self, bits: u32) -> Id {
        self.unique(op::TypeFloat, Literal(bits))
    }

    pub fn vector(&mut self, component: Id, count: u32) -> Id {
        self.unique(op::TypeVector, (component, Literal(count)))
    }

    /// Type of this number of words: a vector, or a `uint`.
    pub fn words_type(&mut self, count: u32) -> Id {
        let uint = self.uint();
        if count == 1 { uint } else { self.vector(uint, count) }
    }

    /// Type of physical pointers.
    pub fn physical_pointer(&mut self, pointee: Id) -> Id {
        self.pointer(storage_class::PhysicalStorageBuffer, pointee)
    }

    pub fn pointer(&mut self, class: u32, pointee: Id) -> Id {
        self.unique(op::TypePointer, (Literal(class), pointee))
    }

    pub fn function_type(&mut self, result: Id, parameters: &[Id]) -> Id {
        self.unique(op::TypeFunction, (result, parameters))
    }

    /// A new structure type, not shared.
    pub fn structure(&mut self, members: &[Id]) -> Id {
        let id = self.ids.fresh();
        self.declarations.op(op::TypeStruct, (id, members));
        id
    }

    /// A new array type without a stride, not shared.
    pub fn array(&mut self, element: Id, length: Id) -> Id {
        let id = self.fresh();
        self.declarations.op(op::TypeArray, (id, element, length));
        id
    }

    /// A new runtime array type with a stride, not shared.
    pub fn runtime_array(&mut self, element: Id, stride: u32) -> Id {
        let id = self.ids.fresh();
        self.declarations.op(op::TypeRuntimeArray, (id, element));
        self.decorate(id, decoration::ArrayStride, &[stride]);
        id
    }

    /// A 32-bit unsigned constant.
    pub fn constant(&mut self, value: u32) -> Id {
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
    pub fn spec_constant(&mut self, default: u32, spec_id: u32) -> Id {
        let (ty, id) = (self.uint(), self.fresh());
        self.declarations.op(op::SpecConstant, (ty, id, Literal(default)));
        self.decorate(id, decoration::SpecId, &[spec_id]);
        id
    }

    /// A constant of four words.
    pub fn constant4(&mut self, words: [u32; 4]) -> Id {
        let parts = words.map(|w| self.constant(w));
        let uint = self.uint();
        let ty = self.vector(uint, 4);
        self.value(op::ConstantComposite, ty, parts)
    }

    pub fn null(&mut self, ty: Id) -> Id {
        self.value(op::ConstantNull, ty, ())
    }

    /// A constant instruction, shared with an equal one.
    pub fn value(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        self.find_or_declare(opcode, ty, operands)
    }

    /// A global variable.
    pub fn variable(&mut self, class: u32, pointee: Id, initializer: Option<Id>) -> Id {
        // Ids in the order of the declarations.
        self.pointer(class, pointee);
        let id = self.ids.fresh();
        self.variable_as(id, class, pointee, initializer);
        id
    }

    /// A global variable with an id that is used already.
    pub fn variable_as(&mut self, id: Id, class: u32, pointee: Id, initializer: Option<Id>) {
        let ty = self.pointer(class, pointee);
        self.declarations
            .op(op::Variable, (ty, id, Literal(class), initializer));
    }

    /// A variable of class `Private`.
    pub fn private(&mut self, pointee: Id, initializer: Id) -> Id {
        self.variable(storage_class::Private, pointee, Some(initializer))
    }

    pub fn decorate(&mut self, target: Id, decoration: u32, literals: &[u32]) {
        self.annotations
            .op(op::Decorate, (target, Literal(decoration), Words(literals)));
    }

    /// Decorates new ids `NonUniform` if the value that they derive from is.
    pub fn inherit_non_uniform(&mut self, index: &Index<'_>, from: Id, to: &[Id]) {
        let mut decorations = index.decorations_of(from);
        if decorations.any(|d| d.kind == decoration::NonUniform) {
            to.iter().for_each(|id| self.decorate(*id, decoration::NonUniform, &[]));
        }
    }

    /// Gives a target the decorations of a group of the module.
    pub fn decorate_by_group(&mut self, group: Id, target: Id) {
        self.annotations.op(op::GroupDecorate, (group, target));
    }

    pub fn decorate_member(&mut self, target: Id, member: u32, decoration: u32, literals: &[u32]) {
        self.annotations.op(
            op::MemberDecorate,
            (target, Literal(member), Literal(decoration), Words(literals)),
        );
    }

    pub fn name(&mut self, target: Id, name: &str) {
        self.names.op(op::Name, (target, name));
    }

    pub fn capability(&mut self, capability: u32) {
        self.capabilities.op(op::Capability, Literal(capability));
    }

    pub fn extension(&mut self, name: &str) {
        self.extensions.op(op::Extension, name);
    }
}
