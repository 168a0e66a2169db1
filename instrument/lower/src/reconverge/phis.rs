//! The phis of merge blocks that invocations reach to leave.

use super::flow::is_loop;
use super::rewrite::{Rewriter, edited, set};
use super::values::NewPhi;
use vkabort_spirv::index::typed::Node;
use vkabort_spirv::{Code, Id, Inst, op};

impl Rewriter<'_, '_> {
    /// Names the new predecessors in the phis of the function.
    pub(super) fn relabel_phis(&mut self) {
        let index = self.flow.index;
        for (position, block) in index.blocks_of(self.flow.function).iter().enumerate() {
            let node = Node::from_usize(position);
            for inst in index.body(block).filter(|inst| inst.opcode() == op::Phi) {
                for (pair, (_, label)) in inst.phi_pairs().enumerate() {
                    let new = self.flow.node(label).map(|from| self.edge_label(node, from));
                    if let Some(new) = new.filter(|new| *new != label) {
                        set(edited(&mut self.words, &inst), 4 + 2 * pair, new);
                    }
                }
            }
        }
    }

    /// Operands of a new phi for the edges of the module that `takes` accepts.
    fn operands(&mut self, node: Node, new: &NewPhi, takes: impl Fn(Node) -> bool) -> Vec<(Id, Id)> {
        let mut pairs = Vec::new();
        for (value, from) in new.values.iter().filter(|(_, from)| takes(*from)) {
            let value = value.unwrap_or_else(|| {
                let mut code = Code::default();
                let value = self.placeholder(&mut code, new.ty);
                if let Some(block) = self.flow.block(*from) {
                    self.edits.insert(self.before_merge(block.terminator), &code);
                }
                value
            });
            pairs.push((value, self.edge_label(node, *from)));
        }
        pairs
    }

    /// Writes new phis of a block for the edges of the module that `takes` accepts, and for those of invocations that leave.
    pub(super) fn write_phis(&mut self, node: Node, phis: &[NewPhi], takes: impl Fn(Node) -> bool) {
        let arrivals = self.arrivals(node);
        for new in phis {
            let mut pairs = self.operands(node, new, &takes);
            pairs.extend(self.placeholder_pairs(new.ty, &arrivals));
            self.out.phi(new.ty, new.result, &pairs);
        }
    }

    fn placeholder_pairs(&mut self, ty: Id, arrivals: &[Id]) -> Vec<(Id, Id)> {
        let mut pairs = Vec::with_capacity(arrivals.len());
        for label in arrivals {
            let mut code = self.arriving.remove(label).unwrap_or_default();
            pairs.push((self.placeholder(&mut code, ty), *label));
            self.arriving.insert(*label, code);
        }
        pairs
    }

    /// Gives the phis of a merge block operands for invocations that leave. Returns the code that precedes its phis. The
    /// phis of a loop's header are divided: some select on entry, in front of the test, and the others in the new header.
    pub(super) fn select_at(&mut self, merge: Node) -> Code {
        let index = self.flow.index;
        let is_loop = is_loop(self.flow, merge);
        let dominators = self.dominators;
        let enters = |from: Node| !is_loop || !dominators.dominates(merge, from);
        let repairs = self.repairs;
        if let Some(phis) = repairs.phis.get(&merge) {
            self.write_phis(merge, phis, enters);
        }
        let arrivals = self.arrivals(merge);
        let Some(block) = self.flow.block(merge) else {
            return self.out.take_code();
        };
        for inst in index.body(block).filter(|inst| inst.opcode() == op::Phi) {
            let mut added = self.placeholder_pairs(inst.result_type(), &arrivals);
            let words = edited(&mut self.words, &inst);
            if !is_loop {
                words.extend(added.iter().flat_map(|(value, label)| [value.word(), label.word()]));
                continue;
            }
            let now = Inst {
                offset: inst.offset,
                words,
            };
            // The predecessors before they got new labels.
            let from = inst.phi_pairs().map(|(_, label)| self.flow.node(label));
            let pairs = now.phi_pairs().zip(from);
            let (entering, mut staying): (Vec<_>, Vec<_>) = pairs.partition(|(_, from)| from.is_some_and(enters));
            added.extend(entering.into_iter().map(|(pair, _)| pair));
            let entered = self.out.fresh();
            self.out.phi(inst.result_type(), entered, &added);
            let go = self.tests.get(&merge).map_or(Id::NONE, |test| test.go);
            staying.insert(0, ((entered, go), None));
            let staying: Vec<(Id, Id)> = staying.into_iter().map(|(pair, _)| pair).collect();
            let head = self.out.take_code();
            self.out.phi(inst.result_type(), inst.result(), &staying);
            self.words.insert(inst.offset, self.out.take_code().words);
            self.out.code = head;
        }
        self.out.take_code()
    }

    /// Labels of the blocks by which invocations that leave reach a merge block.
    fn arrivals(&self, merge: Node) -> Vec<Id> {
        let leads_here = |header: Node| {
            self.flow
                .construct(header)
                .is_some_and(|construct| construct.merge == merge)
        };
        let exits = self.detours.exits.iter();
        let exits = exits.filter(|(_, header)| leads_here(**header));
        let tests = self.tests.values().filter(|test| test.next.is_some_and(leads_here));
        let exits = exits.map(|(node, _)| self.flow.label(*node));
        exits.chain(tests.map(|test| test.leave)).collect()
    }
}
