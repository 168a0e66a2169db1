//! Values that nobody looks at, or of which nobody knows more than that they are the same at every use.
//!
//! ```text
//! what may be null                       %v = ConstantNull %type
//! pointer to physical storage buffers    %v = Bitcast %type %null_uvec2
//! what holds such pointers               %v = CompositeConstruct %type %part ..
//! images, logical pointers and the like  %v = Undef %type
//! ```
//!
//! A pointer to physical storage buffers has no null constant, and so nothing that holds one has.

use super::globals::Globals;
use crate::analysis::index::Index;
use crate::analysis::index::constant::Length;
use crate::options::Options;
use crate::spv::op::{capability, storage_class};
use crate::spv::{Code, Id, Inst, op};

/// SPIR-V allows structures to nest as deeply as this.
const MAX_DEPTH: u32 = 255;
/// Composites that take more parts than this are left undefined, so that each of many uses stays cheap.
const MAX_PARTS: u32 = 1024;

/// What stands for a value of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The null constant.
    Null,
    /// Instructions, which make so many parts.
    Built(u32),
    /// Nothing but an undefined value.
    Undefined,
}

/// A value of a type, made by `code` where no constant will do.
pub(crate) fn placeholder_value(index: &Index<'_>, globals: &mut Globals, code: &mut Code, ty: Id) -> Id {
    stable_placeholder(index, globals, code, ty).unwrap_or_else(|| {
        let undefined = globals.fresh();
        code.op(op::Undef, &[ty, undefined]);
        undefined
    })
}

/// The same; `None` where there is no better value than an undefined one.
pub(crate) fn stable_placeholder(index: &Index<'_>, globals: &mut Globals, code: &mut Code, ty: Id) -> Option<Id> {
    match kind(index, globals, ty, MAX_DEPTH) {
        Kind::Null => Some(globals.null(ty)),
        Kind::Built(_) => build(index, globals, code, ty),
        Kind::Undefined => None,
    }
}

/// Whether a type has a null constant.
pub(crate) fn has_null(index: &Index<'_>, globals: &mut Globals, ty: Id) -> bool {
    kind(index, globals, ty, MAX_DEPTH) == Kind::Null
}

/// Each composite type is looked at once: types share their parts, and what has few words may have very many parts.
fn kind(index: &Index<'_>, globals: &mut Globals, ty: Id, depth: u32) -> Kind {
    let (Some(inst), Some(depth)) = (index.def(ty), depth.checked_sub(1)) else {
        return Kind::Undefined;
    };
    let (parts, times): (&[Id], _) = match inst.opcode() {
        op::TypeBool | op::TypeInt | op::TypeFloat | op::TypeVector | op::TypeMatrix => return Kind::Null,
        op::TypeCooperativeMatrixKHR | op::TypeCooperativeMatrixNV => return Kind::Null,
        op::TypePointer => (&[], None),
        op::TypeArray => (inst.words.get(2..3).unwrap_or(&[]), count(index, &inst)),
        op::TypeStruct => (inst.from(2), Some(1)),
        _ => return Kind::Undefined,
    };
    if let Some(known) = globals.nothings.get(&ty) {
        return *known;
    }
    if inst.opcode() == op::TypePointer {
        let kind = of_pointer(index, inst.word(2));
        globals.nothings.insert(ty, kind);
        return kind;
    }
    let mut all = Kind::Null;
    for part in parts {
        // A type is defined before it is used. Where it is not, types may hold each other.
        let is_before = index.def(*part).is_some_and(|def| def.offset < inst.offset);
        let of_part = match is_before {
            true => kind(index, globals, *part, depth),
            false => Kind::Undefined,
        };
        all = match (all, of_part) {
            (Kind::Undefined, _) | (_, Kind::Undefined) => Kind::Undefined,
            (Kind::Null, Kind::Null) => Kind::Null,
            (a, b) => Kind::Built(weight(a).saturating_add(weight(b))),
        };
        if all == Kind::Undefined {
            break;
        }
    }
    if let Kind::Built(one) = all {
        let nulls = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let parts = times.map(|times| one.max(nulls).saturating_mul(times));
        all = match parts {
            Some(parts @ ..=MAX_PARTS) => Kind::Built(parts),
            _ => Kind::Undefined,
        };
    }
    globals.nothings.insert(ty, all);
    all
}

fn weight(kind: Kind) -> u32 {
    match kind {
        Kind::Built(parts) => parts,
        Kind::Null | Kind::Undefined => 1,
    }
}

/// Elements of an array whose length no pipeline changes.
fn count(index: &Index<'_>, array: &Inst<'_>) -> Option<u32> {
    let length = index.def(array.word(3)).filter(|l| l.opcode() == op::Constant)?;
    match index.length(length.result(), &Options::default())? {
        Length::Fixed(count) => u32::try_from(count).ok(),
        Length::Specialised { .. } => None,
    }
}

/// Logical pointers can be null only where they are variable.
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

/// Builds a value of a type of kind [`Kind::Built`], which has few parts.
fn build(index: &Index<'_>, globals: &mut Globals, code: &mut Code, ty: Id) -> Option<Id> {
    let inst = index.def(ty)?;
    let parts = match inst.opcode() {
        op::TypePointer => {
            let uint = globals.uint();
            let uvec2 = globals.vector(uint, 2);
            let (pointer, address) = (globals.fresh(), globals.null(uvec2));
            code.op(op::Bitcast, &[ty, pointer, address]);
            return Some(pointer);
        }
        op::TypeArray => {
            let element = stable_placeholder(index, globals, code, inst.word(2))?;
            vec![element; count(index, &inst)? as usize]
        }
        _ => inst
            .from(2)
            .iter()
            .map(|member| stable_placeholder(index, globals, code, *member))
            .collect::<Option<_>>()?,
    };
    let whole = globals.fresh();
    code.op2(op::CompositeConstruct, &[ty, whole], &parts);
    Some(whole)
}
