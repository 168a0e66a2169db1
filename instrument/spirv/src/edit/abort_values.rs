//! The values that aborts send behind their messages.

use crate::Id;
use crate::index::Block;
use rustc_hash::FxHashMap as HashMap;
use std::mem;
use vkabort_record::message_type::Type;
use vkabort_record::site_values::SiteValues;

/// The values of aborts by the labels of their blocks, which stay until the sites are numbered.
#[derive(Debug, Default)]
pub struct AbortValues {
    by_block: HashMap<Id, ValuesOfAbort>,
    /// Values that were left out because they are too many to be followed, for the log.
    pub warnings: Vec<String>,
}

/// The values of an abort.
#[derive(Debug)]
pub struct ValuesOfAbort {
    /// The application's message.
    pub message: Id,
    /// Whether the abort sends a structure of that message and of values.
    pub has_tail: bool,
    pub values: SiteValues,
}

impl AbortValues {
    /// The values of the abort that ends a block.
    pub fn of(&self, block: &Block) -> Option<&ValuesOfAbort> {
        self.by_block.get(&block.label)
    }

    /// The values where the aborts are not rewritten and send their messages only.
    pub fn without_tails(mut self) -> Self {
        self.by_block.values_mut().for_each(|values| values.has_tail = false);
        self
    }

    /// Adds the values of the abort that ends a block.
    pub fn insert(&mut self, block: &Block, values: ValuesOfAbort) {
        self.by_block.insert(block.label, values);
    }
}

impl ValuesOfAbort {
    /// Reduces the layout of the sent structure to that of its message. Returns the whole if it has values.
    pub fn split(&self, layout: &mut Type) -> Option<Type> {
        let message = match layout {
            Type::Struct { members, .. } if self.has_tail => members.first()?.ty.clone(),
            _ => return None,
        };
        Some(mem::replace(layout, message))
    }
}
