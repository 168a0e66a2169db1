//! Lets an invocation that has aborted leave its functions, one return at a time.
//!
//! ```text
//! %r = FunctionCall %f ..        becomes   %r = FunctionCall %f ..
//! more                                     %a = Load %aborted
//!                                          SelectionMerge %go, BranchConditional %a %leave %go
//!                                          %leave: Return
//!                                          %go: more
//! ```
//!
//! after every call to a function that an invocation may leave by aborting (see [`ExitPlan`]).
//!
//! Phases: (1) after checked calls, blocks outside continue constructs are split as above; in a continue construct, where
//! no block can return, the back edge is taken instead (after `outline`, nothing behind such a call has a visible effect).
//! (2) The top of a loop whose back edge was taken tests the flag; the top of a waiting loop also polls whether any
//! invocation has aborted. (3) Phis follow the predecessors that moved.
//!
//! Handles that a split block defines before the call are defined again after it: `rematerialize_handles`.
//!
//! Exits are recorded for the pass `reconverge`, which moves those that a waiting loop can follow to a merge block.
//!
//! Not handled: continue constructs with visible effects behind a checked call (`outline`), and loop headers with
//! code of their own (`loop_normalize`). Both run before.

use super::exit_branches::ExitBranches;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_analysis::exit_plan::{ExitBlock, ExitKind, ExitPlan};
use vkabort_runtime::{Runtime, bool_constant, record_key};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::edit::rematerialize_handles::{Split, rematerialize_handles};
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::{CallIndex, FunctionIndex};
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, Words, op};

/// Writes the ways out of one function.
pub(super) struct Unwinder<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) plan: &'a ExitPlan,
    pub(super) runtime: &'a mut Runtime,
    pub(super) out: &'a mut Emitter,
    pub(super) placeholders: &'a mut Placeholders,
    pub(super) edits: &'a mut Edits,
    pub(super) function: &'a Function,
    pub(super) number: FunctionIndex,
    /// The exits that get a branch of their own, if any do.
    pub(super) branches: Option<&'a ExitBranches>,
    /// Receives the blocks that leave a function, if any loop polls.
    pub(super) exits: &'a mut Vec<ExitBlock>,
}

/// Test at the top of a loop.
#[derive(Clone, Copy, Debug)]
struct LoopTest {
    /// The flag: this invocation may have aborted in the continue construct.
    flag: bool,
    /// The arena's ABORTED word: another invocation may have aborted.
    poll: bool,
}

/// Whether the flag is set where an invocation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagState {
    /// The invocation leaves without a record: the exit has to set the flag.
    Unset,
    /// The flag is set already.
    Set,
}

impl Unwinder<'_, '_> {
    /// Ends a block with the way out of the function, and records it for `reconverge`. The code begins in the block `first`.
    pub(super) fn write_recorded_exit(&mut self, flag_state: FlagState, first: Id, kind: ExitKind) {
        if self.plan.polls() {
            let label = self.out.code.last_label().unwrap_or(first);
            self.exits.push(ExitBlock { label, kind });
        }
        self.write_exit(flag_state);
    }

    /// Ends a block with the way out of the function.
    fn write_exit(&mut self, flag_state: FlagState) {
        if flag_state == FlagState::Unset {
            let none = self.out.constant(record_key::NONE);
            self.runtime.store_key(self.out, none);
        }
        let ty = self.function.result_type;
        if self.index.opcode(ty) == op::TypeVoid {
            self.out.op(op::Return, ());
        } else {
            let value = self.placeholders.placeholder_value(self.index, self.out, ty);
            self.out.op(op::ReturnValue, value);
        }
    }

    /// Tests the flag after calls and at the top of loops. `first_exit`: the first recorded exit of this function.
    pub(super) fn run(&mut self, first_exit: usize) {
        let (index, function) = (self.index, self.function);
        let mut renames = PhiRenames::default();
        // Header by continue target.
        let mut headers: HashMap<Id, Id> = HashMap::default();
        for block in index.blocks_of(function) {
            if let Some((_, target)) = index.loop_merge(block) {
                headers.insert(target, block.label);
            }
        }
        // Phase 1.
        // Labels of the pieces that end split blocks.
        let mut moved: HashMap<Id, Id> = HashMap::default();
        let mut takes_back_edge: HashSet<Id> = HashSet::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            let calls = self.plan.checked_calls(index, self.number, number);
            match headers.get(&block.label) {
                _ if calls.is_empty() => {}
                Some(header) => {
                    self.take_back_edge(block, *header);
                    takes_back_edge.insert(*header);
                }
                None => {
                    let has_branch = self.branches.is_some_and(|branches| branches.has_return(number));
                    let last = self.split_after_calls(block, (&calls, has_branch), &mut renames);
                    moved.insert(block.label, last);
                }
            }
        }
        // Phase 2.
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            let test = LoopTest {
                flag: takes_back_edge.contains(&block.label),
                poll: self.plan.polled(number),
            };
            if test.flag || test.poll {
                self.test_at_top(block, test, &mut renames);
            }
        }
        // Phase 3.
        renames.apply(index, function, self.edits);
        for exit in self.exits.iter_mut().skip(first_exit) {
            exit.label = moved.get(&exit.label).copied().unwrap_or(exit.label);
        }
    }

    /// Makes the branch that ends a continue construct go to the header if the invocation has aborted, whatever the loop's
    /// condition is.
    fn take_back_edge(&mut self, block: &Block, header: Id) {
        let branch = self.index.terminator(block);
        if branch.opcode() != op::BranchConditional {
            return;
        }
        let bool = self.out.bool();
        let to_header = bool_constant(self.out, branch.true_label() == header);
        let condition = self.out.fresh();
        let aborted = self.runtime.flag(self.out).load(self.out);
        // OpSelect, not OpLogicalOr: the condition may be undefined, since it may come from the call's placeholder.
        self.out
            .op(op::Select, (bool, condition, aborted, to_header, branch.condition()));
        self.out.op(op::BranchConditional, (condition, Words(branch.from(2))));
        self.out.place(|code| self.edits.replace_inst(&branch, code));
    }

    /// Inserts the test of a loop between its header and its body: `%header: phis, LoopMerge, Branch %body` gets two blocks
    /// after it, the test and its merge block.
    fn test_at_top(&mut self, header: &Block, test: LoopTest, renames: &mut PhiRenames) {
        let branch = self.index.terminator(header);
        if branch.opcode() != op::Branch {
            return;
        }
        let body = branch.branch_target();
        let bool = self.out.bool();
        let [top, leave, go] = [(); 3].map(|()| self.out.fresh());
        self.out.branch(top);
        self.out.label(top);
        let own = test.flag.then(|| self.runtime.flag(self.out).load(self.out));
        let mut leaves = own.unwrap_or(Id::NONE);
        if test.poll {
            // An abort that leaves no record sets the flag and not ABORTED, so both are tested.
            let [other, either] = [(); 2].map(|()| self.out.fresh());
            let poll = self.runtime.poll(self.out);
            self.out.op(op::FunctionCall, (bool, other, poll));
            if test.flag {
                self.out.op(op::LogicalOr, (bool, either, leaves, other));
            }
            leaves = if test.flag { either } else { other };
        }
        self.out.branch_if(leaves, leave, go, go);
        self.out.label(leave);
        match own {
            Some(own) => {
                if test.poll {
                    let [one, zero] = [1, 0].map(|value| self.out.constant(value));
                    let count = self.out.calculate(op::Select, (own, zero, one));
                    self.runtime.count_ended(self.out, count);
                    self.keep_key(own);
                }
                self.write_recorded_exit(FlagState::Set, leave, ExitKind::Test);
            }
            // ABORTED is set already, so that no loop waits for this invocation.
            None => {
                let one = self.out.constant(1);
                self.runtime.count_ended(self.out, one);
                self.write_exit(FlagState::Unset);
            }
        }
        self.out.label(go);
        self.out.branch(body);
        self.out.place(|code| self.edits.replace_inst(&branch, code));
        renames.edge(body, header.label, go);
    }

    /// Sets the flag of an invocation that leaves because of another's abort, unless it has aborted: `own`.
    fn keep_key(&mut self, own: Id) {
        let (uint, variable) = (self.out.uint(), self.runtime.key(self.out));
        let none = self.out.constant(record_key::NONE);
        let [key, new] = [(); 2].map(|()| self.out.fresh());
        self.out.op(op::Load, (uint, key, variable));
        self.out.op(op::Select, (uint, new, own, key, none));
        self.runtime.store_key(self.out, new);
    }

    /// Splits a block after each of `calls` with a test of the flag. Returns the label of the last piece.
    fn split_after_calls(
        &mut self,
        block: &Block,
        (calls, has_branch): (&[CallIndex], bool),
        renames: &mut PhiRenames,
    ) -> Id {
        let mut last = block.label;
        let mut splits = Vec::new();
        let (mut position, mut at) = (Position::default(), block.offset);
        for call in calls.iter().filter_map(|c| self.index.calls.get(*c)) {
            let after = self.index.inst(call.offset).end();
            let [leave, go] = [(); 2].map(|()| self.out.fresh());
            let aborted = self.runtime.flag(self.out).load(self.out);
            self.out.branch_if(aborted, leave, go, go);
            self.out.label(leave);
            if has_branch {
                self.runtime.write_branch(self.out);
            }
            self.write_recorded_exit(FlagState::Set, leave, ExitKind::Test);
            self.out.label(go);
            self.index.advance(&mut position, at, after);
            at = after;
            self.out.write_position(&position);
            splits.push(Split {
                offset: after,
                code: self.out.take_code(),
            });
            last = go;
        }
        rematerialize_handles(self.index, self.out, self.edits, block, &mut splits);
        for split in splits {
            self.edits.insert(split.offset, &split.code);
        }
        renames.moved(&self.index.successors(block), block.label, last);
        last
    }
}
