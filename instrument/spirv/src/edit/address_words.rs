//! Physical pointers as words, the form in which passes keep them in variables, phis and results of functions.
//!
//! ```text
//! %words = Bitcast %uvec2 %pointer, Store %variable %words     ..     %words = Load %uvec2 %variable, %pointer = Bitcast %type %words
//! ```
//!
//! A composite with pointers is kept as a structure of its parts, of which the pointers are words. SwiftShader's compiler ends the process
//! at a phi of pointers, and makes one of each variable that several instructions store to.
//!
//! A type does not tell the layout of a matrix: the member that an access chain passes does. So pointers for which
//! [`takes_layout_from_chain`] holds are computed again from the pointer that their chain begins with.
//!
//! Not handled: composites of more than [`MAX_PARTS`] parts or of a specialised length; they are kept as they are.

use super::emitter::Emitter;
use super::placeholder::constant_length;
use crate::index::Index;
use crate::op::storage_class;
use crate::op_sets::{base_pointer, is_untyped_chain};
use crate::{Id, Literal, Words, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Most parts of a composite that is divided: each use takes an instruction or two for a part.
const MAX_PARTS: usize = 1024;
/// Words of the indices of all of them together.
const MAX_INDICES: usize = 8192;
/// Most copies and steps from a column that are followed to its chain. In an invalid module they may be a circle.
const MAX_STEPS: usize = 64;

/// A part of a value, which is a pointer or contains none.
struct Part {
    path: Vec<u32>,
    ty: Id,
    is_pointer: bool,
}

/// The type in which values of a type are kept.
struct Form {
    kept: Id,
    parts: Vec<Part>,
}

/// The forms of the types of one module.
#[derive(Default)]
pub struct AddressWords {
    /// `None`: values of the type are kept as they are.
    forms: HashMap<Id, Option<Form>>,
}

impl AddressWords {
    /// The type in which values of a type are kept, if that is another one. O(parts of the type) the first time.
    pub fn kept_type(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id) -> Option<Id> {
        let form = self.forms.entry(ty).or_insert_with(|| form(index, out, ty));
        form.as_ref().map(|form| form.kept)
    }

    /// Writes the form in which a value of type `ty` is kept: the value itself if there is no other.
    pub fn keep(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id, value: Id) -> Id {
        if self.kept_type(index, out, ty).is_none() {
            return value;
        }
        let Some(Some(form)) = self.forms.get(&ty) else {
            return value;
        };
        let uvec2 = out.words_type(2);
        let mut kept = Vec::with_capacity(form.parts.len());
        for part in &form.parts {
            let mut word = value;
            if !part.path.is_empty() {
                word = out.emit(op::CompositeExtract, part.ty, (value, Words(&part.path)));
            }
            if part.is_pointer {
                word = out.emit(op::Bitcast, uvec2, word);
            }
            kept.push(word);
        }
        match kept.as_slice() {
            [only] if form.kept == uvec2 => *only,
            all => out.emit(op::CompositeConstruct, form.kept, all),
        }
    }

    /// Defines `result` as the value of type `ty` that a variable keeps.
    pub fn load(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id, (variable, result): (Id, Id)) {
        match self.kept_type(index, out, ty) {
            Some(kept) => {
                let loaded = out.emit(op::Load, kept, variable);
                self.restore(out, ty, loaded, result);
            }
            None => out.op(op::Load, (ty, result, variable)),
        }
    }

    /// Defines `result` as the value of type `ty` that is kept as `kept`. Of a type that has a [kept type](Self::kept_type).
    pub fn restore(&mut self, out: &mut Emitter, ty: Id, kept: Id, result: Id) {
        let Some(Some(form)) = self.forms.get(&ty) else {
            return;
        };
        if let [part] = form.parts.as_slice()
            && part.path.is_empty()
        {
            return out.op(op::Bitcast, (ty, result, kept));
        }
        let uvec2 = out.words_type(2);
        let mut whole = out.emit(op::Undef, ty, ());
        for (number, part) in (0..).zip(&form.parts) {
            let member = if part.is_pointer { uvec2 } else { part.ty };
            let mut value = out.emit(op::CompositeExtract, member, (kept, Literal(number)));
            if part.is_pointer {
                value = out.emit(op::Bitcast, part.ty, value);
            }
            let is_last = number as usize + 1 == form.parts.len();
            let next = if is_last { result } else { out.fresh() };
            out.op(op::CompositeInsert, (ty, next, value, whole, Words(&part.path)));
            whole = next;
        }
    }
}

fn form(index: &Index<'_>, out: &mut Emitter, ty: Id) -> Option<Form> {
    let parts = parts(index, ty)?;
    let uvec2 = out.words_type(2);
    let members = parts.iter().map(|part| if part.is_pointer { uvec2 } else { part.ty });
    let members: Vec<Id> = members.collect();
    let kept = match is_physical_pointer(index, ty) {
        true => uvec2,
        false => out.structure(&members),
    };
    Some(Form { kept, parts })
}

/// The parts of a type that contains pointers.
fn parts(index: &Index<'_>, ty: Id) -> Option<Vec<Part>> {
    if !contains_pointers(index, ty) {
        return None;
    }
    let (mut parts, mut indices) = (Vec::new(), 0);
    let mut worklist = vec![(ty, Vec::new())];
    while let Some((ty, path)) = worklist.pop() {
        let is_pointer = is_physical_pointer(index, ty);
        if is_pointer || !contains_pointers(index, ty) {
            parts.push(Part { path, ty, is_pointer });
            continue;
        }
        let inst = index.def(ty)?;
        let members: Vec<Id> = match inst.opcode() {
            op::TypeArray => {
                let count = constant_length(index, &inst)? as usize;
                (count <= MAX_PARTS).then(|| vec![inst.element_type(); count])?
            }
            _ => inst.ids(2).collect(),
        };
        indices += members.len() * (path.len() + 1);
        if parts.len() + worklist.len() + members.len() > MAX_PARTS || indices > MAX_INDICES {
            return None;
        }
        let first = worklist.len();
        for (number, member) in (0..).zip(members) {
            let mut path = path.clone();
            path.push(number);
            worklist.push((member, path));
        }
        worklist.get_mut(first..).into_iter().for_each(<[_]>::reverse);
    }
    (!parts.is_empty()).then_some(parts)
}

/// Whether values of a type are pointers into physical storage buffers.
pub fn is_physical_pointer(index: &Index<'_>, ty: Id) -> bool {
    index.storage_class(ty) == Some(storage_class::PhysicalStorageBuffer)
}

/// Whether only the access chain of a physical pointer determines the layout of its pointee: the chain ends at a matrix or an array of
/// matrices, or passes one to a column. O(indices and types).
pub fn takes_layout_from_chain(index: &Index<'_>, id: Id) -> bool {
    let is_of_matrices = |ty| index.opcode(index.under_arrays(ty)) == op::TypeMatrix;
    let mut id = id;
    for _ in 0..MAX_STEPS {
        if !is_physical_pointer(index, index.type_of(id)) {
            return false;
        }
        let Some((chain, base)) = index.def(id).and_then(|inst| Some((inst, base_pointer(&inst)?))) else {
            return false;
        };
        let is_untyped = is_untyped_chain(chain.opcode());
        let mut ty = match is_untyped {
            true => chain.id(3),
            false => index.def(index.type_of(base)).map_or(Id::NONE, |ty| ty.pointee()),
        };
        if is_of_matrices(ty) {
            return true;
        }
        let is_element = matches!(
            chain.opcode(),
            op::PtrAccessChain
                | op::InBoundsPtrAccessChain
                | op::UntypedPtrAccessChainKHR
                | op::UntypedInBoundsPtrAccessChainKHR
        );
        let first = 4 + usize::from(is_untyped) + usize::from(is_element);
        let mut has_indices = false;
        // The indices of a raw chain count bytes and elements.
        for number in chain.ids(first).filter(|_| chain.opcode() != op::RawAccessChainNV) {
            // Only members of structures have different types.
            let member = index.def(number).filter(|inst| inst.opcode() == op::Constant);
            ty = index.part_type(ty, member.map_or(0, |inst| inst.constant_bits() as u32));
            if is_of_matrices(ty) {
                return true;
            }
            has_indices = true;
        }
        if has_indices {
            return false;
        }
        id = base;
    }
    false
}

/// Whether a type is a physical pointer, or a composite with one. O(types).
fn contains_pointers(index: &Index<'_>, ty: Id) -> bool {
    let mut seen = HashSet::default();
    let mut worklist = vec![ty];
    while let Some(ty) = worklist.pop() {
        let Some(inst) = index.def(ty).filter(|_| seen.insert(ty)) else {
            continue;
        };
        if is_physical_pointer(index, ty) {
            return true;
        }
        match inst.opcode() {
            op::TypeArray => worklist.push(inst.element_type()),
            op::TypeStruct => worklist.extend(inst.ids(2)),
            _ => {}
        }
    }
    false
}
