//! Reports as text: per site the message, the source lines, the shader and the number of aborts, in the form of compiler
//! diagnostics.

use crate::phrases::{dump, show_location};
use crate::rows::lines;
use crate::site_report::{SiteReport, again, module};
use crate::source_view::SourceView;
use crate::styled::Styled;
use crate::summary::{Report, Summary};
use annotate_snippets::{Group, Level, Origin, Renderer};
use vkabort_record::escape::{one_line, printable};

/// Columns of a text that is not for a terminal.
pub const COLUMNS: usize = 140;

/// Fewer columns show too little of a source line.
const MIN_COLUMNS: usize = 40;

impl Report {
    /// [`Self::styled`] as a string, for [`COLUMNS`].
    pub fn text(&self, color: bool) -> String {
        self.styled(color, COLUMNS).into()
    }

    /// The report as text, each line ended by a line feed. `color`: with ANSI colours. Source lines are cut to `columns`, but not
    /// below 40.
    pub fn styled(&self, color: bool, columns: usize) -> Styled {
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let renderer = renderer.term_width(columns.max(MIN_COLUMNS));
        let mut out = Styled::default();
        for (index, site) in self.sites.iter().enumerate() {
            if site.repeats.is_some() {
                out.push(&own_line(&again(site), color));
                continue;
            }
            if index > 0 {
                out.push(&Styled::plain("\n"));
            }
            out.push(&site_text(site, self.dump_below(index), &renderer));
            out.push(&Styled::plain("\n"));
        }
        for line in lines(Summary::TEXTS, self) {
            out.push(&own_line(&line, color));
        }
        out
    }

    /// The folder of the dump, for the last site that is shown in full.
    fn dump_below(&self, index: usize) -> Option<&str> {
        let last = self.sites.iter().rposition(|site| site.repeats.is_none());
        self.summary.dump.as_deref().filter(|_| last == Some(index))
    }
}

/// A line after the name of the program.
pub(crate) fn own_line(line: &str, color: bool) -> Styled {
    let mut out = Styled::new("1", "vkabort", color);
    out.push(&Styled::plain(&format!(": {}\n", one_line(line))));
    out
}

/// A site that is shown in full.
fn site_text(site: &SiteReport, dump_folder: Option<&str>, renderer: &Renderer) -> Styled {
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
        (None, Some(location), _) => group.element(Origin::path(one_line(&show_location(location)))),
        (None, None, Some(word)) => group.element(Origin::path(one_line(&format!("{}, word {word}", module(site))))),
        _ => group,
    };
    let mut facts = lines(SiteReport::TEXTS, site);
    facts.extend(dump_folder.map(|folder| one_line(&dump(folder))));
    group = group.elements(facts.into_iter().map(|fact| Level::NOTE.no_name().message(fact)));
    if view.is_none() && site.word_offset.is_some() {
        group = group.element(Level::HELP.message("compile with -gVS (glslang) or -g (Slang) to see the source line"));
    }
    Styled::of_escaped(renderer.render(&[group]))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
