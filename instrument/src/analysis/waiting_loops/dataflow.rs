//! Provenance of a function's return values and of its stores to private variables.
//!
//! Values are followed back to their operands and, where one of several values is selected, to the conditions that select.
//! Other control flow does not count: the result of a function that increments an atomic counter or logs something on the
//! way does not depend on it.

use super::constructs::{Constructs, number_at};
use super::memory::{Memory, is_private};
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::index::{Block, Function, Index};
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The sources of values.
#[derive(Default)]
pub(super) struct Provenance {
    /// A shared read is among them. The other fields are incomplete then.
    pub(super) reads: bool,
    /// Functions whose results are among them.
    pub(super) callees: Vec<FunctionIndex>,
    /// Private variables that are loaded.
    pub(super) variables: Vec<Id>,
}

/// A function, and the stores to variables in it.
pub(super) struct Body<'a, 'w> {
    index: &'a Index<'w>,
    blocks: Vec<&'a Block>,
    constructs: Constructs,
    /// By variable: stored values, each with the position of its block. A call with a pointer argument into the variable
    /// counts as a store of the call's result.
    stores: HashMap<Id, Vec<(Id, usize)>>,
    /// Returned values, each with the position of its block.
    returned: Vec<(Id, usize)>,
    /// Pointer parameters that are stored through.
    parameters: Vec<Id>,
    /// Private variables that are stored to.
    pub(super) private: Vec<Id>,
}

impl<'a, 'w> Body<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, memory: &Memory<'_, '_>, function: &Function) -> Self {
        let blocks: Vec<&Block> = index.blocks_of(function).iter().collect();
        let mut all = Self {
            index,
            constructs: Constructs::new(index, &blocks),
            stores: HashMap::default(),
            returned: Vec::new(),
            parameters: Vec::new(),
            private: Vec::new(),
            blocks,
        };
        for (number, block) in all.blocks.iter().enumerate() {
            for inst in index.body(block) {
                match inst.opcode() {
                    op::Store => {
                        let variable = memory.base(inst.pointer());
                        if index.opcode(variable) == op::FunctionParameter {
                            all.parameters.push(variable);
                        } else if is_private(index, variable) {
                            all.private.push(variable);
                        }
                        all.stores
                            .entry(variable)
                            .or_default()
                            .push((inst.stored_value(), number));
                    }
                    op::FunctionCall => {
                        for argument in inst.ids(4) {
                            let variable = memory.base(argument);
                            all.stores.entry(variable).or_default().push((inst.result(), number));
                        }
                    }
                    _ => {}
                }
            }
            let end = index.terminator(block);
            if end.opcode() == op::ReturnValue {
                all.returned.push((end.returned_value(), number));
            }
        }
        all
    }

    pub(super) fn results(&self, memory: &Memory<'_, '_>) -> Provenance {
        self.provenance(memory, &self.returned, &self.parameters)
    }

    pub(super) fn private(&self, memory: &Memory<'_, '_>) -> Provenance {
        self.provenance(memory, &[], &self.private)
    }

    /// Follows values back through their operands, and through the selecting conditions where there is more than one value:
    /// several returned values, operands of a phi, several stores to a variable. O(instructions).
    fn provenance(&self, memory: &Memory<'_, '_>, returned: &[(Id, usize)], variables: &[Id]) -> Provenance {
        let mut found = Provenance::default();
        let mut worklist = variables.to_vec();
        let mut reached = HashSet::default();
        self.add_selected(returned, self.differ(returned), &mut reached, &mut worklist);
        let mut seen = HashSet::default();
        while let Some(id) = worklist.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(stores) = self.stores.get(&id) {
                let are_selected = self.is_own(id) && (self.has_value_before(id) || self.differ(stores));
                self.add_selected(stores, are_selected, &mut reached, &mut worklist);
            }
            let Some((block, inst)) = self.inside(id) else {
                if self.index.opcode(id) == op::Variable && is_private(self.index, id) {
                    found.variables.push(id);
                }
                continue;
            };
            if memory.reads(&inst) {
                found.reads = true;
                break;
            }
            match inst.opcode() {
                op::FunctionCall => found.callees.extend(self.index.function_of(inst.callee())),
                op::Phi => {
                    let phi = (&inst, block);
                    self.constructs
                        .selecting(self.index, &self.blocks, phi, &mut reached, &mut worklist);
                }
                _ => {}
            }
            let is_visited = operands::visit_ids(&inst, 1, |i| {
                worklist.push(inst.id(i));
                if matches!(inst.opcode(), op::Load | op::FunctionCall) {
                    worklist.push(memory.base(inst.id(i)));
                }
            });
            if !is_visited {
                found.reads = true;
                break;
            }
        }
        found
    }

    /// Adds values, and the conditions that select between them.
    fn add_selected(
        &self,
        values: &[(Id, usize)],
        are_selected: bool,
        reached: &mut HashSet<usize>,
        worklist: &mut Vec<Id>,
    ) {
        for (value, block) in values {
            worklist.push(*value);
            if are_selected {
                self.constructs.around(*block, reached, worklist);
            }
        }
    }

    /// Whether the values differ. Loads of a variable after all stores to it are the same value: compilers merge several
    /// returns this way.
    fn differ(&self, values: &[(Id, usize)]) -> bool {
        let mut values = values.iter().map(|(value, _)| self.same_as(*value));
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    fn same_as(&self, value: Id) -> Id {
        let constant = self.inside(value).and_then(|(block, inst)| {
            let variable = inst.pointer();
            let is_own = inst.opcode() == op::Load && self.class(variable) == Some(storage_class::Function);
            let last = self.stores.get(&variable).and_then(|stores| stores.last());
            (is_own && last.is_none_or(|(_, last)| *last < block)).then_some(variable)
        });
        constant.unwrap_or(value)
    }

    /// Whether a variable has a value before the first store in this function.
    fn has_value_before(&self, variable: Id) -> bool {
        self.index.def(variable).is_some_and(|inst| {
            inst.opcode() == op::FunctionParameter || inst.words.len() > 4 || is_private(self.index, variable)
        })
    }

    /// Whether a variable belongs to the invocation. Stores to other memory select no value.
    fn is_own(&self, variable: Id) -> bool {
        let class = self.class(variable);
        matches!(class, Some(storage_class::Function | storage_class::Private))
    }

    fn class(&self, pointer: Id) -> Option<u32> {
        self.index.storage_class(self.index.type_of(pointer))
    }

    /// The definition of a value and the position of its block, if it is in the function.
    fn inside(&self, id: Id) -> Option<(usize, Inst<'w>)> {
        let inst = self.index.def(id)?;
        Some((number_at(&self.blocks, inst.offset)?, inst))
    }
}
