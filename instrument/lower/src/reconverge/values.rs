//! Values whose definition no longer dominates their use, because invocations that leave reach a merge block without it.
//!
//! ```text
//! %x = ..                   in one arm, where all others aborted
//! %y = Phi %x %arm, %placeholder %aborted     at the merge block
//! .. %y                     instead of %x behind it
//! ```
//!
//! A phi selects the words of physical pointers (`edit::address_words`). Logical pointers, pointers to matrices and opaque handles, which
//! no phi can select, are computed again in front of the use.

use super::flow::{Flow, is_loop};
use std::collections::BTreeMap;
use vkabort_analysis::dominators::Dominators;
use vkabort_spirv::edit::address_words::{AddressWords, takes_layout_from_chain};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::predecessor;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::edit::recompute::Recomputation;
use vkabort_spirv::index::typed::{Node, Table};
use vkabort_spirv::{Code, Id, Inst, op, operands};

/// A phi to add. Predecessors by branches of the module only; edges of invocations that leave take a placeholder.
pub(super) struct NewPhi {
    pub(super) ty: Id,
    pub(super) result: Id,
    /// `None`: a placeholder.
    pub(super) values: Vec<(Option<Id>, Node)>,
}

/// Why the values of a function cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// An instruction with this opcode, which may use any value.
    UnknownInstruction(u16),
    /// A pointer or handle that can be neither selected nor computed again, by the instruction that defines it.
    Value(Id),
}

/// Changes to the values of a function.
#[derive(Default)]
pub(super) struct Repairs {
    /// By offset of an instruction: new ids of its words.
    pub(super) uses: BTreeMap<usize, Vec<(usize, Id)>>,
    /// By block.
    pub(super) phis: BTreeMap<Node, Vec<NewPhi>>,
    /// Code in front of the instruction at an offset.
    pub(super) copies: BTreeMap<usize, Code>,
}

/// Finds the uses of a function that its new edges break.
pub(super) struct Repairer<'a, 'w> {
    pub(super) flow: &'a Flow<'a, 'w>,
    /// With the new edges.
    pub(super) dominators: &'a Dominators,
    pub(super) predecessors: &'a Table<Node, Vec<Node>>,
    /// Nodes of the tests, by merge block.
    tests: &'a BTreeMap<Node, Node>,
    /// Merge blocks, by the nodes of their tests.
    merges: BTreeMap<Node, Node>,
    pub(super) out: &'a mut Emitter,
    pub(super) placeholders: &'a mut Placeholders,
    words: &'a mut AddressWords,
    /// Results of the new phis, by block and value.
    results: BTreeMap<(Node, Id), Id>,
    /// Words of values, by the block at whose end they are written.
    kept: BTreeMap<(Node, Id), Id>,
    /// Values and the new ids that derive from them. They are decorated at the end: an obstacle leaves the ids undefined.
    derived: Vec<(Id, Id)>,
    worklist: Vec<(Node, Id)>,
}

impl<'a, 'w> Repairer<'a, 'w> {
    pub(super) fn new(
        flow: &'a Flow<'a, 'w>,
        dominators: &'a Dominators,
        predecessors: &'a Table<Node, Vec<Node>>,
        tests: &'a BTreeMap<Node, Node>,
        out: &'a mut Emitter,
        (placeholders, words): (&'a mut Placeholders, &'a mut AddressWords),
    ) -> Self {
        Self {
            flow,
            dominators,
            predecessors,
            tests,
            merges: tests.iter().map(|(merge, test)| (*test, *merge)).collect(),
            out,
            placeholders,
            words,
            results: BTreeMap::new(),
            kept: BTreeMap::new(),
            derived: Vec::new(),
            worklist: Vec::new(),
        }
    }

    /// `is_replaced` says which terminators are.
    ///
    /// # Errors
    ///
    /// A value can be neither selected nor computed again, or an instruction is unknown.
    pub(super) fn run(mut self, is_replaced: impl Fn(Node) -> bool) -> Result<Repairs, Obstacle> {
        let index = self.flow.index;
        let mut repairs = Repairs::default();
        for (position, block) in index.blocks_of(self.flow.function).iter().enumerate() {
            let node = Node::from_usize(position);
            if !self.flow.dominators.is_reachable(node) {
                continue;
            }
            for inst in index.insts(block.offset, block.end).skip(1) {
                if inst.offset == block.terminator && is_replaced(node) {
                    continue;
                }
                self.repair_inst(node, &inst, &mut repairs)?;
            }
        }
        while let Some((node, value)) = self.worklist.pop() {
            let result = self.results.get(&(node, value)).copied();
            let result = result.ok_or(Obstacle::Value(value))?;
            let mut values = Vec::new();
            for before in self.predecessors.get(node).into_iter().flatten() {
                let is_reachable = self.flow.dominators.is_reachable(*before);
                let value = match is_reachable {
                    true => self.operand(value, *before, &mut repairs),
                    false => None,
                };
                values.push((value, *before));
            }
            let ty = index.type_of(value);
            let ty = self.words.kept_type(index, self.out, ty).unwrap_or(ty);
            repairs
                .phis
                .entry(node)
                .or_default()
                .push(NewPhi { ty, result, values });
        }
        for (from, to) in self.derived {
            self.out.inherit_non_uniform(index, from, &[to]);
        }
        Ok(repairs)
    }

    fn repair_inst(&mut self, node: Node, inst: &Inst<'_>, repairs: &mut Repairs) -> Result<(), Obstacle> {
        let index = self.flow.index;
        let mut broken = Vec::new();
        let is_visited = operands::visit_ids(inst, index.selector_words(inst), |word| {
            let id = inst.id(word);
            let use_node = match inst.opcode() {
                op::Phi => predecessor(inst, word).and_then(|label| self.flow.node(label)),
                _ => Some(node),
            };
            let is_evaluated = |at: &Node| self.flow.dominators.is_reachable(*at);
            if let Some(at) = use_node.filter(is_evaluated)
                && self
                    .definition(id)
                    .is_some_and(|from| !self.dominators.dominates(from, at))
            {
                broken.push((word, id, at));
            }
        });
        if !is_visited {
            return Err(Obstacle::UnknownInstruction(inst.opcode()));
        }
        for (word, id, at) in broken {
            let end = self.flow.block(at).map_or(inst.offset, |block| block.terminator);
            let front = if inst.opcode() == op::Phi { end } else { inst.offset };
            let new = self.replacement(id, at, front, repairs).ok_or(Obstacle::Value(id))?;
            repairs.uses.entry(inst.offset).or_default().push((word, new));
        }
        Ok(())
    }

    /// The value that stands for another one in a block, where its definition does not dominate. Code may be added in front of the
    /// instruction at the offset `front`.
    fn replacement(&mut self, id: Id, at: Node, front: usize, repairs: &mut Repairs) -> Option<Id> {
        let (index, ty) = (self.flow.index, self.flow.index.type_of(id));
        let needs_chain = takes_layout_from_chain(index, id);
        if needs_chain || index.is_opaque(ty) || index.is_logical_pointer(ty) {
            let computed = Recomputation::new(index, id, |operand| self.available(operand, at, front, repairs));
            if let Some(computed) = computed {
                let code = repairs.copies.entry(front).or_default();
                return Some(computed.write(self.out, code, &mut self.derived));
            }
        }
        if needs_chain {
            return None;
        }
        if self.words.kept_type(index, self.out, ty).is_some() {
            return self.restored(id, at, front, repairs);
        }
        let can_select = self.placeholders.can_select(index, ty);
        can_select.then(|| self.value_at(id, at)).flatten()
    }

    /// A value of which a phi selects the words, from those at the end of a block.
    fn restored(&mut self, id: Id, at: Node, front: usize, repairs: &mut Repairs) -> Option<Id> {
        let ty = self.flow.index.type_of(id);
        let (kept, result) = (self.value_at(id, at)?, self.out.fresh());
        self.derived.push((id, result));
        let code = repairs.copies.entry(front).or_default();
        let words = &mut self.words;
        self.out.continue_code(code, |out| words.restore(out, ty, kept, result));
        Some(result)
    }

    /// The value that stands for an operand of an instruction that is computed again in a block. `None`: it is computed again too.
    fn available(&mut self, id: Id, at: Node, front: usize, repairs: &mut Repairs) -> Option<Id> {
        let (index, ty) = (self.flow.index, self.flow.index.type_of(id));
        let Some(from) = self.definition(id) else {
            return Some(id);
        };
        if self.dominators.dominates(from, at) {
            return Some(id);
        }
        if takes_layout_from_chain(index, id) {
            return None;
        }
        if self.words.kept_type(index, self.out, ty).is_some() {
            return self.restored(id, at, front, repairs);
        }
        let can_select = !index.is_logical_pointer(ty) && self.placeholders.can_select(index, ty);
        can_select.then(|| self.value_at(id, at)).flatten()
    }

    /// The operand of a new phi for the edge from `before`.
    fn operand(&mut self, id: Id, before: Node, repairs: &mut Repairs) -> Option<Id> {
        let (index, ty) = (self.flow.index, self.flow.index.type_of(id));
        let value = self.value_at(id, before)?;
        if value != id || self.words.kept_type(index, self.out, ty).is_none() {
            return Some(value);
        }
        if let Some(kept) = self.kept.get(&(before, id)) {
            return Some(*kept);
        }
        let end = self.flow.block(before)?.terminator;
        let code = repairs.copies.entry(end).or_default();
        let words = &mut self.words;
        let kept = self.out.continue_code(code, |out| words.keep(index, out, ty, id));
        self.kept.insert((before, id), kept);
        Some(kept)
    }

    /// The block that defines a value. `None` for labels, parameters, and ids that other functions or no function defines.
    fn definition(&self, id: Id) -> Option<Node> {
        let (index, function) = (self.flow.index, self.flow.function);
        let inst = index.def(id).filter(|inst| inst.opcode() != op::Label)?;
        let node = index.node_at(function, inst.offset)?;
        // The phis of a merge block precede its test; those of a loop's header follow it.
        let is_before_test = inst.opcode() == op::Phi && !is_loop(self.flow, node);
        let test = self.tests.get(&node).copied().filter(|_| is_before_test);
        Some(test.unwrap_or(node))
    }

    /// Position in the function: a test is in front of the rest of its merge block.
    fn order(&self, node: Node) -> (Node, bool) {
        self.merges.get(&node).map_or((node, true), |merge| (*merge, false))
    }

    /// A value at the end of a block that its definition dominated before: the value itself, or a phi, of the words of a value that is kept
    /// as such. The phi belongs into
    /// the last block on the dominator tree's path from the root that the definition dominated before: higher up, its
    /// invocations and those that left have not met.
    fn value_at(&mut self, id: Id, node: Node) -> Option<Id> {
        let definition = self.definition(id)?;
        if self.dominators.dominates(definition, node) {
            return Some(id);
        }
        // Both dominated `node` before the new edges, so the one that comes first dominated the other.
        let mut at = node;
        while let Some(above) = self
            .dominators
            .parent(at)
            .filter(|above| self.order(*above) > self.order(definition))
        {
            at = above;
        }
        let at = self.merges.get(&at).copied().unwrap_or(at);
        if let Some(result) = self.results.get(&(at, id)) {
            return Some(*result);
        }
        let result = self.out.fresh();
        let is_kept = self
            .words
            .kept_type(self.flow.index, self.out, self.flow.index.type_of(id));
        self.derived.extend(is_kept.is_none().then_some((id, result)));
        self.results.insert((at, id), result);
        self.worklist.push((at, id));
        Some(result)
    }
}
