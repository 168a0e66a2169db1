//! Values that a section defines and code behind it uses: they pass in variables, since exits have none.
//!
//! A phi at the end of the section would do, but takes SwiftShader a selection for each exit. Variables hold the words of physical pointers
//! (`edit::address_words`). Logical pointers, pointers to matrices and handles, which no variable holds, are computed again in front of the
//! use.

use super::division::Division;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::address_words::{AddressWords, is_physical_pointer, takes_layout_from_chain};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::predecessor;
use vkabort_spirv::edit::recompute::Recomputation;
use vkabort_spirv::index::typed::Node;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Code, Id, Inst, Words, op, operands};

/// Changes of a function.
#[derive(Default)]
pub(super) struct Crossing {
    /// By section.
    pub(super) values: BTreeMap<usize, Vec<CarriedValue>>,
    results: HashMap<Id, Id>,
    /// Code in front of the instruction at an offset.
    copies: BTreeMap<usize, Code>,
    /// By offset: changed instructions.
    words: BTreeMap<usize, Vec<u32>>,
    /// Values that exits return.
    pub(super) returned: HashMap<Node, Id>,
}

/// A value of a section, and the value of its variable that stands for it behind the section.
pub(super) struct CarriedValue {
    pub(super) value: Id,
    pub(super) variable: Id,
    pub(super) loaded: Id,
}

/// A value cannot be had behind its section: an unknown instruction uses it, or it is a pointer that no access chain computes.
pub(super) struct Obstacle;

/// Finds the uses behind sections.
pub(super) struct Finder<'d, 'a, 'w> {
    division: &'d Division<'a, 'w>,
    out: &'d mut Emitter,
    words: &'d mut AddressWords,
    found: Crossing,
    /// Values, and new ids that stand for them. They are decorated at the end: an obstacle leaves the ids undefined.
    derived: Vec<(Id, Id)>,
}

impl<'d, 'a, 'w> Finder<'d, 'a, 'w> {
    pub(super) fn new(division: &'d Division<'a, 'w>, out: &'d mut Emitter, words: &'d mut AddressWords) -> Self {
        Self {
            division,
            out,
            words,
            found: Crossing::default(),
            derived: Vec::new(),
        }
    }

    /// O(words of the function), and O(copies) for each use of a pointer or handle.
    ///
    /// # Errors
    ///
    /// See [`Obstacle`].
    pub(super) fn run(mut self) -> Result<Crossing, Obstacle> {
        let index = self.division.index;
        for (position, block) in index.blocks_of(self.division.function).iter().enumerate() {
            let node = Node::from_usize(position);
            if !self.division.dominators.is_reachable(node) {
                continue;
            }
            for inst in index.insts(block.offset, block.end).skip(1) {
                let is_exit = inst.offset == block.terminator && self.division.exits.contains(&node);
                if !is_exit {
                    self.repair(&inst, node, block)?;
                } else if inst.opcode() == op::ReturnValue {
                    let value = self.value(inst.id(1), self.division.section(node)).ok_or(Obstacle)?;
                    self.found.returned.insert(node, value);
                }
            }
        }
        for (from, to) in self.derived {
            self.out.inherit_non_uniform(index, from, &[to]);
        }
        Ok(self.found)
    }

    fn repair(&mut self, inst: &Inst<'_>, node: Node, block: &Block) -> Result<(), Obstacle> {
        let index = self.division.index;
        let mut operands = Vec::new();
        if !operands::visit_ids(inst, index.selector_words(inst), |word| operands.push(word)) {
            return Err(Obstacle);
        }
        for word in operands {
            let id = inst.id(word);
            let section = match inst.opcode() {
                op::Phi => {
                    let from = predecessor(inst, word).and_then(|label| index.node_of(self.division.function, label));
                    let Some(from) = from.filter(|from| self.division.dominators.is_reachable(*from)) else {
                        continue;
                    };
                    self.division.section(from)
                }
                _ => self.division.section(node),
            };
            let new = match self.value(id, section) {
                Some(new) => new,
                None if inst.opcode() == op::Phi => return Err(Obstacle),
                None => {
                    let at = inst.offset.min(block.before_end());
                    let computed = Recomputation::new(index, id, |operand| self.value(operand, section));
                    let code = self.found.copies.entry(at).or_default();
                    computed.ok_or(Obstacle)?.write(self.out, code, &mut self.derived)
                }
            };
            if new != id {
                let words = self
                    .found
                    .words
                    .entry(inst.offset)
                    .or_insert_with(|| inst.words.to_vec());
                words.get_mut(word).into_iter().for_each(|slot| *slot = new.word());
            }
        }
        Ok(())
    }

    /// The section that defines a value, if one does.
    fn defined_in(&self, id: Id) -> Option<usize> {
        let (index, function) = (self.division.index, self.division.function);
        let inst = index.def(id)?;
        if matches!(inst.opcode(), op::Label | op::Variable | op::UntypedVariableKHR) {
            return None;
        }
        let node = index.node_at(function, inst.offset)?;
        self.division.section_of(&inst, node)
    }

    /// A value in a section: itself, or that of a variable behind the section that defines it. `None`: no variable can hold it.
    fn value(&mut self, id: Id, section: Option<usize>) -> Option<Id> {
        let Some(from) = self.defined_in(id).filter(|from| Some(*from) != section) else {
            return Some(id);
        };
        if let Some(result) = self.found.results.get(&id) {
            return Some(*result);
        }
        let index = self.division.index;
        if takes_layout_from_chain(index, id) || !can_pass(index, self.out, self.words, index.type_of(id)) {
            return None;
        }
        let (variable, loaded) = (self.out.fresh(), self.out.fresh());
        self.derived.push((id, loaded));
        self.found.results.insert(id, loaded);
        self.found.values.entry(from).or_default().push(CarriedValue {
            value: id,
            variable,
            loaded,
        });
        Some(loaded)
    }
}

/// Whether a variable of a function can hold values of a type, or their words: those of types with a layout need a copy of another type.
/// O(types).
pub(super) fn can_pass(index: &Index<'_>, out: &mut Emitter, words: &mut AddressWords, ty: Id) -> bool {
    if index.is_storage_only(ty) {
        return false;
    }
    let has_words = words.kept_type(index, out, ty).is_some();
    let mut seen = HashSet::default();
    let mut worklist = vec![ty];
    while let Some(ty) = worklist.pop() {
        let Some(inst) = index.def(ty).filter(|_| seen.insert(ty)) else {
            continue;
        };
        let has_layout = index
            .decorations_of(ty)
            .any(|found| matches!(found.kind, decoration::ArrayStride | decoration::Offset));
        match inst.opcode() {
            _ if has_layout => return false,
            op::TypeBool | op::TypeInt | op::TypeFloat | op::TypeVector | op::TypeMatrix => {}
            op::TypeCooperativeMatrixKHR | op::TypeCooperativeMatrixNV => {}
            _ if is_physical_pointer(index, ty) && has_words => {}
            op::TypeArray => worklist.push(inst.element_type()),
            op::TypeStruct => worklist.extend(inst.ids(2)),
            _ => return false,
        }
    }
    true
}

impl Crossing {
    /// Edits the uses, and the labels of predecessors in phis: `labels` has those of the blocks which now end as the borders did.
    pub(super) fn apply(mut self, division: &Division<'_, '_>, labels: &HashMap<Node, Id>, edits: &mut Edits) {
        let (index, function) = (division.index, division.function);
        for block in index.blocks_of(function) {
            for phi in index.body(block).filter(|inst| inst.opcode() == op::Phi) {
                for (pair, (_, label)) in phi.phi_pairs().enumerate() {
                    let new = index.node_of(function, label).and_then(|from| labels.get(&from));
                    if let Some(new) = new {
                        let words = self.words.entry(phi.offset).or_insert_with(|| phi.words.to_vec());
                        words
                            .get_mut(4 + 2 * pair)
                            .into_iter()
                            .for_each(|slot| *slot = new.word());
                    }
                }
            }
        }
        for (offset, code) in &self.copies {
            edits.insert(*offset, code);
        }
        for (offset, words) in &self.words {
            let inst = index.inst(*offset);
            edits.replace_by(&inst, inst.opcode(), Words(words.get(1..).unwrap_or_default()));
        }
    }
}
