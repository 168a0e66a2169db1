//! Checks of the operands of an instruction whose result is undefined for some: one check for the components of a vector, at the
//! places where they have an effect (`analysis::value_flow`).
//!
//! ```text
//! %q = UDiv %a %b      becomes   %zero = IEqual %b 0 ..
//!                                %failed = LogicalOr %zero_of_x %zero_of_y ..
//!                                the abort: %component = Select .., %value = VectorExtractDynamic %a %component
//! ```

use super::message::Message;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::scalars::{Scalar, are_scalars, extract, extract_dynamic, quote, write_conditions};
use crate::analysis::expressions::Expressions;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::analysis::ranges::{PointFacts, Ranges};
use crate::analysis::value_flow::lane::{Lane, component_count};
use crate::analysis::value_flow::{Point, ValueFlow};
use crate::edit::emitter::Emitter;
use crate::options::Options;
use crate::sanitize::Check;
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Components of the largest vectors that have checks.
const MAX_COMPONENTS: u32 = 16;

/// What checks know of the values of a function, computed for the first one that asks.
pub(super) struct ValueFacts<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    options: &'a Options,
    computed: Option<(ValueFlow<'a, 'w>, Ranges<'a, 'w>)>,
}

impl<'a, 'w> ValueFacts<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, function: &'a Function, options: &'a Options) -> Self {
        Self {
            index,
            function,
            options,
            computed: None,
        }
    }

    pub(super) fn get(&mut self) -> (&mut ValueFlow<'a, 'w>, &mut Ranges<'a, 'w>) {
        let (flow, ranges) = self.computed.get_or_insert_with(|| {
            let flow = ValueFlow::new(self.index, self.function);
            (flow, Ranges::new(self.index, self.options))
        });
        (flow, ranges)
    }
}

/// A check of the operands of one instruction.
pub(super) trait ValueCheck<'w> {
    fn check(&self) -> Check;

    /// The instruction whose result is undefined if the check fails.
    fn inst(&self) -> Inst<'w>;

    /// Tells this test from others of the same check and operands.
    fn kind(&self) -> u32 {
        0
    }

    /// The operands that the test depends on, and that the message shows in this order.
    fn operands(&self) -> SmallVec<[Id; 2]>;

    /// Whether the check can fail for a component.
    fn can_fail(&self, ranges: &Ranges<'_, 'w>, at_point: &PointFacts<'_, '_, 'w>, component: Option<u32>) -> bool;

    /// Writes the test of a component: operands as scalars.
    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id;

    /// The text of the message, with a conversion for each operand. `component` is that of vectors if only one is checked.
    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message;
}

/// Plants a check where the components of its instruction's result have an effect.
pub(super) fn plant_value<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
) {
    let (flow, ranges) = facts.get();
    let inst = check.inst();
    let count = component_count(planter.index, inst.result_type());
    if count > MAX_COMPONENTS || !flow.is_reachable(block) {
        return;
    }
    let components = (0..count).map(|component| (count > 1).then_some(component));
    let mut groups: BTreeMap<Point, Vec<Option<u32>>> = BTreeMap::new();
    for component in components {
        let at_point = ranges.facts_at(flow, block, &[]);
        if !check.can_fail(ranges, &at_point, component) {
            continue;
        }
        for point in flow.points(&Lane::component(inst.result(), component)) {
            let at_point = ranges.facts_at(flow, point.block, &point.conditions);
            let key = key(check, component);
            if check.can_fail(ranges, &at_point, component) && !planter.is_tested(flow, &key, &point) {
                groups.entry(point).or_default().push(component);
            }
        }
    }
    for (point, components) in groups {
        plant_at(planter, block, check, &point, &components);
    }
}

/// Plants a check of the components of a stored value of type `ty` in front of its instruction.
pub(super) fn plant_effect<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
    ty: Id,
) {
    let flow = facts.get().0;
    let count = component_count(planter.index, ty);
    if count > MAX_COMPONENTS || !flow.is_reachable(block) {
        return;
    }
    let point = Point {
        block,
        offset: check.inst().offset,
        conditions: Vec::new(),
    };
    let components = (0..count).map(|component| (count > 1).then_some(component));
    let untested = components.filter(|component| !planter.is_tested(flow, &key(check, *component), &point));
    let components: Vec<Option<u32>> = untested.collect();
    if !components.is_empty() {
        plant_at(planter, block, check, &point, &components);
    }
}

fn key<'w>(check: &impl ValueCheck<'w>, component: Option<u32>) -> TestKey {
    let ids = check.operands().into_iter().map(Id::word);
    let words = [check.kind(), component.map_or(0, |component| component + 1)];
    (check.check() as u32, words.into_iter().chain(ids).collect())
}

fn plant_at<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
    point: &Point,
    components: &[Option<u32>],
) {
    let (index, inst) = (planter.index, check.inst());
    let Some(position) = planter
        .selected_position(block, &inst)
        .filter(|_| are_scalars(index, point))
    else {
        return;
    };
    let place = Place::of_point(point, inst, position);
    let (only, is_one) = match components {
        [only] => (*only, true),
        _ => (None, false),
    };
    let mut text = check.text(planter.expressions(), only);
    match (components, only) {
        (_, Some(component)) => text.push_literal(&format!(", in component {component}")),
        ([_], None) => {}
        _ => text.push_text(", in component %u"),
    }
    if !position.has_line() {
        text.push_literal(&format!(" ({})", quote(&inst)));
    }
    let operands = check.operands();
    let write_condition = |out: &mut Emitter| {
        let bool = out.bool();
        let mut tests = Vec::new();
        for component in components {
            let scalars: SmallVec<[Scalar; 2]> =
                operands.iter().map(|id| extract(out, index, *id, *component)).collect();
            tests.push(check.write_failed(out, index, &scalars));
        }
        let any = tests
            .iter()
            .copied()
            .reduce(|one, other| out.emit(op::LogicalOr, bool, (one, other)));
        let failed = write_conditions(out, index, any.unwrap_or_default(), &point.conditions);
        (failed, tests)
    };
    let write_message = |out: &mut Emitter, tests: Vec<Id>| {
        if is_one {
            let message = operands.iter().fold(text, |message, id| {
                let scalar = extract(out, index, *id, only);
                message.with(scalar.ty, scalar.id)
            });
            return message;
        }
        let uint = out.uint();
        let failing = components.iter().copied().zip(tests).rev();
        let mut which = None;
        for (component, test) in failing {
            let number = out.constant(component.unwrap_or(0));
            which = Some(match which {
                None => number,
                Some(other) => out.emit(op::Select, uint, (test, number, other)),
            });
        }
        let which = which.unwrap_or_default();
        let message = operands.iter().fold(text, |message, id| {
            let scalar = extract_dynamic(out, index, *id, which);
            message.with(scalar.ty, scalar.id)
        });
        message.with(uint, which)
    };
    planter.plant_with(check.check(), &place, write_condition, write_message);
    for component in components {
        planter.add_tested(key(check, *component), point);
    }
}
