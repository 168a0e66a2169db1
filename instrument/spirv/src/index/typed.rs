//! Typed indices: positions of functions, blocks and calls, and tables that only the right kind of position indexes.

use std::fmt::Debug;
use std::marker::PhantomData;

/// A position in a [`Table`].
pub trait Key: Copy + Ord + Debug {
    fn from_usize(position: usize) -> Self;
    fn to_usize(self) -> usize;
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub const fn from_usize(position: usize) -> Self {
                // A module has fewer than 2^32 words.
                Self(position as u32)
            }
        }

        impl Key for $name {
            fn from_usize(position: usize) -> Self {
                Self::from_usize(position)
            }

            fn to_usize(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

keys! {
    /// A function, by its position in the module.
    FunctionIndex
    /// A basic block, by its position in the module.
    BlockIndex
    /// An `OpFunctionCall`, by its position in the module.
    CallIndex
    /// A basic block, by its position in its function.
    Node
    /// A variable or pointer parameter that a function accesses (`analysis::view`).
    ObjectIndex
    /// A part of such an object that is followed by itself.
    CellIndex
    /// A definition of a cell: a store, a meeting of stores.
    DefIndex
    /// An access of a function to an object.
    AccessIndex
    /// A number that a function computes or reads (`analysis::ranges`).
    NumberIndex
    /// Items: parts of values and of memory that may be undefined (`analysis::effects`).
    ItemIndex
}

/// Consecutive positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run<K> {
    pub start: K,
    /// The position after the last one.
    pub end: K,
}

impl<K: Key> Run<K> {
    pub fn count(self) -> usize {
        self.end.to_usize().saturating_sub(self.start.to_usize())
    }

    pub fn iter(self) -> impl DoubleEndedIterator<Item = K> + Clone {
        (self.start.to_usize()..self.end.to_usize()).map(K::from_usize)
    }

    /// The run without its first `count` positions.
    pub fn skip(self, count: usize) -> Self {
        Self {
            start: K::from_usize(self.start.to_usize() + count).min(self.end),
            ..self
        }
    }

    /// The position that is `offset` after the start. `None` if it is not in the run.
    pub fn at(self, offset: usize) -> Option<K> {
        Some(K::from_usize(self.start.to_usize() + offset)).filter(|key| *key < self.end)
    }

    /// The position of `key` in the run, counted from its start. `None` if it is not in the run.
    pub fn offset_of(self, key: K) -> Option<usize> {
        (key < self.end)
            .then(|| key.to_usize().checked_sub(self.start.to_usize()))
            .flatten()
    }
}

/// Values by position.
#[derive(Clone, Debug)]
pub struct Table<K, V> {
    values: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<K: Key, V> Table<K, V> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Vec::with_capacity(capacity).into()
    }

    pub fn push(&mut self, value: V) {
        self.values.push(value);
    }

    /// The position of the next value to be pushed.
    pub fn next_key(&self) -> K {
        K::from_usize(self.values.len())
    }

    pub fn count(&self) -> usize {
        self.values.len()
    }

    pub fn get(&self, key: K) -> Option<&V> {
        self.values.get(key.to_usize())
    }

    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.values.get_mut(key.to_usize())
    }

    /// The values of a run; none if it does not lie in the table.
    pub fn run(&self, run: Run<K>) -> &[V] {
        self.values.get(run.start.to_usize()..run.end.to_usize()).unwrap_or(&[])
    }

    pub fn values(&self) -> &[V] {
        &self.values
    }

    pub fn keys(&self) -> impl Iterator<Item = K> + use<K, V> {
        (0..self.values.len()).map(K::from_usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.keys().zip(&self.values)
    }

    /// A table of the same length with a value computed for each position.
    pub fn map<W>(&self, value: impl FnMut(K) -> W) -> Table<K, W> {
        self.keys().map(value).collect::<Vec<W>>().into()
    }

    /// Gives back memory if more than `spare` values have unused room.
    pub(crate) fn shrink_beyond(&mut self, spare: usize) {
        if self.values.capacity() > self.values.len() + spare {
            self.values.shrink_to_fit();
        }
    }
}

impl<K: Key, V: Default> Table<K, V> {
    /// Sets a value. Positions before it that have none get the default. O(1) amortised over positions.
    pub fn put(&mut self, key: K, value: V) {
        if self.values.len() <= key.to_usize() {
            self.values.resize_with(key.to_usize() + 1, V::default);
        }
        if let Some(slot) = self.get_mut(key) {
            *slot = value;
        }
    }
}

impl Table<Node, Vec<Node>> {
    /// The graph with its edges reversed: predecessors of nodes, from their successors. O(edges).
    pub fn reversed(&self) -> Self {
        let mut all: Self = self.map(|_| Vec::new());
        for (node, next) in self.iter() {
            for to in next {
                if let Some(list) = all.get_mut(*to) {
                    list.push(node);
                }
            }
        }
        all
    }
}

impl<K: Key> Table<K, bool> {
    /// Whether a position is marked. Positions outside the table are not.
    pub fn is_set(&self, key: K) -> bool {
        self.get(key) == Some(&true)
    }

    /// Marks a position. False if it was marked before or lies outside the table.
    pub fn set(&mut self, key: K) -> bool {
        self.get_mut(key).is_some_and(|mark| !std::mem::replace(mark, true))
    }
}

impl<K, V> From<Vec<V>> for Table<K, V> {
    fn from(values: Vec<V>) -> Self {
        Self {
            values,
            key: PhantomData,
        }
    }
}
