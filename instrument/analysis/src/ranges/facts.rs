//! Comparisons that hold in blocks, since every path there has taken a branch of them.

use super::comparisons::mirrored;
use super::outcomes::{on_the_way, outcomes};
use super::value_numbers::{NumberedPart, ValueNumbers};
use crate::effects::{Condition, Test, component_count};
use crate::view::path::Path;
use crate::view::{FunctionView, Origin};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_spirv::index::typed::{BlockIndex, NumberIndex};
use vkabort_spirv::{Id, op};

/// Most facts of one number that are used at a place, nearest first. More make no difference but for a check that cannot fail, which
/// is planted.
const MOST_FACTS: usize = 64;
/// Most Booleans of one condition that are read. The same holds for more.
const MOST_PARTS: usize = 64;

/// A comparison of a number with another one, and its result.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    /// The opcode with the number as its first operand.
    pub(super) opcode: u16,
    pub(super) other: NumberIndex,
    pub(super) result: bool,
    /// It holds in all blocks that this one dominates.
    pub(super) from: BlockIndex,
    /// Position of the fact of the same number that holds in all these blocks, too.
    around: Option<usize>,
}

impl Fact {
    /// Whether the number is below the other one, as unsigned values. `is_positive`: it is not negative.
    pub(super) fn is_below(&self, is_positive: bool) -> bool {
        match (self.opcode, self.result) {
            (op::ULessThan, true) | (op::UGreaterThanEqual, false) => true,
            (op::SLessThan, true) | (op::SGreaterThanEqual, false) => is_positive,
            _ => false,
        }
    }
}

#[cfg(test)]
impl Fact {
    /// A comparison with some number.
    pub(super) fn of_value(opcode: u16, result: bool) -> (Self, NumberIndex) {
        let other = NumberIndex::default();
        let fact = Self {
            opcode,
            other,
            result,
            from: BlockIndex::default(),
            around: None,
        };
        (fact, other)
    }
}

/// The facts of a function, by the number that is compared.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// An empty list for a number whose facts are all of edges.
    all: HashMap<NumberIndex, Vec<Fact>>,
    /// Those of edges to blocks that other edges lead to, too: by the block of the branch, with the block that it leads to in place
    /// of the one from which on they hold.
    on_edges: HashMap<(NumberIndex, BlockIndex), Vec<Fact>>,
}

impl Facts {
    /// O(blocks * Booleans of a condition).
    pub(super) fn new(function: &FunctionView<'_, '_>, numbers: &mut ValueNumbers) -> Self {
        let mut facts = Self::default();
        for number in function.graph.reverse_postorder() {
            for outcome in outcomes(function, *number) {
                let edge = (!outcome.is_alone).then_some(*number);
                facts.add_condition(
                    function,
                    numbers,
                    (outcome.condition, None, outcome.result),
                    outcome.to,
                    edge,
                );
            }
        }
        facts.nest(function);
        facts
    }

    /// Facts that hold under the conditions of a point, in its block.
    pub(super) fn of_conditions(
        function: &FunctionView<'_, '_>,
        numbers: &mut ValueNumbers,
        conditions: &[Condition],
        block: BlockIndex,
    ) -> Self {
        let mut facts = Self::default();
        for condition in conditions
            .iter()
            .filter(|condition| matches!(condition.test, Test::True | Test::False))
        {
            let result = condition.test == Test::True;
            facts.add_condition(
                function,
                numbers,
                (condition.value, condition.component, result),
                block,
                None,
            );
        }
        facts.nest(function);
        facts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether there is a fact of a number anywhere.
    pub(super) fn has(&self, number: NumberIndex) -> bool {
        self.all.contains_key(&number)
    }

    /// Orders the facts of each number by a walk of the dominator tree, and connects each with the one around it.
    fn nest(&mut self, function: &FunctionView<'_, '_>) {
        for facts in self.all.values_mut() {
            facts.sort_by_key(|fact| function.graph.tree_times(fact.from).0);
            let mut open: Vec<(usize, u32)> = Vec::new();
            for (position, fact) in facts.iter_mut().enumerate() {
                let (enter, leave) = function.graph.tree_times(fact.from);
                while open.pop_if(|(_, end)| *end <= enter).is_some() {}
                fact.around = open.last().map(|(around, _)| *around);
                open.push((position, leave));
            }
        }
    }

    /// The facts of a number that hold in a block, nearest first. O(log(facts) + those around).
    pub(super) fn at<'f>(
        &'f self,
        function: &'f FunctionView<'_, '_>,
        number: NumberIndex,
        block: BlockIndex,
    ) -> impl Iterator<Item = &'f Fact> {
        let all = self.all.get(&number).map_or(&[][..], Vec::as_slice);
        let (enter, _) = function.graph.tree_times(block);
        let after = all.partition_point(|fact| function.graph.tree_times(fact.from).0 <= enter);
        let around = |fact: &&'f Fact| all.get(fact.around?);
        let chain = std::iter::successors(after.checked_sub(1).and_then(|last| all.get(last)), around);
        let holding = chain.skip_while(move |fact| !function.graph.dominates(fact.from, block));
        holding.take(MOST_FACTS)
    }

    /// The facts of a number that hold on the edge between two blocks beside those of the first one.
    pub(super) fn on_edge(&self, number: NumberIndex, from: BlockIndex, to: BlockIndex) -> impl Iterator<Item = &Fact> {
        let all = self.on_edges.get(&(number, from)).into_iter().flatten();
        all.filter(move |fact| fact.from == to)
    }

    /// Adds the comparisons that must all have their results for a condition to have its result.
    fn add_condition(
        &mut self,
        function: &FunctionView<'_, '_>,
        numbers: &mut ValueNumbers,
        (condition, component, result): (Id, Option<u32>, bool),
        from: BlockIndex,
        edge: Option<BlockIndex>,
    ) {
        let index = function.index;
        let mut seen = HashSet::default();
        let mut worklist = vec![(condition, component, result)];
        while let Some((id, component, result)) = worklist.pop() {
            if seen.len() >= MOST_PARTS || !seen.insert((id, component, result)) {
                continue;
            }
            let number = numbers.number(function, id, component.into_iter().collect());
            let Some(part) = numbers.get(number).cloned() else {
                continue;
            };
            let (id, component) = match &part {
                NumberedPart::Value(id, path) if path.len() < 2 => (*id, path.first().copied()),
                NumberedPart::Value(..) => continue,
                NumberedPart::Memory(..) => (id, component),
            };
            if let Some(selected) = selected(function, numbers, &part, result) {
                let (value, through) = selected;
                worklist.push((value, component, result));
                worklist.extend(on_the_way(
                    function,
                    through,
                    function.graph.immediate_dominator(part_block(function, &part)),
                ));
                continue;
            }
            let Some(inst) = index.def(id) else { continue };
            match (inst.opcode(), result) {
                (op::LogicalNot, _) => worklist.push((inst.id(3), component, !result)),
                (op::LogicalAnd, true) | (op::LogicalOr, false) => {
                    worklist.extend(inst.ids(3).map(|id| (id, component, result)));
                }
                (op::All, true) | (op::Any, false) => {
                    let count = component_count(index, index.type_of(inst.id(3)));
                    worklist.extend((0..count).map(|component| (inst.id(3), Some(component), result)));
                }
                (opcode @ op::IEqual..=op::SLessThanEqual, _) => {
                    let mut operand =
                        |word: usize| numbers.number(function, inst.id(word), component.into_iter().collect());
                    let (left, right) = (operand(3), operand(4));
                    let of = |opcode, other| Fact {
                        opcode,
                        other,
                        result,
                        from,
                        around: None,
                    };
                    self.add(left, of(opcode, right), edge);
                    self.add(right, of(mirrored(opcode), left), edge);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, number: NumberIndex, fact: Fact, edge: Option<BlockIndex>) {
        let of_number = self.all.entry(number).or_default();
        match edge {
            Some(block) => self.on_edges.entry((number, block)).or_default().push(fact),
            None => of_number.push(fact),
        }
    }
}

/// The operand that a phi of Booleans must have taken to have a result, and the block that it comes from: `a && b` as a branch
/// over `b`.
fn selected(
    function: &FunctionView<'_, '_>,
    numbers: &mut ValueNumbers,
    part: &NumberedPart,
    result: bool,
) -> Option<(Id, BlockIndex)> {
    let operands: Vec<(NumberIndex, BlockIndex)> = match part {
        NumberedPart::Value(id, path) => {
            let phi = function
                .index
                .def(*id)
                .filter(|inst| inst.opcode() == op::Phi && path.is_empty())?;
            let pairs = phi.phi_pairs().map(|(value, label)| {
                let from = function.index.block_of_label(function.function, label)?;
                Some((numbers.number(function, value, Path::new()), from))
            });
            pairs.collect::<Option<_>>()?
        }
        NumberedPart::Memory(definition, path) => {
            let phi = function
                .memory
                .definitions
                .get(*definition)
                .filter(|found| found.origin == Origin::Phi)?;
            let operands = phi
                .operands
                .iter()
                .map(|(from, operand)| (numbers.number_in_memory(function, *operand, path.clone()), *from));
            operands.collect()
        }
    };
    let other = if result { op::ConstantFalse } else { op::ConstantTrue };
    let mut possible = operands
        .into_iter()
        .filter_map(|(number, from)| match numbers.get(number)? {
            NumberedPart::Value(id, _) if function.index.opcode(*id) == other => None,
            part => Some((part, from)),
        });
    let (only, from) = possible.next().filter(|_| possible.next().is_none())?;
    match only {
        NumberedPart::Value(id, path) if path.is_empty() => Some((*id, from)),
        _ => None,
    }
}

/// The block in which a number is computed.
fn part_block(function: &FunctionView<'_, '_>, part: &NumberedPart) -> BlockIndex {
    let block = match part {
        NumberedPart::Value(id, _) => function.block_of(*id),
        NumberedPart::Memory(definition, _) => function.memory.definitions.get(*definition).map(|found| found.block),
    };
    block.or(function.graph.entry()).unwrap_or_default()
}
