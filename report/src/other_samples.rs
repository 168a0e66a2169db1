//! All samples of a site except the first.

use crate::data::{Sample, SpecializationReport};
use crate::phrases::{constants, show_invocation};
use crate::value_lines::differences;
use std::collections::HashSet;
use std::fmt::Write;

/// The samples after the first that differ from it, each on a line of its own with the position of its record: its message, if
/// there are several, and the values that differ.
pub(crate) fn other_samples(
    samples: &[Sample],
    distinct_messages: u64,
    specializations: &[SpecializationReport],
) -> Vec<String> {
    let mut lines = Vec::new();
    let Some((first, others)) = samples.split_first() else {
        return lines;
    };
    for sample in others {
        let has_other_message = sample.message.bytes != first.message.bytes;
        let message = if has_other_message {
            sample.message.text.as_str()
        } else {
            ""
        };
        let differences = differences(sample, first, message);
        if !has_other_message && differences.is_none() {
            continue;
        }
        // The renderer expands the tabs of the first message.
        let message = sample.message.text.trim_end().replace('\t', "    ");
        let message = match (distinct_messages > 1, differences) {
            (true, Some(differences)) => format!("{message}; {differences}"),
            (false, Some(differences)) => differences,
            (_, None) => message,
        };
        let message = match sample.number {
            Some(number) => format!("{number}: {message}"),
            None => message,
        };
        let mut message = message
            .split('\n')
            .enumerate()
            .map(|(index, line)| match index {
                0 => line.to_owned(),
                _ => format!("  {line}"),
            })
            .collect::<Vec<_>>();
        if let (Some(invocation), Some(last)) = (&sample.invocation, message.last_mut()) {
            let values = sample.specialization.and_then(|index| specializations.get(index));
            let values = values
                .map(|values| format!(", {}", constants(values)))
                .unwrap_or_default();
            let _ = write!(last, "  [{}{values}]", show_invocation(invocation));
        }
        lines.extend(message);
    }
    let shown: HashSet<_> = samples.iter().map(|s| &s.message.bytes).collect();
    if (shown.len() as u64) < distinct_messages {
        lines.push("...".to_owned());
    }
    lines
}
