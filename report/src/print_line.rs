//! Prints as people and programs see them: a line of text, a line of JSON.

use crate::phrases::{count, show_invocation};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use vkabort_record::escape::{one_line, push_indented};
use vkabort_record::format::Formatted;
use vkabort_record::invocation::Invocation;
use vkabort_record::print::record::PrintRecord;
use vkabort_record::site::{Location, ModuleHash, PrintSite, SiteTable};
use vkabort_record::stage::stage_name;

/// Where a print is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PrintPlace {
    /// XXH3 of the module's original words.
    pub module_hash: Option<ModuleHash>,
    /// The function that prints.
    pub function: Option<String>,
    /// Source position.
    pub location: Option<Location>,
}

impl PrintPlace {
    /// The place of a site of a module.
    pub fn of(table: &SiteTable, site: &PrintSite) -> Self {
        let location = site.location.clone();
        Self {
            module_hash: Some(table.module_hash),
            function: Some(site.function.clone()),
            location: location.map(|location| Location {
                source: None,
                ..location
            }),
        }
    }

    /// Appends `file:line`, else the function, else the module.
    fn show(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match (&self.location, &self.function, self.module_hash) {
            (Some(Location { file, line: 0, .. }), ..) => write!(out, "{}", one_line(file)),
            (Some(Location { file, line, .. }), ..) => write!(out, "{}:{line}", one_line(file)),
            (None, Some(function), _) => write!(out, "{}", one_line(function)),
            (None, None, Some(hash)) => write!(out, "module {hash}"),
            (None, None, None) => write!(out, "(unknown shader)"),
        };
    }
}

/// One print of an invocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintLine {
    /// Where it is.
    #[serde(flatten)]
    pub place: Arc<PrintPlace>,
    /// Name of the stage.
    pub stage: Cow<'static, str>,
    /// The invocation.
    pub invocation: Invocation,
    /// The text, safe to print, without line ends at its end.
    pub text: String,
    /// Disagreements between the format and its arguments, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl PrintLine {
    /// A record of the code with this table, if that is known.
    pub fn new(record: &PrintRecord, table: Option<&SiteTable>) -> Self {
        let place = match site_of(record, table) {
            Some((table, site)) => PrintPlace::of(table, site),
            None => PrintPlace {
                module_hash: record.code.map(|code| code.0),
                ..PrintPlace::default()
            },
        };
        Self::at(place.into(), record, table)
    }

    /// [`Self::new`] of a record whose place is known.
    pub fn at(place: Arc<PrintPlace>, record: &PrintRecord, table: Option<&SiteTable>) -> Self {
        let site = site_of(record, table);
        let Formatted { text, notes } = match site {
            Some((_, site)) => site.format(&record.payload),
            None => Formatted {
                text: format!("(print {} of an unknown module)", record.site),
                notes: Vec::new(),
            },
        };
        let mut sizes = table.iter().flat_map(|table| &table.entry_points);
        let size = sizes.find(|entry| entry.execution_model == record.execution_model);
        let size = size.and_then(|entry| entry.constant_local_size());
        Self {
            place,
            stage: stage_name(record.execution_model).into(),
            invocation: Invocation::from_words(record.execution_model, record.identity).with_workgroup_size(size),
            text: without_line_ends(text),
            notes,
        }
    }

    /// `file:line: text`, ended by a line feed; further lines of the text are indented. `with_invocation`: the invocation in
    /// front of the text.
    pub fn text(&self, with_invocation: bool) -> String {
        let mut out = String::new();
        self.push_text(with_invocation, &mut out);
        out
    }

    /// Appends [`Self::text`].
    pub fn push_text(&self, with_invocation: bool, out: &mut String) {
        self.place.show(out);
        out.push_str(": ");
        if with_invocation {
            // Writing to a string cannot fail.
            let _ = write!(out, "[{} {}] ", self.stage, show_invocation(&self.invocation));
        }
        push_indented(&self.text, "    ", out);
        out.push('\n');
    }
}

/// The print of a record, if it is one of the table.
fn site_of<'t>(record: &PrintRecord, table: Option<&'t SiteTable>) -> Option<(&'t SiteTable, &'t PrintSite)> {
    let table = table?;
    Some((table, table.prints.get(usize::try_from(record.site).ok()?)?))
}

fn without_line_ends(mut text: String) -> String {
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}

/// Prints of a site for which there was no room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedPrints {
    /// Where they are. Nothing is known of sites that have no counter of their own.
    #[serde(flatten)]
    pub place: PrintPlace,
    /// Their number.
    pub count: u64,
}

impl DroppedPrints {
    /// The line of text, ended by a line feed.
    pub fn text(&self) -> String {
        let mut place = String::new();
        match self.place == PrintPlace::default() {
            true => place.push_str("other shaders"),
            false => self.place.show(&mut place),
        }
        let verb = if self.count == 1 { "has" } else { "have" };
        format!(
            "vkabort: {} of {place} {verb} no room (printf_size)\n",
            count(self.count, "print")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::message_type::Type;
    use vkabort_record::scalar_type::ScalarType;
    use vkabort_record::site::PrintArgument;

    fn table(format: &str) -> SiteTable {
        SiteTable {
            module_hash: ModuleHash(7),
            prints: vec![PrintSite {
                function: "main".into(),
                location: Some(Location {
                    file: "a\u{1b}.comp".into(),
                    line: 9,
                    column: 3,
                    source: Some("debugPrintfEXT(..)".into()),
                }),
                format: format.into(),
                arguments: vec![PrintArgument::Value(Type::Scalar(ScalarType::U32))],
                ..PrintSite::default()
            }],
            ..SiteTable::default()
        }
    }

    fn record() -> PrintRecord {
        PrintRecord {
            code: Some(ModuleHash(7).into()),
            site: 0,
            execution_model: 5,
            identity: [3, 0, 0, 3],
            payload: [42].into(),
        }
    }

    #[test]
    fn a_line_has_place_text_and_invocation() {
        let line = PrintLine::new(&record(), Some(&table("x = %u\n")));
        assert_eq!(line.text(false), "a\\x1b.comp:9: x = 42\n");
        assert_eq!(
            line.text(true),
            "a\\x1b.comp:9: [compute global (3, 0, 0), local index 3] x = 42\n"
        );
        let line = PrintLine::new(&record(), Some(&table("%u\nvkabort: error: forged\n")));
        assert_eq!(line.text(false), "a\\x1b.comp:9: 42\n    vkabort: error: forged\n");
    }

    #[test]
    fn unknown_modules_and_sites_have_lines_too() {
        let line = PrintLine::new(&record(), None);
        assert_eq!(
            line.text(false),
            "module 0000000000000007: (print 0 of an unknown module)\n"
        );
        let line = PrintLine::new(&PrintRecord { site: 9, ..record() }, Some(&table("")));
        assert!(line.text.contains("print 9 of an unknown"), "{line:?}");
        let mut nameless = table("%u");
        nameless.prints[0].location = None;
        assert_eq!(PrintLine::new(&record(), Some(&nameless)).text(false), "main: 42\n");
    }

    #[test]
    fn dropped_prints_are_counted_by_place() {
        let table = table("");
        let place = PrintPlace::of(&table, &table.prints[0]);
        let dropped = DroppedPrints { place, count: 12 };
        assert_eq!(
            dropped.text(),
            "vkabort: 12 prints of a\\x1b.comp:9 have no room (printf_size)\n"
        );
        let shared = DroppedPrints {
            place: PrintPlace::default(),
            count: 1,
        };
        assert_eq!(
            shared.text(),
            "vkabort: 1 print of other shaders has no room (printf_size)\n"
        );
    }
}
