//! Upper limits on the iterations of the loops of a module, multiplied by those of the loops around them, in their function and around its calls.

use vkabort_analysis::loop_nest::LoopNest;
use vkabort_analysis::trip_count::{Constants, TripCounts};
use vkabort_analysis::view::ModuleView;
use vkabort_spirv::index::constant::Specialization;
use vkabort_spirv::index::spec_constants::{constants_of, spec_ids_of};
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, Table};

/// Iterations of a loop and those around it from which on it is counted.
const LIMIT: u64 = 1 << 16;

/// The loops of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetitions {
    /// Most iterations of each loop, in the order of [`LoopNest::loops`]. `None`: [`LIMIT`] or more, or not known.
    most: Vec<Option<u64>>,
    /// Most calls of the function that loops of counted iterations make one after the other.
    calls: u64,
}

/// The loops of a module.
#[derive(Debug, Default)]
pub(super) struct ModuleRepetitions {
    pub(super) functions: Table<FunctionIndex, Repetitions>,
    /// `SpecId`s of the constants whose defaults decide them, ascending.
    pub(super) spec_ids: Vec<u32>,
}

impl ModuleRepetitions {
    /// Those of every function. `specialization`: see [`Constants::new`]. O(instructions * depth of loops).
    pub(super) fn new(view: &ModuleView<'_, '_>, specialization: Option<&Specialization>) -> Self {
        let (index, graph) = (view.index, &view.graph);
        let constants = Constants::new(specialization);
        let mut all = index.functions.map(|_| Repetitions {
            most: Vec::new(),
            calls: 1,
        });
        // Callers before callees. Those of a circle, which no valid module has, are left out.
        let mut open_calls = index.functions.map(|_| 0_usize);
        for callee in index.functions.keys().flat_map(|function| graph.callees_in(function)) {
            if let Some(open) = open_calls.get_mut(callee) {
                *open += 1;
            }
        }
        let mut ready: Vec<FunctionIndex> = open_calls.keys().filter(|f| open_calls.get(*f) == Some(&0)).collect();
        while let Some(number) = ready.pop() {
            let Some(function) = index.functions.get(number) else {
                continue;
            };
            let has_loops = index
                .blocks_of(function)
                .iter()
                .any(|block| index.loop_merge(block).is_some());
            let none = LoopNest::default();
            let own_view = has_loops.then(|| view.function(number)).flatten();
            let nest = own_view.map_or(&none, |view| view.loops());
            if let Some((own, view)) = all.get_mut(number).zip(own_view) {
                let counts = TripCounts::new(view, &constants);
                let most = nest.loops().iter().map(|l| counts.most(l));
                own.most = most.map(|most| most.filter(|most| *most < LIMIT)).collect();
            }
            let own = all.get(number).cloned().unwrap_or_default();
            for call in graph.calls_in(number).iter() {
                let block = index.calls.get(call).map(|call| call.block);
                let calls = block.map_or(1, |block| own.of_block(nest, block));
                let Some(callee) = graph.callee(call) else {
                    continue;
                };
                if let Some(callee) = all.get_mut(callee) {
                    callee.calls = callee.calls.max(calls);
                }
                if let Some(open) = open_calls.get_mut(callee) {
                    *open -= 1;
                    if *open == 0 {
                        ready.push(callee);
                    }
                }
            }
        }
        let specialised = constants_of(index, constants.defaults());
        Self {
            functions: all,
            spec_ids: spec_ids_of(index, &specialised),
        }
    }
}

impl Repetitions {
    /// Whether a loop, by its position, is repeated fewer than [`LIMIT`] times, or since a loop around it was.
    pub(super) fn is_short(&self, nest: &LoopNest, position: usize) -> bool {
        self.most(position).is_some() && self.of_loop(nest, position) < LIMIT
    }

    /// The most iterations of a loop, by its position. `None`: not known.
    pub(super) fn most(&self, position: usize) -> Option<u64> {
        self.most.get(position).copied().flatten()
    }

    fn of_block(&self, nest: &LoopNest, block: BlockIndex) -> u64 {
        nest.innermost(block)
            .map_or(self.calls, |position| self.of_loop(nest, position))
    }

    /// Iterations of a loop and of those around it, up to one whose iterations are not known.
    fn of_loop(&self, nest: &LoopNest, position: usize) -> u64 {
        let mut product = 1_u64;
        let mut next = Some(position);
        while let Some(position) = next {
            let Some(most) = self.most(position) else {
                return product;
            };
            product = product.saturating_mul(most.max(1));
            next = nest.loops().get(position).and_then(|l| l.parent);
        }
        product.saturating_mul(self.calls)
    }
}
