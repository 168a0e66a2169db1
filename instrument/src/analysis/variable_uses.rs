//! Variables of a function that are only loaded and stored as a whole.

use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::spv::op::storage_class;
use crate::spv::{Id, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// An `OpStore` to a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub(crate) block: BlockIndex,
    /// Word offset.
    pub(crate) offset: usize,
    pub(crate) value: Id,
}

/// The stores to the variables of a function, by variable.
#[derive(Debug, Default)]
pub(crate) struct VariableUses {
    /// In module order.
    stores: HashMap<Id, Vec<Store>>,
    /// Variables with pointers that are used in other ways.
    escaped: HashSet<Id>,
}

impl VariableUses {
    /// O(words of the function).
    pub(crate) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut uses = Self::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                match inst.opcode() {
                    op::Variable if inst.storage_class() == storage_class::Function => {
                        uses.stores.insert(inst.result(), Vec::new());
                        continue;
                    }
                    op::Load => continue,
                    op::ExtInst if index.is_debug_info(&inst) => continue,
                    op::Store => {
                        if let Some(stores) = uses.stores.get_mut(&inst.pointer()) {
                            stores.push(Store {
                                block: number,
                                offset: inst.offset,
                                value: inst.stored_value(),
                            });
                        }
                        uses.escape(inst.stored_value());
                        continue;
                    }
                    _ => {}
                }
                if !operands::visit_ids(&inst, index.selector_words(&inst), |i| uses.escape(inst.id(i))) {
                    inst.ids(1).for_each(|word| uses.escape(word));
                }
            }
        }
        uses
    }

    fn escape(&mut self, id: Id) {
        if self.stores.contains_key(&id) {
            self.escaped.insert(id);
        }
    }

    /// The stores to a variable. `None` if its memory may change in other ways.
    pub(crate) fn stores(&self, variable: Id) -> Option<impl Iterator<Item = &Store>> {
        let stores = self.stores.get(&variable).filter(|_| !self.escaped.contains(&variable));
        stores.map(|stores| stores.iter())
    }
}
