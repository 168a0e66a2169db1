//! Compares the output of a rewrite's prints with the interpreter's values at the prints of the original.

use super::inputs::{CheckOptions, STEPS, rewrite_once};
use super::run::{self, Run, Schedule};
use crate::choices::Choices;
use crate::interpret::InterpretError;
use crate::interpret::UndefinedValues;
use crate::interpret::value::Scalar;
use crate::module::Module;
use crate::words::from_bytes;
use std::collections::HashMap;
use vkabort_instrument::{Arena, Instrumented, Options, Prints};
use vkabort_record::layout::{CONTROL_BYTES, UNIT_BYTES};
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES as PRINT_CONTROL_BYTES, FIRST_SLOT, SHARED_COUNTER, SLOT_BYTES, SLOT_WORDS,
};
use vkabort_record::print::record::{Control, PrintRecord, PrintShape, read_prints};

/// Calls of `due` among which the abort of an invocation is chosen.
const MAX_CALLS: u32 = 12;
/// Units of an arena that holds all records.
const CAPACITY: u32 = 8192;
/// Addresses of print areas, of which the second crosses a multiple of 4 GiB.
const ADDRESSES: [u64; 2] = [0x100_0000, 0x7_ffff_f000];

/// Counts of the compared prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintSummary {
    /// Prints with all their words.
    pub prints: u32,
    /// Words of arguments that are defined.
    pub words: u32,
    /// Prints without room.
    pub dropped: u32,
}

impl PrintSummary {
    /// Adds the counts of others.
    pub fn add(&mut self, other: Self) {
        self.prints += other.prints;
        self.words += other.words;
        self.dropped += other.dropped;
    }
}

/// Runs a module that prints, and its rewrite.
///
/// # Errors
///
/// The first difference of a print, of a count, of memory or of an end.
pub fn check_prints(words: &[u32], choices: &mut Choices) -> Result<PrintSummary, String> {
    let module = Module::parse(words).ok_or("the module is malformed")?;
    let slots = choices.between(8, 600);
    let prints = Prints {
        address: ADDRESSES[usize::from(choices.chance(50))],
        bytes: PRINT_CONTROL_BYTES + CHUNKS * slots * SLOT_BYTES,
        skipped_models: Vec::new(),
    };
    let rewrite = Options {
        arena: Arena::at(0x1000, CONTROL_BYTES + CAPACITY * UNIT_BYTES),
        prints: Some(prints),
        scalar_stores: choices.chance(20),
        ..Options::default()
    };
    let mut summary = PrintSummary::default();
    let Some((rewritten, result)) = rewrite_once(words, &rewrite)? else {
        return Ok(summary);
    };
    let options = CheckOptions {
        rewrite,
        constants: Vec::new(),
        specialization: HashMap::new(),
        budget: None,
        keeps_frames: false,
        undefined: UndefinedValues::Refused,
    };
    for entry in &module.entries {
        let due = (0..run::INVOCATIONS).map(|_| choices.below(MAX_CALLS)).collect();
        let schedule = Schedule::new(entry, due);
        let context = |error: String| format!("entry point {}: {error}", entry.name);
        let original = match Run::original(&module, &schedule, &options, None, STEPS) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|error| context(format!("the original: {error}")))?,
        };
        let second = Run::rewritten(&result, &schedule, &options, STEPS * 20);
        let second = second.map_err(|error| context(format!("the rewrite: {error}")))?;
        run::same(&original, &second, &schedule).map_err(context)?;
        summary.add(compare(&original, &second, &schedule, &rewritten, slots).map_err(context)?);
    }
    Ok(summary)
}

fn compare(
    original: &Run,
    second: &Run,
    schedule: &Schedule<'_>,
    module: &Instrumented,
    slots: u32,
) -> Result<PrintSummary, String> {
    let area = second.print_area.as_ref().ok_or("there is no print area")?;
    let all = from_bytes(area.bytes());
    let (control, chunks) = all.split_at((PRINT_CONTROL_BYTES / 4) as usize);
    let control = Control(control);
    let mut chunks = chunks.chunks((slots * SLOT_WORDS) as usize);
    let (first, others) = (chunks.next().unwrap_or_default(), chunks.map(|chunk| chunk[0]));
    let others: Vec<u32> = others.collect();
    if others != [FIRST_SLOT; CHUNKS as usize - 1] {
        return Err(format!("another chunk was printed to: {others:?}"));
    }
    let reserved = first.get((FIRST_SLOT * SLOT_WORDS) as usize..(first[0].min(slots) * SLOT_WORDS) as usize);
    let mut found = Vec::new();
    // Without a function that claims numbers, they are the indices of the sites.
    let shape = |number| PrintShape::new(&module.sites, number);
    read_prints(reserved.unwrap_or_default(), FIRST_SLOT, true, shape, |record| {
        found.push(record)
    });
    let mut found = found.into_iter().peekable();
    let mut summary = PrintSummary::default();
    let mut dropped: HashMap<u32, u32> = HashMap::new();
    for (invocation, calls) in original.prints.iter().enumerate() {
        let identity = schedule.identities.get(invocation).copied().unwrap_or_default();
        for call in calls {
            let is_of_call = |site: &vkabort_record::site::PrintSite| site.word_offset as usize == call.offset;
            let number = module
                .sites
                .prints
                .iter()
                .position(is_of_call)
                .ok_or("a print has no site")? as u32;
            let is_next = |record: &PrintRecord| record.site == number && record.identity == identity;
            let Some(record) = found.next_if(is_next) else {
                *dropped.entry(number.min(SHARED_COUNTER)).or_default() += 1;
                summary.dropped += 1;
                continue;
            };
            if record.execution_model != schedule.entry.model || record.code != Some(module.sites.code()) {
                return Err(format!("a record has another stage or code: {record:?}"));
            }
            let arguments = &module.sites.prints[number as usize].arguments;
            let types = arguments.iter().filter_map(|argument| argument.scalars());
            let types = types.flat_map(|(ty, count)| (0..count).map(move |_| ty.bytes().div_ceil(4)));
            let words = call
                .scalars
                .iter()
                .zip(types)
                .flat_map(|(scalar, words)| words_of(*scalar, words));
            let expected: Vec<(u32, u32)> = words.collect();
            for (at, (value, undefined)) in expected.iter().enumerate() {
                let word = record.payload.get(at).copied().unwrap_or_default();
                if (word ^ value) & !undefined != 0 {
                    return Err(format!("word {at} of print {number} is {word:#x}, expected {value:#x}"));
                }
                summary.words += u32::from(*undefined == 0);
            }
            summary.prints += 1;
        }
    }
    if let Some(record) = found.next() {
        return Err(format!("a record more than prints: {record:?}"));
    }
    let counted: HashMap<u32, u32> = control.dropped().collect();
    match counted == dropped {
        true => Ok(summary),
        false => Err(format!(
            "without room are {dropped:?}, but the counters say {counted:?}"
        )),
    }
}

/// The words of a scalar and their undefined bits.
fn words_of(scalar: Scalar, count: u32) -> impl Iterator<Item = (u32, u32)> {
    let word = move |at: u32| ((scalar.bits >> (32 * at)) as u32, (scalar.undef >> (32 * at)) as u32);
    (0..count).map(word)
}
