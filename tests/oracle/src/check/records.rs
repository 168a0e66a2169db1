//! Compares the records in the arena with the messages that the original module gave.

use super::Setting;
use super::run::{Plan, Run};
use crate::interpret::{Ended, Message};
use vkabort_instrument::Instrumented;
use vkabort_record::invocation::Invocation;
use vkabort_record::layout::{CONTROL_BYTES, HEADER_BYTES, UNIT_BYTES};
use vkabort_record::snapshot::{Record, Snapshot};

/// An abort that the original took.
struct Expected<'a> {
    invocation: usize,
    site: u32,
    message: &'a Message,
}

/// Compares. How many aborts found no room.
pub(super) fn same(
    original: &Run,
    rewritten: &Run,
    plan: &Plan<'_>,
    setting: &Setting,
    module: &Instrumented,
) -> Result<u32, String> {
    let mut expected: Vec<Expected<'_>> = Vec::new();
    for (invocation, end) in original.ends.iter().enumerate() {
        let Ended::Aborted { site, message } = end else {
            continue;
        };
        if setting.options.max_sites.is_some_and(|max| *site >= max) {
            continue;
        }
        expected.push(Expected {
            invocation,
            site: *site,
            message,
        });
    }
    let capacity = setting.options.arena.capacity;
    let snapshot = Snapshot::from_bytes(rewritten.arena.bytes());
    let found = snapshot.records(capacity);
    if found.unfinished != 0 {
        return Err(format!("{} records are unfinished", found.unfinished));
    }
    let mut wanted = expected.iter();
    let mut dropped = 0;
    for (number, record) in found.records.iter().enumerate() {
        // Records that found no room are missing; the first never is.
        let one = loop {
            match wanted.next() {
                Some(one) if matches(one, record, plan) => break one,
                Some(_) if found.full && number > 0 => dropped += 1,
                Some(one) => return Err(difference(one, record, plan)),
                None => return Err(format!("a record too many: {record:?}")),
            }
        };
        payload(one, record, rewritten)?;
        if record.module_hash != module.module_hash {
            return Err("a record has another module's hash".into());
        }
    }
    let missing = wanted.len() as u32;
    if missing > 0 && (!found.full || found.records.is_empty()) {
        let cursor = u32::from_le_bytes(rewritten.arena.bytes()[..4].try_into().unwrap_or_default());
        return Err(format!(
            "{missing} of {} records are missing, and the cursor is {cursor} of {capacity}",
            expected.len()
        ));
    }
    if !found.full && rewritten.flags.iter().filter(|f| **f != 0).count() != found.records.len() {
        return Err("the arena's ABORTED word does not say who aborted".into());
    }
    Ok(dropped + missing)
}

fn matches(expected: &Expected<'_>, record: &Record, plan: &Plan<'_>) -> bool {
    let identity = plan.identities.get(expected.invocation).copied().unwrap_or_default();
    record.site.0 == expected.site
        && record.execution_model == plan.entry.model
        && record.invocation == Invocation::from_words(plan.entry.model, identity)
}

fn difference(expected: &Expected<'_>, record: &Record, plan: &Plan<'_>) -> String {
    format!(
        "invocation {} of model {} aborts at site {} and the record says site {}, model {}, {:?}",
        expected.invocation, plan.entry.model, expected.site, record.site.0, record.execution_model, record.invocation
    )
}

/// Compares the bytes of a message; those of undefined values may be anything.
fn payload(expected: &Expected<'_>, record: &Record, run: &Run) -> Result<(), String> {
    let message = expected.message;
    let site = expected.site;
    if record.payload.len() != message.bytes.len() {
        let (found, wanted) = (record.payload.len(), message.bytes.len());
        return Err(format!("the message of site {site} has {found} bytes, not {wanted}"));
    }
    let first = (CONTROL_BYTES + record.unit * UNIT_BYTES + HEADER_BYTES) as usize;
    for (at, (byte, wanted)) in record.payload.iter().zip(&message.bytes).enumerate() {
        let undef = message.undef.get(at).copied().unwrap_or(0);
        let shadow = run.arena.shadow().get(first + at).copied().unwrap_or(0);
        if (byte ^ wanted) & !undef != 0 {
            let near = |bytes: &[u8]| bytes[at.saturating_sub(4)..bytes.len().min(at + 12)].to_vec();
            return Err(format!(
                "byte {at} of {} of the message of site {site} is {:02x?}, not {:02x?}, from 4 bytes before it on",
                message.bytes.len(),
                near(&record.payload),
                near(&message.bytes)
            ));
        }
        if shadow & !undef != 0 {
            return Err(format!("byte {at} of the message of site {site} is undefined"));
        }
    }
    // What pads the record to its end is zero.
    let end = first + (message.bytes.len()).next_multiple_of(UNIT_BYTES as usize);
    let padding = run.arena.bytes().get(first + message.bytes.len()..end).unwrap_or(&[]);
    if padding.iter().any(|b| *b != 0) {
        return Err(format!("the padding after the message of site {site} is not zero"));
    }
    Ok(())
}
