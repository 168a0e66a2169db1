//! Tables of measurements as Markdown.

use std::collections::BTreeMap;
use vkabort_tests::measure::measurement::Measurement;

/// Values in the order of their first measurement.
#[derive(Default)]
struct Order(Vec<String>);

impl Order {
    fn add(&mut self, value: &str) {
        if !self.0.iter().any(|other| other == value) {
            self.0.push(value.to_owned());
        }
    }
}

/// A table per metric: a row per driver, a column per subject, and in each cell the variants' values in the order of
/// `variants`; `-` where there is none.
pub fn by_metric(all: &[Measurement], variants: &[&str]) -> String {
    let (mut drivers, mut subjects, mut metrics) = (Order::default(), Order::default(), Order::default());
    let mut values = BTreeMap::new();
    for one in all {
        drivers.add(&one.driver);
        subjects.add(&one.subject);
        metrics.add(&one.metric);
        let key = [&one.driver, &one.subject, &one.variant, &one.metric].map(String::as_str);
        values.insert(key, one.value);
    }
    let mut text = String::new();
    for metric in &metrics.0 {
        text += &format!("\n{metric}: {}\n\n| |", variants.join(" / "));
        text += &subjects
            .0
            .iter()
            .map(|subject| format!(" {subject} |"))
            .collect::<String>();
        text += &format!("\n|---|{}\n", "---|".repeat(subjects.0.len()));
        for driver in &drivers.0 {
            let cell = |subject: &String| {
                let value = |variant: &&str| {
                    let key = [driver.as_str(), subject.as_str(), *variant, metric.as_str()];
                    let value = values.get(&key);
                    value.copied().flatten().map_or_else(|| "-".to_owned(), number)
                };
                variants.iter().map(value).collect::<Vec<_>>().join(" / ")
            };
            let cells: Vec<String> = subjects.0.iter().map(cell).collect();
            let is_empty = |cell: &String| cell.chars().all(|character| "-/ ".contains(character));
            if !cells.iter().all(is_empty) {
                text += &format!("| {driver} | {} |\n", cells.join(" | "));
            }
        }
    }
    text
}

/// A number with three significant digits, or all of an integer's.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}
