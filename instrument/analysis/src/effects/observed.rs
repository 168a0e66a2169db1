//! Solves for the observed items: those that have an effect on every path from their definition.

use super::items::{Item, ItemKind, Items};
use super::use_finder::{ItemUse, UseEffect, UseFinder, ValueClass};
use super::walk::Walk;
use crate::view::ModuleView;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, ItemIndex, Table};
use vkabort_spirv::op;

/// Limit on the blocks that all walks of a module visit. Items beyond it are not observed, which the log says.
const MAX_STEPS: u64 = 1 << 26;

/// State of an item in the fixpoint.
#[derive(Debug)]
struct State {
    uses: Vec<ItemUse>,
    is_observed: bool,
    /// Items that become this one.
    dependents: SmallVec<[ItemIndex; 2]>,
}

/// Finds the items that are observed.
pub(super) struct Solver<'v, 'a, 'w> {
    pub(super) view: &'v ModuleView<'a, 'w>,
    pub(super) items: Items,
    pub(super) finder: UseFinder<'v, 'a, 'w>,
    states: Table<ItemIndex, Option<State>>,
    walks: HashMap<FunctionIndex, Walk>,
    steps: u64,
    /// A solver for which a returned value is an effect.
    with_returns: Option<Box<Self>>,
}

impl<'v, 'a, 'w> Solver<'v, 'a, 'w> {
    pub(super) fn new(view: &'v ModuleView<'a, 'w>, value_class: ValueClass) -> Self {
        let with_returns = Self::with(view, (true, value_class), None);
        Self::with(view, (false, value_class), Some(Box::new(with_returns)))
    }

    fn with(
        view: &'v ModuleView<'a, 'w>,
        (returns_are_effects, value_class): (bool, ValueClass),
        with_returns: Option<Box<Self>>,
    ) -> Self {
        Self {
            view,
            items: Items::default(),
            finder: UseFinder::new(view, returns_are_effects, value_class),
            states: Table::default(),
            walks: HashMap::default(),
            steps: MAX_STEPS,
            with_returns,
        }
    }

    pub(super) fn value_class(&self) -> ValueClass {
        self.finder.value_class
    }

    /// Whether walks came to the limit.
    pub(super) fn given_up(&self) -> bool {
        self.steps == 0 || self.with_returns.as_ref().is_some_and(|other| other.given_up())
    }

    /// Whether an item is observed. Amortised over all questions, the uses of each item are found once.
    pub(super) fn is_observed(&mut self, id: ItemIndex) -> bool {
        if let Some(state) = self.state(id) {
            return state.is_observed;
        }
        let mut worklist = self.discover(id);
        let mut next = 0;
        while let Some(item) = worklist.get(next).copied() {
            next += 1;
            if self.is_assumed(item)
                && !self.evaluate(item)
                && let Some(state) = self.state_mut(item)
            {
                state.is_observed = false;
                worklist.extend(state.dependents.iter().copied());
            }
        }
        self.is_assumed(id)
    }

    fn state(&self, id: ItemIndex) -> Option<&State> {
        self.states.get(id)?.as_ref()
    }

    fn state_mut(&mut self, id: ItemIndex) -> Option<&mut State> {
        self.states.get_mut(id)?.as_mut()
    }

    /// Whether an item is assumed to be observed, as all are until a path without an effect is found.
    fn is_assumed(&self, id: ItemIndex) -> bool {
        self.state(id).is_some_and(|state| state.is_observed)
    }

    /// Finds the uses of an item and of all that it becomes. Returns those that are new, each after those that it becomes, but for
    /// cycles.
    fn discover(&mut self, first: ItemIndex) -> Vec<ItemIndex> {
        let mut order = Vec::new();
        let mut stack: Vec<(ItemIndex, SmallVec<[ItemIndex; 4]>)> = Vec::new();
        let found = self.open(first);
        stack.push((first, found));
        while let Some((item, rest)) = stack.last_mut() {
            let item = *item;
            let Some(child) = rest.pop() else {
                order.push(item);
                stack.pop();
                continue;
            };
            let is_new = self.state(child).is_none();
            if is_new {
                let found = self.open(child);
                stack.push((child, found));
            }
            if let Some(state) = self.state_mut(child) {
                state.dependents.push(item);
            }
        }
        order
    }

    /// Finds the uses of a new item; returns the items that it becomes without a condition.
    fn open(&mut self, id: ItemIndex) -> SmallVec<[ItemIndex; 4]> {
        let mut uses = match self.items.get(id).cloned() {
            Some(item) => {
                let mut uses = self.finder.uses(&item, &mut self.items);
                let more = self.through_results(&item, &uses);
                uses.extend(more);
                uses
            }
            None => Vec::new(),
        };
        uses.sort_by_key(|at| at.offset);
        let mut found = SmallVec::new();
        for at in &uses {
            match &at.effect {
                UseEffect::Becomes(items) => found.extend_from_slice(items),
                UseEffect::Effect => {}
                UseEffect::Phi(phi) => found.push(*phi),
                UseEffect::All(items) => found.extend_from_slice(items),
            }
        }
        let state = State {
            uses,
            is_observed: true,
            dependents: SmallVec::new(),
        };
        self.states.put(id, Some(state));
        found
    }

    /// Arguments that the called function returns parts of, whatever it does: they have the effects that all of the result has.
    fn through_results(&mut self, item: &Item, uses: &[ItemUse]) -> Vec<ItemUse> {
        if !matches!(item.kind, ItemKind::Value(_)) {
            return Vec::new();
        }
        let Some(with_returns) = &mut self.with_returns else {
            return Vec::new();
        };
        let index = self.view.index;
        let mut found = Vec::new();
        for at in uses {
            let call = index.inst(at.offset);
            let UseEffect::Becomes(parameters) = &at.effect else {
                continue;
            };
            if call.opcode() != op::FunctionCall || index.opcode(call.result_type()) == op::TypeVoid {
                continue;
            }
            let is_returned = parameters.iter().all(|parameter| {
                let parameter = self.items.get(*parameter).cloned();
                parameter.is_some_and(|parameter| {
                    let parameter = with_returns.items.intern(parameter);
                    with_returns.is_observed(parameter)
                })
            });
            if is_returned && let Some(results) = self.finder.results_of(item.function, &call, &mut self.items) {
                found.push(ItemUse {
                    effect: UseEffect::All(results),
                    ..at.clone()
                });
            }
        }
        found
    }

    fn all_observed(&self, items: &[ItemIndex]) -> bool {
        items.iter().all(|item| self.is_assumed(*item))
    }

    /// Whether every path from the definition of an item passes a use with an effect, by the assumptions about other items.
    fn evaluate(&mut self, id: ItemIndex) -> bool {
        let (Some(item), Some(state)) = (self.items.get(id), self.state(id)) else {
            return false;
        };
        let number = item.function;
        let Some(function) = self.view.function(number) else {
            return false;
        };
        let is_observed = |item: &ItemIndex| self.is_assumed(*item);
        // The first use with an effect in each block, and the blocks that end with an effect of a phi behind them.
        let mut ends: SmallVec<[(BlockIndex, usize); 4]> = SmallVec::new();
        let mut edges: SmallVec<[(BlockIndex, BlockIndex); 4]> = SmallVec::new();
        for at in &state.uses {
            let has_effect = match &at.effect {
                UseEffect::Effect => true,
                UseEffect::Becomes(items) => items.iter().any(is_observed),
                UseEffect::All(items) => self.all_observed(items),
                UseEffect::Phi(phi) => {
                    if let Some(to) = is_observed(phi).then(|| self.position(*phi)).flatten() {
                        edges.push((at.block, to.0));
                    }
                    false
                }
            };
            if has_effect {
                ends.push((at.block, at.offset));
            }
        }
        if ends.is_empty() && edges.is_empty() {
            return false;
        }
        let Some((block, offset)) = self.position(id) else {
            return false;
        };
        ends.sort_unstable();
        edges.sort_unstable();
        let view = self.view;
        let walk = self.walks.entry(number);
        let walk = walk.or_insert_with(|| Walk::new(view, function));
        let mut steps = self.steps;
        let found = walk.always(function, (block, offset), &ends, &edges, &mut steps);
        self.steps = steps;
        found
    }

    /// Position of an item's definition: its block and a word offset, at the start of the block for phis.
    pub(super) fn position(&self, id: ItemIndex) -> Option<(BlockIndex, usize)> {
        let item = self.items.get(id)?;
        let function = self.view.function(item.function)?;
        match &item.kind {
            ItemKind::Value(part) => {
                let def = self.view.index.def(part.id)?;
                let block = function.block_of(part.id)?;
                match def.opcode() {
                    op::Phi | op::FunctionParameter => Some((block, self.view.index.blocks.get(block)?.offset)),
                    _ => Some((block, def.offset)),
                }
            }
            ItemKind::Memory { definition, .. } => {
                let found = function.memory.definitions.get(*definition)?;
                Some((found.block, found.offset))
            }
        }
    }
}
