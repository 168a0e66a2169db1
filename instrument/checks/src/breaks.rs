//! Stops that the author of a shader wrote, for debuggers or for other compilers.
//!
//! ```text
//! ExtInst DebugBreak           aborts; after a DebugPrintf with its text and values
//! AssumeTrueKHR %condition     becomes a test, since compilers may remove one of an assumed condition
//! ExtInst DebugPrintf "[Rust panicked .."        aborts with its text and values: rust-gpu's panics end the invocation there
//! ```

use super::message::Message;
use super::place::Place;
use super::planter::Planter;
use super::rule::CheckRule;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, Inst, op};

/// Beginnings of the texts of panics and of `core::intrinsics::abort()`, after a line end (rust-gpu,
/// `ShaderPanicStrategy::DebugPrintfThenExit`). rust-gpu writes "aborten". A position follows in modules that have it.
const PANICS: [&str; 2] = ["[Rust panicked", "[Rust abort"];

/// `DebugBreak` of its set, and `DebugPrintf` of its own.
const FIRST_INSTRUCTION: u32 = 1;

/// Word of an `OpExtInst` with its first operand.
const FIRST_OPERAND: usize = 5;

/// A stop in a block.
struct Stop<'w> {
    block: BlockIndex,
    inst: Inst<'w>,
    kind: Kind<'w>,
}

enum Kind<'w> {
    /// With the print right before it.
    Break(Option<Inst<'w>>),
    Assumption,
    Panic,
}

/// The check `breaks`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant<'w>(&self, planter: &mut Planter<'_, '_, 'w>) {
        for stop in find(planter) {
            plant_stop(planter, &stop);
        }
    }
}

fn find<'w>(planter: &Planter<'_, '_, 'w>) -> Vec<Stop<'w>> {
    let index = planter.index;
    let (breaks, prints) = (
        index.sets("NonSemantic.DebugBreak"),
        index.sets("NonSemantic.DebugPrintf"),
    );
    let is_of = |inst: &Inst<'_>, sets: &[Id]| {
        inst.opcode() == op::ExtInst && sets.contains(&inst.ext_inst_set()) && inst.ext_inst() == FIRST_INSTRUCTION
    };
    let mut stops = Vec::new();
    for (number, block) in planter.function.blocks.iter().zip(index.blocks_of(planter.function)) {
        let mut print = None;
        for inst in index.insts(block.offset, block.terminator) {
            let kind = if is_of(&inst, &breaks) {
                Kind::Break(print)
            } else if inst.opcode() == op::AssumeTrueKHR && index.opcode(inst.id(1)) != op::ConstantTrue {
                Kind::Assumption
            } else if is_of(&inst, &prints) {
                print = Some(inst);
                match text_of(index, &inst) {
                    Some(text) if is_panic(&text) => Kind::Panic,
                    _ => continue,
                }
            } else {
                let is_between = !matches!(inst.opcode(), op::Line | op::NoLine) && !index.is_debug_info(&inst);
                print = print.filter(|_| !is_between);
                continue;
            };
            let block = number;
            stops.push(Stop { block, inst, kind });
        }
    }
    stops
}

fn plant_stop<'w>(planter: &mut Planter<'_, '_, 'w>, stop: &Stop<'w>) {
    let index = planter.index;
    let inst = stop.inst;
    let Some(block) = index.blocks.get(stop.block) else {
        return;
    };
    let position = index.position(block, inst.offset);
    if !planter.selects(&position) {
        return;
    }
    // A print comes before its abort, so that others show it too.
    let offset = match stop.kind {
        Kind::Panic => inst.end(),
        _ => inst.offset,
    };
    // Instructions without semantics may come between phis and between variables, which stay together.
    let start = match planter.function.blocks.iter().next() {
        Some(first) if first == stop.block => index.after_variables(planter.function).unwrap_or(0),
        _ => after_phis(index, block),
    };
    let place = Place::new(stop.block, offset.max(start), (inst, position));
    let is_true = |out: &mut Emitter| {
        let bool = out.bool();
        out.value(op::ConstantTrue, bool, ())
    };
    match stop.kind {
        Kind::Break(print) => {
            let message = print.and_then(|print| of_print(index, &print));
            let message = message.unwrap_or_else(|| Message::new("debug break"));
            planter.plant(Check::Breaks, &place, message, is_true);
        }
        Kind::Panic => {
            let message = of_print(index, &inst).unwrap_or_default();
            planter.plant(Check::Breaks, &place, message, is_true);
        }
        Kind::Assumption => {
            planter.remove(&inst);
            let message = Message::new("assumption is false");
            planter.plant(Check::Breaks, &place, message, |out| {
                let bool = out.bool();
                out.emit(op::LogicalNot, bool, inst.id(1))
            });
        }
    }
}

fn text_of(index: &Index<'_>, print: &Inst<'_>) -> Option<String> {
    index.string(print.id(FIRST_OPERAND))
}

/// The text and the values of a print. A print of values that a message cannot hold leaves them out.
fn of_print(index: &Index<'_>, print: &Inst<'_>) -> Option<Message> {
    let text = shorten(&text_of(index, print)?);
    let values: Vec<(Id, Id)> = print.ids(FIRST_OPERAND + 1).map(|id| (index.type_of(id), id)).collect();
    if values.iter().all(|(ty, _)| is_printable(index, *ty)) {
        let message = Message::new(&text);
        return Some(
            values
                .into_iter()
                .fold(message, |message, (ty, id)| message.with(ty, id)),
        );
    }
    let mut message = Message::default();
    message.push_literal(&text);
    Some(message)
}

fn is_panic(text: &str) -> bool {
    PANICS.iter().any(|panic| text.trim_start().starts_with(panic))
}

/// The text of a panic begins with a line `[Rust panicked at FILE:LINE:COLUMN]` between line ends.
fn shorten(text: &str) -> String {
    let text = text.trim();
    let panic = text.strip_prefix('[').and_then(|text| text.split_once("]\n"));
    match panic.filter(|_| is_panic(text)) {
        Some((place, rest)) => format!("{place}: {}", rest.trim_start()),
        None => text.to_owned(),
    }
}

/// Whether a message can hold a scalar or vector type.
fn is_printable(index: &Index<'_>, ty: Id) -> bool {
    let vector = index.def(ty).filter(|inst| inst.opcode() == op::TypeVector);
    index
        .scalar_type(vector.map_or(ty, |inst| inst.element_type()))
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_panic_is_one_line_and_its_callers() {
        let text = "\n[Rust panicked at src/lib.rs:7:5]\n index is %u\n in f\n main()\n";
        assert_eq!(
            shorten(text),
            "Rust panicked at src/lib.rs:7:5: index is %u\n in f\n main()"
        );
        assert_eq!(shorten("\n[Rust panicked]\n x\n"), "Rust panicked: x");
        assert_eq!(shorten(" [a]\n b "), "[a]\n b");
    }
}
