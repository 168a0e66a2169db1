//! Compares the records in the arena with the messages of the original module.

use super::inputs::CheckOptions;
use super::run::{Run, Schedule};
use crate::interpret::{InvocationEnd, Region};
use std::sync::Arc;
use vkabort_instrument::Instrumented;
use vkabort_record::compact::Origin;
use vkabort_record::invocation::Invocation;
use vkabort_record::layout::{CONTROL_BYTES, HEADER_BYTES, UNIT_BYTES};
use vkabort_record::records::{Record, Records};
use vkabort_record::site_values::Part;
use vkabort_record::snapshot::Snapshot;

/// An abort of the original module.
struct Expected<'a> {
    invocation: usize,
    site: u32,
    message: &'a Region,
}

/// Compares. Returns the number of aborts for which the arena had no room.
pub(super) fn same(
    original: &Run,
    rewritten: &Run,
    schedule: &Schedule<'_>,
    options: &CheckOptions,
    module: &Instrumented,
) -> Result<u32, String> {
    let mut expected: Vec<Expected<'_>> = Vec::new();
    for (invocation, end) in original.ends.iter().enumerate() {
        let InvocationEnd::Aborted { site, message } = end else {
            continue;
        };
        if options.rewrite.max_sites.is_some_and(|max| *site >= max) {
            continue;
        }
        expected.push(Expected {
            invocation,
            site: *site,
            message,
        });
    }
    let capacity = options.rewrite.arena.capacity;
    let snapshot = Snapshot::from_bytes(rewritten.arena.bytes());
    let sites = Arc::new(module.sites.clone());
    let found = snapshot.records_of(capacity, &|hash| {
        (hash == module.sites.code().into()).then(|| Arc::clone(&sites))
    });
    if found.unfinished != 0 {
        return Err(format!("{} records are unfinished", found.unfinished));
    }
    let mut remaining = expected.iter();
    let mut dropped = 0;
    for (number, record) in found.records.iter().enumerate() {
        // Records without room are missing, but never the first one.
        let abort = loop {
            match remaining.next() {
                Some(abort) if matches(abort, record, schedule) => break abort,
                Some(_) if found.dropped > 0 && number > 0 => dropped += 1,
                Some(abort) => return Err(difference(abort, record, schedule)),
                None => return Err(format!("an extra record: {record:?}")),
            }
        };
        payload(abort, (record, &found), rewritten)?;
        values(record, &found, module)?;
        if record.code != module.sites.code() {
            return Err("a record has the hash of other code".into());
        }
    }
    let missing = remaining.len() as u32;
    if missing > 0 && (found.dropped == 0 || found.records.is_empty()) {
        let cursor = u32::from_le_bytes(rewritten.arena.bytes()[..4].try_into().unwrap_or_default());
        return Err(format!(
            "{missing} of {} records are missing, and the cursor is {cursor} of {capacity}",
            expected.len()
        ));
    }
    if dropped + missing != found.dropped {
        return Err(format!(
            "{} records are missing, and DROPPED is {}",
            dropped + missing,
            found.dropped
        ));
    }
    if found.dropped == 0 && rewritten.flags.iter().filter(|flag| **flag).count() != found.records.len() {
        return Err("CURSOR and ABORTED do not match the aborted invocations".into());
    }
    Ok(dropped + missing)
}

fn matches(expected: &Expected<'_>, record: &Record, schedule: &Schedule<'_>) -> bool {
    let identity = schedule
        .identities
        .get(expected.invocation)
        .copied()
        .unwrap_or_default();
    record.site.0 == expected.site
        && record.execution_model == schedule.entry.model
        && record.invocation() == Invocation::from_words(schedule.entry.model, identity)
}

fn difference(expected: &Expected<'_>, record: &Record, schedule: &Schedule<'_>) -> String {
    format!(
        "invocation {} of model {} aborts at site {}, but the record has site {}, model {}, {:?}",
        expected.invocation,
        schedule.entry.model,
        expected.site,
        record.site.0,
        record.execution_model,
        record.invocation()
    )
}

/// Compares the bytes of a message, ignoring undefined bits.
fn payload(expected: &Expected<'_>, (record, records): (&Record, &Records), run: &Run) -> Result<(), String> {
    let message = expected.message;
    let site = expected.site;
    let payload = records.message(record);
    if payload.len() != message.bytes().len() {
        let (found, expected) = (payload.len(), message.bytes().len());
        return Err(format!(
            "the message of site {site} has {found} bytes, expected {expected}"
        ));
    }
    let start = (CONTROL_BYTES + record.unit * UNIT_BYTES) as usize;
    // A compact record holds the values of the message only, in another order.
    let origin = run.arena.bytes().get(start + 4..start + 8).unwrap_or(&[]);
    let is_compact = (origin.try_into()).is_ok_and(|word| Origin::read(u32::from_le_bytes(word)).is_some());
    let first = start + HEADER_BYTES as usize;
    for (at, (byte, expected)) in payload.iter().zip(message.bytes()).enumerate() {
        let undef = message.shadow().get(at).copied().unwrap_or(0);
        let shadow = match is_compact {
            true => 0,
            false => run.arena.shadow().get(first + at).copied().unwrap_or(0),
        };
        if (byte ^ expected) & !undef != 0 {
            let near = |bytes: &[u8]| bytes[at.saturating_sub(4)..bytes.len().min(at + 12)].to_vec();
            return Err(format!(
                "byte {at} of {} of the message of site {site} differs: {:02x?}, expected {:02x?} (starting 4 bytes earlier)",
                message.bytes().len(),
                near(&payload),
                near(message.bytes())
            ));
        }
        if shadow & !undef != 0 {
            return Err(format!("byte {at} of the message of site {site} is undefined"));
        }
    }
    Ok(())
}

/// Checks the words behind a message: the values that the site describes, and zeros.
fn values(record: &Record, records: &Records, module: &Instrumented) -> Result<(), String> {
    let site = module.sites.site(record.site).ok_or("a record of an unknown site")?;
    let condition = site.values.condition.iter();
    let nameless = condition.clone().flat_map(|condition| &condition.text);
    let nameless = nameless.filter_map(|part| match part {
        Part::Value(place) => Some(place),
        Part::Text(_) => None,
    });
    let named = condition
        .flat_map(|condition| &condition.operands)
        .chain(&site.values.variables);
    let places = nameless.chain(named.filter_map(|variable| variable.place.as_ref()));
    let ends = places.map(|place| (place.offset + place.ty.size()) as usize);
    let (bytes, size) = records.bytes(record);
    let end = ends.max().unwrap_or(0).max(size);
    let room = bytes.len();
    if end > room {
        return Err(format!(
            "the values of site {} end at {end}, behind its record of {room} bytes",
            site.id.0
        ));
    }
    let padding = bytes.get(end..).unwrap_or(&[]);
    if padding.iter().any(|b| *b != 0) {
        return Err(format!(
            "the padding after the values of site {} is not zero",
            site.id.0
        ));
    }
    Ok(())
}
