//! Classifies one use of an item.

use crate::view::ModuleView;
use smallvec::SmallVec;
use vkabort_spirv::index::typed::{BlockIndex, ItemIndex};

/// Effect of an item at one use.
#[derive(Clone, Debug)]
pub(super) enum UseEffect {
    /// It has an effect.
    Effect,
    /// It determines each of these items.
    Becomes(SmallVec<[ItemIndex; 2]>),
    /// A phi takes it, at the end of the block of the use.
    Phi(ItemIndex),
    /// It has an effect if all of these items are observed.
    All(Vec<ItemIndex>),
}

/// A use of an item.
#[derive(Clone, Debug)]
pub(super) struct ItemUse {
    pub(super) block: BlockIndex,
    /// Word offset.
    pub(super) offset: usize,
    pub(super) effect: UseEffect,
}

/// Kind of the items, which decides the effects that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    /// Results that are undefined.
    Undefined,
    /// Initial contents of memory: parts that are only copied with others have no effect (`copies`).
    Unstored,
    /// NaN and infinities: only operations that keep them count, and the only effect is a store that others see (`not_finite`).
    NotFinite,
}

/// Finds the uses of items.
pub(super) struct UseFinder<'v, 'a, 'w> {
    pub(super) view: &'v ModuleView<'a, 'w>,
    /// Whether a returned value has an effect: finds the effects of arguments in a function whose result is used.
    pub(super) returns_are_effects: bool,
    pub(super) value_class: ValueClass,
}

impl<'v, 'a, 'w> UseFinder<'v, 'a, 'w> {
    pub(super) fn new(view: &'v ModuleView<'a, 'w>, returns_are_effects: bool, value_class: ValueClass) -> Self {
        Self {
            view,
            returns_are_effects,
            value_class,
        }
    }
}

pub(super) fn nothing() -> UseEffect {
    UseEffect::Becomes(SmallVec::new())
}
