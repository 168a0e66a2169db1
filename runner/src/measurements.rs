//! Tables of measurements as Markdown.

use crate::Measurement;
use std::collections::BTreeMap;

/// Texts in the order of their first measurement.
#[derive(Default)]
struct Order(Vec<String>);

impl Order {
    fn add(&mut self, value: &str) {
        if !self.0.iter().any(|other| other == value) {
            self.0.push(value.to_owned());
        }
    }
}

/// A table per metric: a row per driver, a column per subject, and in each cell the values of the metric's variants in the order
/// of `variants`; `-` where there is none.
pub fn by_metric(all: &[Measurement], variants: &[&str]) -> String {
    let mut metrics = Order::default();
    let measured = || all.iter().filter(|one| one.value.is_some());
    measured().for_each(|one| metrics.add(&one.metric));
    metrics
        .0
        .iter()
        .map(|metric| of_metric(all, metric, variants))
        .collect()
}

fn of_metric(all: &[Measurement], metric: &str, order: &[&str]) -> String {
    let (mut drivers, mut subjects, mut variants) = (Order::default(), Order::default(), Order::default());
    let mut values = BTreeMap::new();
    for one in all.iter().filter(|one| one.metric == metric) {
        drivers.add(&one.driver);
        subjects.add(&one.subject);
        variants.add(&one.variant);
        values.insert([&one.driver, &one.subject, &one.variant].map(String::as_str), one.value);
    }
    let place = |name: &String| order.iter().position(|other| *other == name).unwrap_or(order.len());
    variants.0.sort_by_key(place);
    let heading = subjects.0.iter().map(|subject| format!(" {subject} |"));
    let mut text = format!(
        "\n{metric}: {}\n\n| |{}\n|---|{}\n",
        variants.0.join(" / "),
        heading.collect::<String>(),
        "---|".repeat(subjects.0.len())
    );
    for driver in &drivers.0 {
        let cell = |subject: &String| {
            let value = |variant: &String| {
                let value = values.get(&[driver.as_str(), subject.as_str(), variant.as_str()]);
                value.copied().flatten().map_or_else(|| "-".to_owned(), number)
            };
            variants.0.iter().map(value).collect::<Vec<_>>().join(" / ")
        };
        let cells: Vec<String> = subjects.0.iter().map(cell).collect();
        text += &format!("| {driver} | {} |\n", cells.join(" | "));
    }
    text
}

/// A number with three significant digits, or all of an integer's.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if value.fract() == 0.0 || size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_dash_for_a_missing_value() {
        let one = |variant, value| Measurement {
            driver: "d".into(),
            ..Measurement::new("s", variant, "ms", value)
        };
        let mut all = vec![one("layer", 12.34), one("return", 100.0)];
        all.push(Measurement {
            driver: "e".into(),
            ..one("layer", 1.0)
        });
        let expected = "\nms: return / layer\n\n| | s |\n|---|---|\n| d | 100 / 12.3 |\n| e | - / 1 |\n";
        assert_eq!(by_metric(&all, &["return", "layer"]), expected);
    }
}
