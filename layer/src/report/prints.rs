//! Delivers prints: to the log and the messengers, as soon as a command shows them; and those that are left when the device is lost
//! or destroyed, or the process ends.

use super::messengers;
use crate::device::prints::{Prints, Reader};
use crate::device::state::{AbortState, Device};
use crate::locks::{lock, try_lock};
use crate::log::{Format, Level};
use crate::settings::Printf;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use vkabort_record::report::{DroppedPrints, PrintLine};

/// Delivers the new prints. A few loads of host memory if there are none; nothing on a device without prints.
#[inline]
pub fn deliver_prints(device: &Device, state: &AbortState) {
    if let Some(prints) = state.prints.as_ref().filter(|prints| prints.has_news()) {
        deliver_new(device, state, prints);
    }
}

/// If another thread is delivering, it delivers these, too: a thread in a messenger's callback must not be waited for.
#[cold]
fn deliver_new(device: &Device, state: &AbortState, prints: &Prints) {
    if device.is_inherited() || state.loss.is_lost() {
        return;
    }
    prints.requests.fetch_add(1, Ordering::AcqRel);
    while let Some(mut reader) = try_lock(&prints.reader) {
        let requests = prints.requests.load(Ordering::Acquire);
        let lines = prints.read(&mut reader, || state.queues.values());
        show(device, &lines);
        drop(reader);
        if prints.requests.load(Ordering::Acquire) == requests {
            return;
        }
    }
}

/// Delivers all prints that are left, and counts those without room. The device's work is complete or lost.
pub fn deliver_last_prints(device: &Device, state: &AbortState) {
    let Some(prints) = &state.prints else { return };
    let mut reader = lock(&prints.reader);
    let (lines, dropped) = prints.read_rest(&mut reader);
    show(device, &lines);
    device.instance.log.write(&text_of_dropped(device, &dropped));
    let texts: Vec<String> = dropped.iter().map(DroppedPrints::text).collect();
    messengers::send_prints(device, texts.iter().map(|text| text.trim_end_matches('\n')));
}

/// The text of the prints that are left when the process ends, for the log.
pub fn last_prints_text(device: &Device) -> String {
    let state = device.state.as_ref().filter(|_| !device.is_inherited());
    let Some(prints) = state.and_then(|state| state.prints.as_ref()) else {
        return String::new();
    };
    // A thread that will never run again may hold the lock.
    let Some(mut reader) = try_lock(&prints.reader) else {
        return String::new();
    };
    let (lines, dropped) = prints.read_rest(&mut reader);
    let mut text = String::new();
    lines
        .iter()
        .for_each(|line| line.push_text(with_invocation(device), &mut text));
    in_log(device, &lines, &text).into_owned() + &text_of_dropped(device, &dropped)
}

/// The last prints, for the dump of an abort.
pub(super) fn history(state: &AbortState) -> Vec<PrintLine> {
    let reader = state.prints.as_ref().and_then(|prints| try_lock(&prints.reader));
    reader.map_or_else(Vec::new, |reader: std::sync::MutexGuard<'_, Reader>| {
        reader.history().cloned().collect()
    })
}

fn show(device: &Device, lines: &[PrintLine]) {
    if lines.is_empty() {
        return;
    }
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(lines.len()));
    for line in lines {
        line.push_text(with_invocation(device), &mut text);
        ends.push(text.len());
    }
    device.instance.log.write(&in_log(device, lines, &text));
    let starts = std::iter::once(&0).chain(&ends);
    let texts = starts.zip(&ends).filter_map(|(start, end)| text.get(*start..*end));
    messengers::send_prints(device, texts.map(|text| text.trim_end_matches('\n')));
}

/// What the log shows of prints with this text.
fn in_log<'t>(device: &Device, lines: &[PrintLine], text: &'t str) -> Cow<'t, str> {
    let log = &device.instance.log;
    match log.format() {
        _ if !log.is_enabled(Level::Error) => "".into(),
        Format::Json => lines.iter().map(PrintLine::json_line).collect::<String>().into(),
        Format::Text => text.into(),
    }
}

fn with_invocation(device: &Device) -> bool {
    device.instance.settings.printf == Printf::Invocations
}

fn text_of_dropped(device: &Device, dropped: &[DroppedPrints]) -> String {
    let log = &device.instance.log;
    match log.format() {
        _ if !log.is_enabled(Level::Error) => String::new(),
        Format::Json => dropped.iter().map(DroppedPrints::json_line).collect(),
        Format::Text => dropped.iter().map(DroppedPrints::text).collect(),
    }
}
