//! Memory in SSA form: the stores that each load of a function may read, and the readers of each store.
//!
//! A definition is the contents of a cell from a point on: its value at the start of the function, the result of an access, or a phi
//! where paths with different definitions meet. Phis are placed at the dominance frontiers of the blocks with definitions (Cytron et
//! al., "Efficiently Computing Static Single Assignment Form"), for cells that a block reads before it writes them.

mod builder;
mod cell_accesses;

use crate::graph::{BlockTable, FunctionGraph};
pub(super) use cell_accesses::MemoryInputs;
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, CellIndex, DefIndex, Table};

/// A use that reads or changes a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUse {
    /// An access reads it, all or a part of it.
    Read(AccessIndex),
    /// A phi takes it over the edge from this block.
    Phi(DefIndex, BlockIndex),
    /// A definition replaces a part of it.
    Changed(DefIndex),
    /// An event lets others read it.
    Seen(Event),
}

/// An instruction that lets others than the function read its memory, at a word offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub(crate) kind: EventKind,
    pub block: BlockIndex,
    pub(crate) offset: usize,
}

/// Reader of memory at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A called function.
    Call,
    /// Other invocations.
    Barrier,
    /// The next stage, which gets a vertex.
    Emit,
    /// The caller, or the end of the stage.
    Return,
}

/// How a cell gets a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Contents at function entry: undefined in a variable of the function without an initialiser.
    Entry,
    /// By an access.
    Access(AccessIndex),
    /// By a called function, other invocations at a barrier, or an emitted vertex.
    Event(Event),
    /// Different definitions meet at the start of a block.
    Phi,
}

/// Contents of a cell from a point on.
#[derive(Clone, Debug)]
pub struct Definition {
    pub cell: CellIndex,
    pub block: BlockIndex,
    /// Word offset of the instruction; of the block for phis, of the first block for `Entry`.
    pub offset: usize,
    pub origin: Origin,
    /// The definition of which it may leave a part.
    pub(crate) previous: Option<DefIndex>,
    /// Of a phi: the definitions that meet, with the blocks that they come from.
    pub operands: Vec<(BlockIndex, DefIndex)>,
}

/// The definitions of a function and their uses.
#[derive(Debug, Default)]
pub struct Memory {
    pub definitions: Table<DefIndex, Definition>,
    /// Sorted by definition, then in the order of a walk of the dominator tree.
    uses: Vec<(DefIndex, MemoryUse)>,
    /// Definitions that accesses read, sorted by access.
    read: Vec<(AccessIndex, DefIndex)>,
    /// Definitions that accesses write, sorted by access.
    written: Vec<(AccessIndex, DefIndex)>,
    /// Definitions that events make, sorted by word offset.
    events: Vec<(usize, DefIndex)>,
    /// Definitions that others read at events, sorted by word offset.
    seen: Vec<(usize, DefIndex)>,
    /// The definitions at the start of the function.
    entries: Vec<(CellIndex, DefIndex)>,
    /// All others, by cell, block and word offset, sorted. Blocks have their positions in a walk of the dominator tree; phis come
    /// first in their block.
    by_place: Vec<(CellIndex, usize, usize, DefIndex)>,
    /// The definition of the same cell that each one replaces on the path from the root of the dominator tree.
    above: Table<DefIndex, Option<DefIndex>>,
    /// The positions of blocks in the walk.
    preorder: Option<BlockTable<usize>>,
}

impl Memory {
    /// The definitions that may hold what one of `sources` holds, through phis and those partial stores for which `keeps` holds. O(uses).
    pub fn holders(&self, sources: Vec<DefIndex>, keeps: impl Fn(DefIndex) -> bool) -> Table<DefIndex, bool> {
        let mut marks = self.definitions.map(|_| false);
        let mut worklist = sources;
        for source in &worklist {
            marks.set(*source);
        }
        while let Some(number) = worklist.pop() {
            for at in self.uses(number) {
                let to = match at {
                    MemoryUse::Phi(to, _) => to,
                    MemoryUse::Changed(to) if keeps(to) => to,
                    _ => continue,
                };
                if marks.set(to) {
                    worklist.push(to);
                }
            }
        }
        marks
    }

    /// The uses that read or change a definition.
    pub fn uses(&self, definition: DefIndex) -> impl Iterator<Item = MemoryUse> + '_ {
        run(&self.uses, definition)
    }

    /// The definitions that an access reads, one for each cell that it touches. None in unreachable code.
    pub fn read(&self, access: AccessIndex) -> impl Iterator<Item = DefIndex> + '_ {
        run(&self.read, access)
    }

    /// The definitions that an access makes.
    pub(crate) fn written(&self, access: AccessIndex) -> impl Iterator<Item = DefIndex> + '_ {
        run(&self.written, access)
    }

    /// The definitions that the event at a word offset makes.
    pub(crate) fn left_by_event(&self, offset: usize) -> impl Iterator<Item = DefIndex> + '_ {
        run(&self.events, offset)
    }

    /// The definitions that the event at a word offset lets others read.
    pub(crate) fn seen_by_event(&self, offset: usize) -> impl Iterator<Item = DefIndex> + '_ {
        run(&self.seen, offset)
    }

    /// The definition that a cell holds before the instruction at a word offset of a block. `None`: that at the start of the function. In a
    /// view for any point only: others have no phis of cells that nothing reads. O(log(definitions) + definitions of the cell that
    /// are nested below the found one in the dominator tree).
    pub(crate) fn definition_before(
        &self,
        graph: &FunctionGraph,
        cell: CellIndex,
        block: BlockIndex,
        offset: usize,
    ) -> Option<DefIndex> {
        let position = *self
            .preorder
            .as_ref()?
            .get(block)
            .filter(|_| graph.is_reachable(block))?;
        let after = self
            .by_place
            .partition_point(|(of, at, before, _)| (*of, *at, *before) < (cell, position, offset));
        let last = after.checked_sub(1).and_then(|last| self.by_place.get(last));
        let mut found = last.filter(|(of, ..)| *of == cell).map(|(.., found)| *found);
        // Definitions of blocks beside this one come between.
        while let Some(number) = found {
            let definition = self.definitions.get(number)?;
            if graph.dominates(definition.block, block) {
                break;
            }
            found = self.above.get(number).copied().flatten();
        }
        found
    }

    /// The definition of a cell at the start of the function, if anything reads it.
    pub fn entry(&self, cell: CellIndex) -> Option<DefIndex> {
        run(&self.entries, cell).next()
    }
}

/// The second parts of the entries of a sorted list that begin with `key`. O(log(list)).
fn run<K: Copy + Ord, V: Copy>(list: &[(K, V)], key: K) -> impl Iterator<Item = V> + '_ {
    let first = list.partition_point(|(of, _)| *of < key);
    let from = list.get(first..).unwrap_or_default().iter();
    from.take_while(move |(of, _)| *of == key).map(|(_, value)| *value)
}
