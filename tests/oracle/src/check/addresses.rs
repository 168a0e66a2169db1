//! Compares accesses through addresses with and without their check.

use super::inputs::{STEPS, rewrite_once};
use crate::choices::Choices;
use crate::generate::{ADDRESSES, DATA, Elements, NEXT_OFFSET, NODE_BYTES, OUT, generate_element};
use crate::interpret::{InterpretError, InvocationEnd, Machine, Physical, Region, Setup};
use crate::module::Module;
use crate::words::to_bytes;
use std::collections::HashMap;
use std::sync::Arc;
use vkabort_instrument::{Arena, Check, Checks, Instrumented, Options};
use vkabort_record::buffer_table::{FIRST_VERSION, Range, address_in, merged, unit, version_bytes};
use vkabort_record::layout::{CONTROL_BYTES, UNIT_BYTES};
use vkabort_record::snapshot::Snapshot;

/// Address of the table of buffers.
pub(super) const TABLE: u64 = 0x10_0000;
/// Address of the first buffer.
const FIRST: u64 = 0x7f00_0000_0000;
/// From one buffer to the next: so far that no address is near two of them.
const DISTANCE: u64 = 0x5000_0000;
/// Units of the arena's records.
const CAPACITY: u32 = 64;

/// Counts of the comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressSummary {
    /// Invocations with correct accesses only, which have no report and the same result.
    pub sound: u32,
    /// Invocations that access memory outside of a buffer, and have a report of it.
    pub outside: u32,
    /// Invocations with an access that is not aligned, and a report of it.
    pub misaligned: u32,
}

/// Plants `addresses` into a program, and runs each invocation with and without: the first access that is undefined in the program
/// must be reported, with its address, and not be made.
///
/// # Errors
///
/// The first difference found.
pub fn check_addresses(
    words: &[u32],
    invocations: u32,
    choices: &mut Choices,
    summary: &mut AddressSummary,
) -> Result<(), String> {
    let original = Module::parse(words).ok_or("the program is malformed")?;
    let (rewritten, checked) = rewrite_once(words, &options())?.ok_or("nothing is planted")?;
    let memory = Memory::new(choices);
    for number in 0..invocations {
        let context = |error: String| format!("invocation {number}: {error}");
        let expected = run(&original, &memory, Vec::new(), number);
        let found = run(&checked, &memory, memory.added(), number);
        let found = found.map_err(|error| context(format!("with the check: {error}")))?;
        let report = report(&found, &rewritten).map_err(context)?;
        match (expected, report) {
            (Ok(expected), None) if expected.results == found.results && expected.nodes == found.nodes => {
                summary.sound += 1;
            }
            (Ok(_), None) => return Err(context("other results".to_owned())),
            (Err(InterpretError::Undefined(reason)), Some(report)) => {
                is_of(&report, &reason).map_err(context)?;
                match report.access {
                    Some(_) => summary.outside += 1,
                    None => summary.misaligned += 1,
                }
            }
            (Ok(_), Some(report)) => return Err(context(format!("{report:?} of sound accesses"))),
            (Err(error), _) => return Err(context(format!("no report of {error}"))),
        }
    }
    Ok(())
}

/// Plants `addresses` into a program that loads one element through an address. The element must be reported if it is outside of
/// `range`, which no memory is at, or misaligned. Returns whether it is reported.
///
/// # Errors
///
/// It is reported and right, or the other way round.
pub fn check_element(
    choices: &mut Choices,
    elements: Elements,
    (address, number): (u64, u32),
    range: Range,
) -> Result<bool, String> {
    let words = generate_element(choices, elements);
    let (rewritten, checked) = rewrite_once(&words, &options())?.ok_or("nothing is planted")?;
    let memory = Memory {
        buffers: Vec::new(),
        addresses: vec![address as u32, (address >> 32) as u32, number],
        table: table(vec![range], choices),
    };
    // An index has a sign.
    let bytes = i128::from(number.cast_signed()) * i128::from(elements.stride);
    let at = i128::from(address) + i128::from(elements.offset) + bytes;
    let is_inside = at >= i128::from(range.0) && at + 4 <= i128::from(range.1);
    let is_aligned = at.rem_euclid(i128::from(elements.alignment)) == 0;
    let found = match run(&checked, &memory, memory.added(), 0) {
        // Where a buffer should be, there is no memory.
        Err(InterpretError::Undefined(_)) => None,
        Err(error) => return Err(error.to_string()),
        Ok(run) => Some(report(&run, &rewritten)?.ok_or("no report, and no access")?),
    };
    let is_right = match &found {
        None => is_inside && is_aligned,
        Some(Report { access: None, .. }) => !is_aligned,
        Some(_) => !is_inside && is_aligned,
    };
    match is_right {
        true => Ok(found.is_some()),
        false => Err(format!(
            "{elements:?} {number:#x} behind {address:#x} in {range:#x?}: {found:?}"
        )),
    }
}

fn options() -> Options {
    let mut options = Options {
        arena: Arena::at(0x1000, CONTROL_BYTES + CAPACITY * UNIT_BYTES),
        ..Options::default()
    };
    options.sanitize.checks = Checks::of([Check::Addresses]);
    options.sanitize.buffer_table = Some(TABLE);
    options
}

/// The buffers of a program, the addresses of its nodes, and the table that the check searches.
struct Memory {
    buffers: Vec<Physical>,
    addresses: Vec<u32>,
    table: Physical,
}

impl Memory {
    /// The memory of the layer.
    fn added(&self) -> Vec<Physical> {
        let arena = options().arena;
        vec![
            zeroed(arena.control, CONTROL_BYTES),
            zeroed(arena.records, CAPACITY * UNIT_BYTES),
            self.table.clone(),
        ]
    }

    fn new(choices: &mut Choices) -> Self {
        let bytes: Vec<u32> = (0..choices.between(1, 6)).map(|_| 4 * choices.between(1, 50)).collect();
        let start = |number: usize| FIRST + DISTANCE * number as u64;
        let address = |choices: &mut Choices| {
            let number = choices.below(bytes.len() as u32) as usize;
            let (start, bytes) = (start(number), bytes.get(number).copied().unwrap_or(0));
            match choices.below(24) {
                0 => 0,
                1 => start + u64::from(bytes),
                2 => start - 16 * u64::from(choices.between(1, 4)),
                3 => start + 4 * u64::from(choices.below(8)),
                4 => start + 2,
                5 => start + DISTANCE / 2,
                _ => start,
            }
        };
        let addresses: Vec<u64> = (0..ADDRESSES).map(|_| address(choices)).collect();
        let mut buffers = Vec::new();
        for (number, bytes) in bytes.iter().enumerate() {
            let words: Vec<u32> = (0..bytes / 4).map(|word| word * 3 + 1).collect();
            let mut region = Region::new(to_bytes(&words));
            if *bytes >= NODE_BYTES {
                let next = address(choices);
                region.set_word(u64::from(NEXT_OFFSET), next as u32);
                region.set_word(u64::from(NEXT_OFFSET) + 4, (next >> 32) as u32);
            }
            buffers.push(Physical {
                address: start(number),
                region,
            });
        }
        let range = |memory: &Physical| (memory.address, memory.address + memory.region.bytes().len() as u64);
        let ranges: Vec<Range> = buffers.iter().map(range).collect();
        Self {
            table: table(ranges, choices),
            buffers,
            addresses: addresses
                .iter()
                .flat_map(|address| [*address as u32, (*address >> 32) as u32])
                .collect(),
        }
    }
}

/// The table of these ranges, some of them in its tail.
pub(super) fn table(mut ranges: Vec<Range>, choices: &mut Choices) -> Physical {
    let tail = ranges.split_off(choices.below(ranges.len() as u32 + 1) as usize);
    // A range inside another one becomes part of it.
    ranges.extend(ranges.first().map(|(start, end)| (start + 1, *end)));
    let ranges = merged(ranges);
    let mut region = Region::new(vec![
        0;
        FIRST_VERSION as usize + version_bytes(ranges.len() as u32) as usize
    ]);
    region.set_word(0, FIRST_VERSION);
    let header = [ranges.len() as u32, tail.len() as u32, 0, 0];
    let units = [header].into_iter().chain(ranges.into_iter().chain(tail).map(unit));
    for (number, word) in (0..).zip(units.flatten()) {
        region.set_word(u64::from(FIRST_VERSION) + 4 * number, word);
    }
    Physical { address: TABLE, region }
}

fn zeroed(address: u64, bytes: u32) -> Physical {
    Physical {
        address,
        region: Region::new(vec![0; bytes as usize]),
    }
}

/// End and results of an invocation.
struct Run {
    end: InvocationEnd,
    results: Region,
    nodes: Vec<Region>,
    /// The arena, if there is one.
    arena: Region,
}

fn run(module: &Module, memory: &Memory, added: Vec<Physical>, number: u32) -> Result<Run, InterpretError> {
    let buffer = |words: &[u32]| Region::new(to_bytes(words));
    let setup = Setup {
        buffers: HashMap::from([(OUT, buffer(&[0; 8])), (DATA, buffer(&memory.addresses))]),
        specialization: HashMap::new(),
        physical: added.into_iter().chain(memory.buffers.iter().cloned()).collect(),
        steps: STEPS,
    };
    let mut machine = Machine::new(module, setup)?;
    let missing = || InterpretError::Unsupported("no entry point".to_owned());
    let entry = module.entries.first().ok_or_else(missing)?;
    let end = machine.run(entry, [number, 0, 0, number])?;
    let physical = machine.physical();
    let is_node = |memory: &&Physical| memory.address >= FIRST;
    Ok(Run {
        end,
        results: machine.buffer(OUT).cloned().unwrap_or_default(),
        nodes: physical
            .iter()
            .filter(is_node)
            .map(|memory| memory.region.clone())
            .collect(),
        arena: Region::joined(physical.iter().take(2).map(|memory| &memory.region)),
    })
}

/// A report of the check.
#[derive(Debug)]
struct Report {
    text: String,
    /// The address and the bytes of an access outside of its buffer.
    access: Option<(u64, u64)>,
    message: Vec<u8>,
}

fn report(run: &Run, module: &Instrumented) -> Result<Option<Report>, String> {
    if run.end != InvocationEnd::Returned {
        return Err(format!("ends with {:?}", run.end));
    }
    let sites = Arc::new(module.sites.clone());
    let code = module.sites.code();
    let snapshot = Snapshot::from_bytes(run.arena.bytes());
    let records = snapshot.records_of(CAPACITY, &|hash| (hash == code.into()).then(|| Arc::clone(&sites)));
    let record = match records.records.as_slice() {
        [] => return Ok(None),
        [record] => record,
        more => return Err(format!("{} records of one invocation", more.len())),
    };
    let site = module.sites.site(record.site).ok_or("a record of an unknown site")?;
    let (text, message) = (site.text.clone().unwrap_or_default(), records.message(record).to_vec());
    Ok(Some(Report {
        access: address_in(&text, &message),
        text,
        message,
    }))
}

/// Whether a report is of the access that the interpreter stops at, by its address.
fn is_of(report: &Report, reason: &str) -> Result<(), String> {
    let difference = || format!("{report:?} of {reason}");
    let at = reason
        .split(' ')
        .find_map(|word| word.trim_end_matches(',').strip_prefix("0x"));
    let at = at
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(difference)?;
    let is_misaligned = reason.contains("not aligned");
    let is_same = match report.access {
        // The interpreter stops at the first component that is outside.
        Some((address, bytes)) => !is_misaligned && at.wrapping_sub(address) < bytes,
        None => {
            let (_, words) = report.message.as_rchunks::<4>();
            let words = words.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
            let words: Vec<u64> = words.collect();
            let address = match words.as_slice() {
                [.., high, low] => high << 32 | low,
                _ => return Err(difference()),
            };
            is_misaligned && report.text.contains("is not a multiple of") && address == at
        }
    };
    match is_same {
        true => Ok(()),
        false => Err(difference()),
    }
}
