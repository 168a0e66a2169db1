//! Numbers of scalars and bytes of types in shared memory.

use rustc_hash::FxHashMap as HashMap;
use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::index::spec_constants::{constants_of, spec_ids_of};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, op};

/// Scalars, size and alignment in bytes.
#[derive(Clone, Copy, Debug)]
struct Extent {
    scalars: u32,
    bytes: u32,
    alignment: u32,
}

/// The extents of types. A length that the options do not specialise has its default, if
/// pipelines that specialise it get another rewrite; else it is not known.
#[derive(Debug, Default)]
pub(crate) struct SharedLayout {
    extents: HashMap<Id, Extent>,
}

impl SharedLayout {
    /// Of all types. O(types).
    pub(crate) fn new(index: &Index<'_>, options: &Options) -> Self {
        let mut layout = Self::default();
        // A type is defined before it is used.
        for inst in index.globals() {
            let extent = layout.extent(index, options, inst.result());
            if let Some(extent) = extent {
                layout.extents.insert(inst.result(), extent);
            }
        }
        layout
    }

    fn extent(&self, index: &Index<'_>, options: &Options, ty: Id) -> Option<Extent> {
        let inst = index.def(ty)?;
        let of = |id: Id| self.extents.get(&id).copied();
        let scalar = |bytes: u32| Extent {
            scalars: 1,
            bytes,
            alignment: bytes,
        };
        match inst.opcode() {
            op::TypeBool => Some(scalar(4)),
            op::TypeInt | op::TypeFloat => Some(scalar((inst.width() / 8).max(1))),
            op::TypePointer if inst.storage_class() == storage_class::PhysicalStorageBuffer => Some(scalar(8)),
            op::TypeVector => of(inst.element_type())?.repeated(inst.component_count(), true),
            op::TypeMatrix => of(inst.element_type())?.repeated(inst.component_count(), false),
            op::TypeArray => {
                let length = array_length(index, options, inst.array_length())?;
                of(inst.element_type())?.repeated(length, false)
            }
            op::TypeStruct => {
                let start = Extent {
                    scalars: 0,
                    bytes: 0,
                    alignment: 1,
                };
                let all = inst
                    .ids(2)
                    .try_fold(start, |all, member| all.followed_by(of(member)?))?;
                all.rounded()
            }
            _ => None,
        }
    }

    /// Scalars of a type. `None` if it has parts that are not scalars, or if their number is not known.
    pub(crate) fn scalars(&self, ty: Id) -> Option<u32> {
        self.extents.get(&ty).map(|extent| extent.scalars)
    }
}

/// The length of an array. `None` if it is not known.
pub(crate) fn array_length(index: &Index<'_>, options: &Options, length: Id) -> Option<u32> {
    let length = match index.length(length, &options.specialization)? {
        Length::Specialised { .. } if !options.sanitize.rewrites_specialised => return None,
        length => length.value(),
    };
    u32::try_from(length).ok()
}

impl Extent {
    fn repeated(self, count: u32, is_vector: bool) -> Option<Self> {
        let bytes = self.bytes.checked_mul(count)?;
        let one = Self {
            scalars: self.scalars.checked_mul(count)?,
            bytes,
            alignment: if is_vector {
                bytes.checked_next_power_of_two()?
            } else {
                self.alignment
            },
        };
        one.rounded()
    }

    fn followed_by(self, next: Self) -> Option<Self> {
        Some(Self {
            scalars: self.scalars.checked_add(next.scalars)?,
            bytes: self
                .bytes
                .checked_next_multiple_of(next.alignment)?
                .checked_add(next.bytes)?,
            alignment: self.alignment.max(next.alignment),
        })
    }

    fn rounded(self) -> Option<Self> {
        let bytes = self.bytes.checked_next_multiple_of(self.alignment.max(1))?;
        Some(Self { bytes, ..self })
    }
}

/// `SpecId`s of the constants that the size of shared memory depends on, ascending.
pub(crate) fn shared_spec_ids(index: &Index<'_>) -> Vec<u32> {
    let lengths = index.globals().filter(|inst| inst.opcode() == op::TypeArray);
    spec_ids_of(index, &constants_of(index, lengths.map(|inst| inst.array_length())))
}

/// Most bytes of shared memory that an entry point has. `None` if they are not known.
pub(crate) fn shared_bytes(index: &Index<'_>, options: &Options) -> Option<u32> {
    let layout = SharedLayout::new(index, options);
    let variables = index.globals().filter(|inst| {
        matches!(inst.opcode(), op::Variable | op::UntypedVariableKHR)
            && inst.storage_class() == storage_class::Workgroup
    });
    variables.into_iter().try_fold(0_u32, |bytes, variable| {
        let pointee = index.def(variable.result_type())?.pointee();
        let extent = layout.extents.get(&pointee)?;
        bytes
            .checked_next_multiple_of(extent.alignment.max(16))?
            .checked_add(extent.bytes)
    })
}
