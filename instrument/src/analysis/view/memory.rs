//! Memory in SSA form: which stores each load of a function may read, and what reads each store.
//!
//! A definition is what a cell holds from a point on: its value at the start of the function, what an access leaves there, or a phi
//! where paths with different definitions meet. Phis are placed at the dominance frontiers of the blocks with definitions (Cytron et
//! al., "Efficiently Computing Static Single Assignment Form"), for cells that a block reads before it writes them.

use super::accesses::{Access, AccessKind, FunctionAccesses, ObjectClass};
use super::cells::Cells;
use super::summaries::{Summary, publishes};
use crate::analysis::graph::{BlockTable, FunctionGraph};
use crate::analysis::index::typed::{AccessIndex, BlockIndex, CellIndex, DefIndex, ObjectIndex, Table};
use crate::analysis::index::{Function, Index};
use crate::spv::{Id, op};

/// Limit on definitions of one function. Modules with more are not analysed, which the caller logs.
const MAX_DEFINITIONS: usize = 1 << 22;

/// What reads or changes a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryUse {
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
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) block: BlockIndex,
    pub(crate) offset: usize,
}

/// Who reads memory at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
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
pub(crate) enum Origin {
    /// What it holds when the function is called: nothing in a variable of the function without an initialiser.
    Entry,
    /// By an access.
    Access(AccessIndex),
    /// By a called function, other invocations at a barrier, or an emitted vertex.
    Event(Event),
    /// Different definitions meet at the start of a block.
    Phi,
}

/// What a cell holds from a point on.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) cell: CellIndex,
    pub(crate) block: BlockIndex,
    /// Word offset of the instruction; of the block for phis, of the first block for `Entry`.
    pub(crate) offset: usize,
    pub(crate) origin: Origin,
    /// The definition of which it may leave a part.
    pub(crate) previous: Option<DefIndex>,
    /// Of a phi: the definitions that meet, with the blocks that they come from.
    pub(crate) operands: Vec<(BlockIndex, DefIndex)>,
}

/// What an access or event does to one cell.
#[derive(Clone, Copy, Debug)]
struct Touch {
    cell: CellIndex,
    by: By,
    reads: bool,
    writes: Writes,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Access(AccessIndex),
    Event(Event),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    Nothing,
    Part,
    All,
}

/// The definitions of a function and their uses.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) definitions: Table<DefIndex, Definition>,
    /// Sorted by definition, then in the order of a walk of the dominator tree.
    uses: Vec<(DefIndex, MemoryUse)>,
    /// What reading accesses read, sorted by access.
    read: Vec<(AccessIndex, DefIndex)>,
    /// What writing accesses define, sorted by access.
    written: Vec<(AccessIndex, DefIndex)>,
    /// What called functions leave, sorted by word offset.
    events: Vec<(usize, DefIndex)>,
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

/// What a call may read and write of an object of the caller.
pub(super) fn effect_of_call(
    accesses: &FunctionAccesses,
    callee: Option<&Summary>,
    offset: usize,
    object: ObjectIndex,
) -> (bool, bool) {
    let Some(found) = accesses.objects.get(object) else {
        return (true, true);
    };
    let mut arguments = accesses
        .at(offset)
        .filter(|access| access.place.object == object)
        .peekable();
    let is_variable = found.class.is_variable_of_module();
    let Some(callee) = callee.filter(|callee| !callee.is_unknown) else {
        let is_passed = arguments.peek().is_some() || is_variable;
        return (is_passed, is_passed);
    };
    let (mut reads, mut writes) = (false, false);
    if is_variable {
        reads |= callee.reads.contains(&found.pointer);
        writes |= callee.writes.contains(&found.pointer);
    }
    for access in arguments {
        if let AccessKind::Argument(position) = access.kind {
            reads |= callee.reads_parameters.contains(&position);
            writes |= callee.writes_parameters.contains(&position);
        }
    }
    (reads, writes)
}

/// What a function needs to know to build its memory.
pub(super) struct Source<'s, 'w> {
    pub(super) index: &'s Index<'w>,
    pub(super) function: &'s Function,
    pub(super) graph: &'s FunctionGraph,
    pub(super) accesses: &'s FunctionAccesses,
    pub(super) cells: &'s Cells,
    /// The summary of a called function, by the id of `OpFunctionCall`'s callee.
    pub(super) callee: &'s dyn Fn(Id) -> Option<&'s Summary>,
    /// Other invocations read outputs at barriers, or the next stage at every emitted vertex.
    pub(super) shares_outputs: bool,
    /// Somebody asks what cells hold where nothing reads them.
    pub(super) for_any_point: bool,
}

impl Memory {
    /// `None` if there are more than [`MAX_DEFINITIONS`] definitions.
    pub(super) fn new(source: &Source<'_, '_>) -> Option<Self> {
        let touches = source.touches()?;
        let mut builder = Builder {
            source,
            memory: Self::default(),
            visited: 0,
            current: source.cells.all.map(|_| None),
            entries: source.cells.all.map(|_| None),
            undo: Vec::new(),
            phis: source.graph.table(|_| Vec::new()),
        };
        builder.place_phis(&touches)?;
        builder.rename(&touches)?;
        let mut memory = builder.memory;
        memory.uses.sort_by_key(|(definition, _)| *definition);
        memory.read.sort_unstable();
        memory.written.sort_unstable();
        memory.events.sort_unstable();
        memory.entries.sort_unstable();
        memory.by_place.sort_unstable();
        Some(memory)
    }

    /// What reads or changes a definition.
    pub(crate) fn uses(&self, definition: DefIndex) -> impl Iterator<Item = MemoryUse> + '_ {
        run(&self.uses, definition)
    }

    /// The definitions that an access reads, one for each cell that it touches. None in unreachable code.
    pub(crate) fn read(&self, access: AccessIndex) -> impl Iterator<Item = DefIndex> + '_ {
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

    /// What a cell holds before the instruction at a word offset of a block. `None`: what it holds at the start of the function. In a
    /// view for any point only: others have no phis of cells that nothing reads. O(log(definitions) + definitions of the cell that
    /// are nested below the found one in the dominator tree).
    pub(crate) fn held(
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

    /// What a cell holds at the start of the function, if anything reads that.
    pub(crate) fn entry(&self, cell: CellIndex) -> Option<DefIndex> {
        run(&self.entries, cell).next()
    }
}

/// The second parts of the entries of a sorted list that begin with `key`. O(log(list)).
fn run<K: Copy + Ord, V: Copy>(list: &[(K, V)], key: K) -> impl Iterator<Item = V> + '_ {
    let first = list.partition_point(|(of, _)| *of < key);
    let from = list.get(first..).unwrap_or_default().iter();
    from.take_while(move |(of, _)| *of == key).map(|(_, value)| *value)
}

impl Source<'_, '_> {
    /// What each block does to cells, in its order. `None` if that is too much.
    fn touches(&self) -> Option<BlockTable<Vec<Touch>>> {
        let mut touches = self.graph.table(|_| Vec::new());
        let mut accesses = self.accesses.accesses.iter().peekable();
        let mut count = 0;
        for (number, block) in self.function.blocks.iter().zip(self.index.blocks_of(self.function)) {
            let Some(list) = touches.get_mut(number) else { continue };
            for inst in self.index.insts(block.offset, block.end) {
                while let Some((at, access)) = accesses.next_if(|(_, access)| access.offset <= inst.offset) {
                    self.touch_place(at, access, list);
                }
                let kind = match inst.opcode() {
                    op::FunctionCall => EventKind::Call,
                    op::EmitVertex | op::EmitStreamVertex => EventKind::Emit,
                    op::Return | op::ReturnValue => EventKind::Return,
                    opcode if publishes(opcode) => EventKind::Barrier,
                    _ => continue,
                };
                let event = Event {
                    kind,
                    block: number,
                    offset: inst.offset,
                };
                self.touch_by_event(event, inst.callee(), list);
            }
            count += list.len();
            if count > MAX_DEFINITIONS {
                return None;
            }
        }
        Some(touches)
    }

    fn touch_place(&self, at: AccessIndex, access: &Access, list: &mut Vec<Touch>) {
        if self
            .accesses
            .objects
            .get(access.place.object)
            .is_none_or(|object| object.is_escaped)
        {
            return;
        }
        let (reads, writes) = match access.kind {
            AccessKind::Load(_) | AccessKind::CopyFrom => (true, false),
            AccessKind::Store(_) | AccessKind::CopyTo | AccessKind::Write => (false, true),
            AccessKind::Other => (true, true),
            AccessKind::Argument(_) => return,
        };
        for cell in self.cells.of_place(&access.place).iter() {
            let Some(found) = self.cells.all.get(cell).filter(|found| !found.is_empty) else {
                continue;
            };
            let is_all =
                access.place.is_exact && access.kind != AccessKind::Other && found.path.starts_with(&access.place.path);
            list.push(Touch {
                cell,
                by: By::Access(at),
                reads,
                writes: match (writes, is_all) {
                    (false, _) => Writes::Nothing,
                    (true, false) => Writes::Part,
                    (true, true) => Writes::All,
                },
            });
        }
    }

    fn touch_by_event(&self, event: Event, callee: Id, list: &mut Vec<Touch>) {
        let callee = (event.kind == EventKind::Call).then(|| (self.callee)(callee)).flatten();
        for (object, found) in self.accesses.objects.iter().filter(|(_, found)| !found.is_escaped) {
            let (reads, writes) = match (event.kind, found.class) {
                (EventKind::Call, _) => effect_of_call(self.accesses, callee, event.offset, object),
                (EventKind::Return, ObjectClass::Function | ObjectClass::Described(_)) => (false, false),
                (EventKind::Return, _) => (true, false),
                (EventKind::Barrier, ObjectClass::Workgroup) => (true, true),
                (EventKind::Barrier, ObjectClass::Output) => (self.shares_outputs, false),
                (EventKind::Emit, ObjectClass::Output) => (true, true),
                _ => (false, false),
            };
            if !reads && !writes {
                continue;
            }
            let writes = if writes { Writes::Part } else { Writes::Nothing };
            let cells = self.cells.at(object, &[]).iter();
            for cell in cells.filter(|cell| self.cells.all.get(*cell).is_some_and(|cell| !cell.is_empty)) {
                let by = By::Event(event);
                list.push(Touch {
                    cell,
                    by,
                    reads,
                    writes,
                });
            }
        }
    }
}

/// Builds the memory of a function.
struct Builder<'s, 'r, 'w> {
    source: &'s Source<'r, 'w>,
    memory: Memory,
    /// Number of blocks that the walk has visited.
    visited: usize,
    /// The definition of each cell at the current point of the walk.
    current: Table<CellIndex, Option<DefIndex>>,
    entries: Table<CellIndex, Option<DefIndex>>,
    /// What `current` was before, to be put back when the walk leaves a block.
    undo: Vec<(CellIndex, Option<DefIndex>)>,
    phis: BlockTable<Vec<DefIndex>>,
}

impl Builder<'_, '_, '_> {
    fn define(&mut self, definition: Definition) -> Option<DefIndex> {
        let number = self.memory.definitions.next_key();
        self.memory.definitions.push(definition);
        self.memory.above.push(None);
        (self.memory.definitions.len() <= MAX_DEFINITIONS).then_some(number)
    }

    /// Places phis for the cells that a block reads before it writes them.
    fn place_phis(&mut self, touches: &BlockTable<Vec<Touch>>) -> Option<()> {
        let graph = self.source.graph;
        let mut writers: Table<CellIndex, Vec<BlockIndex>> = self.source.cells.all.map(|_| Vec::new());
        let mut is_read: Table<CellIndex, bool> = self.source.cells.all.map(|_| false);
        for block in graph.reverse_postorder() {
            for touch in touches.get(*block).into_iter().flatten() {
                let Some(writers) = writers.get_mut(touch.cell) else {
                    continue;
                };
                let is_written = writers.last() == Some(block);
                if !is_written && (touch.reads || touch.writes == Writes::Part) {
                    is_read.set(touch.cell);
                }
                if !is_written && touch.writes != Writes::Nothing {
                    writers.push(*block);
                }
            }
        }
        let frontiers = graph.dominance_frontiers();
        let mut has_phi = graph.table(|_| None);
        for (cell, writers) in writers
            .iter()
            .filter(|(cell, _)| self.source.for_any_point || is_read.is_set(*cell))
        {
            let mut worklist = writers.clone();
            while let Some(block) = worklist.pop() {
                for at in graph.frontier(&frontiers, block) {
                    let Some(mark) = has_phi.get_mut(*at).filter(|mark| **mark != Some(cell)) else {
                        continue;
                    };
                    *mark = Some(cell);
                    let offset = self.source.index.blocks.get(*at).map_or(0, |block| block.offset);
                    let phi = self.define(Definition {
                        cell,
                        block: *at,
                        offset,
                        origin: Origin::Phi,
                        previous: None,
                        operands: Vec::new(),
                    })?;
                    if let Some(phis) = self.phis.get_mut(*at) {
                        phis.push(phi);
                    }
                    worklist.push(*at);
                }
            }
        }
        Some(())
    }

    /// Walks the dominator tree and connects uses with definitions.
    fn rename(&mut self, touches: &BlockTable<Vec<Touch>>) -> Option<()> {
        let graph = self.source.graph;
        // The blocks around the current one in the tree, with the length of `undo` before each.
        let mut around: Vec<(BlockIndex, usize)> = Vec::new();
        let mut preorder = graph.table(|_| 0);
        for block in graph.dominator_preorder() {
            self.visited += 1;
            if let Some(position) = preorder.get_mut(block) {
                *position = self.visited;
            }
            let above = graph.immediate_dominator(block);
            while let Some((last, length)) = around.last().copied() {
                if Some(last) == above {
                    break;
                }
                around.pop();
                for (cell, before) in self.undo.drain(length.min(self.undo.len())..).rev() {
                    if let Some(slot) = self.current.get_mut(cell) {
                        *slot = before;
                    }
                }
            }
            around.push((block, self.undo.len()));
            for phi in self.phis.get(block).cloned().unwrap_or_default() {
                if let Some(cell) = self.memory.definitions.get(phi).map(|phi| phi.cell) {
                    self.set(cell, phi);
                }
            }
            for touch in touches.get(block).into_iter().flatten() {
                self.touch(block, touch)?;
            }
            for to in graph.successors(block) {
                for phi in self.phis.get(*to).cloned().unwrap_or_default() {
                    let Some(cell) = self.memory.definitions.get(phi).map(|phi| phi.cell) else {
                        continue;
                    };
                    let operand = self.definition(cell)?;
                    if let Some(phi) = self.memory.definitions.get_mut(phi) {
                        phi.operands.push((block, operand));
                    }
                    self.memory.uses.push((operand, MemoryUse::Phi(phi, block)));
                }
            }
        }
        self.memory.preorder = Some(preorder);
        Some(())
    }

    /// Makes a definition the current one of its cell.
    fn set(&mut self, cell: CellIndex, definition: DefIndex) {
        let Some(slot) = self.current.get_mut(cell) else { return };
        let before = slot.replace(definition);
        self.undo.push((cell, before));
        if let Some(above) = self.memory.above.get_mut(definition) {
            *above = before;
        }
        let offset = self.memory.definitions.get(definition).map_or(0, |found| found.offset);
        self.memory.by_place.push((cell, self.visited, offset, definition));
    }

    /// The current definition of a cell.
    fn definition(&mut self, cell: CellIndex) -> Option<DefIndex> {
        let current = self.current.get(cell).copied().flatten();
        if let Some(found) = current.or_else(|| self.entries.get(cell).copied().flatten()) {
            return Some(found);
        }
        let block = self.source.graph.entry()?;
        let offset = self.source.index.blocks.get(block).map_or(0, |block| block.offset);
        let entry = self.define(Definition {
            cell,
            block,
            offset,
            origin: Origin::Entry,
            previous: None,
            operands: Vec::new(),
        })?;
        if let Some(slot) = self.entries.get_mut(cell) {
            *slot = Some(entry);
        }
        self.memory.entries.push((cell, entry));
        Some(entry)
    }

    fn touch(&mut self, block: BlockIndex, touch: &Touch) -> Option<()> {
        let previous = match touch.reads || touch.writes == Writes::Part {
            true => Some(self.definition(touch.cell)?),
            false => None,
        };
        if let Some(read) = previous.filter(|_| touch.reads) {
            let by = match touch.by {
                By::Access(access) => {
                    self.memory.read.push((access, read));
                    MemoryUse::Read(access)
                }
                By::Event(event) => MemoryUse::Seen(event),
            };
            self.memory.uses.push((read, by));
        }
        if touch.writes == Writes::Nothing {
            return Some(());
        }
        let previous = previous.filter(|_| touch.writes == Writes::Part);
        let (offset, origin) = match touch.by {
            By::Access(access) => {
                let offset = self
                    .source
                    .accesses
                    .accesses
                    .get(access)
                    .map_or(0, |access| access.offset);
                (offset, Origin::Access(access))
            }
            By::Event(event) => (event.offset, Origin::Event(event)),
        };
        let number = self.define(Definition {
            cell: touch.cell,
            block,
            offset,
            origin,
            previous,
            operands: Vec::new(),
        })?;
        match touch.by {
            By::Access(access) => self.memory.written.push((access, number)),
            By::Event(event) => self.memory.events.push((event.offset, number)),
        }
        if let Some(previous) = previous {
            self.memory.uses.push((previous, MemoryUse::Changed(number)));
        }
        self.set(touch.cell, number);
        Some(())
    }
}
