//! The places at which a value has an effect.

use super::items::{Item, ItemKind};
use super::observed::Solver;
use super::parts::ValuePart;
use super::point::{Condition, EffectPoint, Test};
use super::use_finder::{ItemUse, UseEffect, ValueClass};
use crate::view::{FunctionView, ModuleView};
use std::collections::BTreeSet;
use std::rc::Rc;
use vkabort_spirv::index::Block;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, ItemIndex, Table};
use vkabort_spirv::op;

/// Most places of one value, and most conditions of one place. A value with more has no check at the others, which the log says.
const MAX_POINTS: usize = 8;
const MAX_CONDITIONS: usize = 8;

/// The points of items.
#[derive(Debug, Default)]
struct PointCache {
    /// An empty list for those that are being computed: a cycle, which only invalid modules have.
    found: Table<ItemIndex, Option<Rc<[EffectPoint]>>>,
    /// Items with more points than are kept.
    given_up: usize,
}

impl PointCache {
    fn get(&self, id: ItemIndex) -> Option<&Rc<[EffectPoint]>> {
        self.found.get(id)?.as_ref()
    }
}

/// The effects of the values of a module.
pub struct Effects<'v, 'a, 'w> {
    solver: Solver<'v, 'a, 'w>,
    points: PointCache,
}

impl<'v, 'a, 'w> Effects<'v, 'a, 'w> {
    /// Effects of undefined results, computed by later queries.
    pub fn new(view: &'v ModuleView<'a, 'w>) -> Self {
        Self::with(view, ValueClass::Undefined)
    }

    /// Effects of the initial contents of memory: a copy of a whole structure is not an effect (`copies`).
    pub fn of_memory(view: &'v ModuleView<'a, 'w>) -> Self {
        Self::with(view, ValueClass::Unstored)
    }

    /// Effects of NaN and infinities, which are faults only if they are stored (`not_finite`).
    pub fn of_not_finite(view: &'v ModuleView<'a, 'w>) -> Self {
        Self::with(view, ValueClass::NotFinite)
    }

    fn with(view: &'v ModuleView<'a, 'w>, value_class: ValueClass) -> Self {
        Self {
            solver: Solver::new(view, value_class),
            points: PointCache::default(),
        }
    }

    /// Work that was left out so far because of limits, for the log.
    pub fn given_up(&self) -> Option<String> {
        let (walks, points) = (self.solver.given_up(), self.points.given_up);
        let walks =
            walks.then(|| "the branches between values and their effects are too many to follow all".to_owned());
        walks.or_else(|| (points > 0).then(|| format!("{points} values have effects at too many places to check all")))
    }
}

impl Effects<'_, '_, '_> {
    /// The places at which a part of a value of a function is certain to have an effect, in module order. One place is its definition
    /// if every path from there has an effect of it. Amortised O(uses): the points of each item are found once.
    pub fn points(&mut self, function: FunctionIndex, part: &ValuePart) -> Vec<EffectPoint> {
        let Some(view) = self.solver.view.function(function) else {
            return Vec::new();
        };
        let is_reachable = view
            .block_of(part.id)
            .is_some_and(|block| view.graph.is_reachable(block));
        if !is_reachable {
            return Vec::new();
        }
        let kind = ItemKind::Value(part.clone());
        let id = self.solver.items.intern(Item { function, kind });
        let found = self.points_of(view, id);
        let points = found.iter().cloned().map(|point| self.moved_up(view, part, point));
        points.collect::<BTreeSet<EffectPoint>>().into_iter().collect()
    }

    fn points_of(&mut self, function: &FunctionView<'_, '_>, id: ItemIndex) -> Rc<[EffectPoint]> {
        // Items whose points are being found, each with what is left of the items that it becomes.
        let mut stack: Vec<(ItemIndex, Vec<ItemIndex>)> = Vec::new();
        let children = self.begin(function, id);
        stack.push((id, children));
        while let Some((item, rest)) = stack.last_mut() {
            let item = *item;
            if let Some(child) = rest.pop() {
                if self.points.get(child).is_none() {
                    let children = self.begin(function, child);
                    stack.push((child, children));
                }
                continue;
            }
            stack.pop();
            let points = self.collect(function, item);
            self.points.found.put(item, Some(points));
        }
        self.points.get(id).cloned().unwrap_or_default()
    }

    /// The items of the function that an item becomes, if its own definition is not a point.
    fn begin(&mut self, function: &FunctionView<'_, '_>, id: ItemIndex) -> Vec<ItemIndex> {
        let points: Rc<[EffectPoint]> = match self.solver.is_observed(id) {
            true => self.solver.position(id).into_iter().map(unconditional).collect(),
            false => Rc::default(),
        };
        let is_done = !points.is_empty();
        if self.points.get(id).is_none() {
            self.points.found.put(id, Some(points));
        }
        if is_done {
            return Vec::new();
        }
        let mut children = Vec::new();
        for at in self.solver.uses(id) {
            if let UseEffect::Becomes(items, _) = at.effect {
                children.extend(items.into_iter().filter(|item| self.is_of(function, *item)));
            }
        }
        children
    }

    fn is_of(&self, function: &FunctionView<'_, '_>, item: ItemIndex) -> bool {
        self.solver
            .items
            .get(item)
            .is_some_and(|item| item.function == function.number)
    }

    /// The points of an item by those of the items that it becomes.
    fn collect(&mut self, function: &FunctionView<'_, '_>, id: ItemIndex) -> Rc<[EffectPoint]> {
        let own = self.points.get(id).cloned().unwrap_or_default();
        if !own.is_empty() {
            return own;
        }
        let mut points = BTreeSet::new();
        let mut is_cut = false;
        for at in self.solver.uses(id) {
            let Some(block) = function.index.blocks.get(at.block) else {
                continue;
            };
            let here = |conditions: Vec<Condition>| EffectPoint {
                block: at.block,
                offset: at.offset.min(block.before_end()),
                conditions,
            };
            match &at.effect {
                UseEffect::Effect => {
                    points.insert(here(Vec::new()));
                }
                UseEffect::All(items) => {
                    if items.iter().all(|item| self.solver.is_observed(*item)) {
                        points.insert(here(Vec::new()));
                    }
                }
                UseEffect::Phi(phi) => points.extend(self.at_phi(function, block, &at, *phi)),
                UseEffect::Becomes(items, conditions) => {
                    for item in items {
                        if !self.is_of(function, *item) {
                            if self.solver.is_observed(*item) {
                                points.insert(here(conditions.to_vec()));
                            }
                            continue;
                        }
                        let found = self.points.get(*item).cloned().unwrap_or_default();
                        for point in found.iter() {
                            let mut point = point.clone();
                            point.conditions.extend_from_slice(conditions);
                            point.conditions.sort_unstable();
                            point.conditions.dedup();
                            is_cut |= point.conditions.len() > MAX_CONDITIONS;
                            if point.conditions.len() <= MAX_CONDITIONS {
                                points.insert(point);
                            }
                        }
                    }
                }
            }
        }
        is_cut |= points.len() > MAX_POINTS;
        self.points.given_up += usize::from(is_cut);
        points.into_iter().take(MAX_POINTS).collect()
    }

    /// The place of the definition instead of a later one in its block, if the conditions are known there and nothing between may end
    /// the invocation.
    fn moved_up(&mut self, function: &FunctionView<'_, '_>, part: &ValuePart, mut point: EffectPoint) -> EffectPoint {
        let Some(def) = function.index.def(part.id) else {
            return point;
        };
        let is_known = |condition: &Condition| {
            let value = function.index.def(condition.value);
            value.is_some_and(|value| value.offset < def.offset)
        };
        if function.block_at(def.offset) == Some(point.block)
            && point.conditions.iter().all(is_known)
            && !self
                .solver
                .leaves_between(function, point.block, def.offset, point.offset)
        {
            point.offset = def.offset;
        }
        point
    }

    /// The point at the end of a block from which a phi takes the item.
    fn at_phi(
        &mut self,
        function: &FunctionView<'_, '_>,
        block: &Block,
        at: &ItemUse,
        phi: ItemIndex,
    ) -> Option<EffectPoint> {
        if !self.solver.is_observed(phi) {
            return None;
        }
        let (to, _) = self.solver.position(phi)?;
        let conditions = match function.graph.successors(at.block) {
            [_] => Vec::new(),
            _ => vec![edge(function, block, to)?],
        };
        Some(EffectPoint {
            block: at.block,
            offset: block.before_end(),
            conditions,
        })
    }
}

fn unconditional((block, offset): (BlockIndex, usize)) -> EffectPoint {
    EffectPoint {
        block,
        offset,
        conditions: Vec::new(),
    }
}

/// The condition under which the branch of a block leads to the block `to`. `None` if it leads there anyway, or by a switch.
fn edge(function: &FunctionView<'_, '_>, block: &Block, to: BlockIndex) -> Option<Condition> {
    let branch = function.index.terminator(block);
    let label = function.index.blocks.get(to)?.label;
    let is = [branch.true_label(), branch.false_label()].map(|target| target == label);
    let test = match is {
        [true, false] => Test::True,
        [false, true] => Test::False,
        _ => return None,
    };
    (branch.opcode() == op::BranchConditional).then(|| Condition {
        value: branch.condition(),
        component: None,
        test,
    })
}
