//! The arguments of prints: their types, and code that turns them into words.
//!
//! ```text
//! uint, int, float   a word                  64 bits, pointers   two words, the low one first
//! narrower, bool     a word, zero-extended   vectors             the words of their components
//! ```
//!
//! In a module that may only store and convert narrow numbers, a `float16_t` is a `float`.

use super::find::arguments;
use vkabort_record::layout::UNIT_WORDS;
use vkabort_record::message_type::Type;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::PrintArgument;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, Literal, op};

/// Most words of a record. SPIR-V allows 255 parameters of a function (Universal Limits).
const MAX_WORDS: u32 = 240 * UNIT_WORDS;

/// The arguments of a print, of which those beyond [`MAX_WORDS`] are unknown.
pub(super) fn describe_arguments(index: &Index<'_>, print: &Inst<'_>) -> Vec<PrintArgument> {
    let mut words = 0;
    let described = arguments(print).map(|id| {
        let argument = describe(index, id);
        let end = words + argument.words();
        if end > MAX_WORDS {
            return PrintArgument::Unknown;
        }
        words = end;
        argument
    });
    described.collect()
}

fn describe(index: &Index<'_>, id: Id) -> PrintArgument {
    if let Some(text) = index.string(id).filter(|_| index.opcode(id) == op::String) {
        return PrintArgument::Text(text);
    }
    let ty = index.type_of(id);
    let vector = index.def(ty).filter(|inst| inst.opcode() == op::TypeVector);
    let element = vector.map_or(ty, |inst| inst.element_type());
    let Some(scalar) = index.scalar_type(element) else {
        return PrintArgument::Unknown;
    };
    let component = match widens(index, scalar, element) {
        true => ScalarType::F32,
        false => scalar,
    };
    PrintArgument::Value(match vector {
        Some(vector) => Type::Vector {
            count: vector.component_count(),
            component,
        },
        None => component.into(),
    })
}

/// Whether a floating-point type cannot be a part of a vector, so that its values become `float`s.
fn widens(index: &Index<'_>, scalar: ScalarType, ty: Id) -> bool {
    scalar == ScalarType::F16 && index.is_storage_only(ty)
}

/// Words of a payload that are in one unit of the record: a vector, or a `uint`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Number of words.
    pub(super) words: u32,
    pub(super) value: Id,
}

impl Part {
    /// The part of these words.
    pub(super) fn new(words: &[Id], out: &mut Emitter) -> Self {
        let value = match words {
            [word] => *word,
            _ => {
                let ty = out.words_type(words.len() as u32);
                out.emit(op::CompositeConstruct, ty, words)
            }
        };
        Self {
            words: words.len() as u32,
            value,
        }
    }

    /// Its words.
    pub(super) fn split(self, out: &mut Emitter) -> Vec<Id> {
        match self.words {
            1 => vec![self.value],
            words => (0..words)
                .map(|at| out.calculate(op::CompositeExtract, (self.value, Literal(at))))
                .collect(),
        }
    }
}

/// Writes the words of the payload: as many as `head` in the unit where a record's header ends, then the others. `stage`: in front of the
/// arguments.
pub(super) fn write_parts(
    index: &Index<'_>,
    print: &Inst<'_>,
    head: u32,
    stage: Option<Id>,
    out: &mut Emitter,
) -> Vec<Part> {
    let mut words = Vec::from_iter(stage);
    for (id, argument) in arguments(print).zip(describe_arguments(index, print)) {
        let PrintArgument::Value(_) = &argument else { continue };
        let ty = index.type_of(id);
        let vector = index.def(ty).filter(|inst| inst.opcode() == op::TypeVector);
        let element = vector.map_or(ty, |inst| inst.element_type());
        let Some(scalar) = index.scalar_type(element) else {
            continue;
        };
        let (mut id, mut element, mut scalar) = (id, element, scalar);
        let count = vector.map(|inst| inst.component_count());
        let shaped = |out: &mut Emitter, element| count.map_or(element, |count| out.vector(element, count));
        if index.is_storage_only(element) {
            // The whole vector is converted: nothing may be extracted from it.
            let (opcode, wide, wide_type) = match scalar {
                ScalarType::F16 => (op::FConvert, out.float(32), ScalarType::F32),
                _ => (op::UConvert, out.uint(), ScalarType::U32),
            };
            let ty = shaped(out, wide);
            id = out.emit(opcode, ty, id);
            (element, scalar) = (wide, wide_type);
        }
        for component in 0..count.unwrap_or(1) {
            let value = match count {
                Some(_) => out.emit(op::CompositeExtract, element, (id, Literal(component))),
                None => id,
            };
            let (low, high) = out.scalar_words(scalar, value, element);
            words.push(low);
            words.extend(high);
        }
    }
    let (head, others) = words.split_at(words.len().min(head as usize));
    let units = others.chunks(UNIT_WORDS as usize);
    let parts = Some(head).filter(|head| !head.is_empty()).into_iter().chain(units);
    parts.map(|words| Part::new(words, out)).collect()
}
