//! Turns selections into switches: SPIR-V allows a branch to the merge block from deep inside only in loops and switches.
//!
//! ```text
//! SelectionMerge %merge, BranchConditional %c %yes %no   becomes   %s = Select %c 1 0
//!                                                                  SelectionMerge %merge, Switch %s %no 1 %yes
//! ```

use super::rewrite::Rewriter;
use vkabort_spirv::index::typed::Node;
use vkabort_spirv::{Id, Inst, Literal, op};

impl Rewriter<'_, '_> {
    /// Finds the edges of a selection header that leave the selection. Cases of a switch lie inside it, so that these edges
    /// get blocks of their own.
    pub(super) fn find_trampolines(&mut self, header: Node) {
        let merge = self.flow.construct(header).map(|construct| construct.merge);
        for to in self.flow.successors.get(header).into_iter().flatten() {
            if Some(*to) != merge && self.flow.outside(*to) != Some(header) {
                self.trampolines.insert((*to, header), self.out.fresh());
            }
        }
    }

    /// Turns the conditional branch of a selection header into a switch.
    pub(super) fn write_switch(&mut self, header: Node) {
        let index = self.flow.index;
        let Some(block) = self.flow.block(header) else { return };
        let branch = index.terminator(block);
        if branch.opcode() != op::BranchConditional {
            return;
        }
        let words = self.words.remove(&branch.offset);
        let branch = Inst {
            offset: branch.offset,
            words: words.as_deref().unwrap_or(branch.words),
        };
        let (yes, no) = (branch.true_label(), branch.false_label());
        let nodes = self.flow.node(yes).zip(self.flow.node(no));
        // A case may fall through only to the one after it or to the default.
        let no_falls_through = nodes.is_some_and(|(yes, no)| {
            let mut before = self.predecessors.get(yes).into_iter().flatten();
            let is_case = yes != no && self.flow.outside(yes) == Some(header);
            is_case && before.any(|from| self.dominators.dominates(no, *from))
        });
        let target = |label: Id| {
            let trampoline = self.flow.node(label).and_then(|to| self.trampolines.get(&(to, header)));
            trampoline.copied().unwrap_or(label)
        };
        let (default, case, value) = match no_falls_through {
            true => (target(yes), target(no), 0),
            false => (target(no), target(yes), 1),
        };
        let uint = self.out.uint();
        let (selector, one, zero) = (self.out.fresh(), self.out.constant(1), self.out.constant(0));
        self.out.op(op::Select, (uint, selector, branch.condition(), one, zero));
        self.edits.insert(block.merge, &self.out.take_code());
        self.out.op(op::Switch, (selector, default, Literal(value), case));
        let switch = self.out.take_code();
        self.edits.replace_inst(&index.inst(branch.offset), &switch);
        for ((to, _), trampoline) in self.trampolines.iter().filter(|((_, from), _)| *from == header) {
            self.out.label(*trampoline);
            self.out.branch(self.flow.label(*to));
        }
        self.edits.insert(block.end, &self.out.take_code());
    }
}
