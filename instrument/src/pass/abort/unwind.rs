//! Lets an aborted invocation leave its functions, one return at a time.
//!
//! ```text
//! %r = FunctionCall %f ..        becomes   %r = FunctionCall %f ..
//! more                                     %a = Load %aborted
//!                                          SelectionMerge %go, BranchConditional %a %leave %go
//!                                          %leave: Return
//!                                          %go: more
//! ```
//!
//! after every call to a function that an invocation may leave by aborting (see [`ExitPlan`]). In a continue construct, where
//! `outline` has left nothing behind such a call that anyone sees, the back edge is taken instead and the top of the loop
//! tests the flag; the top of a loop that waits for other invocations also tests whether the arena says that one has
//! aborted.
//!
//! Handles that the block made before such a call are made again after it: `handles`.

use super::runtime::Runtime;
use crate::analysis::exit_plan::{Exit, ExitPlan};
use crate::analysis::index::debug::Position;
use crate::analysis::index::typed::{CallIndex, FunctionIndex};
use crate::analysis::index::{Block, Function, Index};
use crate::analysis::loops;
use crate::edit::Edits;
use crate::edit::globals::Globals;
use crate::edit::phi::PhiRenames;
use crate::edit::placeholder::Placeholders;
use crate::spv::op::storage_class;
use crate::spv::{Code, Id, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// What the pass works with in one function.
pub(crate) struct Unwinder<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) plan: &'a ExitPlan,
    pub(crate) runtime: &'a mut Runtime,
    pub(crate) globals: &'a mut Globals,
    pub(crate) placeholders: &'a mut Placeholders,
    pub(crate) edits: &'a mut Edits,
}

/// What is tested at the top of a loop.
#[derive(Clone, Copy, Debug)]
struct Test {
    /// The flag: the invocation may have aborted in the continue construct.
    flag: bool,
    /// The arena's ABORTED word: another invocation may have.
    poll: bool,
}

/// Where an invocation stands when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It aborts here: callers have to be told.
    Begins,
    /// The flag is set already.
    Continues,
}

impl Unwinder<'_, '_> {
    /// Ends a block with the way out of a function.
    pub(crate) fn leave(&mut self, code: &mut Code, number: FunctionIndex, function: &Function, leaving: Leaving) {
        match self.plan.exit(number) {
            Exit::Kill => code.op(op::Kill, &[]),
            Exit::TerminateRay => code.op(op::TerminateRayKHR, &[]),
            Exit::EmitNoTasks => {
                let none = [self.globals.constant(0); 3];
                let payload = self.task_payload(function);
                code.op2(op::EmitMeshTasksEXT, &none, payload.as_slice());
            }
            Exit::Return => {
                if leaving == Leaving::Begins && self.plan.unwinds(number) {
                    let flag = self.runtime.flag(self.globals);
                    let yes = Runtime::yes(self.globals);
                    code.op(op::Store, &[flag, yes]);
                }
                if self.index.opcode(function.result_type) == op::TypeVoid {
                    code.op(op::Return, &[]);
                } else {
                    let value =
                        self.placeholders
                            .placeholder_value(self.index, self.globals, code, function.result_type);
                    code.op(op::ReturnValue, &[value]);
                }
            }
        }
    }

    /// The payload that an entry point of task shaders gives to its mesh shaders.
    fn task_payload(&self, function: &Function) -> Option<Id> {
        let mut entries = self.index.entry_points.iter().filter(|e| e.function == function.id);
        let entry = entries.next()?;
        let is_payload = |id: &Id| {
            let variable = self.index.def(*id);
            variable.is_some_and(|v| v.opcode() == op::Variable && v.word(3) == storage_class::TaskPayloadWorkgroupEXT)
        };
        let payload = entry.interface().iter().copied().find(is_payload)?;
        entries.all(|e| e.interface().contains(&payload)).then_some(payload)
    }

    /// Tests the flag after calls and at the top of loops.
    pub(crate) fn run(&mut self, number: FunctionIndex, function: &Function) {
        let mut renames = PhiRenames::default();
        let mut tested: HashSet<Id> = HashSet::default();
        let mut continues: HashMap<Id, (Id, Id)> = HashMap::default();
        for block in self.index.blocks_of(function) {
            if let Some((merge, target)) = loops::loop_merge(self.index, block) {
                continues.insert(target, (block.label, merge));
            }
        }
        for at in function.blocks.iter() {
            let Some(block) = self.index.blocks.get(at).copied() else {
                continue;
            };
            let calls = self.plan.checked_calls(self.index, number, at);
            match continues.get(&block.label) {
                _ if calls.is_empty() => {}
                Some((header, _)) => {
                    self.take_back_edge(&block, *header);
                    tested.insert(*header);
                }
                None => self.split_after(number, function, &block, &calls, &mut renames),
            }
        }
        for at in function.blocks.iter() {
            let Some(block) = self.index.blocks.get(at).copied() else {
                continue;
            };
            let test = Test {
                flag: tested.contains(&block.label),
                poll: self.plan.polled(at),
            };
            if test.flag || test.poll {
                self.test_at_top(number, function, &block, test, &mut renames);
            }
        }
        renames.apply(self.index, function, self.edits);
    }

    /// In a continue construct: an aborted invocation goes on to the header, whatever the loop's condition says.
    fn take_back_edge(&mut self, block: &Block, header: Id) {
        let end = self.index.terminator(block);
        if end.opcode() != op::BranchConditional {
            return;
        }
        let bool = self.globals.bool();
        let flag = self.runtime.flag(self.globals);
        let to_header = if end.word(2) == header {
            Runtime::yes(self.globals)
        } else {
            Runtime::no(self.globals)
        };
        let (aborted, condition) = (self.globals.fresh(), self.globals.fresh());
        let mut code = Code::default();
        code.op(op::Load, &[bool, aborted, flag]);
        // Not an OR: compilers may take the condition for undefined, since it comes from what the call gave back.
        code.op(op::Select, &[bool, condition, aborted, to_header, end.word(1)]);
        code.op2(op::BranchConditional, &[condition], end.from(2));
        self.edits.replace(end.offset, end.words.len(), &code.words);
    }

    /// `%header: phis, LoopMerge, Branch %body` gets two blocks between header and body: the test, and a merge block.
    fn test_at_top(
        &mut self,
        number: FunctionIndex,
        function: &Function,
        header: &Block,
        test: Test,
        renames: &mut PhiRenames,
    ) {
        let end = self.index.terminator(header);
        if end.opcode() != op::Branch {
            return;
        }
        let bool = self.globals.bool();
        let [top, leave, go] = [(); 3].map(|()| self.globals.fresh());
        let mut code = Code::default();
        code.branch(top);
        code.label(top);
        let mut aborted = 0;
        if test.flag {
            aborted = self.globals.fresh();
            let flag = self.runtime.flag(self.globals);
            code.op(op::Load, &[bool, aborted, flag]);
        }
        if test.poll {
            // Both: an abort that leaves no record sets the flag only.
            let [other, either] = [(); 2].map(|()| self.globals.fresh());
            let poll = self.runtime.poll(self.globals);
            code.op(op::FunctionCall, &[bool, other, poll]);
            if test.flag {
                code.op(op::LogicalOr, &[bool, either, aborted, other]);
            }
            aborted = if test.flag { either } else { other };
        }
        code.branch_if(aborted, leave, go, go);
        code.label(leave);
        self.leave(
            &mut code,
            number,
            function,
            if test.poll { Leaving::Begins } else { Leaving::Continues },
        );
        code.label(go);
        code.branch(end.word(1));
        self.edits.replace(end.offset, end.words.len(), &code.words);
        renames.edge(end.word(1), header.label, go);
    }

    fn split_after(
        &mut self,
        number: FunctionIndex,
        function: &Function,
        block: &Block,
        calls: &[CallIndex],
        renames: &mut PhiRenames,
    ) {
        let bool = self.globals.bool();
        let flag = self.runtime.flag(self.globals);
        let mut last = block.label;
        let mut splits = Vec::new();
        let (mut position, mut at) = (Position::default(), block.offset);
        for call in calls.iter().filter_map(|c| self.index.calls.get(*c)) {
            let after = self.index.inst(call.offset).end();
            let [aborted, leave, go] = [(); 3].map(|()| self.globals.fresh());
            let mut code = Code::default();
            code.op(op::Load, &[bool, aborted, flag]);
            code.branch_if(aborted, leave, go, go);
            code.label(leave);
            self.leave(&mut code, number, function, Leaving::Continues);
            code.label(go);
            self.index.advance(&mut position, at, after);
            at = after;
            position.write(&mut code, || self.globals.fresh());
            splits.push((after, code));
            last = go;
        }
        self.rematerialize_handles(block, &mut splits);
        for (after, code) in splits {
            self.edits.insert(after, &code.words);
        }
        renames.moved(&self.index.successors(block), block.label, last);
    }
}
