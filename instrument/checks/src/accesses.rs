//! Finds the accesses of a function to elements, and the indices that lead to them.

use super::scalars::find;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, Inst, op, op_sets};

/// An access to an element.
#[derive(Clone, Copy)]
pub(super) struct Access<'w> {
    pub(super) block: BlockIndex,
    pub(super) inst: Inst<'w>,
    /// The pointer to the element. `None`: the instruction takes the element from a value.
    pub(super) pointer: Option<Id>,
}

/// The accesses of a function to elements. A copy has two.
pub(super) fn accesses<'w>(index: &Index<'w>, function: &Function) -> Vec<Access<'w>> {
    let found = find(index, function, |inst| {
        let pointers: &[usize] = match inst.opcode() {
            op::Load => &[3],
            op::Store | op::AtomicStore => &[1],
            op::CopyMemory => &[1, 2],
            opcode if op_sets::is_atomic_read(opcode) => &[3],
            op::VectorExtractDynamic | op::VectorInsertDynamic => &[],
            _ => return None,
        };
        Some((*inst, pointers))
    });
    let mut accesses = Vec::new();
    for (block, (inst, pointers)) in found {
        let access = |pointer| Access { block, inst, pointer };
        match pointers {
            [] => accesses.push(access(None)),
            _ => accesses.extend(pointers.iter().map(|at| access(Some(inst.id(*at))))),
        }
    }
    accesses
}

/// The indices that lead from a variable or parameter to the element that a pointer points to.
pub(super) struct Indices {
    pub(super) base: Id,
    pub(super) class: u32,
    /// Outermost first.
    pub(super) steps: Vec<Step>,
}

/// One of these indices.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) index: Id,
    /// The type that it indexes.
    pub(super) composite: Id,
    /// The access chain, and the number of its indices from this one on.
    pub(super) chain: Id,
    pub(super) rest: usize,
}

/// The instructions for which `is_chain` holds that form a pointer from another one, the last one first, and that pointer.
pub(super) fn chains<'w>(index: &Index<'w>, pointer: Id, is_chain: impl Fn(u16) -> bool) -> (Vec<Inst<'w>>, Id) {
    let (mut chains, mut base) = (Vec::new(), pointer);
    let mut inst = index.def(pointer);
    while let Some(chain) = inst.filter(|inst| is_chain(inst.opcode())) {
        base = chain.id(3);
        // In an invalid module a chain may begin with itself.
        inst = index.def(base).filter(|before| before.offset < chain.offset);
        chains.push(chain);
    }
    (chains, base)
}

/// The indices of a pointer. `None` if it is not formed by access chains.
pub(super) fn indices(index: &Index<'_>, pointer: Id) -> Option<Indices> {
    let is_chain = |opcode| matches!(opcode, op::AccessChain | op::InBoundsAccessChain);
    let (chains, base) = chains(index, pointer, is_chain);
    if !matches!(index.opcode(base), op::Variable | op::FunctionParameter) {
        return None;
    }
    let mut steps = Vec::new();
    for chain in chains.iter().rev() {
        let mut composite = index.def(index.type_of(chain.id(3)))?.pointee();
        let count = chain.ids(4).len();
        for (number, id) in chain.ids(4).enumerate() {
            steps.push(Step {
                index: id,
                composite,
                chain: chain.result(),
                rest: count - number,
            });
            let member = index.def(id).filter(|inst| inst.opcode() == op::Constant);
            composite = index.part_type(composite, member.map_or(0, |inst| inst.constant_bits() as u32));
        }
    }
    let class = index.storage_class(index.type_of(base))?;
    Some(Indices { base, class, steps })
}
