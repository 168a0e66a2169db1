//! The buffers of the pointers that access chains begin with.
//!
//! The table is searched where the pointer is first used or, if that is in a loop that does not compute the pointer, where it is
//! computed: a loop over the elements of a buffer does not search.

use super::super::accesses::chains;
use super::super::module::ModulePlanter;
use super::super::planter::Planter;
use super::super::values::ValueFacts;
use super::buffer_finder::{BufferFinder, write_address};
use crate::analysis::effects::EffectPoint;
use crate::analysis::index::typed::BlockIndex;
use crate::spv::{Id, op};
use rustc_hash::FxHashMap as HashMap;

/// A place in a function: before the instruction at a word offset.
type Point = (BlockIndex, usize);

/// The pointers of a function whose buffers are known.
#[derive(Default)]
pub(super) struct Bases {
    /// The ranges of addresses, vectors of four words, and where each was computed.
    buffers: HashMap<Id, Vec<(Point, Id)>>,
    /// Where each physical pointer of the function can be used first.
    definitions: Option<HashMap<Id, Point>>,
}

impl Bases {
    /// The range of the buffer that a pointer belongs to which is accessed at `point`.
    pub(super) fn buffer_of(
        &mut self,
        planter: &mut Planter<'_, '_, '_>,
        facts: &ValueFacts<'_, '_, '_, '_>,
        pointer: Id,
        point: &EffectPoint,
    ) -> Id {
        let base = base_of(planter, pointer);
        let ranges = self.buffers.get(&base).into_iter().flatten();
        let dominates = |(block, offset): Point| match block == point.block {
            true => offset <= point.offset,
            false => facts.function.graph.dominates(block, point.block),
        };
        if let Some((_, buffer)) = ranges.into_iter().find(|(at, _)| dominates(*at)) {
            return *buffer;
        }
        let here = (point.block, point.offset);
        let definitions = self.definitions.get_or_insert_with(|| definitions(planter));
        let definition = definitions.get(&base).copied().unwrap_or_else(|| begin(planter));
        let is_in_outer_loop = loop_depth(planter, definition.0) < loop_depth(planter, point.block);
        let at = if is_in_outer_loop && dominates(definition) {
            definition
        } else {
            here
        };
        let BufferFinder { buffer_of, .. } = planter.buffer_finder();
        let buffer = planter.insert(at.1, |out| {
            let uint = out.uint();
            let range = out.vector(uint, 4);
            let (address, _) = write_address(out, base);
            out.emit(op::FunctionCall, range, (buffer_of, address))
        });
        self.buffers.entry(base).or_default().push((at, buffer));
        buffer
    }
}

/// The pointer that the access chains of a pointer begin with.
fn base_of(planter: &Planter<'_, '_, '_>, pointer: Id) -> Id {
    let is_chain = |opcode| {
        matches!(
            opcode,
            op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::CopyObject
        )
    };
    chains(planter.index, pointer, is_chain).1
}

/// Where the values of the function can be used first.
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

/// Where the parameters and the constants of the function can be used first.
fn begin(planter: &Planter<'_, '_, '_>) -> Point {
    let index = planter.index;
    let first = planter
        .function
        .blocks
        .iter()
        .zip(index.blocks_of(planter.function))
        .next();
    let place = first.and_then(|(number, block)| {
        let mut insts = index.insts(block.offset, block.end);
        let behind = insts.find(|inst| !matches!(inst.opcode(), op::Label | op::Variable))?;
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
    /// What finds the buffers of addresses.
    fn buffer_finder(&mut self) -> BufferFinder {
        let ModulePlanter {
            out,
            guards,
            buffer_finder,
            interfaces,
            ..
        } = &mut *self.module;
        let test = *buffer_finder.get_or_insert_with(|| BufferFinder::new(out, guards));
        for entry in &self.reach.entry_points {
            interfaces.entry(*entry).or_default().insert(test.buffer);
        }
        test
    }
}
