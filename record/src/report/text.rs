//! Reports as text: per site the message, the source position, the shader and the number of aborts.

use crate::escape::one_line;
use crate::hex::hex;
use crate::invocation::Invocation;
use crate::message::{Decoding, Message};
use crate::report::data::{Extent, Report, SiteReport, Summary};
use crate::report::phrases::{module, objects, shader, show_id, show_invocation, show_location};
use crate::site::Location;
use std::collections::HashSet;
use std::fmt::Write;

/// Bytes of a message that are written out in hexadecimal; the others are counted.
const SHOWN_BYTES: usize = 64;

impl Report {
    /// The report as text, each line ended by a line feed. `color`: with ANSI colours.
    pub fn text(&self, color: bool) -> String {
        let mut view = View {
            out: String::new(),
            paint: Paint { on: color },
        };
        for (index, site) in self.sites.iter().enumerate() {
            if index > 0 {
                view.out.push('\n');
            }
            view.site(site);
        }
        view.summary(&self.summary, self.sites.is_empty());
        view.out
    }
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn error(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn frame(self, text: &str) -> String {
        self.wrap("1;34", text)
    }
}

struct View {
    out: String,
    paint: Paint,
}

impl View {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// `   = text`
    fn fact(&mut self, margin: usize, text: &str) {
        let mark = self.paint.frame("=");
        self.line(&format!("{:margin$} {mark} {text}", ""));
    }

    fn site(&mut self, site: &SiteReport) {
        let paint = self.paint;
        let first = site.samples.first();
        let message = first.map(|s| s.message.text.as_str()).unwrap_or_default();
        let headline = match message.trim_end().is_empty() {
            true => "(empty message)".to_owned(),
            false => indent_continuation(message.trim_end(), "    "),
        };
        let title = paint.error("vkabort: shader aborted");
        self.line(&format!("{title}: {}", paint.strong(&headline)));
        let margin = site.location.as_ref().map_or(2, |l| l.line.to_string().len().max(2));
        self.place(margin, site);
        if let Some(shader) = shader(site) {
            self.fact(margin, &shader);
        }
        if let Some(objects) = objects(site) {
            self.fact(margin, &objects);
        }
        if let Some(invocation) = first.and_then(|s| s.invocation) {
            self.fact(margin, &format!("invocation {}", show_invocation(&invocation)));
        }
        self.counts(margin, site);
        for place in &site.also_possible {
            self.fact(margin, &format!("one of: {}", one_line(place)));
        }
        if let Some(first) = first {
            self.notes(margin, &first.message);
        }
    }

    /// The arrow and the source line, in the form of compiler diagnostics.
    fn place(&mut self, margin: usize, site: &SiteReport) {
        let paint = self.paint;
        let arrow = paint.frame("-->");
        match (&site.location, site.word_offset) {
            (Some(location), _) => self.line(&format!("{:margin$}{arrow} {}", "", show_location(location))),
            (None, Some(word)) => self.line(&format!("{:margin$}{arrow} {}, word {word}", "", module(site))),
            _ => {}
        }
        let Some((location, source)) = site.location.as_ref().and_then(|l| Some((l, l.source.as_deref()?))) else {
            return;
        };
        let bar = paint.frame("|");
        self.line(&format!("{:margin$} {bar}", ""));
        let number = paint.frame(&format!("{:>margin$}", location.line));
        let source = one_line(&source.trim_end_matches(['\r', '\n']).replace('\t', "    "));
        self.line(&format!("{number} {bar} {source}"));
        if let Some(column) = caret(location) {
            self.line(&format!("{:margin$} {bar} {:column$}{}", "", "", paint.error("^")));
        }
    }

    /// The number of invocations, their stages and ids, and the other messages.
    fn counts(&mut self, margin: usize, site: &SiteReport) {
        let mut text = match site.invocations {
            0 | 1 => String::new(),
            n => format!("{n} invocations aborted here"),
        };
        if site.stages.len() > 1 {
            let stages: Vec<String> = site
                .stages
                .iter()
                .filter(|s| s.invocations > 0)
                .map(|s| format!("{} {}", s.invocations, s.stage))
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
            return;
        }
        if site.distinct_messages > 1 {
            let _ = write!(text, ", {} different messages", site.distinct_messages);
        }
        self.fact(margin, &text);
        self.other_messages(margin, site);
    }

    /// The distinct messages after the first.
    fn other_messages(&mut self, margin: usize, site: &SiteReport) {
        if site.distinct_messages <= 1 {
            return;
        }
        let first = site.samples.first().map(|s| s.message.bytes.as_slice());
        for sample in site.samples.iter().skip(1) {
            if Some(sample.message.bytes.as_slice()) == first {
                continue;
            }
            let message = indent_continuation(sample.message.text.trim_end(), "        ");
            let invocation = match &sample.invocation {
                Some(invocation) => format!("  [{}]", show_invocation(invocation)),
                None => String::new(),
            };
            self.line(&format!("{:margin$}   {message}{invocation}", ""));
        }
        let shown: HashSet<_> = site.samples.iter().map(|s| &s.message.bytes).collect();
        if (shown.len() as u64) < site.distinct_messages {
            self.line(&format!("{:margin$}   ...", ""));
        }
    }

    /// Notes, and the bytes that the text does not show.
    fn notes(&mut self, margin: usize, message: &Message) {
        for note in &message.notes {
            self.fact(margin, &format!("note: {}", one_line(note)));
        }
        match message.decoding {
            Decoding::Typed if message.rest.is_empty() => {}
            Decoding::Typed => self.fact(margin, &format!("remaining bytes: {}", show_bytes(&message.rest))),
            Decoding::Convention | Decoding::Raw => {
                if message.decoding == Decoding::Convention {
                    self.fact(margin, "note: unknown site: the types are guessed from the format");
                }
                self.fact(margin, &format!("bytes: {}", show_bytes(&message.bytes)));
            }
        }
    }

    fn summary(&mut self, summary: &Summary, is_alone: bool) {
        let title = self.paint.strong("vkabort");
        if summary.full {
            let count = match summary.dropped {
                1 => "1 more abort".to_owned(),
                n => format!("{n} more aborts"),
            };
            let arena = match summary.arena_bytes {
                Some(bytes) => format!("the arena of {bytes} bytes"),
                None => "the arena".to_owned(),
            };
            let advice = match &summary.raise {
                Some(setting) => format!(": raise the setting `{setting}` to see them"),
                None => String::new(),
            };
            self.line(&format!("{title}: {count} did not fit into {arena}{advice}"));
        }
        match summary.unfinished {
            0 => {}
            1 => self.line(&format!("{title}: 1 message was started but not completed")),
            n => self.line(&format!("{title}: {n} messages were started but not completed")),
        }
        if summary.control_lost {
            self.line(&format!(
                "{title}: the abort count was lost with the device: there may have been more aborts"
            ));
        }
        for line in &summary.driver {
            self.line(&format!("{title}: the driver reports: {}", one_line(line)));
        }
        if summary.ignored > 0 {
            let more = if is_alone { "" } else { "more " };
            let (count, plural) = (summary.ignored, if summary.ignored == 1 { "" } else { "s" });
            self.line(&format!(
                "{title}: {count} {more}invocation{plural} aborted at sites that the filter ignores"
            ));
        }
        if is_alone && !summary.full && summary.unfinished == 0 && summary.ignored == 0 {
            self.line(&format!("{title}: no shader aborted"));
        }
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

/// Column of the caret under the printed source line, from 0. Tabs are printed four columns wide.
fn caret(location: &Location) -> Option<usize> {
    let column = (location.column as usize).checked_sub(1)?;
    let source = location.source.as_deref()?;
    let before: Vec<char> = source.chars().take(column).collect();
    (before.len() == column && column < source.trim_end().chars().count())
        .then(|| before.iter().map(|&c| if c == '\t' { 4 } else { 1 }).sum())
}

fn indent_continuation(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
