//! Analysis of a module's SPIR-V: the address of the layer's arena, and how an aborting invocation ends.

use std::collections::{BTreeSet, HashMap};
use vkabort_record::layout::CONTROL_BYTES;
use vkabort_spirv_builder::{op, string};

/// Words before the first instruction.
const HEADER: usize = 5;
/// Address that a shader with `trap = fault` stores to.
pub const FAULT_ADDRESS: u64 = 0x10;

/// How an invocation ends after it has written its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// It returns.
    None,
    /// It stores to an unmapped address.
    Fault,
    /// It enters an endless loop.
    Hang,
}

/// Opcode and operands of each instruction.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u16, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = (first >> 16) as usize;
        let instruction = rest.get(1..length)?;
        rest = rest.get(length..)?;
        Some((first as u16, instruction))
    })
}

/// Whether the module contains aborts that were not rewritten.
pub fn aborts(words: &[u32]) -> bool {
    instructions(words).any(|(opcode, _)| opcode == op::AbortKHR)
}

/// Whether the module declares `PoisonFreezeKHR`, which this driver does not support.
pub fn declares_poison(words: &[u32]) -> bool {
    instructions(words)
        .take_while(|(opcode, _)| *opcode == op::Capability)
        .any(|(_, operands)| operands == [op::capability::PoisonFreezeKHR])
}

/// One-word constants of the module, by id.
fn constants(words: &[u32]) -> HashMap<u32, u32> {
    let one_word = |(opcode, operands): (u16, &[u32])| match (opcode, operands) {
        (op::Constant, [_, id, value]) => Some((*id, *value)),
        _ => None,
    };
    instructions(words).filter_map(one_word).collect()
}

/// Two-word constants of the module.
fn addresses(words: &[u32]) -> BTreeSet<u64> {
    let values = constants(words);
    let value = |id: &u32| values.get(id).map(|value| u64::from(*value));
    let two_words = |(opcode, operands): (u16, &[u32])| match (opcode, operands) {
        (op::ConstantComposite, [_, _, low, high]) => Some(value(low)? | value(high)? << 32),
        _ => None,
    };
    instructions(words).filter_map(two_words).collect()
}

/// Addresses of the arena and of the control block in use, which `buffers` begin at. Shaders compute the addresses of records from
/// the low half of the address behind the arena's own control block, so that half is a constant of the module. A separate control
/// block is a buffer whose address is a constant; otherwise it is in the arena.
pub fn arena(words: &[u32], mut buffers: impl Iterator<Item = u64> + Clone) -> Option<(u64, u64)> {
    let (addresses, values) = (addresses(words), constants(words));
    let is_constant = |word: u32| values.values().any(|value| *value == word);
    let is_arena = |address: &u64| {
        let records = address + u64::from(CONTROL_BYTES);
        is_constant(records as u32) && is_constant((records >> 32) as u32)
    };
    let control = buffers.clone().find(|address| addresses.contains(address))?;
    let arena = buffers.find(|address| *address != control && is_arena(address));
    let arena = arena.or_else(|| Some(control).filter(is_arena))?;
    Some((arena, control))
}

/// The trap that the layer compiled into the module.
pub fn trap(words: &[u32]) -> Trap {
    if addresses(words).contains(&FAULT_ADDRESS) {
        return Trap::Fault;
    }
    let names = ["vkabort_commit", "vkabort_write_record"].map(string);
    let writers = |(opcode, operands): (u16, &[u32])| {
        let (id, name) = operands.split_first()?;
        (opcode == op::Name && names.iter().any(|writer| writer == name)).then_some(*id)
    };
    let writers: BTreeSet<u32> = instructions(words).filter_map(writers).collect();
    let mut inside = false;
    for (opcode, operands) in instructions(words) {
        match opcode {
            op::Function => inside = operands.get(1).is_some_and(|id| writers.contains(id)),
            op::LoopMerge if inside => return Trap::Hang,
            _ => {}
        }
    }
    Trap::None
}
