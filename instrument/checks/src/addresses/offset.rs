//! Byte offset of an access from the pointer that its access chains begin with.

use vkabort_spirv::index::Index;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, Inst, op};

/// The most bytes that the tests of offsets allow for: their sums have 32 bits.
pub(super) const MAX_BYTES: u32 = 1 << 30;

/// Offset that access chains add to a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    /// So many bytes.
    Fixed(u32),
    /// So many bytes and a stride times an index of 32 bits.
    Element { bytes: u32, index: Id, stride: u32 },
    /// More indices, or indices that are not constants and have another size.
    Computed,
    /// To a column of a row-major matrix, whose components are apart.
    Apart,
}

/// The offset that the access chains `chains`, the last one first, add to the pointer that they begin with.
pub(super) fn offset(index: &Index<'_>, chains: &[Inst<'_>]) -> Offset {
    let mut sum = Sum::default();
    for chain in chains.iter().rev() {
        if sum.add_chain(index, chain).is_none() {
            sum.is_computed = true;
        }
    }
    sum.offset()
}

/// The offset from a pointer, step by step.
#[derive(Default)]
struct Sum {
    bytes: u64,
    element: Option<(Id, u32)>,
    is_computed: bool,
    /// The member that the current type is, or is in: a matrix has its layout from there.
    member: Option<(Id, u32)>,
    is_apart: bool,
}

impl Sum {
    /// Adds the indices of an access chain. `None` for types without a layout.
    fn add_chain(&mut self, index: &Index<'_>, chain: &Inst<'_>) -> Option<()> {
        if chain.opcode() == op::CopyObject {
            return Some(());
        }
        let pointer = index.type_of(chain.id(3));
        let mut first = 4;
        if chain.opcode() == op::PtrAccessChain {
            let stride = index.decoration(pointer, decoration::ArrayStride)?;
            self.add(index, chain.id(4), stride);
            first = 5;
        }
        let mut composite = index.def(pointer)?.pointee();
        for id in chain.ids(first) {
            composite = self.step(index, composite, id)?;
        }
        Some(())
    }

    /// Adds an index of a composite; returns the type of the part.
    fn step(&mut self, index: &Index<'_>, composite: Id, id: Id) -> Option<Id> {
        let ty = index.def(composite)?;
        self.is_apart = false;
        let stride = match ty.opcode() {
            op::TypeStruct => {
                let number = index
                    .def(id)
                    .filter(|inst| inst.opcode() == op::Constant)?
                    .constant_bits() as u32;
                let offset = index.member_decoration(composite, number, decoration::Offset)?;
                self.bytes = self.bytes.saturating_add(offset.into());
                self.member = Some((composite, number));
                return Some(index.part_type(composite, number));
            }
            op::TypeArray | op::TypeRuntimeArray => index.decoration(composite, decoration::ArrayStride)?,
            op::TypeMatrix => {
                let (structure, number) = self.member?;
                let of_member = |kind| index.member_decoration(structure, number, kind);
                self.is_apart = of_member(decoration::RowMajor).is_some();
                self.is_computed |= self.is_apart;
                of_member(decoration::MatrixStride)?
            }
            op::TypeVector => index.def(ty.element_type())?.width() / 8,
            _ => return None,
        };
        self.add(index, id, stride);
        Some(index.part_type(composite, 0))
    }

    fn add(&mut self, index: &Index<'_>, id: Id, stride: u32) {
        let Some(inst) = index.def(id).filter(|inst| inst.opcode() == op::Constant) else {
            let ty = index.def(index.type_of(id));
            let is_word = ty.is_some_and(|ty| ty.opcode() == op::TypeInt && ty.width() == 32);
            self.is_computed |= !is_word || self.element.is_some();
            self.element = Some((id, stride));
            return;
        };
        // A negative one is too large.
        let bytes = inst.constant_bits().saturating_mul(stride.into());
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn offset(self) -> Offset {
        let bytes = u32::try_from(self.bytes).ok().filter(|bytes| *bytes < MAX_BYTES);
        match (bytes, self.element) {
            _ if self.is_apart => Offset::Apart,
            _ if self.is_computed => Offset::Computed,
            (Some(bytes), None) => Offset::Fixed(bytes),
            (Some(bytes), Some((index, stride))) => Offset::Element { bytes, index, stride },
            (None, _) => Offset::Computed,
        }
    }
}
