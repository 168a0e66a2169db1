//! The buffers of the pointers that access chains begin with.
//!
//! The table is searched where the pointer is first used or, if that is in a loop that does not compute the pointer, where it is
//! computed: a loop over the elements of a buffer does not search.

use super::address_test::{AddressTest, write_address};
use super::module::ModulePlanter;
use super::planter::Planter;
use super::values::ValueFacts;
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
        let AddressTest { buffer_of, .. } = planter.address_test();
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
    let index = planter.index;
    let is_chain = |opcode| {
        matches!(
            opcode,
            op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::CopyObject
        )
    };
    let mut base = pointer;
    let mut chain = index.def(pointer);
    while let Some(inst) = chain.filter(|inst| is_chain(inst.opcode())) {
        base = inst.id(3);
        // In a malformed module, a chain may begin with itself.
        chain = index.def(base).filter(|before| before.offset < inst.offset);
    }
    base
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
    fn address_test(&mut self) -> AddressTest {
        let ModulePlanter {
            out,
            guards,
            address_test,
            interfaces,
            ..
        } = &mut *self.module;
        let test = *address_test.get_or_insert_with(|| AddressTest::new(out, guards));
        for entry in &self.reach.entry_points {
            interfaces.entry(*entry).or_default().insert(test.buffer);
        }
        test
    }
}
