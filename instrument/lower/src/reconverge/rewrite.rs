//! Writes the detours of one function.

use super::detours::Detours;
use super::flow::{Flow, is_loop};
use super::values::{Obstacle, Repairer, Repairs};
use std::collections::BTreeMap;
use std::mem;
use vkabort_analysis::dominators::Dominators;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_flag::AbortFlag;
use vkabort_spirv::edit::address_words::AddressWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::index::Block;
use vkabort_spirv::index::typed::{Node, Table};
use vkabort_spirv::{Code, Id, Inst, Words, op, operands};

/// A test of the flag in a merge block, and the labels of the blocks that it adds.
pub(super) struct Test {
    /// Construct to whose merge block the test goes.
    pub(super) next: Option<Node>,
    /// The block that leaves.
    pub(super) leave: Id,
    /// The block behind the test.
    pub(super) go: Id,
    /// The block that ends the merge block: a new loop header if that is one, else `go`.
    pub(super) end: Id,
}

/// Inputs and edits of the rewrite of one function.
pub(super) struct Rewriter<'a, 'w> {
    pub(super) flow: &'a Flow<'a, 'w>,
    pub(super) detours: &'a Detours,
    /// Dominators of the function with the new edges.
    pub(super) dominators: &'a Dominators,
    /// Predecessors by the module's own branches.
    pub(super) predecessors: &'a Table<Node, Vec<Node>>,
    pub(super) repairs: &'a Repairs,
    /// By merge block.
    pub(super) tests: BTreeMap<Node, Test>,
    pub(super) flag: AbortFlag,
    pub(super) out: &'a mut Emitter,
    pub(super) placeholders: &'a mut Placeholders,
    /// By offset: changed instructions.
    pub(super) words: BTreeMap<usize, Vec<u32>>,
    /// New blocks on edges, by (block, predecessor).
    pub(super) trampolines: BTreeMap<(Node, Node), Id>,
    /// Placeholders that need instructions, by the label of the block that leaves.
    pub(super) arriving: BTreeMap<Id, Code>,
    pub(super) edits: &'a mut Edits,
}

/// Adds the edits.
///
/// # Errors
///
/// A value cannot be repaired; nothing is edited.
pub(super) fn rewrite(
    flow: &Flow<'_, '_>,
    detours: &Detours,
    flag: AbortFlag,
    out: &mut Emitter,
    (placeholders, words): (&mut Placeholders, &mut AddressWords),
    edits: &mut Edits,
) -> Result<(), Obstacle> {
    let test_nodes = detours.test_nodes(flow);
    let dominators = Dominators::new(&detours.successors(flow, &test_nodes));
    let predecessors = flow.successors.reversed();
    let forms = (&mut *placeholders, words);
    let repairer = Repairer::new(flow, &dominators, &predecessors, &test_nodes, out, forms);
    let repairs = repairer.run(|node| detours.exits.contains_key(&node))?;
    let mut tests = BTreeMap::new();
    for (header, next) in &detours.tests {
        if let Some(construct) = flow.construct(*header) {
            let [leave, go] = [(); 2].map(|()| out.fresh());
            let is_loop = is_loop(flow, construct.merge);
            let test = Test {
                next: *next,
                leave,
                go,
                end: if is_loop { out.fresh() } else { go },
            };
            tests.insert(construct.merge, test);
        }
    }
    let mut rewriter = Rewriter {
        flow,
        detours,
        dominators: &dominators,
        predecessors: &predecessors,
        repairs: &repairs,
        tests,
        flag,
        out,
        placeholders,
        words: BTreeMap::new(),
        trampolines: BTreeMap::new(),
        arriving: BTreeMap::new(),
        edits,
    };
    rewriter.run();
    Ok(())
}

impl<'w> Rewriter<'_, 'w> {
    /// Changes the words of instructions first and code second: the labels of new blocks must be known to the phis.
    fn run(&mut self) {
        self.replace_uses();
        for header in &self.detours.switches {
            self.find_trampolines(*header);
        }
        self.relabel_phis();
        self.write_tests();
        for (offset, code) in &self.repairs.copies {
            self.edits.insert(self.before_merge(*offset), code);
        }
        for header in &self.detours.switches {
            self.write_switch(*header);
        }
        self.write_exits();
        self.write_changed_words();
    }

    fn replace_uses(&mut self) {
        for (offset, uses) in &self.repairs.uses {
            let words = edited(&mut self.words, &self.flow.index.inst(*offset));
            uses.iter().for_each(|(word, id)| set(words, *word, *id));
        }
    }

    /// Writes new phis, and the tests of merge blocks behind them.
    fn write_tests(&mut self) {
        for (node, phis) in &self.repairs.phis {
            if !self.tests.contains_key(node) {
                self.write_phis(*node, phis, |_| true);
                let code = self.out.take_code();
                self.insert_at_start(*node, &code);
            }
        }
        let merges: Vec<Node> = self.tests.keys().copied().collect();
        let heads: Vec<Code> = merges.iter().map(|merge| self.select_at(*merge)).collect();
        for (merge, head) in merges.into_iter().zip(heads) {
            self.write_test(merge, head);
        }
    }

    /// Replaces the ends of the blocks that leave.
    fn write_exits(&mut self) {
        for (node, header) in &self.detours.exits {
            if let Some(block) = self.flow.block(*node) {
                self.leave(block.label, Some(*header));
                let end = self.flow.index.terminator(block);
                self.out.place(|code| self.edits.replace_inst(&end, code));
            }
        }
    }

    fn write_changed_words(&mut self) {
        for (offset, words) in mem::take(&mut self.words) {
            let inst = self.flow.index.inst(offset);
            self.edits
                .replace_by(&inst, inst.opcode(), Words(words.get(1..).unwrap_or(&[])));
        }
    }

    /// Word offset at which code for the instruction at `offset` is inserted: a merge instruction and the terminator stay together.
    pub(super) fn before_merge(&self, offset: usize) -> usize {
        let index = self.flow.index;
        let block = index.block_at(self.flow.function, offset);
        let block = block.and_then(|block| index.blocks.get(block));
        block.map_or(offset, |block| offset.min(block.before_end()))
    }

    /// Label of the block that ends with the terminator of `node`.
    fn end_label(&self, node: Node) -> Id {
        let test = self.tests.get(&node);
        test.map_or_else(|| self.flow.label(node), |test| test.end)
    }

    /// Label of the predecessor by which the edge from `from` reaches `to`.
    pub(super) fn edge_label(&self, to: Node, from: Node) -> Id {
        let trampoline = self.trampolines.get(&(to, from)).copied();
        trampoline.unwrap_or_else(|| self.end_label(from))
    }

    /// A value that no invocation observes, for a phi's operand in a block that `code` ends.
    pub(super) fn placeholder(&mut self, code: &mut Code, ty: Id) -> Id {
        let index = self.flow.index;
        let write = |out: &mut Emitter| self.placeholders.placeholder_value(index, out, ty);
        self.out.continue_code(code, write)
    }

    fn insert_at_start(&mut self, node: Node, code: &Code) {
        if let Some(block) = self.flow.block(node) {
            self.edits.insert(block.offset + 2, code);
        }
    }

    /// Writes the test of a merge block, behind its phis or, in a loop's header, in front of the loop.
    fn write_test(&mut self, merge: Node, head: Code) {
        let index = self.flow.index;
        let (Some(test), Some(block)) = (self.tests.get(&merge), self.flow.block(merge)) else {
            return;
        };
        let (next, leave, go, end) = (test.next, test.leave, test.go, test.end);
        let is_phi = |inst: &Inst<'_>| inst.opcode() == op::Phi;
        let after_phis = index
            .body(block)
            .filter(is_phi)
            .last()
            .map_or(block.offset + 2, |inst| inst.end());
        if self.flow.dominators.is_reachable(merge) {
            let aborted = self.flag.load(self.out);
            self.out.branch_if(aborted, leave, go, go);
        } else {
            // All others have left in another way.
            self.out.branch(leave);
        }
        self.out.label(leave);
        self.leave(leave, next);
        self.out.label(go);
        if is_loop(self.flow, merge) {
            self.out.branch(end);
            self.out.label(end);
            let code = self.out.take_code();
            self.redirect_back_edges(merge, block, end);
            self.insert_at_start(merge, &head);
            self.insert_at_start(merge, &code);
            return;
        }
        self.out.write_position(&index.position(block, after_phis));
        let code = self.out.take_code();
        self.insert_at_start(merge, &head);
        self.edits.insert(after_phis, &code);
    }

    /// Makes the back edges of the loop at `merge` go to its new header.
    fn redirect_back_edges(&mut self, merge: Node, block: &Block, header: Id) {
        let index = self.flow.index;
        // A loop may be its own continue construct.
        let mut insts: Vec<Inst<'_>> = index.merge(block).into_iter().collect();
        let from = self.predecessors.get(merge).into_iter().flatten();
        let from = from.filter(|node| self.dominators.dominates(merge, **node));
        insts.extend(
            from.filter_map(|node| self.flow.block(*node))
                .map(|b| index.terminator(b)),
        );
        for inst in insts {
            operands::visit_ids(&inst, index.selector_words(&inst), |word| {
                if inst.id(word) == block.label {
                    set(edited(&mut self.words, &inst), word, header);
                }
            });
        }
    }

    /// Writes the way out of the block with a label: to the merge block of a construct, or out of the function.
    fn leave(&mut self, label: Id, next: Option<Node>) {
        let mut code = self.arriving.remove(&label).unwrap_or_default();
        let merge = next.and_then(|header| self.flow.construct(header));
        if let Some(construct) = merge {
            code.branch(self.flow.label(construct.merge));
            return self.out.code.append(&code);
        }
        // All exits of a function end in the same way.
        let first = self.detours.exits.keys().next();
        let exit = first.and_then(|node| self.flow.block(*node));
        let exit = exit.map_or(op::Return, |block| self.flow.index.terminator(block).opcode());
        if exit == op::ReturnValue {
            let value = self.placeholder(&mut code, self.flow.function.result_type);
            code.op(op::ReturnValue, value);
        } else {
            code.op(exit, ());
        }
        self.out.code.append(&code);
    }
}

/// The words of an instruction as changed so far.
pub(super) fn edited<'m>(words: &'m mut BTreeMap<usize, Vec<u32>>, inst: &Inst<'_>) -> &'m mut Vec<u32> {
    words.entry(inst.offset).or_insert_with(|| inst.words.to_vec())
}

pub(super) fn set(words: &mut [u32], word: usize, id: Id) {
    if let Some(slot) = words.get_mut(word) {
        *slot = id.word();
    }
}
