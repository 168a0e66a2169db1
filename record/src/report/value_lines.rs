//! The lines of the text report with the values at an abort.

use crate::escape::one_line;
use crate::format::value_display::show;
use crate::report::data::{NamedValue, Sample};
use crate::report::rows::Lines;
use crate::report::site_report::SiteReport;

/// Columns of a line of values; a longer list is continued on the next line.
const COLUMNS: usize = 100;

/// `condition: index >= count with index = 70, count = 64`.
pub(crate) fn condition(sample: &Sample) -> Option<Lines> {
    let condition = sample.condition.as_ref()?;
    let head = format!("condition: {}", condition.text);
    if condition.values.is_empty() {
        return Some(head.into());
    }
    let values = condition.values.iter().map(show_named);
    Some(wrap(format!("{head} with "), values))
}

/// `values: i = 16, base = (0.5, 1.0, 2.0)`, of the first sample.
pub(crate) fn values(site: &SiteReport) -> Option<Lines> {
    let first = site.samples.first()?;
    if first.values.is_empty() {
        return None;
    }
    let more = (site.values_left_out > 0).then(|| format!("... {} more", site.values_left_out));
    Some(wrap(
        "values: ".to_owned(),
        first.values.iter().map(show_named).chain(more),
    ))
}

/// The condition's operands and the variables of a sample that differ from those of the first one: `index = 71, i = 3`.
pub(crate) fn differences(sample: &Sample, first: &Sample) -> Option<String> {
    let all = |sample: &Sample| -> Vec<NamedValue> {
        let operands = sample.condition.iter().flat_map(|condition| condition.values.iter());
        operands.chain(&sample.values).cloned().collect()
    };
    let (values, of_first) = (all(sample), all(first));
    let mut shown: Vec<String> = Vec::new();
    for (value, other) in values.iter().zip(&of_first) {
        let text = show_named(value);
        if text != show_named(other) && !shown.contains(&text) {
            shown.push(text);
        }
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// `index = 70`.
fn show_named(NamedValue { name, value }: &NamedValue) -> String {
    let value = value.as_ref().map_or_else(|| "<optimized out>".to_owned(), show);
    format!("{} = {value}", one_line(name))
}

/// Items after a heading, separated by commas, in lines of at most [`COLUMNS`] columns where the items allow it.
fn wrap(heading: String, items: impl Iterator<Item = String>) -> Lines {
    let mut lines = vec![heading];
    let mut items = items.peekable();
    let mut is_first = true;
    while let Some(mut item) = items.next() {
        if items.peek().is_some() {
            item.push(',');
        }
        let Some(line) = lines.last_mut() else { break };
        if !is_first && line.chars().count() + item.chars().count() >= COLUMNS {
            lines.push(format!("  {item}"));
        } else {
            if !is_first {
                line.push(' ');
            }
            line.push_str(&item);
        }
        is_first = false;
    }
    Lines(lines)
}
