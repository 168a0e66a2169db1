//! Loops that do not end: the header of each loop counts a private variable down and aborts when it is 0.
//!
//! ```text
//! %vkabort_loop_budget = Variable Private %budget
//!
//! %n = Load %vkabort_loop_budget
//! %left = ISub %n 1, Store %vkabort_loop_budget %left
//! %failed = IEqual %n 0
//! ```
//!
//! With a limit of time, it looks at both in some iterations only, and `loop_clock` measures the time:
//!
//! ```text
//! if (n % INTERVAL == 0) { if (n == 0) abort; if (vkabort_is_over(n)) abort }
//! ```
//!
//! Mesa since 24.2 peels iterations off a loop as long as its first exit is decided by constants. Where those of the loop itself
//! are, it would alternate between them and the check, and peel all iterations of the budget, which takes hours. So there the check
//! compares with a 0 that compilers do not know, computed from an input of the shader where the function begins:
//!
//! ```text
//! %value = Load %input
//! %next = IAdd %value 1, %product = IMul %value %next, %zero = BitwiseAnd %product 1        one factor is even
//! ..
//! %failed = IEqual %n %zero
//! ```
//!
//! A shader without inputs of 32-bit numbers compares with the constant there too.
//!
//! One budget serves all loops of an invocation, so that nested loops end too. Loops that provably end soon, with those around
//! them, are left alone (`repetitions`).

use super::loop_positions::{describe_around, position_of};
use super::message::Message;
use super::module::ModulePlanter;
use super::place::Place;
use super::planter::Planter;
use super::properties::Properties;
use super::repetitions::Repetitions;
use super::rule::CheckRule;
use vkabort_analysis::constant_exits::ConstantExits;
use vkabort_analysis::loop_nest::{Loop, LoopNest};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::{Id, Inst, Literal, op};

/// Most loops around a loop that its message names.
const MAX_AROUND: usize = 4;

/// A loop to count.
struct CountedLoop<'n, 'w> {
    l: &'n Loop,
    /// Its `OpLoopMerge`.
    merge: Inst<'w>,
    position: Position<'w>,
    /// Word offset at which the code of its header begins.
    offset: usize,
}

/// The check `loops`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant<'w>(&self, planter: &mut Planter<'_, '_, 'w>) {
        plant(planter);
    }

    fn finish(&self, module: &mut ModulePlanter<'_, '_>) {
        module.planted.hooks.ticks = module.states.loops.clock.map(|clock| clock.ticks);
    }

    fn properties(&self) -> Properties {
        Properties {
            // Behind the branch that looks at the limits of the loop.
            leaving: Leaving::BehindBranch,
            ends_helpers: true,
            ..Properties::PLAIN
        }
    }
}

fn plant(planter: &mut Planter<'_, '_, '_>) {
    let repetitions = planter.repetitions;
    let nest = planter.nest.clone();
    let loops = counted_loops(planter, &nest, repetitions);
    // Before any header is split.
    for counted in &loops {
        planter.drop_hints(counted.l.header, &counted.merge);
    }
    if loops.is_empty() {
        return;
    }
    let exits = planter
        .view
        .map(|view| ConstantExits::new(view, &planter.index.sets("GLSL.std.450")));
    let mut zero = None;
    for counted in loops {
        let exits = exits.as_ref().filter(|exits| exits.has(counted.l));
        let input = exits.and_then(ConstantExits::input);
        let hidden_zero = input.map(|input| *zero.get_or_insert_with(|| hide_zero(planter, input)));
        plant_loop(planter, &nest, counted, hidden_zero);
    }
}

/// The loops to count.
fn counted_loops<'n, 'w>(
    planter: &mut Planter<'_, '_, 'w>,
    nest: &'n LoopNest,
    repetitions: Option<&Repetitions>,
) -> Vec<CountedLoop<'n, 'w>> {
    let unrolled = match planter.options().sanitize.counts_all_loops {
        true => Some(find_unrolled(planter, nest, repetitions)),
        false => None,
    };
    let mut loops = Vec::new();
    for (number, l) in nest.loops().iter().enumerate() {
        let is_left_out = match &unrolled {
            Some(unrolled) => unrolled.get(number) == Some(&true),
            None => repetitions.is_some_and(|repetitions| repetitions.is_short(nest, number)),
        };
        if is_left_out || !planter.is_plantable(l.header) {
            continue;
        }
        let Some(header) = planter.index.blocks.get(l.header) else {
            continue;
        };
        let Some(merge) = planter.index.merge(header) else {
            continue;
        };
        let position = position_of(planter, l);
        if planter.selects(&position) {
            let offset = after_phis(planter.index, header);
            loops.push(CountedLoop {
                l,
                merge,
                position,
                offset,
            });
        }
    }
    loops
}

/// Whether the driver, which counts the iterations of loops, unrolls each loop and so does not count it: Mesa 22.3 unrolls loops of
/// up to 32 iterations and 832 instructions of its own in all. With a counter in them, their code would take twice as long to compile.
fn find_unrolled(planter: &Planter<'_, '_, '_>, nest: &LoopNest, repetitions: Option<&Repetitions>) -> Vec<bool> {
    const MAX_ITERATIONS: u64 = 32;
    /// In SPIR-V, where an instruction may stand for four on the components of vectors.
    const MAX_INSTRUCTIONS: usize = 400;
    let index = planter.index;
    let mut instructions = vec![0_usize; nest.loops().len()];
    for number in planter.function.blocks.iter() {
        let own = nest
            .innermost(number)
            .and_then(|position| instructions.get_mut(position));
        let Some((own, block)) = own.zip(index.blocks.get(number)) else {
            continue;
        };
        let calls = index.body(block).any(|inst| inst.opcode() == op::FunctionCall);
        let count = if calls { usize::MAX } else { index.body(block).count() };
        *own = own.saturating_add(count);
    }
    let mut unrolled = vec![false; nest.loops().len()];
    // Inner loops first.
    for (position, l) in nest.loops().iter().enumerate().rev() {
        let most = repetitions.and_then(|repetitions| repetitions.most(position));
        let own = instructions.get(position).copied().unwrap_or(usize::MAX);
        let all = most.map_or(usize::MAX, |most| own.saturating_mul(most as usize));
        let is_once = most == Some(1);
        let is_small = most.is_some_and(|most| most <= MAX_ITERATIONS) && all <= MAX_INSTRUCTIONS;
        if let Some(slot) = unrolled.get_mut(position) {
            *slot = is_once || is_small;
        }
        let around = l.parent.and_then(|parent| instructions.get_mut(parent));
        if let Some(around) = around {
            *around = around.saturating_add(if is_small { all } else { usize::MAX });
        }
    }
    unrolled
}

/// Plants the check into a loop.
fn plant_loop<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    nest: &LoopNest,
    counted: CountedLoop<'_, 'w>,
    hidden_zero: Option<Id>,
) {
    let CountedLoop {
        l,
        merge,
        position,
        offset,
    } = counted;
    let around: Vec<&Loop> = nest.around(l).take(MAX_AROUND).collect();
    let around = describe_around(planter, &merge, &position, &around);
    let place = Place::new(l.header, offset, (merge, position));
    let sanitize = &planter.options().sanitize;
    let (budget, timeout) = (sanitize.loop_budget, sanitize.loop_timeout);
    let used_up = message(planter, "loop budget of %u iterations is used up", budget, &around);
    let clock = planter.clock().zip(timeout);
    let counter = planter.counter();
    let count = |out: &mut Emitter| {
        let uint = out.uint();
        let one = out.constant(1);
        let left = out.emit(op::Load, uint, counter);
        let less = out.emit(op::ISub, uint, (left, one));
        out.op(op::Store, (counter, less));
        left
    };
    let Some((clock, timeout)) = clock else {
        planter.plant(Check::Loops, &place, used_up, |out| {
            let left = count(out);
            is_zero(out, left, hidden_zero)
        });
        return;
    };
    let expired = message(
        planter,
        "loop timeout of %u ms has expired",
        timeout.milliseconds,
        &around,
    );
    let write_count = |out: &mut Emitter| {
        let left = count(out);
        let mask = out.constant(timeout.interval.wrapping_sub(1));
        let rest = out.calculate(op::BitwiseAnd, (left, mask));
        [is_zero(out, rest, hidden_zero), is_zero(out, left, None)]
    };
    planter.plant_limits(&place, &clock, write_count, [used_up, expired]);
}

/// A message: a text with a conversion, its value, and text behind it.
fn message(planter: &mut Planter<'_, '_, '_>, text: &str, value: u32, rest: &str) -> Message {
    let mut message = Message::new(text);
    message.push_literal(rest);
    let out = planter.out();
    let (uint, value) = (out.uint(), out.constant(value));
    message.with_constant(uint, value)
}

/// Whether a number is 0, or equal to another 0.
fn is_zero(out: &mut Emitter, number: Id, hidden_zero: Option<Id>) -> Id {
    let bool = out.bool();
    let zero = out.constant(0);
    out.emit(op::IEqual, bool, (number, hidden_zero.unwrap_or(zero)))
}

/// Computes a 0 at the start of the function, from an input variable with this pointee.
fn hide_zero(planter: &mut Planter<'_, '_, '_>, (variable, pointee): (Id, Id)) -> Id {
    let index = planter.index;
    let is_vector = index.opcode(pointee) == op::TypeVector;
    let blocks = index.blocks_of(planter.function);
    let start = blocks.first().map_or(0, |first| {
        let variables = index.insts(first.offset, first.end);
        let variables = variables.filter(|inst| inst.opcode() == op::Variable);
        variables.map(|inst| inst.end()).last().unwrap_or(first.offset + 2)
    });
    planter.insert(start, |out| {
        let (uint, one) = (out.uint(), out.constant(1));
        let mut value = out.emit(op::Load, pointee, variable);
        let mut ty = pointee;
        if is_vector {
            ty = index.part_type(pointee, 0);
            value = out.emit(op::CompositeExtract, ty, (value, Literal(0)));
        }
        if ty != uint {
            value = out.calculate(op::Bitcast, value);
        }
        let next = out.calculate(op::IAdd, (value, one));
        let product = out.calculate(op::IMul, (value, next));
        out.calculate(op::BitwiseAnd, (product, one))
    })
}
