//! Plants aborts into one function.

mod aborts;
mod block_split;
mod effect_free_range;
mod hoist;
mod joined;
mod outside_loops;

use super::module::{ModulePlanter, Planting};
use super::place::TestKey;
use super::properties::Properties;
use super::repetitions::Repetitions;
use block_split::BlockSplit;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use vkabort_analysis::callgraph::Reach;
use vkabort_analysis::dominating_points::DominatingPoints;
use vkabort_analysis::effects::EffectPoint;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::loop_nest::LoopNest;
use vkabort_analysis::view::FunctionView;
use vkabort_options::{Check, Options};
use vkabort_record::site::Location;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::{control_with_counter, redirect_back_edges, split_header};
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::edit::rematerialize_handles::rematerialize_handles;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Code, Id, Inst};

/// A function that checks are planted into.
pub(super) struct Planter<'p, 'a, 'w> {
    pub(super) module: &'p mut ModulePlanter<'a, 'w>,
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'p Function,
    pub(super) nest: LoopNest,
    pub(super) reach: Reach,
    /// How often its loops run, if the check of loops is planted.
    pub(super) repetitions: Option<&'p Repetitions>,
    /// Its view, unless it is too large.
    pub(super) view: Option<&'p FunctionView<'a, 'w>>,
    /// Blocks in which no invocation can leave the function.
    pub(super) closed: BTreeSet<BlockIndex>,
    /// Code to insert into blocks, and loops whose headers are split, by the block.
    block_splits: BTreeMap<BlockIndex, Vec<BlockSplit<'w>>>,
    /// The code of the tests among them.
    tests: Code,
    split_headers: BTreeSet<BlockIndex>,
    /// Headers of loops that get a counter.
    pub(super) counted: BTreeSet<BlockIndex>,
    renames: PhiRenames,
    /// Loops that were their own continue construct: header and the new continue target.
    opened: Vec<(BlockIndex, Id)>,
    /// Points at which values were tested unconditionally, by check and operands.
    tested: HashMap<TestKey, DominatingPoints<()>>,
    /// The position of the last instruction that was queried.
    last_position: Option<(BlockIndex, usize, Position<'w>)>,
}

impl<'p, 'a, 'w> Planter<'p, 'a, 'w> {
    /// `None` if no entry point reaches the function, or one of a model that the options leave out, or if a continue construct
    /// that is left out reaches it.
    pub(super) fn new(
        module: &'p mut ModulePlanter<'a, 'w>,
        number: FunctionIndex,
        function: &'p Function,
    ) -> Option<Self> {
        let reach = module.graph.reach.get(number).filter(|_| module.is_planted(number))?;
        let nest = LoopNest::new(module.index, function);
        Some(Self {
            index: module.index,
            function,
            closed: nest.closed_blocks(module.index),
            nest,
            reach: reach.clone(),
            module,
            block_splits: BTreeMap::new(),
            tests: Code::default(),
            split_headers: BTreeSet::new(),
            counted: BTreeSet::new(),
            renames: PhiRenames::default(),
            opened: Vec::new(),
            tested: HashMap::default(),
            last_position: None,
            repetitions: None,
            view: None,
        })
    }

    pub(super) fn options(&self) -> &'a Options {
        self.module.options
    }

    /// How a check is planted.
    pub(super) fn properties(&self, check: Check) -> Properties {
        (self.module.properties)(check)
    }

    pub(super) fn out(&mut self) -> &mut Emitter {
        &mut self.module.out
    }

    /// The names of values.
    pub(super) fn expressions(&self) -> &Expressions<'a, 'w> {
        &self.module.places.expressions
    }

    /// The position in the source of an instruction, if the options select it.
    pub(super) fn selected_position(&mut self, block: BlockIndex, inst: &Inst<'_>) -> Option<Position<'w>> {
        let position = self.position(block, inst.offset);
        self.selects(&position).then_some(position)
    }

    /// The position in the source of an instruction of a block. Amortised O(1) if the word offsets of a block ascend.
    pub(super) fn position(&mut self, block: BlockIndex, offset: usize) -> Position<'w> {
        let start = self.index.blocks.get(block).map_or(0, |block| block.offset);
        let (from, mut position) = match self.last_position.take() {
            Some((of, from, position)) if of == block && from <= offset => (from, position),
            _ => (start, Position::default()),
        };
        self.index.advance(&mut position, from, offset);
        self.last_position = Some((block, offset, position));
        position
    }

    /// Whether the same test was made on every path to a point.
    pub(super) fn is_tested(&self, function: &FunctionView<'_, '_>, key: &TestKey, point: &EffectPoint) -> bool {
        let tested = self.tested.get(key);
        tested.is_some_and(|tested| tested.find(&function.graph, (point.block, point.offset)).is_some())
    }

    /// The test is now made at a point.
    pub(super) fn add_tested(&mut self, function: &FunctionView<'_, '_>, key: TestKey, point: &EffectPoint) {
        let tested = self.tested.entry(key).or_default();
        tested.insert(&function.graph, (point.block, point.offset), ());
    }

    /// Whether the options select a position.
    pub(super) fn selects(&mut self, position: &Position<'_>) -> bool {
        self.module.places.selects(self.function, &self.reach, position)
    }

    /// The source location of a position.
    pub(super) fn location(&mut self, position: &Position<'_>) -> Option<Location> {
        self.module.places.location(self.function, position)
    }

    /// Lists private variables in the interfaces of the entry points that reach the function.
    pub(super) fn list_in_interfaces(&mut self, variables: &[Id]) {
        for entry in &self.reach.entry_points {
            self.module.interfaces.entry(*entry).or_default().extend(variables);
        }
    }

    /// Whether checks are planted into a block.
    pub(super) fn is_plantable(&self, block: BlockIndex) -> bool {
        self.module.planting == Planting::Everywhere || !self.closed.contains(&block)
    }

    /// Inserts code that branches nowhere.
    pub(super) fn insert<T>(&mut self, offset: usize, write: impl FnOnce(&mut Emitter) -> T) -> T {
        let ModulePlanter { out, edits, .. } = &mut *self.module;
        let result = write(out);
        out.place(|code| edits.insert(offset, code));
        result
    }

    /// Removes an instruction that a check replaces.
    pub(super) fn remove(&mut self, inst: &Inst<'_>) {
        self.module.edits.remove_inst(inst);
    }

    /// Prepares the loops around a block, so that it can be split and left.
    pub(super) fn open_loops(&mut self, block: BlockIndex) {
        let inner = self
            .nest
            .innermost(block)
            .and_then(|inner| self.nest.loops().get(inner));
        let mut targets = Vec::new();
        for l in inner
            .into_iter()
            .flat_map(|inner| std::iter::once(inner).chain(self.nest.around(inner)))
        {
            let is_own = self.label(l.header) == l.continue_target;
            if (is_own || l.header == block) && self.split_headers.insert(l.header) {
                targets.push((l.header, (!is_own).then_some(l.continue_target)));
            }
        }
        for (header, target) in targets {
            let Some(block) = self.index.blocks.get(header) else {
                continue;
            };
            let target = target.unwrap_or_else(|| {
                let next = self.module.out.fresh();
                self.opened.push((header, next));
                next
            });
            let merge = self.index.merge(block);
            let mut control: SmallVec<[u32; 2]> = merge.map(|merge| merge.from(3).into()).unwrap_or_default();
            if self.counted.contains(&header) {
                control = control_with_counter(&control);
            }
            let ModulePlanter { out, edits, .. } = &mut *self.module;
            let split = split_header(self.index, block, (target, &control), edits, &mut || out.fresh());
            let block_splits = self.block_splits.entry(header).or_default();
            // Before the splits of checks at the same place.
            block_splits.insert(0, BlockSplit::Code(split));
        }
    }

    pub(super) fn label(&self, block: BlockIndex) -> Id {
        self.index.blocks.get(block).map_or(Id::NONE, |block| block.label)
    }

    /// Splits the blocks, and leads phis to the new predecessors.
    pub(super) fn finish(mut self) {
        let glsl = self.index.sets("GLSL.std.450");
        for (number, block_splits) in mem::take(&mut self.block_splits) {
            let Some(block) = self.index.blocks.get(number) else {
                continue;
            };
            let mut splits = self.write_block_splits(block_splits, &glsl);
            let ModulePlanter { out, edits, .. } = &mut *self.module;
            rematerialize_handles(self.index, out, edits, block, &mut splits);
            let last = splits.iter().rev().find_map(|split| split.code.last_label());
            for split in splits {
                edits.insert(split.offset, &split.code);
            }
            self.renames
                .moved(&self.index.successors(block), block.label, last.unwrap_or(block.label));
        }
        let edits = &mut self.module.edits;
        for (header, next) in self.opened {
            if let Some(header) = self.index.blocks.get(header) {
                redirect_back_edges(self.index, self.function, header, next, edits, &mut self.renames);
            }
        }
        self.renames.apply(self.index, self.function, edits);
    }
}
