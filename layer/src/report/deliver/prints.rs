//! Delivers prints: to the log and the messengers, as soon as a command shows them; and those that are left when the device is lost
//! or destroyed, or the process ends.

use super::messengers;
use crate::device::features::prints::{Prints, Reader};
use crate::device::{AbortState, Device};
use crate::locks::{lock, try_lock};
use crate::log::{Format, Level};
use crate::settings::Printf;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use vkabort_report::{DroppedPrints, PrintLine};

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
        show(device, &lines, push_print(device), PrintLine::json_line);
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
    show(device, &lines, push_print(device), PrintLine::json_line);
    show(device, &dropped, push_dropped, DroppedPrints::json_line);
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
    let (prints, _) = texts(&lines, push_print(device));
    let (counts, _) = texts(&dropped, push_dropped);
    let prints = in_log(device, &prints, &lines, PrintLine::json_line);
    prints.into_owned() + &in_log(device, &counts, &dropped, DroppedPrints::json_line)
}

/// The last prints, for the dump of an abort.
pub(super) fn history(state: &AbortState) -> Vec<PrintLine> {
    let reader = state.prints.as_ref().and_then(|prints| try_lock(&prints.reader));
    reader.map_or_else(Vec::new, |reader: std::sync::MutexGuard<'_, Reader>| {
        reader.history().cloned().collect()
    })
}

/// A function that appends the text of a print.
fn push_print(device: &Device) -> impl Fn(&PrintLine, &mut String) {
    let with_invocation = device.instance.settings.printf == Printf::Invocations;
    move |line, out| line.push_text(with_invocation, out)
}

fn push_dropped(dropped: &DroppedPrints, out: &mut String) {
    out.push_str(&dropped.text());
}

/// Shows prints or their counts: in the log, and to the messengers.
fn show<T>(device: &Device, all: &[T], push: impl Fn(&T, &mut String), json: fn(&T) -> String) {
    if all.is_empty() {
        return;
    }
    let (text, ends) = texts(all, push);
    device.instance.log.write(&in_log(device, &text, all, json));
    let starts = std::iter::once(&0).chain(&ends);
    let each = starts.zip(&ends).filter_map(|(start, end)| text.get(*start..*end));
    messengers::send_prints(device, each.map(|text| text.trim_end_matches('\n')));
}

/// The texts, one behind the other, and where each ends.
fn texts<T>(all: &[T], push: impl Fn(&T, &mut String)) -> (String, Vec<usize>) {
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(all.len()));
    for one in all {
        push(one, &mut text);
        ends.push(text.len());
    }
    (text, ends)
}

/// The form of `all` in the log: their text, or JSON lines.
fn in_log<'t, T>(device: &Device, text: &'t str, all: &[T], json: fn(&T) -> String) -> Cow<'t, str> {
    let log = &device.instance.log;
    match log.format() {
        _ if !log.is_enabled(Level::Error) => "".into(),
        Format::Json => all.iter().map(json).collect::<String>().into(),
        Format::Text => text.into(),
    }
}
