//! Checks that an abort takes effect before the loops that may wait for it.
//!
//! An invocation that has aborted must not leave a function inside a construct if a loop behind the construct's merge block
//! polls: the other invocations continue at the merge block, and could execute that loop before the abort takes effect.

use super::error::{Result, undefined};
use crate::module::{Block, Function, Id, Module};
use crate::op;
use crate::words::{Inst, read_string};
use std::collections::HashSet;

/// Ids by which a rewrite is recognised.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    /// The flag of an invocation that has aborted: a `bool`, or the key of its record, which is not 0 then.
    pub(super) flag: Option<Id>,
    /// The function that reads whether any invocation has aborted.
    pub(super) poll: Option<Id>,
    /// Variables that say whether an invocation leaves a function: `vkabort_left`.
    left: HashSet<Id>,
    /// Functions that poll, themselves or in callees.
    polling: HashSet<Id>,
}

impl Rewritten {
    pub(super) fn new(module: &Module) -> Self {
        let poll = module.named("vkabort_poll");
        let mut polling: HashSet<Id> = poll.into_iter().collect();
        // A fixpoint, since callees may be defined later.
        let mut before = 0;
        while polling.len() > before {
            before = polling.len();
            for function in &module.functions {
                let calls_one = |block: &Block| calls(block, |callee| polling.contains(&callee));
                if function.blocks.iter().any(calls_one) {
                    polling.insert(function.id);
                }
            }
        }
        let names = module.globals.iter().filter(|inst| inst.op == op::Name);
        let left = names.filter(|inst| read_string(inst.operands_from(1)) == "vkabort_left");
        Self {
            left: left.map(|inst| inst.word(0)).collect(),
            flag: module.named("vkabort_aborted").or_else(|| module.named("vkabort_key")),
            poll,
            polling,
        }
    }

    /// Whether a block only tests whether the invocation has to leave. Its selection is not one of the program.
    fn tests(&self, block: &Block) -> bool {
        let is_flag = |id: Id| Some(id) == self.flag || self.left.contains(&id);
        let loads_flag = |inst: &Inst| inst.op == op::Load && is_flag(inst.word(2));
        block.insts.iter().any(loads_flag) || calls(block, |callee| Some(callee) == self.poll)
    }

    /// Whether a loop polls in the block with a label or behind it.
    fn polls_behind(&self, function: &Function, label: Id) -> bool {
        let mut worklist = vec![label];
        let mut seen = HashSet::new();
        while let Some(label) = worklist.pop() {
            let block = function.block(label).and_then(|number| function.blocks.get(number));
            let Some(block) = block.filter(|_| seen.insert(label)) else {
                continue;
            };
            if calls(block, |callee| self.polling.contains(&callee)) {
                return true;
            }
            worklist.extend(block.successors().into_iter().skip(usize::from(repeats_never(block))));
        }
        false
    }

    /// An invocation executes a merge instruction.
    pub(super) fn enter(&self, block: &Block, merge: &Inst, open: &mut OpenConstructs) {
        if merge.op == op::LoopMerge || !self.tests(block) {
            open.enter(merge.word(0));
        }
    }

    /// Checks the constructs in which an aborted invocation leaves a function.
    pub(super) fn leave(&self, function: &Function, open: &OpenConstructs) -> Result<()> {
        let mut merges = open.merges.iter();
        match merges.find(|merge| self.polls_behind(function, **merge)) {
            Some(merge) => undefined(format!(
                "an aborted invocation leaves %{} before %{merge}, in front of a loop that polls",
                function.id
            )),
            None => Ok(()),
        }
    }
}

/// Whether a block ends a loop of the pass `exit_loop` or `sections`: its first successor, the header, never follows. The word that it
/// compares may come through a variable.
fn repeats_never(block: &Block) -> bool {
    let ops: Vec<u16> = block.insts.iter().map(|inst| inst.op).collect();
    ops.ends_with(&[op::AtomicLoad, op::IEqual, op::BranchConditional]) || ops == [op::IEqual, op::BranchConditional]
}

fn calls(block: &Block, is_one: impl Fn(Id) -> bool) -> bool {
    let mut calls = block.insts.iter().filter(|inst| inst.op == op::FunctionCall);
    calls.any(|inst| is_one(inst.word(2)))
}

/// Merge blocks of the constructs that an invocation is in, of one function.
#[derive(Debug, Default)]
pub(super) struct OpenConstructs {
    merges: Vec<Id>,
}

impl OpenConstructs {
    /// The invocation enters a block.
    pub(super) fn reach(&mut self, label: Id) {
        if let Some(at) = self.merges.iter().position(|merge| *merge == label) {
            self.merges.truncate(at);
        }
    }

    /// The invocation executes a merge instruction.
    fn enter(&mut self, merge: Id) {
        // The header of a loop is executed in each iteration.
        self.reach(merge);
        self.merges.push(merge);
    }
}
