//! Lowers one abort: the code that an aborting invocation executes at its site.
//!
//! A message of few values is deferred to the end of the entry point, where `runtime::record_writer` writes all of them:
//!
//! ```text
//! Store %vkabort_value0 %word .., Store %vkabort_key %site_and_size
//! ```
//!
//! Any other message is written here, because memory that it is copied from may change later:
//!
//! ```text
//! %unit = FunctionCall %reserve %units
//! %key = BitwiseOr %unit IN_PLACE
//! %room = INotEqual %unit NO_RECORD
//! SelectionMerge %end, BranchConditional %room %write %end
//! %write: stores of size, site and payload, Branch %end
//! %end: Store %vkabort_key %key
//! ```
//!
//! If an invocation of the same subgroup may wait for this one in a loop that polls ABORTED, the site sets it: the end of
//! the entry point is not reached before that loop ends.

use super::message::{Bits, MessageWriter, Size, Sources};
use super::unwind::Unwinder;
use crate::site_numbering::NumberedSite;
use vkabort_options::Options;
use vkabort_record::layout::record_units;
use vkabort_runtime::{DeferredRecord, Extent, NO_RECORD, RecordWord, record_key};
use vkabort_spirv::error::Result;
use vkabort_spirv::index::Block;
use vkabort_spirv::{Id, op};

/// A lowered site.
#[derive(Default)]
pub(super) struct LoweredSite {
    /// Function variables to declare: (pointer type, id).
    pub(super) variables: Vec<(Id, Id)>,
    /// The record, unless the site writes it.
    pub(super) deferred: Option<DeferredRecord>,
}

/// Writes code for the abort that ends `block`, which leaves a block open. `sets_aborted`: whether it sets ABORTED.
///
/// # Errors
///
/// A message that does not match its type or that no code can write.
pub(super) fn write_site(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: NumberedSite<'_>,
    block: &Block,
    sets_aborted: bool,
) -> Result<LoweredSite> {
    let lowered = match defer(unwinder, options, site, block)? {
        Some(deferred) => deferred,
        None => {
            unwinder.out.code.clear();
            write_in_place(unwinder, options, site, block)?
        }
    };
    if sets_aborted {
        unwinder.runtime.set_aborted(unwinder.out);
    }
    Ok(lowered)
}

fn message_writer<'a, 'w>(
    unwinder: &'a mut Unwinder<'_, 'w>,
    options: &'a Options,
    block: &'a Block,
    label: Id,
) -> MessageWriter<'a, 'w> {
    let sources = Sources {
        index: unwinder.index,
        block,
    };
    let (runtime, out) = (&mut *unwinder.runtime, &mut *unwinder.out);
    MessageWriter::new(sources, options, runtime, out, label)
}

/// Leaves the message to the end of the entry point. `None` if it cannot: the code so far is then of no use.
fn defer(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: NumberedSite<'_>,
    block: &Block,
) -> Result<Option<LoweredSite>> {
    let abort = unwinder.index.terminator(block);
    let (ty, message) = (abort.message_type(), abort.message());
    let mut writer = message_writer(unwinder, options, block, block.label);
    let Size::Constant(end) = writer.message_size(site.layout(), ty) else {
        return Ok(None);
    };
    let size = site.payload_size().unwrap_or(end);
    let value_units = record_units(end) - record_units(size);
    let Some(key) = record_key::deferred(site.site.id.0, size, value_units) else {
        return Ok(None);
    };
    let Some(words) = writer.deferred_words(site.layout(), ty, message)? else {
        return Ok(None);
    };
    let (runtime, out) = (&mut *unwinder.runtime, &mut *unwinder.out);
    let mut slots: Vec<Id> = Vec::new();
    let mut to_word = |bits: Bits| match bits {
        Bits::Constant(value) => RecordWord::Constant(value),
        Bits::Value(id) => {
            let found = slots.iter().position(|other| *other == id);
            RecordWord::Value(found.unwrap_or_else(|| {
                slots.push(id);
                slots.len() - 1
            }))
        }
    };
    let words = words.into_iter().map(|(index, bits)| (index, to_word(bits))).collect();
    for (slot, id) in slots.into_iter().enumerate() {
        let variable = runtime.value(out, slot);
        out.op(op::Store, (variable, id));
    }
    runtime.store_deferred_key(out, key);
    let deferred = DeferredRecord {
        key,
        site: site.site.id.0,
        size,
        value_units,
        words,
    };
    Ok(Some(LoweredSite {
        deferred: Some(deferred),
        ..LoweredSite::default()
    }))
}

fn write_in_place(
    unwinder: &mut Unwinder<'_, '_>,
    options: &Options,
    site: NumberedSite<'_>,
    block: &Block,
) -> Result<LoweredSite> {
    let abort = unwinder.index.terminator(block);
    let (ty, message) = (abort.message_type(), abort.message());
    let (runtime, out) = (&mut *unwinder.runtime, &mut *unwinder.out);
    let (uint, bool) = (out.uint(), out.bool());
    let [site_id, none, in_place] = [site.site.id.0, NO_RECORD, record_key::IN_PLACE].map(|value| out.constant(value));
    let reserve = runtime.reserve(out);
    let [unit, key, has_room, write, end] = [(); 5].map(|()| out.fresh());
    let mut writer = message_writer(unwinder, options, block, write);
    let size = writer.message_size(site.layout(), ty);
    let (units, mut size) = writer.record_extent(size);
    if let Some(payload) = site.payload_size() {
        size = writer.out.constant(payload);
    }
    writer.out.op(op::FunctionCall, (uint, unit, reserve, units));
    writer.out.op(op::BitwiseOr, (uint, key, unit, in_place));
    writer.out.op(op::INotEqual, (bool, has_room, unit, none));
    writer.out.branch_if(has_room, write, end, end);
    writer.out.label(write);
    let extent = Extent {
        units,
        size,
        site: site_id,
    };
    writer.write_message(unit, extent, site.layout(), ty, message)?;
    let variables = writer.variables;
    unwinder.out.branch(end);
    unwinder.out.label(end);
    unwinder.runtime.store_key(unwinder.out, key);
    Ok(LoweredSite {
        variables,
        deferred: None,
    })
}
