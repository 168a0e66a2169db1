//! Checks of the operands of an instruction whose result is undefined for some: one check for the components of a vector, at the
//! places where they have an effect (`analysis::effects`).
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
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use vkabort_analysis::effects::{Condition, EffectPoint, Effects, ValuePart, component_count};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_analysis::view::FunctionView;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, Inst, op};

/// Components of the largest vectors that have checks.
const MAX_COMPONENTS: u32 = 16;

/// Analyses of the values of a module that checks share.
pub(super) struct ValueAnalyses<'v, 'a, 'w> {
    pub(super) effects: Effects<'v, 'a, 'w>,
    /// The effects of NaN and infinities.
    pub(super) not_finite: Effects<'v, 'a, 'w>,
    pub(super) ranges: Ranges<'v, 'a, 'w>,
}

/// Facts about the values of a function.
pub(super) struct ValueFacts<'f, 'v, 'a, 'w> {
    pub(super) function: &'v FunctionView<'a, 'w>,
    values: &'f mut ValueAnalyses<'v, 'a, 'w>,
}

impl<'f, 'v, 'a, 'w> ValueFacts<'f, 'v, 'a, 'w> {
    pub(super) fn new(function: &'v FunctionView<'a, 'w>, values: &'f mut ValueAnalyses<'v, 'a, 'w>) -> Self {
        Self { function, values }
    }

    pub(super) fn ranges(&mut self) -> &mut Ranges<'v, 'a, 'w> {
        &mut self.values.ranges
    }

    /// Words that name a number, whatever loads and copies are between; a component by its vector, since the components that a check
    /// tests decide how its message shows them.
    pub(super) fn name(&mut self, value: Id, component: Option<u32>) -> SmallVec<[u32; 8]> {
        match component {
            Some(component) => smallvec![u32::MAX - component, value.word()],
            None => self.values.ranges.name(self.function, value),
        }
    }

    /// The value that another one is, whatever loads and copies are between.
    pub(super) fn original(&mut self, value: Id) -> Id {
        self.values.ranges.original(self.function, value)
    }

    /// The points at which a part of a value has an effect.
    pub(super) fn points(&mut self, part: &ValuePart) -> Vec<EffectPoint> {
        self.values.effects.points(self.function.number, part)
    }

    /// The points at which a part of a value is certain to be stored as NaN or an infinity, if it is one.
    pub(super) fn points_of_not_finite(&mut self, part: &ValuePart) -> Vec<EffectPoint> {
        self.values.not_finite.points(self.function.number, part)
    }

    /// The facts that hold in a block of the function under conditions.
    pub(super) fn at(&mut self, block: BlockIndex, conditions: &[Condition]) -> RangePoint<'v, 'a, 'w> {
        self.values.ranges.at(self.function, block, conditions)
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

    /// The points at which a part of the result has an effect.
    fn points(&self, facts: &mut ValueFacts<'_, '_, '_, 'w>, part: &ValuePart) -> Vec<EffectPoint> {
        facts.points(part)
    }

    /// Whether the test needs the result, so that it comes behind the instruction.
    fn is_behind(&self) -> bool {
        false
    }

    /// The operands that the message shows, in this order.
    fn operands(&self) -> SmallVec<[Id; 2]>;

    /// The operands that the test depends on.
    fn tested_operands(&self) -> SmallVec<[Id; 2]> {
        self.operands()
    }

    /// Whether the check can fail for a component.
    fn can_fail<'v, 'a>(
        &self,
        ranges: &mut Ranges<'v, 'a, 'w>,
        at: &RangePoint<'v, 'a, 'w>,
        component: Option<u32>,
    ) -> bool;

    /// Writes the test of a component: operands as scalars.
    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id;

    /// The text of the message, with a conversion for each operand. `component` is that of vectors if only one is checked.
    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message;
}

/// Plants a check where the components of its instruction's result have an effect.
pub(super) fn plant_value<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
) {
    let inst = check.inst();
    let count = component_count(planter.index, inst.result_type());
    if count > MAX_COMPONENTS || !facts.function.graph.is_reachable(block) {
        return;
    }
    let components = (0..count).map(|component| (count > 1).then_some(component));
    let mut groups: BTreeMap<EffectPoint, Vec<Option<u32>>> = BTreeMap::new();
    let here = facts.at(block, &[]);
    for component in components {
        if !check.can_fail(facts.ranges(), &here, component) {
            continue;
        }
        let part = ValuePart::component(inst.result(), component);
        let mut points = Vec::new();
        for mut point in check.points(facts, &part) {
            if check.is_behind() && point.block == block {
                point.offset = point.offset.max(inst.end());
            }
            let key = key(facts, check, component);
            let is_here = point.block == block && point.conditions.is_empty();
            let can_fail = is_here || {
                let at = facts.at(point.block, &point.conditions);
                check.can_fail(facts.ranges(), &at, component)
            };
            if can_fail && !planter.is_tested(facts.function, &key, &point) {
                points.push(point);
            }
        }
        for point in planter.outside_loops(block, points) {
            groups.entry(point).or_default().push(component);
        }
    }
    for (point, components) in groups {
        plant_at(planter, facts, block, check, (&point, &components));
    }
}

/// Plants a check of the components of a stored value of type `ty` in front of its instruction.
pub(super) fn plant_effect<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
    ty: Id,
) {
    let count = component_count(planter.index, ty);
    if count > MAX_COMPONENTS || !facts.function.graph.is_reachable(block) {
        return;
    }
    let point = EffectPoint {
        block,
        offset: check.inst().offset,
        conditions: Vec::new(),
    };
    let components = (0..count).map(|component| (count > 1).then_some(component));
    let untested = components.filter(|component| {
        let key = key(facts, check, *component);
        !planter.is_tested(facts.function, &key, &point)
    });
    let components: Vec<Option<u32>> = untested.collect();
    if !components.is_empty() {
        plant_at(planter, facts, block, check, (&point, &components));
    }
}

fn key<'w>(facts: &mut ValueFacts<'_, '_, '_, 'w>, check: &impl ValueCheck<'w>, component: Option<u32>) -> TestKey {
    let mut words: SmallVec<[u32; 8]> = smallvec![check.kind()];
    for operand in check.tested_operands() {
        words.extend(facts.name(operand, component));
    }
    (check.check() as u32, words)
}

fn plant_at<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    block: BlockIndex,
    check: &impl ValueCheck<'w>,
    (point, components): (&EffectPoint, &[Option<u32>]),
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
        planter.add_tested(facts.function, key(facts, check, *component), point);
    }
}
