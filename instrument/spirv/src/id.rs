//! Result ids.

use std::fmt;

/// A result id. Not a number: it has no arithmetic, and a literal does not convert to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Id(u32);

impl Id {
    /// Not an id: a missing operand, or the result type of an instruction without one.
    pub const NONE: Self = Self(0);

    /// The id in a word of a module.
    pub const fn new(word: u32) -> Self {
        Self(word)
    }

    /// Its word in a module.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Its position in a table of all ids.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is not [`Id::NONE`].
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
