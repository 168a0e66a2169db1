//! The buffers of the pointers that access chains begin with.
//!
//! The table is searched where the pointer is first used or, if that is in a loop that does not compute the pointer, where it is
//! computed: a loop over the elements of a buffer does not search.

use super::super::module::ModulePlanter;
use super::super::operand_checks::ValueFacts;
use super::super::planter::Planter;
use super::buffer_finder::{BufferFinder, write_address};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use vkabort_analysis::dominating_points::{DominatingPoints, Point};
use vkabort_analysis::effects::EffectPoint;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, Words, op};

/// The buffer that a pointer belongs to.
#[derive(Clone, Copy)]
pub(super) struct Base {
    /// The pointer.
    pub(super) pointer: Id,
    /// Its range of addresses, a vector of four words.
    pub(super) range: Id,
    /// Word offset at which the range is computed; code that uses it follows.
    pub(super) at: usize,
    /// Whether that is outside of a loop that the access is in.
    pub(super) is_outside_loop: bool,
}

/// The pointers of a function whose buffers are known.
#[derive(Default)]
pub(super) struct Bases {
    /// The ranges of each pointer, and where each was computed.
    ranges: HashMap<Id, DominatingPoints<(Point, Id)>>,
    /// First point at which each physical pointer of the function can be used.
    definitions: Option<HashMap<Id, Point>>,
    /// Start of the function.
    begin: Option<Point>,
    /// Loads of pointers from push constants at the start of the function, by the variable and the indices.
    pushed: HashMap<Vec<Id>, Id>,
    /// Other pointers, by their names: two loads of a variable are one pointer.
    same: HashMap<SmallVec<[u32; 8]>, DominatingPoints<(BlockIndex, Id)>>,
}

impl Bases {
    /// The pointer that another one is, as early as possible: whatever loads and copies are between, and of push constants one that is
    /// loaded where the function begins.
    pub(super) fn original<'w>(
        &mut self,
        planter: &mut Planter<'_, '_, 'w>,
        facts: &mut ValueFacts<'_, '_, '_, 'w>,
        pointer: Id,
    ) -> Id {
        let index = planter.index;
        let original = facts.original(pointer);
        if index.type_of(original) != index.type_of(pointer) {
            return pointer;
        }
        let Some((load, variable, indices)) = pushed(index, original) else {
            return self.first_of_same(planter, facts, original);
        };
        let key: Vec<Id> = [variable].into_iter().chain(indices.iter().copied()).collect();
        if facts.function.block_of(original) == planter.function.blocks.iter().next() {
            // Accesses come in their order, so that the first load of the first block is in front of all others.
            return *self.pushed.entry(key).or_insert(original);
        }
        let begin = &mut self.begin;
        *self.pushed.entry(key).or_insert_with(|| {
            let (_, at) = *begin.get_or_insert_with(|| first_point(planter));
            planter.insert(at, |out| {
                let mut at = variable;
                if !indices.is_empty() {
                    at = out.emit(
                        op::AccessChain,
                        index.type_of(load.pointer()),
                        (variable, indices.as_slice()),
                    );
                }
                out.emit(op::Load, load.result_type(), (at, Words(load.from(4))))
            })
        })
    }

    /// The first pointer that is the same and defined wherever another one is, or that one. It is not one of a loop that the other one is
    /// behind: drivers may have computed it for another invocation (`pass::loop_values`).
    fn first_of_same<'w>(
        &mut self,
        planter: &Planter<'_, '_, 'w>,
        facts: &mut ValueFacts<'_, '_, '_, 'w>,
        pointer: Id,
    ) -> Id {
        let (index, function) = (planter.index, facts.function);
        let Some((block, def)) = function.block_of(pointer).zip(index.def(pointer)) else {
            return pointer;
        };
        let of_name = self.same.entry(facts.name(pointer, None)).or_default();
        let at = (block, def.offset);
        match of_name.find(&function.graph, at).copied() {
            Some((of, first)) if index.type_of(first) == def.result_type() && !planter.nest.leaves_loop(of, block) => {
                first
            }
            Some(_) => pointer,
            None => {
                of_name.insert(&function.graph, at, (block, pointer));
                pointer
            }
        }
    }

    /// The buffer of a pointer through which memory is accessed at `point`. `None` if the module has enough searches.
    pub(super) fn of(
        &mut self,
        planter: &mut Planter<'_, '_, '_>,
        facts: &ValueFacts<'_, '_, '_, '_>,
        pointer: Id,
        point: &EffectPoint,
    ) -> Option<Base> {
        let here = (point.block, point.offset);
        let graph = &facts.function.graph;
        let dominates = |(block, offset): Point| match block == point.block {
            true => offset <= point.offset,
            false => graph.dominates(block, point.block),
        };
        let base = |planter: &Planter<'_, '_, '_>, (block, at): Point, range| Base {
            pointer,
            range,
            at,
            is_outside_loop: loop_depth(planter, block) < loop_depth(planter, point.block),
        };
        let ranges = self.ranges.entry(pointer).or_default();
        if let Some((at, range)) = ranges.find(graph, here) {
            return Some(base(planter, *at, *range));
        }
        if !planter
            .module
            .states
            .addresses
            .searches
            .take(planter.index, &planter.module.graph, facts.function.number)
        {
            return None;
        }
        let definitions = self.definitions.get_or_insert_with(|| definitions(planter));
        let definition = definitions.get(&pointer).copied();
        let definition = definition.unwrap_or_else(|| *self.begin.get_or_insert_with(|| first_point(planter)));
        let is_in_outer_loop = loop_depth(planter, definition.0) < loop_depth(planter, point.block);
        let at = if is_in_outer_loop && dominates(definition) {
            definition
        } else {
            here
        };
        let BufferFinder { buffer_of, .. } = planter.buffer_finder();
        let range = planter.insert(at.1, |out| {
            let uint = out.uint();
            let range = out.vector(uint, 4);
            let (address, _) = write_address(out, pointer);
            out.emit(op::FunctionCall, range, (buffer_of, address))
        });
        ranges.insert(graph, at, (at, range));
        Some(base(planter, at, range))
    }
}

/// The load of a pointer from push constants at constant indices: the variable, and the indices.
fn pushed<'w>(index: &Index<'w>, pointer: Id) -> Option<(Inst<'w>, Id, Vec<Id>)> {
    let load = index.def(pointer).filter(|inst| inst.opcode() == op::Load)?;
    let chain = index.def(load.pointer())?;
    let (variable, indices) = match chain.opcode() {
        op::AccessChain | op::InBoundsAccessChain => (index.def(chain.id(3))?, chain.ids(4).collect()),
        _ => (chain, Vec::new()),
    };
    let is_pushed = variable.opcode() == op::Variable && variable.storage_class() == storage_class::PushConstant;
    let are_constant = indices.iter().all(|id| index.opcode(*id) == op::Constant);
    (is_pushed && are_constant).then(|| (load, variable.result(), indices))
}

/// First points at which the values of the function can be used.
fn definitions(planter: &Planter<'_, '_, '_>) -> HashMap<Id, Point> {
    let index = planter.index;
    let mut definitions = HashMap::default();
    for (number, block) in planter.function.blocks.iter().zip(index.blocks_of(planter.function)) {
        let mut pending = Vec::new();
        for inst in index.insts(block.offset, block.end) {
            // No code may stand between phis, or between variables.
            if !matches!(inst.opcode(), op::Label | op::Phi | op::Variable) {
                definitions.extend(pending.drain(..).map(|id| (id, (number, inst.offset))));
            }
            pending.extend(Some(inst.result()).filter(|id| id.is_some()));
        }
    }
    definitions
}

/// First point at which the parameters and the constants of the function can be used.
fn first_point(planter: &Planter<'_, '_, '_>) -> Point {
    let index = planter.index;
    let blocks = planter.function.blocks.iter().zip(index.blocks_of(planter.function));
    let place = blocks.take(1).find_map(|(number, block)| {
        let insts = || index.insts(block.offset, block.end);
        // There may be lines between variables.
        let last = insts().filter(|inst| inst.opcode() == op::Variable).last();
        let from = last.map_or(block.offset, |variable| variable.offset);
        let behind = insts().find(|inst| inst.offset > from)?;
        Some((number, behind.offset))
    });
    place.unwrap_or_default()
}

fn loop_depth(planter: &Planter<'_, '_, '_>, block: BlockIndex) -> usize {
    let nest = &planter.nest;
    let inner = nest.innermost(block).and_then(|inner| nest.loops().get(inner));
    inner.map_or(0, |inner| 1 + nest.around(inner).count())
}

impl Planter<'_, '_, '_> {
    /// The functions that find the buffers of addresses.
    fn buffer_finder(&mut self) -> BufferFinder {
        let ModulePlanter {
            out, guards, states, ..
        } = &mut *self.module;
        let finder = *states
            .addresses
            .finder
            .get_or_insert_with(|| BufferFinder::new(out, guards));
        self.list_in_interfaces(&[finder.buffer]);
        finder
    }
}
