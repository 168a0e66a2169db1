//! What the results of a function, and what it stores to private variables, are made of.
//!
//! Values are followed back to what they are made of, and where there is a choice of several, to the conditions that choose.
//! Where else an invocation goes does not matter: a function that counts with an atomic on its way, or logs something if
//! there is room, gives back nothing of it.

use super::constructs::{Constructs, number_at};
use super::memory::{Memory, base, is_private};
use crate::analysis::index::Index;
use crate::analysis::index::function::{Block, Function};
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// What values are made of.
#[derive(Default)]
pub(super) struct Provenance {
    /// There is a read of memory that others write: then the rest is not complete.
    pub(super) reads: bool,
    /// Functions whose results there are.
    pub(super) callees: Vec<usize>,
    /// Private variables that are looked at.
    pub(super) variables: Vec<Id>,
}

/// A function, and what happens in it to variables.
pub(super) struct Body<'a, 'w> {
    index: &'a Index<'w>,
    blocks: Vec<&'a Block>,
    constructs: Constructs,
    /// By variable: what is stored to it, and in which block. A call that gets a pointer into it stores its result.
    stores: HashMap<Id, Vec<(Id, usize)>>,
    /// Values that are returned, with the blocks that return them.
    returned: Vec<(Id, usize)>,
    /// Parameters that are stored through.
    parameters: Vec<Id>,
    /// Private variables that are stored to.
    pub(super) private: Vec<Id>,
}

impl<'a, 'w> Body<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, function: &Function) -> Self {
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
                        let variable = base(index, inst.word(1));
                        if index.opcode(variable) == op::FunctionParameter {
                            all.parameters.push(variable);
                        } else if is_private(index, variable) {
                            all.private.push(variable);
                        }
                        all.stores.entry(variable).or_default().push((inst.word(2), number));
                    }
                    op::FunctionCall => {
                        for argument in inst.from(4) {
                            let variable = base(index, *argument);
                            all.stores.entry(variable).or_default().push((inst.result(), number));
                        }
                    }
                    _ => {}
                }
            }
            let end = index.terminator(block);
            if end.opcode() == op::ReturnValue {
                all.returned.push((end.word(1), number));
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

    /// Follows values back through data, and through what chooses where there is more than one value: several that are
    /// returned, operands of a phi, several stores to a variable. The cost of all is that of the function.
    fn provenance(&self, memory: &Memory<'_, '_>, returned: &[(Id, usize)], variables: &[Id]) -> Provenance {
        let mut found = Provenance::default();
        let mut open = variables.to_vec();
        let mut reached = HashSet::default();
        self.one_of(returned, self.differ(returned), &mut reached, &mut open);
        let mut seen = HashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(stores) = self.stores.get(&id) {
                let are_chosen = self.is_own(id) && (self.has_value_before(id) || self.differ(stores));
                self.one_of(stores, are_chosen, &mut reached, &mut open);
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
                op::FunctionCall => found.callees.extend(self.index.function_of(inst.word(3))),
                op::Phi => {
                    let phi = (&inst, block);
                    self.constructs
                        .choosing(self.index, &self.blocks, phi, &mut reached, &mut open);
                }
                _ => {}
            }
            operands::visit_ids(&inst, 1, |i| {
                open.push(inst.word(i));
                if matches!(inst.opcode(), op::Load | op::FunctionCall) {
                    open.push(base(self.index, inst.word(i)));
                }
            });
        }
        found
    }

    /// Adds values, and what chooses between them.
    fn one_of(&self, values: &[(Id, usize)], are_chosen: bool, reached: &mut HashSet<usize>, open: &mut Vec<Id>) {
        for (value, block) in values {
            open.push(*value);
            if are_chosen {
                self.constructs.around(*block, reached, open);
            }
        }
    }

    /// Whether there is more than one value. Loads of a variable behind all stores to it are one: compilers write so what
    /// is returned here and there.
    fn differ(&self, values: &[(Id, usize)]) -> bool {
        let mut values = values.iter().map(|(value, _)| self.same_as(*value));
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    fn same_as(&self, value: Id) -> Id {
        let constant = self.inside(value).and_then(|(block, inst)| {
            let variable = inst.word(3);
            let is_own = inst.opcode() == op::Load && self.class(variable) == Some(storage_class::Function);
            let last = self.stores.get(&variable).and_then(|stores| stores.last());
            (is_own && last.is_none_or(|(_, last)| *last < block)).then_some(variable)
        });
        constant.unwrap_or(value)
    }

    /// Whether a variable has a value when nothing has been stored to it here.
    fn has_value_before(&self, variable: Id) -> bool {
        self.index.def(variable).is_some_and(|inst| {
            inst.opcode() == op::FunctionParameter || inst.words.len() > 4 || is_private(self.index, variable)
        })
    }

    /// Whether no other invocation sees a variable. Whether something is stored to any other memory chooses nothing.
    fn is_own(&self, variable: Id) -> bool {
        let class = self.class(variable);
        matches!(class, Some(storage_class::Function | storage_class::Private))
    }

    fn class(&self, pointer: Id) -> Option<u32> {
        self.index.storage_class(self.index.type_of(pointer))
    }

    /// The instruction that makes a value, and the number of its block, if it is in the function.
    fn inside(&self, id: Id) -> Option<(usize, Inst<'w>)> {
        let inst = self.index.def(id)?;
        Some((number_at(&self.blocks, inst.offset)?, inst))
    }
}
