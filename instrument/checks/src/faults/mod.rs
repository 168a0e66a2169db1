//! Faults that travel beside values, as numbers, until an effect tests them.
//!
//! An operation whose effect is certain is tested in front of it. Any other one is an *origin*: its fault, a number, is computed beside its
//! result, and beside all values and variables that the result may become (`analysis::effects::flow`). An effect tests the faults of the
//! values that it takes, and fails with the message of the origin.
//!
//! ```text
//! %q = UDiv %a %b                     %q_fault = Select (%b == 0) 1 0
//! %r = Select %c %q %zero             %r_fault = Select %c %q_fault 0
//! Store %acc %r                       Store %acc_fault %r_fault
//! if (i < n)
//!     %v = Load %acc                  %v_fault = Load %acc_fault
//!                                     the abort of the division if %v_fault is 1
//!     Store %buffer %v
//! ```
//!
//! A fault is 0 while all is well. Of two faults that meet, the larger one goes on: numbers descend in the order of the operations, so it is
//! that of the first one. Values without origins have no faults, and an operation with one faulty operand needs no code.
//!
//! `docs/design/checks.md`.

mod aborts;
mod memory;
mod operations;
mod origin;
mod plant;
mod shapes;
mod tests;

pub(super) use origin::{FaultClass, Found, Origin, write_number};
pub(super) use plant::plant_faults;

use crate::scalars::quote;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use shapes::Shapes;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use vkabort_analysis::effects::{Carrier, Flow, FlowTest, Source};
use vkabort_analysis::expressions::Expressions;
use vkabort_options::Check;
use vkabort_spirv::edit::planted_aborts::PlantedFault;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::{Id, Inst};

/// An operation whose result may be faulty.
pub(super) struct Faulty<'w> {
    pub(super) function: FunctionIndex,
    pub(super) block: BlockIndex,
    pub(super) inst: Inst<'w>,
    pub(super) check: Check,
    pub(super) position: Position<'w>,
    pub(super) class: FaultClass,
    pub(super) origin: Rc<dyn Origin<'w> + 'w>,
}

/// A test of faults, with the positions of the operations in [`Faults::all`].
struct ClassTest {
    class: FaultClass,
    test: FlowTest,
    /// The position of each source of the flow.
    sources: Rc<[usize]>,
}

/// The faults of a module.
#[derive(Default)]
pub(super) struct Faults<'w> {
    all: Vec<Faulty<'w>>,
    /// The first number of each.
    numbers: Vec<u32>,
    by_result: HashMap<Id, Vec<usize>>,
    carriers: HashSet<Carrier>,
    tests: HashMap<FunctionIndex, Vec<ClassTest>>,
    shapes: Shapes,
    /// Private and local variables with the faults of variables, parameters and results.
    variables: HashMap<Carrier, Id>,
    given_up: Vec<String>,
    /// Whether some values have faults of more operations than are followed one by one.
    has_more: bool,
    /// Classes of which messages name faults by their numbers.
    numbered: BTreeSet<FaultClass>,
    /// Effects that are not tested, since their function has too many aborts.
    left_out: usize,
}

impl<'w> Faults<'w> {
    pub(super) fn add(&mut self, faulty: Faulty<'w>) {
        self.all.push(faulty);
    }

    /// The operations of a class, as sources, and their positions.
    fn sources(&self, class: FaultClass) -> (Vec<Source>, Rc<[usize]>) {
        let of_class = self.all.iter().enumerate().filter(|(_, faulty)| faulty.class == class);
        let (sources, positions): (Vec<_>, Vec<_>) = of_class
            .map(|(at, faulty)| ((faulty.function, faulty.inst.result()), at))
            .unzip();
        (sources, positions.into())
    }

    /// Finds what carries the faults of each class, by `flow`, and gives the operations their numbers.
    pub(super) fn plan(&mut self, mut flow: impl FnMut(FaultClass, &[Source]) -> Flow) {
        self.all
            .sort_by_key(|faulty| (faulty.class, std::cmp::Reverse(faulty.inst.offset)));
        for class in FaultClass::ALL {
            let (sources, positions) = self.sources(class);
            if sources.is_empty() {
                continue;
            }
            let found = flow(class, &sources);
            self.given_up.extend(found.given_up);
            self.has_more |= found.tests.iter().any(|test| test.has_more);
            self.carriers.extend(found.carriers);
            for test in found.tests {
                let sources = Rc::clone(&positions);
                let of_function = self.tests.entry(test.function).or_default();
                of_function.push(ClassTest { class, test, sources });
            }
        }
        let mut next = 1;
        for (at, faulty) in self.all.iter().enumerate() {
            self.numbers.push(next);
            next += faulty.origin.parts().len().max(1) as u32;
            if self
                .carriers
                .contains(&Carrier::Value(faulty.function, faulty.inst.result()))
            {
                self.by_result.entry(faulty.inst.result()).or_default().push(at);
            }
        }
    }

    /// Faults that are not followed, for the log.
    pub(super) fn given_up(&self, are_numbered: bool) -> Vec<String> {
        let mut all = self.given_up.clone();
        all.extend(self.shapes.given_up());
        if self.has_more && !are_numbered {
            all.push("some values have faults of too many operations to follow all".to_owned());
        }
        if self.left_out > 0 {
            let count = self.left_out;
            all.push(format!(
                "{count} effects of values that may have faults of many operations"
            ));
        }
        all
    }

    fn number(&self, at: usize) -> u32 {
        self.numbers.get(at).copied().unwrap_or_default()
    }

    /// The numbers of the parts of an operation.
    fn numbers_of(&self, at: usize) -> Range<u32> {
        let first = self.number(at);
        let parts = self.all.get(at).map_or(0, |faulty| faulty.origin.parts().len());
        first..first + parts.max(1) as u32
    }

    /// The operations that messages name by numbers.
    pub(super) fn numbered(&self, names: &Expressions<'_, '_>) -> BTreeMap<u32, PlantedFault> {
        let numbered = self.all.iter().enumerate();
        let numbered = numbered.filter(|(_, faulty)| self.numbered.contains(&faulty.class));
        let fault = |(at, faulty): (usize, &Faulty<'w>)| {
            let numbers = self.numbers_of(at);
            let mut text = faulty.origin.text(names, false);
            if !faulty.position.has_line() {
                text.push_literal(&format!(" ({})", quote(&faulty.inst)));
            }
            let fault = PlantedFault {
                operation: faulty.inst.result(),
                parts: numbers.end - numbers.start,
                check: faulty.check.name(),
                text: text.text().to_owned(),
                numbers: faulty.origin.numbers(),
            };
            (numbers.start, fault)
        };
        numbered.map(fault).collect()
    }
}
