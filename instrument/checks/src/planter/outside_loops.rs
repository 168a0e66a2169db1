//! Tests of a value that is computed before a loop and used in it: they are made behind the loop, and not in each of its iterations.
//!
//! ```text
//! %q = UDiv %a %b                becomes   %q = UDiv %a %b, Store %reached false
//! loop: Store %buffer %q                   loop: Store %reached true, Store %buffer %q
//! behind the loop                          behind the loop: %r = Load %reached, %failed = LogicalAnd .. %r
//! ```
//!
//! The value has an effect only if the loop comes to one, so a test before the loop would have false positives. Compilers do not move tests
//! out of loops, and a return in a loop costs more than the test: three divisions in front of a loop took 4.4 times the time of the loop
//! on Mesa 26. Blocks that return from the loop have a test, too. An invocation that a called function ends in the loop is not tested.

use super::Planter;
use crate::scalars::write_conditions;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_analysis::effects::{Condition, EffectPoint, Test};
use vkabort_analysis::loop_nest::Loop;
use vkabort_spirv::edit::local_variable::local_variable;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::index::Block;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, op};

impl Planter<'_, '_, '_> {
    /// The points at which a value that is computed in the block `from` is tested, by those at which it has effects.
    pub(in super::super) fn outside_loops(
        &mut self,
        from: BlockIndex,
        points: impl IntoIterator<Item = EffectPoint>,
    ) -> Vec<EffectPoint> {
        let mut outside = Vec::new();
        let mut by_loop: BTreeMap<BlockIndex, Vec<EffectPoint>> = BTreeMap::new();
        for point in points {
            match self.outermost_without(from, point.block) {
                Some(found) => by_loop.entry(found.header).or_default().push(point),
                None => outside.push(point),
            }
        }
        for (header, points) in by_loop {
            let exits = self.exits_of(from, header);
            let reached = self.reached(from, points);
            outside.extend(exits.into_iter().map(|(block, offset)| EffectPoint {
                block,
                offset,
                conditions: vec![Condition {
                    value: reached,
                    component: None,
                    test: Test::Stored,
                }],
            }));
        }
        outside
    }

    /// The outermost loop around a block that the block `from` is not in.
    fn outermost_without(&self, from: BlockIndex, block: BlockIndex) -> Option<&Loop> {
        let inner = self.nest.loops().get(self.nest.innermost(block)?)?;
        let around = std::iter::once(inner).chain(self.nest.around(inner));
        around.take_while(|l| !l.blocks.contains(&from)).last()
    }

    /// Exits of the loop with a header: its merge block and the blocks that return. A merge block that begins another loop is passed
    /// as often as that one runs, so the points are behind that loop.
    fn exits_of(&self, from: BlockIndex, header: BlockIndex) -> BTreeSet<(BlockIndex, usize)> {
        let index = self.index;
        let mut exits = BTreeSet::new();
        let mut next = Some(header);
        while let Some(header) = next.take() {
            let Some(found) = self.outermost_without(from, header) else {
                break;
            };
            for number in &found.blocks {
                let returning = index
                    .blocks
                    .get(*number)
                    .filter(|block| returns(index.terminator(block).opcode()));
                exits.extend(returning.map(|block| (*number, block.terminator)));
            }
            let merge = index.blocks.get(found.header).and_then(|block| index.loop_merge(block));
            let merge = merge.and_then(|(merge, _)| index.block_of_label(self.function, merge));
            let Some((merge, block)) = merge.and_then(|merge| Some((merge, index.blocks.get(merge)?))) else {
                continue;
            };
            match self.outermost_without(from, merge) {
                Some(_) => next = Some(merge),
                None => {
                    exits.insert((merge, after_phis(index, block)));
                }
            }
        }
        exits
    }

    /// The variable that says whether an invocation has come to one of `points` since it left the block `from`.
    fn reached(&mut self, from: BlockIndex, points: Vec<EffectPoint>) -> Id {
        if let Some(reached) = self.reached.get(&(from, points.clone())) {
            return *reached;
        }
        let index = self.index;
        let module = &mut *self.module;
        let bool = module.out.bool();
        let target = (&mut module.out, &mut module.edits);
        let reached = local_variable(index, self.function, target, (bool, None));
        module.out.name(reached, "vkabort_reached");
        let end = index.blocks.get(from).map_or(0, Block::before_end);
        self.insert(end, |out| {
            let no = out.value(op::ConstantFalse, bool, ());
            out.op(op::Store, (reached, no));
        });
        for point in &points {
            self.insert(point.offset, |out| {
                let yes = out.value(op::ConstantTrue, bool, ());
                let holds = write_conditions(out, index, yes, &point.conditions);
                let holds = match point.conditions.is_empty() {
                    true => holds,
                    false => {
                        let before = out.emit(op::Load, bool, reached);
                        out.emit(op::LogicalOr, bool, (before, holds))
                    }
                };
                out.op(op::Store, (reached, holds));
            });
        }
        self.reached.insert((from, points), reached);
        reached
    }
}

fn returns(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Return | op::ReturnValue | op::Kill | op::TerminateInvocation
    )
}
