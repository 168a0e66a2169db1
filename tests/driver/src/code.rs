//! Analysis of a module's SPIR-V: the address of the layer's arena, and how an aborting invocation ends.

use std::collections::{BTreeSet, HashMap};
use vkabort_record::layout::{CONTROL_BYTES, TICKS_OFFSET};
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

/// Addresses of the arena and of the control block in use. Shaders add the offset of a record, units shifted to bytes, to the
/// low half of the address behind the arena's own control block, and put the constant high half behind it. A separate control
/// block is another address of a buffer; otherwise it is in the arena.
pub fn arena(words: &[u32], is_buffer: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
    let values = constants(words);
    let shifted: BTreeSet<u32> = instructions(words)
        .filter_map(|(opcode, operands)| match (opcode, operands) {
            (op::ShiftLeftLogical, [_, id, _, _]) => Some(*id),
            _ => None,
        })
        .collect();
    let sums: HashMap<u32, u32> = instructions(words)
        .filter_map(|(opcode, operands)| match (opcode, operands) {
            (op::IAdd, [_, id, offset, base]) if shifted.contains(offset) => Some((*id, *values.get(base)?)),
            _ => None,
        })
        .collect();
    let records = instructions(words).find_map(|(opcode, operands)| match (opcode, operands) {
        (op::CompositeConstruct, [_, _, sum, high]) => {
            Some(u64::from(*sums.get(sum)?) | u64::from(*values.get(high)?) << 32)
        }
        _ => None,
    })?;
    let arena = records.checked_sub(u64::from(CONTROL_BYTES))?;
    let ticks = arena + u64::from(TICKS_OFFSET);
    let is_control =
        |address: &u64| *address >> 32 != 0 && ![arena, ticks, records].contains(address) && is_buffer(*address);
    let control = addresses(words).into_iter().find(is_control);
    Some((arena, control.unwrap_or(arena)))
}

/// Constants in the code of a module's prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prints {
    /// Address of the print area.
    pub address: u64,
    /// Slots of its chunks.
    pub capacity: u32,
    /// Slots of a record.
    pub slots: u32,
    /// The number of a print without arguments.
    pub number: u32,
}

/// The prints of a module: its function `vkabort_print0` loads from the start of the print area, compares with the slots of a chunk and
/// with the last at which a record may begin, and calls pass a number to it.
pub fn prints(words: &[u32]) -> Option<Prints> {
    let values = constants(words);
    let name = string("vkabort_print0");
    let print = instructions(words).find_map(|(opcode, operands)| {
        let (id, text) = operands.split_first()?;
        (opcode == op::Name && text == name).then_some(*id)
    })?;
    let pairs: HashMap<u32, u64> = instructions(words)
        .filter_map(|(opcode, operands)| match (opcode, operands) {
            (op::ConstantComposite, [_, id, low, high]) => {
                Some((*id, u64::from(*values.get(low)?) | u64::from(*values.get(high)?) << 32))
            }
            _ => None,
        })
        .collect();
    let body = || {
        let mut all = instructions(words);
        all.find(|(opcode, operands)| *opcode == op::Function && operands.get(1) == Some(&print));
        all.take_while(|(opcode, _)| *opcode != op::FunctionEnd)
    };
    let address = body().find_map(|(opcode, operands)| match (opcode, operands) {
        (op::Bitcast, [_, _, from]) => pairs.get(from).copied(),
        _ => None,
    })?;
    let limit = |compares: u16| {
        body().find_map(|(opcode, operands)| match operands {
            [_, _, _, limit] if opcode == compares => values.get(limit).copied(),
            _ => None,
        })
    };
    let capacity = limit(op::ULessThan)?;
    let slots = capacity.checked_sub(limit(op::ULessThanEqual)?)?;
    let number = instructions(words).find_map(|(opcode, operands)| match (opcode, operands) {
        (op::FunctionCall, [_, _, function, number, ..]) if *function == print => values.get(number).copied(),
        _ => None,
    })?;
    Some(Prints {
        address,
        capacity,
        slots,
        number,
    })
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
