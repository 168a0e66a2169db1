//! Items: parts of SSA values and memory definitions that may be undefined.

use super::parts::ValuePart;
use crate::view::path::Path;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{DefIndex, FunctionIndex, ItemIndex, Key as _};

/// A part of a value, or of the contents of a memory definition.
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
        /// Whether it is all of that part; if not, an unknown part of it.
        is_exact: bool,
    },
}

impl Item {
    /// A part of a value.
    pub(super) fn value(function: FunctionIndex, id: Id, path: Path) -> Self {
        let kind = ItemKind::Value(ValuePart { id, path });
        Self { function, kind }
    }

    /// A part of the contents of a memory definition.
    pub(super) fn memory(function: FunctionIndex, definition: DefIndex, path: Path, is_exact: bool) -> Self {
        let kind = ItemKind::Memory {
            definition,
            path,
            is_exact,
        };
        Self { function, kind }
    }
}

/// Items, each once.
#[derive(Debug, Default)]
pub(super) struct Items(IndexSet<Item, FxBuildHasher>);

impl Items {
    pub(super) fn intern(&mut self, item: Item) -> ItemIndex {
        ItemIndex::from_usize(self.0.insert_full(item).0)
    }

    pub(super) fn get(&self, id: ItemIndex) -> Option<&Item> {
        self.0.get_index(id.to_usize())
    }
}
