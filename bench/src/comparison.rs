//! Compares the variants of a measurement.

use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;

/// Two values of a driver and subject: of a variant and of its baseline.
pub struct Pair<'a> {
    /// The variant.
    pub of: &'a Measurement,
    /// Its value.
    pub value: f64,
    /// The baseline's.
    pub baseline: f64,
}

impl Pair<'_> {
    /// Value by baseline.
    pub fn ratio(&self) -> f64 {
        self.value / self.baseline
    }

    /// Driver and subject.
    pub fn name(&self) -> String {
        format!("{}, {}", self.of.driver, self.of.subject)
    }
}

/// The pairs of a metric in which both variants have a value.
pub fn pairs<'a>(all: &'a [Measurement], metric: &str, variant: &str, baseline: &str) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    let (variant, baseline): (String, String) = (variant.into(), baseline.into());
    for one in all.iter().filter(|one| one.metric == metric && one.variant == variant) {
        let other = all.iter().find(|other| {
            other.metric == metric
                && other.variant == baseline
                && other.driver == one.driver
                && other.subject == one.subject
        });
        if let (Some(value), Some(baseline)) = (one.value, other.and_then(|other| other.value)) {
            pairs.push(Pair {
                of: one,
                value,
                baseline,
            });
        }
    }
    pairs
}

/// Pairs of the times that a variant and another one add to their baseline.
pub fn added<'a>(all: &'a [Measurement], variant: &str, other: &str, baseline: &str) -> Vec<Pair<'a>> {
    let others = pairs(all, "ms", other, baseline);
    let of = |pair: &Pair<'_>| (pair.of.driver.clone(), pair.of.subject.clone());
    let with_other = |pair: Pair<'a>| {
        let other = others.iter().find(|other| of(other) == of(&pair))?;
        Some(Pair {
            value: pair.value - pair.baseline,
            baseline: other.value - other.baseline,
            ..pair
        })
    };
    pairs(all, "ms", variant, baseline)
        .into_iter()
        .filter_map(with_other)
        .collect()
}

/// Median, and the worst pair with its name, of the ratios.
pub fn ratios(mut pairs: Vec<Pair<'_>>) -> String {
    pairs.retain(|pair| pair.baseline > 0.0);
    pairs.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    match (pairs.get(pairs.len() / 2), pairs.last()) {
        (Some(median), Some(worst)) => format!(
            "median {}x of {} pairs, worst {}x ({})",
            number(median.ratio()),
            pairs.len(),
            number(worst.ratio()),
            worst.name()
        ),
        _ => NOT_MEASURED.to_owned(),
    }
}

/// The texts, or that there are none.
pub fn joined(texts: &[String]) -> String {
    match texts {
        [] => NOT_MEASURED.to_owned(),
        _ => texts.join("; "),
    }
}

/// A text for each pair, behind its name.
pub fn each(all: Vec<Pair<'_>>, text: impl Fn(&Pair<'_>) -> String) -> String {
    let texts: Vec<String> = all
        .iter()
        .map(|pair| format!("{}: {}", pair.name(), text(pair)))
        .collect();
    joined(&texts)
}

/// The sums of all subjects, by driver, variant and metric.
pub fn summed(all: &[Measurement]) -> Vec<Measurement> {
    let mut sums: Vec<Measurement> = Vec::new();
    for one in all {
        let same = |sum: &&mut Measurement| {
            (&sum.driver, &sum.variant, &sum.metric) == (&one.driver, &one.variant, &one.metric)
        };
        match sums.iter_mut().find(same) {
            Some(sum) => sum.value = sum.value.zip(one.value).map(|(sum, value)| sum + value),
            None => sums.push(Measurement {
                subject: "start".to_owned(),
                ..one.clone()
            }),
        }
    }
    sums
}

/// A difference with its sign.
pub fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", number(value.abs()))
}

/// Text in place of a missing value.
pub const NOT_MEASURED: &str = "not measured";
