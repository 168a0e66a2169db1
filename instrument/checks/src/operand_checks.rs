//! Checks of the operands of an instruction whose result is undefined for some: one check for the components of a vector that are certain
//! to have an effect (`analysis::effects`). The faults of the others travel (`faults`).
//!
//! ```text
//! %q = UDiv %a %b      becomes   %zero = IEqual %b 0 ..
//!                                %failed = LogicalOr %zero_of_x %zero_of_y ..
//!                                the abort: %component = Select .., %value = VectorExtractDynamic %a %component
//! ```

use super::faults::{FaultClass, Faulty, Found, Origin, write_number};
use super::message::Message;
use super::module::Components;
use super::place::{Place, TestKey};
use super::planter::Planter;
use super::scalars::{Scalar, extract, extract_dynamic, quote};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use vkabort_analysis::effects::{EffectPoint, Effects, ValuePart, component_count};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_analysis::view::FunctionView;
use vkabort_analysis::view::path::Path;
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
    /// The effects of memory that nothing has stored.
    pub(super) unstored: Effects<'v, 'a, 'w>,
    pub(super) ranges: Ranges<'v, 'a, 'w>,
}

impl<'v, 'a, 'w> ValueAnalyses<'v, 'a, 'w> {
    pub(super) fn effects_of(&mut self, class: FaultClass) -> &mut Effects<'v, 'a, 'w> {
        match class {
            FaultClass::NotFinite => &mut self.not_finite,
            FaultClass::Unstored => &mut self.unstored,
            FaultClass::Undefined => &mut self.effects,
        }
    }
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

    /// Whether a part of a value is certain to have an effect, from its definition on.
    pub(super) fn is_observed(&mut self, class: FaultClass, part: &ValuePart) -> bool {
        let effects = self.values.effects_of(class);
        effects.is_observed(self.function.number, part)
    }

    /// The facts that hold in a block of the function.
    pub(super) fn at(&mut self, block: BlockIndex) -> RangePoint<'v, 'a, 'w> {
        self.values.ranges.at(self.function, block, &[])
    }

    /// The facts that hold at each use of a part of a value that the use does not drop.
    pub(super) fn at_uses(&mut self, class: FaultClass, part: &ValuePart) -> Vec<RangePoint<'v, 'a, 'w>> {
        let uses = self.values.effects_of(class).uses(self.function.number, part);
        let ranges = &mut self.values.ranges;
        let points = uses.into_iter();
        points
            .map(|(block, conditions)| ranges.at(self.function, block, &conditions))
            .collect()
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

    /// Kind of the fault.
    fn class(&self) -> FaultClass {
        FaultClass::Undefined
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

    /// The text of the message where the operands are not known any more.
    fn text_without_values(&self, _: &Expressions<'_, '_>, _: Option<u32>) -> Message {
        Message::default()
    }
}

/// Plants a check of the components of its instruction's result: a test where the effect of the result is certain; else its fault travels to
/// its effects.
pub(super) fn plant_value<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    block: BlockIndex,
    check: impl ValueCheck<'w> + 'w,
) {
    let inst = check.inst();
    let operation = (inst.offset, check.check() as u32, check.kind());
    if planter.module.is_collecting {
        collect(planter, facts, block, check);
        return;
    }
    let Some(components) = planter.module.tested_at_once.remove(&operation) else {
        return;
    };
    let point = EffectPoint {
        block,
        offset: if check.is_behind() { inst.end() } else { inst.offset },
    };
    let untested = components.into_iter().filter(|component| {
        let key = key(facts, &check, *component);
        !planter.is_tested(facts.function, &key, &point)
    });
    let components: Components = untested.collect();
    if !components.is_empty() {
        plant_at(planter, facts, block, &check, (&point, &components));
    }
}

/// Decides where the components of an operation are tested.
fn collect<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &mut ValueFacts<'_, '_, '_, 'w>,
    block: BlockIndex,
    check: impl ValueCheck<'w> + 'w,
) {
    let inst = check.inst();
    let count = component_count(planter.index, inst.result_type());
    if count > MAX_COMPONENTS || !facts.function.graph.is_reachable(block) {
        return;
    }
    let here = facts.at(block);
    let (mut at_once, mut travelling) = (Components::new(), Components::new());
    for component in (0..count).map(|component| (count > 1).then_some(component)) {
        if check.can_fail(facts.ranges(), &here, component) {
            let part = ValuePart::component(inst.result(), component);
            if facts.is_observed(check.class(), &part) {
                at_once.push(component);
                continue;
            }
            // A selection may take the result only where it is right.
            let uses = facts.at_uses(check.class(), &part);
            if uses.iter().any(|at| check.can_fail(facts.ranges(), at, component)) {
                travelling.push(component);
            }
        }
    }
    if !at_once.is_empty() {
        let operation = (inst.offset, check.check() as u32, check.kind());
        planter.module.tested_at_once.insert(operation, at_once);
    }
    if travelling.is_empty() {
        return;
    }
    let Some(position) = planter.selected_position(block, &inst) else {
        return;
    };
    planter.module.faults.add(Faulty {
        function: facts.function.number,
        block,
        inst,
        check: check.check(),
        position,
        class: check.class(),
        origin: Rc::new(TravellingComponents {
            check,
            components: travelling,
        }),
    });
}

/// Components of an operation whose faults travel.
struct TravellingComponents<C> {
    check: C,
    components: Components,
}

impl<'w, C: ValueCheck<'w>> Origin<'w> for TravellingComponents<C> {
    fn parts(&self) -> Vec<Path> {
        self.components
            .iter()
            .map(|component| component.iter().copied().collect())
            .collect()
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>) -> Vec<Id> {
        let operands = self.check.operands();
        let failed = self.components.iter().map(|component| {
            let scalars: SmallVec<[Scalar; 2]> =
                operands.iter().map(|id| extract(out, index, *id, *component)).collect();
            self.check.write_failed(out, index, &scalars)
        });
        failed.collect()
    }

    fn text(&self, names: &Expressions<'_, '_>, is_direct: bool) -> Message {
        let only = self.only();
        let mut text = match is_direct {
            true => self.check.text(names, only),
            false => self.check.text_without_values(names, only),
        };
        push_component(&mut text, &self.components);
        text
    }

    fn numbers(&self) -> Vec<u32> {
        let all = self.components.iter().filter(|_| self.components.len() > 1);
        all.map(|component| component.unwrap_or(0)).collect()
    }

    fn with_values(&self, out: &mut Emitter, index: &Index<'_>, message: Message, found: Found) -> Message {
        let operands = self.check.operands();
        let operands = operands.iter().filter(|_| found.is_direct);
        if self.components.len() == 1 {
            let only = self.only();
            return operands.fold(message, |message, id| {
                let scalar = extract(out, index, *id, only);
                message.with(scalar.ty, scalar.id)
            });
        }
        let which = write_number(out, found, &self.numbers());
        let message = operands.fold(message, |message, id| {
            let scalar = extract_dynamic(out, index, *id, which);
            message.with(scalar.ty, scalar.id)
        });
        message.with(out.uint(), which)
    }
}

impl<C> TravellingComponents<C> {
    fn only(&self) -> Option<u32> {
        match self.components.as_slice() {
            [only] => *only,
            _ => None,
        }
    }
}

/// Names the component that a message is about.
fn push_component(text: &mut Message, components: &[Option<u32>]) {
    match components {
        [Some(component)] => text.push_literal(&format!(", in component {component}")),
        [None] => {}
        _ => text.push_text(", in component %u"),
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
    if planter.module.is_collecting {
        return;
    }
    let count = component_count(planter.index, ty);
    if count > MAX_COMPONENTS || !facts.function.graph.is_reachable(block) {
        return;
    }
    let point = EffectPoint {
        block,
        offset: check.inst().offset,
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
    let Some(position) = planter.selected_position(block, &inst) else {
        return;
    };
    let place = Place::of_point(point, inst, position);
    let (only, is_one) = match components {
        [only] => (*only, true),
        _ => (None, false),
    };
    let mut text = check.text(planter.expressions(), only);
    push_component(&mut text, components);
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
        (any.unwrap_or_default(), tests)
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
