//! Carries 8- and 16-bit values across the border of a region in modules that may only load, store and convert them.
//!
//! Without the capabilities `Float16`, `Int16` and `Int8`, functions cannot take or return such values. They cross as 32
//! bits:
//!
//! ```text
//! %wide = FConvert %float %half, call %outlined(%wide)        %outlined: %half = FConvert %half_type %wide, ..
//! ```
//!
//! The round trip is exact, since every narrow number is a 32-bit number.
//!
//! Not handled: composites of narrow values other than vectors, which no instruction converts.

use super::region::PASS;
use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, op};

/// Types whose values cannot cross the border of a region as they are. Collected once per round, since very many values
/// may cross.
pub(super) struct TypeLimits {
    /// 8- and 16-bit scalars that the module may only load, store and convert, and the composites that hold them.
    storage_only: HashSet<Id>,
    /// Structures with built-in members, and arrays of them. No other structure may hold one.
    with_built_ins: HashSet<Id>,
}

impl TypeLimits {
    /// O(declarations of the module).
    pub(super) fn new(index: &Index<'_>) -> Self {
        let members = index
            .decorations
            .iter()
            .filter(|d| d.kind == decoration::BuiltIn && d.member.is_some());
        let mut limits = Self {
            storage_only: HashSet::default(),
            with_built_ins: members.map(|d| d.target).collect(),
        };
        for inst in index.globals() {
            let (opcode, id) = (inst.opcode(), inst.result());
            let is_storage_only = match opcode {
                op::TypeInt | op::TypeFloat => index.lacks_arithmetic(&inst),
                op::TypeVector | op::TypeVectorIdEXT | op::TypeMatrix | op::TypeArray => {
                    limits.storage_only.contains(&inst.element_type())
                }
                op::TypeStruct => inst.ids(2).any(|member| limits.storage_only.contains(&member)),
                _ => false,
            };
            if is_storage_only {
                limits.storage_only.insert(id);
            }
            if opcode == op::TypeArray && limits.with_built_ins.contains(&inst.element_type()) {
                limits.with_built_ins.insert(id);
            }
        }
        limits
    }

    /// Whether the module may only load, store and convert values of a type.
    pub(super) fn is_storage_only(&self, ty: Id) -> bool {
        self.storage_only.contains(&ty)
    }

    /// Whether a type is a structure with built-in members, or an array of them.
    pub(super) fn has_built_ins(&self, ty: Id) -> bool {
        self.with_built_ins.contains(&ty)
    }
}

/// How a narrow value crosses the border.
#[derive(Clone, Copy)]
pub(super) struct Widening {
    /// The value's own type.
    narrow_type: Id,
    /// Its type while it crosses.
    pub(super) wide_type: Id,
    /// The conversion, in both directions.
    opcode: u16,
}

impl Widening {
    /// Defines `wide` as the wide form of `value`.
    pub(super) fn widen(self, out: &mut Emitter, value: Id, wide: Id) {
        out.op(self.opcode, (self.wide_type, wide, value));
    }

    /// Defines `value` from its wide form.
    pub(super) fn narrow(self, out: &mut Emitter, wide: Id, value: Id) {
        out.op(self.opcode, (self.narrow_type, value, wide));
    }
}

/// How values of a type cross the border; `None` for types that functions can take. `offset` is the instruction to name
/// in an error.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`] if the type is a composite of narrow values other than a vector.
pub(super) fn choose_widening(
    index: &Index<'_>,
    limits: &TypeLimits,
    out: &mut Emitter,
    ty: Id,
    offset: usize,
) -> Result<Option<Widening>> {
    if !limits.is_storage_only(ty) {
        return Ok(None);
    }
    let scalar = match index.opcode(ty) {
        op::TypeVector => index.part_type(ty, 0),
        _ => ty,
    };
    let (mut wide_type, opcode) = match index.opcode(scalar) {
        op::TypeFloat => (out.float(32), op::FConvert),
        op::TypeInt => (out.uint(), op::SConvert),
        _ => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                PASS,
                offset as u32,
                "a composite of 8- or 16-bit values that the module may only store crosses the border of a continue \
                 construct in which an invocation may abort",
            ));
        }
    };
    if scalar != ty {
        let count = index.def(ty).map_or(0, |vector| vector.component_count());
        wide_type = out.vector(wide_type, count);
    }
    Ok(Some(Widening {
        narrow_type: ty,
        wide_type,
        opcode,
    }))
}
