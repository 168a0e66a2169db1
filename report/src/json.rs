//! Reports as JSON lines, written and read.
//!
//! One object per line: an `abort` for every site, then one `summary`. A log has `log`, `print` and `dropped_prints` lines between
//! the reports.
//! `report/schema/report.schema.json` describes the lines. Its version is semantic: a key that changes its meaning or is removed
//! raises the major version, a new key or value the minor version; so programs should ignore keys that they do not know. The
//! reader here accepts older versions and refuses unknown keys.

use crate::print_line::{DroppedPrints, PrintLine};
use crate::site_report::SiteReport;
use crate::styled::Styled;
use crate::summary::{Report, Summary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use vkabort_record::escape::json_text;

/// The JSON Schema of a line.
pub const SCHEMA: &str = include_str!("../schema/report.schema.json");

/// The `version` of every line: that of the schema's `$id`. Lines of version 1.0.0 have the number 1.
pub const SCHEMA_VERSION: &str = quoted_after(SCHEMA, "\"urn:vkabort:report:");

/// The text from the first `mark` to the next quotation mark.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn quoted_after(text: &'static str, mark: &str) -> &'static str {
    let (bytes, mark) = (text.as_bytes(), mark.as_bytes());
    let (mut start, mut matched) = (0, 0);
    while matched < mark.len() {
        matched = if bytes[start] == mark[matched] { matched + 1 } else { 0 };
        start += 1;
    }
    let mut end = start;
    while bytes[end] != b'"' {
        end += 1;
    }
    text.split_at(end).0.split_at(start).1
}

/// An invalid line.
#[derive(Debug)]
pub struct ReadError {
    /// Line number, from 1.
    pub line: usize,
    /// The reason.
    pub message: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// A part of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A report.
    Report(Report),
    /// A print.
    Print(Box<PrintLine>),
    /// Prints without room.
    DroppedPrints(DroppedPrints),
}

impl Entry {
    /// The entry as lines of JSON, each ended by a line feed.
    pub fn json_lines(&self) -> String {
        match self {
            Self::Report(report) => report.json_lines(),
            Self::Print(print) => print.json_line(),
            Self::DroppedPrints(dropped) => dropped.json_line(),
        }
    }

    /// The entry as text: see [`Report::styled`] and [`PrintLine::text`].
    pub fn styled(&self, color: bool, columns: usize, with_invocation: bool) -> Styled {
        match self {
            Self::Report(report) => report.styled(color, columns),
            Self::Print(print) => Styled::plain(&print.text(with_invocation)),
            Self::DroppedPrints(dropped) => Styled::plain(&dropped.text()),
        }
    }
}

impl PrintLine {
    /// The print as a line of JSON.
    pub fn json_line(&self) -> String {
        line("print", self)
    }
}

impl DroppedPrints {
    /// The count as a line of JSON.
    pub fn json_line(&self) -> String {
        line("dropped_prints", self)
    }
}

impl Report {
    /// The report as lines of JSON, each ended by a line feed.
    pub fn json_lines(&self) -> String {
        let sites = self.sites.iter().map(|site| line("abort", site));
        sites.chain([line("summary", &self.summary)]).collect()
    }

    /// Reads all reports of a log, as [`read_log`].
    ///
    /// # Errors
    ///
    /// As [`read_log`].
    pub fn read_json_lines(text: &str) -> Result<Vec<Self>, ReadError> {
        let reports = read_log(text)?.into_iter().filter_map(|entry| match entry {
            Entry::Report(report) => Some(report),
            _ => None,
        });
        Ok(reports.collect())
    }
}

/// Reads the reports and prints of a log. A summary line ends each report; sites after the last summary, from a process that died,
/// form a last report. Lines that are not JSON objects are output of the application and skipped.
///
/// # Errors
///
/// A [`ReadError`] for a JSON object that is not a line of this version.
pub fn read_log(text: &str) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    let mut current = Report::default();
    for (index, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with('{') {
            continue;
        }
        match read_line(line).map_err(|message| ReadError {
            line: index + 1,
            message,
        })? {
            Line::Abort(site) => current.sites.push(*site),
            Line::Log => {}
            Line::Print(print) => entries.push(Entry::Print(print)),
            Line::DroppedPrints(dropped) => entries.push(Entry::DroppedPrints(dropped)),
            Line::Summary(summary) => {
                current.summary = summary;
                entries.push(Entry::Report(std::mem::take(&mut current)));
            }
        }
    }
    if !current.sites.is_empty() {
        current.summary.invocations = current.sites.iter().map(|s| s.invocations).sum();
        entries.push(Entry::Report(current));
    }
    Ok(entries)
}

/// A log message: `{"type":"log","level":"info","message":"..."}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogLine {
    #[serde(rename = "level")]
    _level: String,
    #[serde(rename = "message")]
    _message: String,
}

enum Line {
    Abort(Box<SiteReport>),
    Summary(Summary),
    Print(Box<PrintLine>),
    DroppedPrints(DroppedPrints),
    Log,
}

/// A line: `type` and `version` first, for human readers, then the keys of the content.
fn line(ty: &str, content: &impl Serialize) -> String {
    // Plain structures with string keys: serialising them cannot fail.
    let body = serde_json::to_string(content).unwrap_or_else(|_| "{}".to_owned());
    let keys = body.strip_prefix('{').unwrap_or(&body);
    json_text(&format!(
        "{{\"type\":\"{ty}\",\"version\":\"{SCHEMA_VERSION}\",{keys}\n"
    ))
}

fn read_line(line: &str) -> Result<Line, String> {
    let mut object: Map<String, Json> = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let ty = object.remove("type").ok_or("an object without `type`")?;
    if ty == "log" {
        let log: Result<LogLine, _> = serde_json::from_value(Json::Object(object));
        return log.map(|_| Line::Log).map_err(|e| e.to_string());
    }
    let version = match object.remove("version") {
        Some(Json::Number(major)) => format!("{major}.0.0"),
        Some(Json::String(version)) => version,
        _ => return Err("an object without `version`".to_owned()),
    };
    if major(&version) != major(SCHEMA_VERSION) {
        return Err(format!(
            "format version {version} is not supported, only {SCHEMA_VERSION} and older ones with the same first number"
        ));
    }
    let content = Json::Object(object);
    match ty.as_str() {
        Some("abort") => serde_json::from_value(content).map(|site| Line::Abort(Box::new(site))),
        Some("summary") => serde_json::from_value(content).map(Line::Summary),
        Some("print") => serde_json::from_value(content).map(|print| Line::Print(Box::new(print))),
        Some("dropped_prints") => serde_json::from_value(content).map(Line::DroppedPrints),
        _ => return Err(format!("unknown type {ty}")),
    }
    .map_err(|e| match version == SCHEMA_VERSION {
        true => e.to_string(),
        false => format!("{e}; its format version is {version}, that of this program {SCHEMA_VERSION}"),
    })
}

fn major(version: &str) -> Option<&str> {
    version.split('.').next()
}
