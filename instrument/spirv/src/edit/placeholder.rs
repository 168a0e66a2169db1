//! Placeholder values: never observed, or equal at every use.
//!
//! ```text
//! types with a null constant             %v = ConstantNull %type
//! physical storage buffer pointers       %v = Bitcast %type %null_uvec2
//! composites that contain such pointers  %v = CompositeConstruct %type %part ..
//! images, logical pointers and the like  %v = Undef %type
//! ```
//!
//! A physical storage buffer pointer has no null constant, so no composite that contains one has.

use super::emitter::Emitter;
use crate::index::Index;
use crate::index::constant::{Length, Specialization};
use crate::op::{capability, storage_class};
use crate::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;
use std::ops::Range;

/// Nesting limit of structures (SPIR-V specification, "Universal Limits").
const MAX_DEPTH: u32 = 255;
/// Composites that take more parts than this are left undefined, so that each of many uses stays cheap.
const MAX_PARTS: u32 = 1024;

/// How a placeholder of a type is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By the null constant.
    Null,
    /// By instructions that construct this many parts.
    Built(u32),
    /// Only by an undefined value.
    Undefined,
}

/// Forms placeholder values of the types of one module.
#[derive(Debug, Default)]
pub struct Placeholders {
    /// Pointer and composite types by id.
    kinds: HashMap<Id, Kind>,
}

impl Placeholders {
    /// A value of a type. Instructions are added to `code` where no constant exists.
    pub fn placeholder_value(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id) -> Id {
        self.stable_placeholder(index, out, ty)
            .unwrap_or_else(|| out.emit(op::Undef, ty, ()))
    }

    /// As [`Self::placeholder_value`], but equal at every use. `None` if only an undefined value exists.
    pub fn stable_placeholder(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id) -> Option<Id> {
        match self.kind(index, ty, MAX_DEPTH) {
            Kind::Null => Some(out.null(ty)),
            Kind::Built(_) => self.build(index, out, ty),
            Kind::Undefined => None,
        }
    }

    /// Whether a phi can select values of a type.
    pub fn can_select(&mut self, index: &Index<'_>, ty: Id) -> bool {
        !index.is_opaque(ty) && (!index.is_logical_pointer(ty) || self.has_null(index, ty))
    }

    /// Whether a type has a null constant.
    pub fn has_null(&mut self, index: &Index<'_>, ty: Id) -> bool {
        self.kind(index, ty, MAX_DEPTH) == Kind::Null
    }

    /// Examines each composite type once: types share their parts, so that a type of few words may have very many parts.
    fn kind(&mut self, index: &Index<'_>, ty: Id, depth: u32) -> Kind {
        let (Some(inst), Some(depth)) = (index.def(ty), depth.checked_sub(1)) else {
            return Kind::Undefined;
        };
        let (parts, times) = match inst.opcode() {
            op::TypeBool | op::TypeInt | op::TypeFloat | op::TypeVector | op::TypeMatrix => return Kind::Null,
            op::TypeCooperativeMatrixKHR | op::TypeCooperativeMatrixNV => return Kind::Null,
            op::TypePointer => (2..2, None),
            op::TypeArray => (2..3, constant_length(index, &inst)),
            op::TypeStruct => (2..inst.words.len(), Some(1)),
            _ => return Kind::Undefined,
        };
        if let Some(kind) = self.kinds.get(&ty) {
            return *kind;
        }
        let kind = match inst.opcode() {
            op::TypePointer => of_pointer(index, inst.storage_class()),
            _ => self.of_composite(index, &inst, parts, times, depth),
        };
        self.kinds.insert(ty, kind);
        kind
    }

    /// `parts` are the word indices of the types of its parts, which repeat `times` times; `None` if the number is not constant.
    fn of_composite(
        &mut self,
        index: &Index<'_>,
        composite: &Inst<'_>,
        parts: Range<usize>,
        times: Option<u32>,
        depth: u32,
    ) -> Kind {
        let mut all = Kind::Null;
        for part in parts.clone().map(|word| composite.id(word)) {
            // Types that contain each other, in an invalid module, would recurse without end.
            let is_before = index.def(part).is_some_and(|def| def.offset < composite.offset);
            let of_part = match is_before {
                true => self.kind(index, part, depth),
                false => Kind::Undefined,
            };
            all = match (all, of_part) {
                (Kind::Undefined, _) | (_, Kind::Undefined) => return Kind::Undefined,
                (Kind::Null, Kind::Null) => Kind::Null,
                (a, b) => Kind::Built(weight(a).saturating_add(weight(b))),
            };
        }
        let Kind::Built(one) = all else { return all };
        // A null part is an operand too, so a structure takes at least one step for each of its parts.
        let operands = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        match times.map(|times| one.max(operands).saturating_mul(times)) {
            Some(parts @ ..=MAX_PARTS) => Kind::Built(parts),
            _ => Kind::Undefined,
        }
    }

    /// Constructs a value of a type of kind [`Kind::Built`].
    fn build(&mut self, index: &Index<'_>, out: &mut Emitter, ty: Id) -> Option<Id> {
        let inst = index.def(ty)?;
        let parts = match inst.opcode() {
            op::TypePointer => {
                let uint = out.uint();
                let uvec2 = out.vector(uint, 2);
                let (pointer, address) = (out.fresh(), out.null(uvec2));
                out.op(op::Bitcast, (ty, pointer, address));
                return Some(pointer);
            }
            op::TypeArray => {
                let element = self.stable_placeholder(index, out, inst.element_type())?;
                vec![element; constant_length(index, &inst)? as usize]
            }
            _ => inst
                .ids(2)
                .map(|member| self.stable_placeholder(index, out, member))
                .collect::<Option<_>>()?,
        };
        Some(out.emit(op::CompositeConstruct, ty, parts.as_slice()))
    }
}

fn weight(kind: Kind) -> u32 {
    match kind {
        Kind::Built(parts) => parts,
        Kind::Null | Kind::Undefined => 1,
    }
}

/// Elements of an array whose length does not depend on specialization.
pub(crate) fn constant_length(index: &Index<'_>, array: &Inst<'_>) -> Option<u32> {
    let length = index.def(array.array_length()).filter(|l| l.opcode() == op::Constant)?;
    match index.length(length.result(), &Specialization::new())? {
        Length::Fixed(count) => u32::try_from(count).ok(),
        Length::Specialised { .. } => None,
    }
}

/// Logical pointers can be null only where they are variable pointers.
fn of_pointer(index: &Index<'_>, class: u32) -> Kind {
    let all = || index.has_capability(capability::VariablePointers);
    let of_buffers = || index.has_capability(capability::VariablePointersStorageBuffer);
    let variable = match class {
        storage_class::PhysicalStorageBuffer => return Kind::Built(1),
        storage_class::StorageBuffer => all() || of_buffers(),
        storage_class::Workgroup => all(),
        _ => false,
    };
    if variable { Kind::Null } else { Kind::Undefined }
}
