//! Declarations that a pass adds: types, constants, variables, decorations, names, capabilities, extensions.
//!
//! Types that must be unique in a module are found before they are added, and so are constants.

use super::{Code, Edits, Ids};
use crate::index::Index;
use crate::spv::op::storage_class;
use crate::spv::{Id, literal, op};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// Opcode, type if there is one, operands: most fit without allocating.
type Key = SmallVec<[u32; 8]>;

fn key(opcode: u16, ty: Option<Id>, operands: &[u32]) -> Key {
    let mut key = Key::new();
    key.push(opcode.into());
    key.extend(ty);
    key.extend_from_slice(operands);
    key
}

/// Constants that are found without a look into the table.
const SMALL: usize = 64;

/// Declarations found and added. [`Globals::finish`] turns the added ones into edits.
#[derive(Debug)]
pub(crate) struct Globals {
    ids: Ids,
    /// Opcode and operands without the result id, to id.
    known: FxHashMap<Key, Id>,
    /// The 32-bit unsigned integer type, and its constants below [`SMALL`], once they are known; else 0.
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
        let mut known = FxHashMap::with_capacity_and_hasher(128, FxBuildHasher);
        for inst in index.globals() {
            match inst.opcode() {
                op::TypeVoid
                | op::TypeBool
                | op::TypeInt
                | op::TypeFloat
                | op::TypeVector
                | op::TypePointer
                | op::TypeFunction => {
                    let key = key(inst.opcode(), None, inst.from(2));
                    known.entry(key).or_insert(inst.word(1));
                }
                op::Constant | op::ConstantTrue | op::ConstantFalse | op::ConstantNull => {
                    let key = key(inst.opcode(), Some(inst.result_type()), inst.from(3));
                    known.entry(key).or_insert(inst.result());
                }
                _ => {}
            }
        }
        Self {
            ids: Ids::new(index.bound),
            known,
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

    /// The declaration of an opcode with these operands, those of values with their type.
    fn find_or_declare(&mut self, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Id {
        let Self {
            known,
            declarations,
            ids,
            ..
        } = self;
        *known.entry(key(opcode, ty, operands)).or_insert_with(|| {
            let id = ids.fresh();
            match ty {
                Some(ty) => declarations.op2(opcode, &[ty, id], operands),
                None => declarations.op2(opcode, &[id], operands),
            }
            id
        })
    }

    fn unique(&mut self, opcode: u16, operands: &[u32]) -> Id {
        self.find_or_declare(opcode, None, operands)
    }

    pub(crate) fn void(&mut self) -> Id {
        self.unique(op::TypeVoid, &[])
    }

    pub(crate) fn bool(&mut self) -> Id {
        self.unique(op::TypeBool, &[])
    }

    /// An integer type; unsigned unless `signed`.
    pub(crate) fn int(&mut self, bits: u32, signed: bool) -> Id {
        self.unique(op::TypeInt, &[bits, signed.into()])
    }

    pub(crate) fn uint(&mut self) -> Id {
        if self.uint == 0 {
            self.uint = self.int(32, false);
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
        let mut operands = vec![result];
        operands.extend_from_slice(parameters);
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
        self.decorate(id, op::decoration::ArrayStride, &[stride]);
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
        self.find_or_declare(opcode, Some(ty), operands)
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

    pub(crate) fn decorate_member(&mut self, target: Id, member: u32, decoration: u32, literals: &[u32]) {
        self.annotations
            .op2(op::MemberDecorate, &[target, member, decoration], literals);
    }

    pub(crate) fn name(&mut self, target: Id, name: &str) {
        self.names.op2(op::Name, &[target], &literal::words(name));
    }

    pub(crate) fn capability(&mut self, capability: u32) {
        self.capabilities.op(op::Capability, &[capability]);
    }

    pub(crate) fn extension(&mut self, name: &str) {
        self.extensions.op(op::Extension, &literal::words(name));
    }

    /// Adds the declarations to a module.
    pub(crate) fn finish(self, index: &Index<'_>, edits: &mut Edits) {
        let at = &index.sections;
        // Extensions may stand at the same offset as capabilities and come after them.
        edits.insert(at.capabilities, &self.capabilities.words);
        edits.insert(at.extensions, &self.extensions.words);
        edits.insert(at.names, &self.names.words);
        edits.insert(at.annotations, &self.annotations.words);
        edits.insert(at.globals, &self.declarations.words);
        edits.take_ids(&self.ids);
    }
}
