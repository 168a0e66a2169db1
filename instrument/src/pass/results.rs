//! Which functions give back what depends on reads of memory that others write: as their result, through pointers that they
//! are given, or in private variables.
//!
//! Only data is followed, not what decides where an invocation goes: a function that counts with an atomic on its way gives
//! back nothing of it.

use super::shared::{Memory, base, is_private};
use crate::index::Index;
use crate::index::function::Function;
use crate::spv::{Id, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// How deep calls are followed: each level is one more look at the functions that are left.
const MAX_LEVELS: usize = 8;

/// By function. Only those that `may_read` are looked at.
pub(super) fn of_reads(index: &Index<'_>, memory: &Memory<'_, '_>, may_read: &[bool]) -> Vec<bool> {
    let mut gives = vec![false; index.functions.len()];
    for _ in 0..MAX_LEVELS {
        let left = index.functions.iter().enumerate();
        let left =
            left.filter(|(number, _)| may_read.get(*number) == Some(&true) && gives.get(*number) == Some(&false));
        let found: Vec<usize> = left
            .filter(|(_, function)| gives_a_read(index, memory, function, &gives))
            .map(|(number, _)| number)
            .collect();
        if found.is_empty() {
            break;
        }
        for number in found {
            if let Some(slot) = gives.get_mut(number) {
                *slot = true;
            }
        }
    }
    gives
}

fn gives_a_read(index: &Index<'_>, memory: &Memory<'_, '_>, function: &Function, gives: &[bool]) -> bool {
    let mut open: Vec<Id> = Vec::new();
    // By variable of the function: what is stored to it.
    let mut stores: HashMap<Id, Vec<Id>> = HashMap::default();
    for inst in index.insts(function.offset, function.end) {
        match inst.opcode() {
            op::ReturnValue => open.push(inst.word(1)),
            op::Store => {
                let variable = base(index, inst.word(1));
                let leaves = index.opcode(variable) == op::FunctionParameter || is_private(index, variable);
                if leaves {
                    open.push(inst.word(2));
                }
                stores.entry(variable).or_default().push(inst.word(2));
            }
            // A call may store through every pointer that it is given.
            op::FunctionCall => {
                for argument in inst.from(4) {
                    let variable = base(index, *argument);
                    stores.entry(variable).or_default().push(inst.result());
                }
            }
            _ => {}
        }
    }
    let mut seen = HashSet::default();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        open.extend(stores.get(&id).into_iter().flatten());
        let inside = |offset: usize| (function.offset..function.end).contains(&offset);
        let Some(inst) = index.def(id).filter(|inst| inside(inst.offset)) else {
            continue;
        };
        let callee = (inst.opcode() == op::FunctionCall)
            .then(|| index.function_of(inst.word(3)))
            .flatten();
        if memory.reads(&inst) || callee.is_some_and(|f| gives.get(f) == Some(&true)) {
            return true;
        }
        operands::visit_ids(&inst, 1, |i| {
            open.push(inst.word(i));
            if inst.opcode() == op::Load {
                open.push(base(index, inst.word(i)));
            }
        });
    }
    false
}
