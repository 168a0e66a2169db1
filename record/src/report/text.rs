//! Reports as text: per site the message, the source lines, the shader and the number of aborts, in the form of compiler
//! diagnostics.

use crate::escape::{one_line, printable};
use crate::hex::hex;
use crate::invocation::Invocation;
use crate::message::{Decoding, Message};
use crate::report::data::{Extent, Report, SiteReport, Summary};
use crate::report::phrases::{
    again, constants, count, module, objects, shader, show_id, show_invocation, show_location, specializations,
};
use crate::report::source_view::SourceView;
use annotate_snippets::{Group, Level, Origin, Renderer};
use std::collections::HashSet;
use std::fmt::Write;

/// Bytes of a message that are written out in hexadecimal; the others are counted.
const SHOWN_BYTES: usize = 64;

impl Report {
    /// The report as text, each line ended by a line feed. `color`: with ANSI colours.
    pub fn text(&self, color: bool) -> String {
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let mut out = String::new();
        for (index, site) in self.sites.iter().enumerate() {
            if site.repeats.is_some() {
                let _ = writeln!(out, "{}: {}", bold("vkabort", color), again(site));
                continue;
            }
            if index > 0 {
                out.push('\n');
            }
            out.push_str(&site_text(site, self.dump_below(index), &renderer));
            out.push('\n');
        }
        summary(&self.summary, self.sites.is_empty(), color, &mut out);
        out
    }

    /// The folder of the dump, for the last site that is shown in full.
    fn dump_below(&self, index: usize) -> Option<&str> {
        let last = self.sites.iter().rposition(|site| site.repeats.is_none());
        self.summary.dump.as_deref().filter(|_| last == Some(index))
    }
}

/// `text` in bold.
pub(crate) fn bold(text: &str, color: bool) -> String {
    match color {
        true => format!("\x1b[1m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// A site that is shown in full.
fn site_text(site: &SiteReport, dump: Option<&str>, renderer: &Renderer) -> String {
    let first = site.samples.first();
    let message = first.map(|s| s.message.text.as_str()).unwrap_or_default();
    let headline = match message.trim_end() {
        "" => "(empty message)".to_owned(),
        text => printable(text),
    };
    let level = Level::ERROR.with_name("vkabort: shader aborted");
    let mut group = Group::with_title(level.primary_title(headline));
    let view = SourceView::new(site);
    group = match (&view, &site.location, site.word_offset) {
        (Some(view), ..) => group.element(view.snippet()),
        (None, Some(location), _) => group.element(Origin::path(show_location(location))),
        (None, None, Some(word)) => group.element(Origin::path(format!("{}, word {word}", module(site)))),
        _ => group,
    };
    let mut facts: Vec<String> = [shader(site), objects(site)].into_iter().flatten().collect();
    if let Some(invocation) = first.and_then(|s| s.invocation) {
        facts.push(format!("invocation {}", show_invocation(&invocation)));
    }
    facts.extend(specializations(site));
    facts.extend(counts(site));
    facts.extend(
        site.also_possible
            .iter()
            .map(|place| format!("one of: {}", one_line(place))),
    );
    if let Some(first) = first {
        facts.extend(notes(&first.message));
    }
    facts.extend(dump.map(|folder| format!("dump: {}", one_line(folder))));
    group = group.elements(facts.into_iter().map(|fact| Level::NOTE.no_name().message(fact)));
    if view.is_none() && site.word_offset.is_some() {
        group = group.element(Level::HELP.message("compile with -gVS (glslang) or -g (Slang) to see the source line"));
    }
    renderer.render(&[group])
}

/// The number of invocations, their stages and ids, and the other messages.
fn counts(site: &SiteReport) -> Option<String> {
    let mut text = match site.invocations {
        0 | 1 => String::new(),
        n => format!("{n} invocations aborted here"),
    };
    if site.stages.len() > 1 {
        let stages: Vec<String> = site
            .stages
            .iter()
            .filter(|s| s.invocations > 0)
            .map(|s| format!("{} {}", s.invocations, one_line(&s.stage)))
            .collect();
        if !stages.is_empty() {
            let _ = write!(text, " ({})", stages.join(", "));
        }
    }
    if let Some(Extent { min, max }) = site.extent {
        let pixels = matches!(
            site.samples.first().and_then(|s| s.invocation),
            Some(Invocation::Fragment { .. })
        );
        let show = |id: [u32; 3]| match pixels {
            true => format!("({}, {})", id[0], id[1]),
            false => show_id(id),
        };
        let kind = if pixels { "pixels" } else { "ids" };
        let _ = write!(text, ", {kind} {} to {}", show(min), show(max));
    }
    if text.is_empty() {
        return None;
    }
    if site.distinct_messages > 1 {
        let _ = write!(text, ", {} different messages", site.distinct_messages);
        other_messages(site, &mut text);
    }
    Some(text)
}

/// The distinct messages after the first, each on a line of its own.
fn other_messages(site: &SiteReport, text: &mut String) {
    let first = site.samples.first().map(|s| s.message.bytes.as_slice());
    for sample in site.samples.iter().skip(1) {
        if Some(sample.message.bytes.as_slice()) == first {
            continue;
        }
        let message = printable(sample.message.text.trim_end()).replace('\n', "\n  ");
        let _ = write!(text, "\n{message}");
        if let Some(invocation) = &sample.invocation {
            let values = sample.specialization.and_then(|index| site.specializations.get(index));
            let values = values
                .map(|values| format!(", {}", constants(values)))
                .unwrap_or_default();
            let _ = write!(text, "  [{}{values}]", show_invocation(invocation));
        }
    }
    let shown: HashSet<_> = site.samples.iter().map(|s| &s.message.bytes).collect();
    if (shown.len() as u64) < site.distinct_messages {
        text.push_str("\n...");
    }
}

/// Notes, and the bytes that the text does not show.
fn notes(message: &Message) -> Vec<String> {
    let mut notes: Vec<String> = message
        .notes
        .iter()
        .map(|note| format!("note: {}", one_line(note)))
        .collect();
    match message.decoding {
        Decoding::Typed if message.rest.is_empty() => {}
        Decoding::Typed => notes.push(format!("remaining bytes: {}", show_bytes(&message.rest))),
        Decoding::Convention | Decoding::Raw => {
            if message.decoding == Decoding::Convention {
                notes.push("note: unknown site: the types are guessed from the format".to_owned());
            }
            notes.push(format!("bytes: {}", show_bytes(&message.bytes)));
        }
    }
    notes
}

/// Counts over all sites. `is_alone`: the report has no site.
fn summary(summary: &Summary, is_alone: bool, color: bool, out: &mut String) {
    let title = bold("vkabort", color);
    let mut line = |text: String| {
        let _ = writeln!(out, "{title}: {text}");
    };
    if summary.full {
        let count = count(summary.dropped, "more abort");
        let arena = match summary.arena_bytes {
            Some(bytes) => format!("the arena of {bytes} bytes"),
            None => "the arena".to_owned(),
        };
        let advice = match &summary.raise {
            Some(setting) => format!(": raise the setting `{}` to see them", one_line(setting)),
            None => String::new(),
        };
        line(format!("{count} did not fit into {arena}{advice}"));
    }
    match summary.unfinished {
        0 => {}
        1 => line("1 message was started but not completed".to_owned()),
        n => line(format!("{n} messages were started but not completed")),
    }
    if summary.control_lost {
        line("the abort count was lost with the device: there may have been more aborts".to_owned());
    }
    for text in &summary.driver {
        line(format!("the driver reports: {}", one_line(text)));
    }
    if summary.ignored > 0 {
        let kind = if is_alone { "invocation" } else { "more invocation" };
        let count = count(summary.ignored, kind);
        line(format!("{count} aborted at sites that the filter ignores"));
    }
    if is_alone && !summary.full && summary.unfinished == 0 && summary.ignored == 0 {
        line("no shader aborted".to_owned());
    }
    if let (true, Some(folder)) = (is_alone, &summary.dump) {
        line(format!("dump: {}", one_line(folder)));
    }
}

fn show_bytes(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN_BYTES).unwrap_or(bytes);
    let groups: Vec<String> = shown.chunks(4).map(hex).collect();
    let more = match bytes.len().checked_sub(SHOWN_BYTES) {
        None | Some(0) => String::new(),
        Some(n) => format!(" ... {n} more"),
    };
    format!("{}{more}", groups.join(" "))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
