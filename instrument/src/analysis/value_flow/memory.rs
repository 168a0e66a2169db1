//! Accesses to the variables of a function, by the constant indices that lead to the accessed part.

use super::lane::{Path, below};
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// What an instruction does with a part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// With the loaded value.
    Load(Id),
    /// With the stored value.
    Store(Id),
    /// Passes the pointer on, or accesses memory in another way.
    Other,
}

/// An access to a part of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) block: BlockIndex,
    /// Word offset.
    pub(crate) offset: usize,
    pub(crate) kind: AccessKind,
    /// The part, up to the first index that is not constant.
    pub(crate) path: Path,
    /// Whether all of its indices are constant.
    pub(crate) is_exact: bool,
}

impl Access {
    /// What is left of a part of the variable below the accessed part. `None` if the access does not concern it.
    pub(crate) fn below(&self, path: &[u32]) -> Option<Path> {
        below(path, &self.path)
    }
}

/// A pointer to a part of a variable.
#[derive(Clone, Debug)]
struct Pointer {
    variable: Id,
    path: Path,
    is_exact: bool,
}

/// The accesses of a function, by variable and in module order.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    accesses: HashMap<Id, Rc<[Access]>>,
    /// Those that are not loads.
    stores: HashMap<Id, Rc<[Access]>>,
    pointers: HashMap<Id, Pointer>,
}

/// The same, being collected.
#[derive(Default)]
struct Collector {
    accesses: HashMap<Id, Vec<Access>>,
    pointers: HashMap<Id, Pointer>,
}

impl LocalMemory {
    /// O(words of the function).
    pub(crate) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut found = Collector::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                found.read(index, number, &inst);
            }
        }
        let stores = found.accesses.iter().map(|(variable, accesses)| {
            let stores = accesses
                .iter()
                .filter(|access| !matches!(access.kind, AccessKind::Load(_)));
            (*variable, stores.cloned().collect())
        });
        Self {
            stores: stores.collect(),
            accesses: found
                .accesses
                .into_iter()
                .map(|(variable, all)| (variable, all.into()))
                .collect(),
            pointers: found.pointers,
        }
    }

    /// The variable of a pointer.
    pub(crate) fn variable(&self, pointer: Id) -> Option<Id> {
        self.pointers.get(&pointer).map(|pointer| pointer.variable)
    }

    /// The accesses to a variable, in module order.
    pub(crate) fn accesses(&self, variable: Id) -> Rc<[Access]> {
        self.accesses.get(&variable).cloned().unwrap_or_default()
    }

    /// The accesses to a variable that are not loads, in module order.
    pub(crate) fn stores(&self, variable: Id) -> Rc<[Access]> {
        self.stores.get(&variable).cloned().unwrap_or_default()
    }

    /// The access of the instruction at a word offset to a variable.
    pub(crate) fn access_at(&self, variable: Id, offset: usize) -> Option<&Access> {
        let accesses = self.accesses.get(&variable)?;
        accesses.get(accesses.partition_point(|access| access.offset < offset))
    }
}

/// The accesses in a block, of all in module order.
pub(crate) fn in_block(accesses: &[Access], block: BlockIndex) -> &[Access] {
    let start = accesses.partition_point(|access| access.block < block);
    let end = accesses.partition_point(|access| access.block <= block);
    accesses.get(start..end).unwrap_or_default()
}

impl Collector {
    fn read(&mut self, index: &Index<'_>, block: BlockIndex, inst: &Inst<'_>) {
        match inst.opcode() {
            op::Variable if inst.storage_class() == storage_class::Function => {
                let pointer = Pointer {
                    variable: inst.result(),
                    path: Path::new(),
                    is_exact: true,
                };
                self.accesses.insert(inst.result(), Vec::new());
                self.pointers.insert(inst.result(), pointer);
            }
            op::AccessChain | op::InBoundsAccessChain => {
                if let Some(pointer) = self.pointers.get(&inst.id(3)) {
                    let pointer = extended(index, pointer, inst.ids(4));
                    self.pointers.insert(inst.result(), pointer);
                }
            }
            op::Load => self.add(block, inst, inst.pointer(), AccessKind::Load(inst.result())),
            op::Store => {
                self.add(block, inst, inst.pointer(), AccessKind::Store(inst.stored_value()));
                self.add(block, inst, inst.stored_value(), AccessKind::Other);
            }
            op::ExtInst if index.is_debug_info(inst) => {}
            _ => {
                let is_listed = operands::visit_ids(inst, index.selector_words(inst), |word| {
                    self.add(block, inst, inst.id(word), AccessKind::Other);
                });
                if !is_listed {
                    inst.ids(1).for_each(|id| self.add(block, inst, id, AccessKind::Other));
                }
            }
        }
    }

    fn add(&mut self, block: BlockIndex, inst: &Inst<'_>, pointer: Id, kind: AccessKind) {
        let Some(pointer) = self.pointers.get(&pointer) else {
            return;
        };
        let access = Access {
            block,
            offset: inst.offset,
            kind,
            path: pointer.path.clone(),
            is_exact: pointer.is_exact,
        };
        self.accesses.entry(pointer.variable).or_default().push(access);
    }
}

fn extended(index: &Index<'_>, base: &Pointer, indices: impl Iterator<Item = Id>) -> Pointer {
    let mut pointer = base.clone();
    for id in indices.take_while(|_| base.is_exact) {
        let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant);
        let value = constant.and_then(|inst| u32::try_from(index.literal(&inst)?).ok());
        match value {
            Some(value) if pointer.is_exact => pointer.path.push(value),
            _ => pointer.is_exact = false,
        }
    }
    pointer
}
