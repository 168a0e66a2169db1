//! Emits the code of a pass, with the ids and declarations that it needs.

use super::{Edits, Ids};
use crate::index::Index;
use crate::index::debug::Position;
use crate::words::MAX_BOUND;
use crate::{Code, Id, Literal, Operands, op};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::mem;

/// Constants below this are cached in an array.
pub(super) const SMALL: usize = 64;

/// A shared declaration: opcode, type (0 for types) and operands.
pub(super) type Key = (u16, Id, SmallVec<[u32; 4]>);

/// The code being written, and the declarations of a module and added ones. [`Emitter::finish`] turns the added declarations
/// into edits; code is inserted by the pass that writes it.
///
/// Implemented here: ids and code. In `declarations`: types, constants, variables, decorations and names.
#[derive(Debug)]
pub struct Emitter {
    /// The code being written: a detached block of instructions until [`Emitter::take_code`].
    pub code: Code,
    pub(super) ids: Ids,
    /// Types and constants of the module and added ones.
    pub(super) shared: HashMap<Key, Id>,
    /// Ids of the module that were reused, some of them more than once.
    pub(super) reused: Vec<Id>,
    /// Ids from here on are new.
    pub(super) bound: Id,
    /// Frequent types, [`Id::NONE`] until they are declared.
    pub(super) void: Id,
    pub(super) bool: Id,
    /// The 32-bit unsigned integer type and its constants below [`SMALL`], [`Id::NONE`] until they are declared.
    pub(super) uint: Id,
    pub(super) small: [Id; SMALL],
    pub(super) declarations: Code,
    pub(super) annotations: Code,
    pub(super) names: Code,
    pub(super) capabilities: Code,
    pub(super) extensions: Code,
}

impl Emitter {
    pub fn new(index: &Index<'_>) -> Self {
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
            code: Code::default(),
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
    pub fn fresh(&mut self) -> Id {
        self.ids.fresh()
    }

    /// Whether more ids were taken than a module may have. Its edits will be rejected, so a pass that makes many copies
    /// can stop.
    pub(crate) fn is_out_of_ids(&self) -> bool {
        self.ids.bound() > MAX_BOUND
    }

    /// Adds an instruction.
    #[inline]
    pub fn op(&mut self, opcode: u16, operands: impl Operands) {
        self.code.op(opcode, operands);
    }

    /// Adds an instruction with a result of type `ty`.
    pub fn emit(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        let result = self.fresh();
        self.op(opcode, (ty, result, operands));
        result
    }

    /// Adds an instruction with a `uint` result.
    pub fn calculate(&mut self, opcode: u16, operands: impl Operands) -> Id {
        let uint = self.uint();
        self.emit(opcode, uint, operands)
    }

    /// Adds an `OpPhi` with (value, predecessor) pairs.
    pub fn phi(&mut self, ty: Id, result: Id, pairs: &[(Id, Id)]) {
        self.op(op::Phi, (ty, result, pairs));
    }

    pub fn label(&mut self, id: Id) {
        self.op(op::Label, id);
    }

    pub fn branch(&mut self, target: Id) {
        self.op(op::Branch, target);
    }

    /// Adds a selection: branches to `yes` if `condition`, else to `no`; both meet at `merge`.
    pub fn branch_if(&mut self, condition: Id, yes: Id, no: Id, merge: Id) {
        self.op(op::SelectionMerge, (merge, Literal(0)));
        self.op(op::BranchConditional, (condition, yes, no));
    }

    /// Repeats a source position at the start of a new block.
    pub fn write_position(&mut self, position: &Position<'_>) {
        position.write(&mut self.code, || self.ids.fresh());
    }

    /// Passes the code to `insert` and begins anew, in the same memory.
    pub fn place(&mut self, insert: impl FnOnce(&Code)) {
        insert(&self.code);
        self.code.clear();
    }

    /// Returns the code and begins anew.
    pub fn take_code(&mut self) -> Code {
        mem::take(&mut self.code)
    }

    /// Continues other code: `write` adds to its end.
    pub fn continue_code<T>(&mut self, code: &mut Code, write: impl FnOnce(&mut Self) -> T) -> T {
        mem::swap(&mut self.code, code);
        let result = write(self);
        mem::swap(&mut self.code, code);
        result
    }

    /// Ids of the module that were reused, some of them more than once.
    pub fn reused(&self) -> &[Id] {
        &self.reused
    }

    /// The types, constants and variables added so far.
    pub fn declarations(&self) -> &[u32] {
        &self.declarations.words
    }

    /// Adds the declarations to a module.
    pub fn finish(self, index: &Index<'_>, edits: &mut Edits) {
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
