//! The lines of the text report with the values at an abort.

use crate::data::{NamedValue, Sample};
use crate::rows::Lines;
use vkabort_record::escape::one_line;
use vkabort_record::format::show;
use vkabort_record::value::Value;

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
    if head.chars().count() < COLUMNS {
        return Some(wrap(format!("{head} with "), values));
    }
    let mut lines = wrap("  with ".to_owned(), values);
    lines.0.insert(0, head);
    Some(lines)
}

/// `values: i = 16, base = (0.5, 1.0, 2.0)`. `left_out`: the number of those that follow.
pub(crate) fn values(first: &Sample, left_out: u64) -> Option<Lines> {
    if first.values.is_empty() {
        return None;
    }
    let more = (left_out > 0).then(|| format!("... {left_out} more"));
    Some(wrap(
        "values: ".to_owned(),
        first.values.iter().map(show_named).chain(more),
    ))
}

/// The condition's operands and the variables of a sample that differ from those of the first one: `index = 71, i = 3`. Without
/// those whose value the text of the message shows already.
pub(crate) fn differences(sample: &Sample, first: &Sample, message: &str) -> Option<String> {
    let all = |sample: &Sample| -> Vec<NamedValue> {
        let operands = sample.condition.iter().flat_map(|condition| condition.values.iter());
        operands.chain(&sample.values).cloned().collect()
    };
    let (values, of_first) = (all(sample), all(first));
    let mut shown: Vec<String> = Vec::new();
    for (value, other) in values.iter().zip(&of_first) {
        let text = show_named(value);
        let is_in_message = |value: &Value| {
            let value = show(value);
            let words = message.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-')));
            words.into_iter().any(|word| word == value)
        };
        let is_known = text == show_named(other) || value.value.as_ref().is_some_and(is_in_message);
        if !is_known && !shown.contains(&text) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ConditionReport;
    use crate::message::Message;
    use vkabort_record::scalar::Scalar;
    use vkabort_record::scalar_type::ScalarType;

    fn value(name: &str, bits: u64) -> NamedValue {
        let value = Some(Value::Scalar(Scalar::from_bits(ScalarType::U32, bits)));
        let name = name.to_owned();
        NamedValue { name, value }
    }

    fn sample(index: u64, values: Vec<NamedValue>) -> Sample {
        Sample {
            condition: Some(ConditionReport {
                text: "index >= count".to_owned(),
                values: vec![value("index", index), value("count", 64)],
            }),
            values,
            ..Sample::new(Message::untyped(b"text"))
        }
    }

    fn lines(lines: Option<Lines>) -> Vec<String> {
        lines.map(|lines| lines.0).unwrap_or_default()
    }

    #[test]
    fn a_condition_has_the_values_of_its_operands() {
        let with = sample(70, vec![]);
        assert_eq!(
            lines(condition(&with)),
            ["condition: index >= count with index = 70, count = 64"]
        );
        let mut without = sample(0, vec![]);
        if let Some(condition) = &mut without.condition {
            condition.values.clear();
        }
        assert_eq!(lines(condition(&without)), ["condition: index >= count"]);
        without.condition = None;
        assert_eq!(lines(condition(&without)), Vec::<String>::new());
    }

    #[test]
    fn long_lists_are_wrapped_and_what_was_left_out_is_counted() {
        let all: Vec<NamedValue> = (0..12).map(|n| value(&format!("variable_{n}"), 1000 + n)).collect();
        let lost = NamedValue {
            name: "lost".to_owned(),
            value: None,
        };
        let first = sample(1, all.into_iter().chain([lost]).collect());
        let lines = lines(values(&first, 3));
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{lines:?}");
        assert_eq!(lines.len(), 3, "{lines:?}");
        let joined: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert!(
            joined
                .join(" ")
                .ends_with("variable_11 = 1011, lost = <optimized out>, ... 3 more"),
            "{lines:?}"
        );
    }

    #[test]
    fn samples_show_what_differs_from_the_first() {
        let first = sample(70, vec![value("i", 3), value("n", 9)]);
        let other = sample(71, vec![value("i", 3), value("n", 10)]);
        assert_eq!(differences(&other, &first, "").as_deref(), Some("index = 71, n = 10"));
        assert_eq!(differences(&other, &first, "bad index 71").as_deref(), Some("n = 10"));
        assert_eq!(differences(&first, &first, ""), None);
    }

    #[test]
    fn names_from_the_shader_do_not_break_lines() {
        let hostile = sample(1, vec![value("a\nvkabort: fake", 1)]);
        assert!(lines(values(&hostile, 0)).iter().all(|line| !line.contains('\n')));
    }
}
