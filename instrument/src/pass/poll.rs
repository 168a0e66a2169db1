//! Which loops watch for aborts of other invocations.
//!
//! A loop whose conditions depend on memory which other invocations write may wait for one that has aborted. Such loops,
//! and loops without an exit of their own, test the arena's ABORTED word at the top of every iteration, so that the device
//! is lost in finite time; other loops end by themselves and stay as they are. A loop that only counts with atomics is not
//! one that waits.

use super::region;
use crate::index::Index;
use crate::index::function::{Block, Function};
use crate::spv::op::memory_operands::{MAKE_POINTER_VISIBLE, NON_PRIVATE_POINTER, VOLATILE};
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::FxHashSet as HashSet;

/// Marks every loop header.
pub(crate) fn all_headers(index: &Index<'_>) -> Vec<bool> {
    index
        .blocks
        .iter()
        .map(|b| region::loop_merge(index, b).is_some())
        .collect()
}

/// Marks the headers of loops that may wait.
pub(crate) fn waiting_headers(index: &Index<'_>) -> Vec<bool> {
    let mut marks = vec![false; index.blocks.len()];
    let shared = may_read_shared_memory(index);
    for function in &index.functions {
        for header in function.blocks.clone() {
            let Some(block) = index.blocks.get(header) else {
                continue;
            };
            let Some((merge, _)) = region::loop_merge(index, block) else {
                continue;
            };
            let blocks = loop_blocks(index, function, block.label, merge);
            let waits = shared && waits(index, &blocks);
            let exits = blocks.iter().any(|b| {
                let leaves = index.successors(b).contains(&merge);
                leaves
                    || matches!(
                        index.terminator(b).opcode(),
                        op::Return | op::ReturnValue | op::Kill | op::AbortKHR | op::TerminateInvocation
                    )
            });
            if let Some(mark) = marks.get_mut(header) {
                *mark = waits || !exits;
            }
        }
    }
    marks
}

/// Whether a condition in a loop depends on memory that other invocations write: directly, through phis, or through
/// variables that are stored to in the loop.
fn waits(index: &Index<'_>, blocks: &[&Block]) -> bool {
    let inside = |id: Id| {
        let inst = index.def(id)?;
        blocks
            .iter()
            .any(|b| (b.offset..b.end).contains(&inst.offset))
            .then_some(inst)
    };
    let mut open: Vec<Id> = Vec::new();
    for block in blocks {
        let end = index.terminator(block);
        if matches!(end.opcode(), op::BranchConditional | op::Switch) {
            open.push(end.word(1));
        }
    }
    let mut seen = HashSet::default();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        // A stored-to variable: what the loop stores to it counts.
        if index.opcode(id) == op::Variable {
            let stores = blocks
                .iter()
                .flat_map(|b| index.body(b))
                .filter(|i| i.opcode() == op::Store);
            open.extend(stores.filter(|i| base(index, i.word(1)) == id).map(|i| i.word(2)));
            continue;
        }
        let Some(inst) = inside(id) else { continue };
        if reads_shared_memory(index, &inst) {
            return true;
        }
        // What a function returns may come from anywhere; its own loops are looked at for themselves.
        operands::visit_ids(&inst, 1, |i| {
            let operand = inst.word(i);
            open.push(if inst.opcode() == op::Load {
                base(index, operand)
            } else {
                operand
            });
        });
    }
    false
}

/// The variable or parameter that a pointer leads into.
fn base(index: &Index<'_>, pointer: Id) -> Id {
    let mut at = pointer;
    for _ in 0..16 {
        match index.def(at) {
            Some(inst)
                if matches!(
                    inst.opcode(),
                    op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::CopyObject
                ) =>
            {
                at = inst.word(3);
            }
            _ => break,
        }
    }
    at
}

/// Blocks of a loop: those that its header reaches without passing the merge block.
fn loop_blocks<'b>(index: &'b Index<'_>, function: &Function, header: Id, merge: Id) -> Vec<&'b Block> {
    let blocks = region::continue_blocks(index, function, merge, merge, header);
    blocks.into_iter().filter_map(|b| index.blocks.get(b)).collect()
}

/// Whether anything in a module can be a read that [`reads_shared_memory`] looks for: in most modules nothing is.
fn may_read_shared_memory(index: &Index<'_>) -> bool {
    let coherent = |kind| kind == decoration::Coherent || kind == decoration::Volatile;
    index.decorations.iter().any(|d| coherent(d.kind))
        || index
            .insts(index.sections.globals, index.words.len())
            .any(|i| match i.opcode() {
                op::Load => i.word(4) & SHARED_FLAGS != 0,
                opcode => is_atomic_read(opcode),
            })
}

/// OpAtomicLoad to OpAtomicXor without OpAtomicStore, the flag, min/max and float atomics.
fn is_atomic_read(opcode: u16) -> bool {
    matches!(opcode, 227 | 229..=242 | 318 | 5614..=5615 | 6035)
}

/// Memory operands of loads that see what others write.
const SHARED_FLAGS: u32 = VOLATILE | MAKE_POINTER_VISIBLE | NON_PRIVATE_POINTER;

/// Atomic, volatile, coherent and non-private reads of memory that other invocations can write.
fn reads_shared_memory(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    match inst.opcode() {
        op::Load => {
            let flags = inst.word(4);
            flags & SHARED_FLAGS != 0 && is_shared(index, inst.word(3)) || is_coherent(index, inst.word(3))
        }
        opcode if is_atomic_read(opcode) => is_shared(index, inst.word(3)),
        _ => false,
    }
}

fn is_shared(index: &Index<'_>, pointer: Id) -> bool {
    let class = index.storage_class(index.type_of(pointer));
    !matches!(
        class,
        Some(storage_class::Function | storage_class::Private | storage_class::Input)
    )
}

/// Whether a pointer leads to something decorated `Coherent` or `Volatile`: the variable or a member on the way.
fn is_coherent(index: &Index<'_>, pointer: Id) -> bool {
    let marked = |kind| kind == decoration::Coherent || kind == decoration::Volatile;
    let mut at = pointer;
    for _ in 0..16 {
        let Some(inst) = index.def(at) else { return false };
        if index.decorations_of(at).any(|d| marked(d.kind)) {
            return true;
        }
        match inst.opcode() {
            op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::InBoundsPtrAccessChain => {
                let base = inst.word(3);
                let pointee = index.def(index.type_of(base)).map_or(0, |t| t.word(3));
                let element = struct_under_arrays(index, pointee);
                if index
                    .decorations_of(element)
                    .any(|d| d.member.is_some() && marked(d.kind))
                {
                    return true;
                }
                at = base;
            }
            op::CopyObject => at = inst.word(3),
            _ => return false,
        }
    }
    false
}

fn struct_under_arrays(index: &Index<'_>, mut ty: Id) -> Id {
    for _ in 0..16 {
        match index.def(ty) {
            Some(inst) if matches!(inst.opcode(), op::TypeArray | op::TypeRuntimeArray) => ty = inst.word(2),
            _ => break,
        }
    }
    ty
}
