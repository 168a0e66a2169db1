//! What may be undefined: parts of values and of memory.

use super::parts::ValuePart;
use crate::analysis::index::typed::{DefIndex, FunctionIndex};
use crate::analysis::view::path::Path;
use rustc_hash::FxHashMap as HashMap;

/// A part of a value, or of what a definition of memory holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) function: FunctionIndex,
    pub(super) kind: ItemKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ItemKind {
    Value(ValuePart),
    Memory {
        definition: DefIndex,
        /// The part of the object.
        path: Path,
        /// Whether it is all of that part, or some part of it that is not known.
        is_exact: bool,
    },
}

/// Position of an item in [`Items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ItemId(u32);

impl ItemId {
    pub(super) fn position(self) -> usize {
        self.0 as usize
    }
}

/// Items, each once.
#[derive(Debug, Default)]
pub(super) struct Items {
    all: Vec<Item>,
    numbers: HashMap<Item, ItemId>,
}

/// Indices of a path, of which an item has no more: the part is then all that the first ones lead to. Types are nested less deep, but in
/// an invalid module a composite may have itself as a part.
const MAX_PATH: usize = 32;

impl Items {
    pub(super) fn intern(&mut self, mut item: Item) -> ItemId {
        let (ItemKind::Value(ValuePart { path, .. }) | ItemKind::Memory { path, .. }) = &mut item.kind;
        path.truncate(MAX_PATH);
        let next = ItemId(self.all.len() as u32);
        *self.numbers.entry(item.clone()).or_insert_with(|| {
            self.all.push(item);
            next
        })
    }

    pub(super) fn get(&self, id: ItemId) -> Option<&Item> {
        self.all.get(id.position())
    }
}
