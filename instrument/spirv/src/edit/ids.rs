//! Fresh result ids.

use crate::Id;

/// Fresh result ids, upwards from a module's bound.
#[derive(Debug)]
pub struct Ids {
    bound: u32,
}

impl Ids {
    pub fn new(bound: u32) -> Self {
        Self { bound }
    }

    /// A new id. [`Edits::apply`] reports ids beyond the limit.
    pub fn fresh(&mut self) -> Id {
        let id = Id::new(self.bound);
        self.bound = self.bound.saturating_add(1);
        id
    }

    /// The id after the last one: the bound of a module that has them all.
    pub(crate) fn bound(&self) -> u32 {
        self.bound
    }
}
