//! Carriers of faults: the values and variables through which a faulty value travels until it has an effect.
//!
//! A value whose effect is not certain where it is computed is a *source*. Its fault is a number that planted code computes beside the
//! value, and beside each value and variable that the faulty value may become, its *carriers*. The number is tested where a carrier has an
//! effect, or is certain to have one:
//!
//! ```text
//! %q = UDiv %a %b            source                fault: 1 if %b is 0
//! Store %acc %q              carrier: the variable
//! %v = Load %acc             carrier: %v
//! if (i < n)
//!     Store %buffer %v       test, in front of the store
//! ```
//!
//! The carriers are found without regard to the order of stores: whether a value has a fault is decided when the shader runs. A value that
//! is certain to have an effect is tested where it is defined, and its fault goes no further.
//!
//! Every carrier, and every use of one, is visited once (`values`, `memory`), which makes a graph. Sources are passed on along its edges
//! until nothing changes (`graph`).

mod carriers;
mod graph;
mod memory;
mod values;
mod variables;

pub use carriers::{Carried, Carrier, Flow, FlowTest, Source, TestedCarrier};

use super::observed::Solver;
use crate::view::FunctionView;
use carriers::Sources;
use graph::Graph;
use std::collections::BTreeMap;
use variables::Variables;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::{Inst, op};

/// Limit on the carriers of a module.
const MAX_CARRIERS: usize = 1 << 16;

/// Finds the carriers.
pub(super) struct FlowFinder<'f, 'v, 'a, 'w> {
    solver: &'f mut Solver<'v, 'a, 'w>,
    /// Whether faults are written in a function. Nothing is followed in the others.
    is_written: &'f dyn Fn(FunctionIndex) -> bool,
    variables: Variables,
    graph: Graph,
    /// By function and word offset.
    tests: BTreeMap<(FunctionIndex, usize), FlowTest>,
}

impl<'f, 'v, 'a, 'w> FlowFinder<'f, 'v, 'a, 'w> {
    pub(super) fn new(solver: &'f mut Solver<'v, 'a, 'w>, is_written: &'f dyn Fn(FunctionIndex) -> bool) -> Self {
        Self {
            variables: Variables::new(solver.view, is_written),
            solver,
            is_written,
            graph: Graph::default(),
            tests: BTreeMap::new(),
        }
    }

    /// O(uses of the carriers), with the logarithms of tables.
    pub(super) fn find(mut self, sources: &[Source]) -> Flow {
        for (number, (function, value)) in sources.iter().enumerate() {
            self.graph.add_first(Carrier::Value(*function, *value), number);
        }
        let mut next = 0;
        let mut has_too_many = false;
        while let Some(carrier) = self.graph.carrier(next) {
            has_too_many = next >= MAX_CARRIERS;
            if has_too_many {
                break;
            }
            match carrier {
                Carrier::Value(function, id) => self.value(next, function, id),
                Carrier::Variable(variable) => self.variable(next, variable),
                Carrier::Result(function) => {
                    let calls: Vec<_> = self.solver.view.calls_of(function).collect();
                    for (caller, offset) in calls {
                        let result = self.solver.view.index.inst(offset).result();
                        self.graph.edge(next, Carrier::Value(caller, result), false);
                    }
                }
            }
            next += 1;
        }
        let tested = self.tests.values().flat_map(|test| &test.carriers);
        self.graph.keep_live(tested.map(|(carrier, _)| carrier));
        self.graph.pass_on();
        self.finish(has_too_many)
    }

    /// A function in which faults are written.
    fn written(&self, number: FunctionIndex) -> Option<&'v FunctionView<'a, 'w>> {
        let view = self.solver.view;
        view.function(number).filter(|_| (self.is_written)(number))
    }

    fn test(&mut self, function: &FunctionView<'a, 'w>, (block, offset): (BlockIndex, usize), carrier: TestedCarrier) {
        let test = self.tests.entry((function.number, offset)).or_insert_with(|| FlowTest {
            function: function.number,
            block,
            offset,
            carriers: Vec::new(),
            sources: Sources::new(),
            has_more: false,
        });
        if !test.carriers.contains(&carrier) {
            test.carriers.push(carrier);
        }
    }

    fn finish(self, has_too_many: bool) -> Flow {
        let mut tests: Vec<FlowTest> = self.tests.into_values().collect();
        for test in &mut tests {
            for carried in test
                .carriers
                .iter()
                .flat_map(|(carrier, _)| self.graph.sources(carrier))
            {
                match test.sources.iter_mut().find(|other| other.source == carried.source) {
                    Some(other) => other.is_direct &= carried.is_direct,
                    None => test.sources.push(*carried),
                }
            }
            test.sources.sort_by_key(|carried| carried.source);
            let mut carriers = test.carriers.iter();
            test.has_more = carriers.any(|(carrier, _)| self.graph.has_more(carrier));
        }
        tests.retain(|test| !test.sources.is_empty());
        let mut given_up = Vec::new();
        if has_too_many {
            given_up.push("faults travel through too many values to follow all".to_owned());
        }
        given_up.extend(self.variables.given_up());
        Flow {
            carriers: self.graph.into_live(),
            tests,
            given_up,
        }
    }
}

/// The called function and its parameter at a position.
fn parameter<'w>(index: &Index<'w>, call: &Inst<'_>, position: usize) -> Option<(FunctionIndex, Inst<'w>)> {
    let callee = index.function_of(call.callee())?;
    let function = index.functions.get(callee)?;
    let parameter = index.insts(function.offset, function.end).nth(position + 1)?;
    (parameter.opcode() == op::FunctionParameter).then_some((callee, parameter))
}
