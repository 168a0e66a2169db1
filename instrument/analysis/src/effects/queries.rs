//! Effects of the values of a module.

use super::flow::{Flow, FlowFinder, Source};
use super::items::{Item, ItemKind};
use super::observed::Solver;
use super::parts::{ValuePart, results};
use super::point::Condition;
use super::use_finder::ValueClass;
use crate::view::ModuleView;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::op;

/// The effects of the values of a module.
pub struct Effects<'v, 'a, 'w> {
    solver: Solver<'v, 'a, 'w>,
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
        }
    }

    /// Work that was left out so far because of limits, for the log.
    pub fn given_up(&self) -> Option<String> {
        let walks = self.solver.given_up();
        walks.then(|| "the branches between values and their effects are too many to follow all".to_owned())
    }

    /// Whether a part of a value is certain to have an effect, from its definition on.
    pub fn is_observed(&mut self, function: FunctionIndex, part: &ValuePart) -> bool {
        let kind = ItemKind::Value(part.clone());
        let id = self.solver.items.intern(Item { function, kind });
        self.solver.is_observed(id)
    }

    /// The carriers of the faults of values whose effect is not certain, in the functions for which `is_written`.
    pub fn flow(&mut self, sources: &[Source], is_written: &dyn Fn(FunctionIndex) -> bool) -> Flow {
        FlowFinder::new(&mut self.solver, is_written).find(sources)
    }

    /// The block of each use of a part of a value that may take it, and the conditions without which the use drops it.
    pub fn uses(&self, function: FunctionIndex, part: &ValuePart) -> Vec<(BlockIndex, Vec<Condition>)> {
        let (view, index) = (self.solver.view, self.solver.view.index);
        let Some(of) = view.function(function) else {
            return Vec::new();
        };
        let uses = of.uses.of(part.id).filter_map(|at| {
            let inst = index.inst(at.offset);
            let is_move = matches!(
                inst.opcode(),
                op::CompositeExtract | op::CompositeInsert | op::VectorShuffle
            );
            let is_taken = !is_move || !results(index, &inst, at.word, &part.path).is_empty();
            let conditions = self.solver.finder.conditions(part, &inst, at.word);
            is_taken.then(|| (at.block, conditions.into_vec()))
        });
        uses.collect()
    }
}
