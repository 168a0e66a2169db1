//! The goals, each with what was measured.

use crate::parts::Part;
use crate::rewriting::{SPIRV_TOOLS, WITH_VALIDATION};
use std::collections::BTreeMap;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;
use vkabort_tests::measure::shaders::Variant;

/// Measurements by part.
pub type ByPart = BTreeMap<Part, Vec<Measurement>>;

/// Two values of a driver and subject: of a variant and of its baseline.
struct Pair<'a> {
    of: &'a Measurement,
    value: f64,
    baseline: f64,
}

impl Pair<'_> {
    fn ratio(&self) -> f64 {
        self.value / self.baseline
    }

    fn name(&self) -> String {
        format!("{}, {}", self.of.driver, self.of.subject)
    }
}

/// The pairs of a metric in which both variants have a value.
fn pairs<'a>(all: &'a [Measurement], metric: &str, variant: &str, baseline: &str) -> Vec<Pair<'a>> {
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

/// What a variant and another one add to the times of their baseline.
fn added<'a>(all: &'a [Measurement], variant: &str, other: &str, baseline: &str) -> Vec<Pair<'a>> {
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
fn ratios(mut pairs: Vec<Pair<'_>>) -> String {
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
fn joined(texts: &[String]) -> String {
    match texts {
        [] => NOT_MEASURED.to_owned(),
        _ => texts.join("; "),
    }
}

/// A text for each pair, behind its name.
fn each(all: Vec<Pair<'_>>, text: impl Fn(&Pair<'_>) -> String) -> String {
    let texts: Vec<String> = all
        .iter()
        .map(|pair| format!("{}: {}", pair.name(), text(pair)))
        .collect();
    joined(&texts)
}

/// The sums of all subjects, by driver, variant and metric.
fn summed(all: &[Measurement]) -> Vec<Measurement> {
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
fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", number(value.abs()))
}

const NOT_MEASURED: &str = "not measured";

/// The rows of the table of goals: what, compared with what, the goal, the result; and whether the shaders were executed or
/// only compiled.
pub fn rows(parts: &ByPart) -> Vec<([String; 4], &'static str)> {
    let of = |part: Part| parts.get(&part).map_or(&[][..], Vec::as_slice);
    let (layer, unchecked, plain) = (Variant::Layer.name(), Variant::Unchecked.name(), Variant::Return.name());
    let (native, printf) = (Variant::Native.name(), Variant::Printf.name());
    let compilers = of(Part::Compilers);
    let planted = Variant::Planted.name();
    let [default_checks, gpu_av, shader_sanitizer] =
        [Variant::DefaultChecks, Variant::GpuAv, Variant::ShaderSanitizer].map(Variant::name);
    let checks = of(Part::Checks).iter().filter(|one| one.driver.contains("lavapipe"));
    let checks: Vec<Measurement> = checks.cloned().collect();
    let worse_of = |all: Vec<Pair<'_>>, is_worse: fn(f64, f64) -> bool| {
        let found: Vec<String> = all
            .iter()
            .filter(|pair| is_worse(pair.value, pair.baseline))
            .map(|pair| format!("{} ({} to {})", pair.name(), number(pair.baseline), number(pair.value)))
            .collect();
        match (all.len(), found.len()) {
            (0, _) => NOT_MEASURED.to_owned(),
            (all, 0) => format!("0 of {all} pairs"),
            (all, worse) => format!("{worse} of {all} pairs: {}", found.join("; ")),
        }
    };
    let worse = |metric, is_worse| worse_of(pairs(compilers, metric, layer, plain), is_worse);
    let worse_loops = |metric, is_worse| worse_of(pairs(of(Part::Loops), metric, planted, unchecked), is_worse);
    let sites: Vec<Measurement> = compilers
        .iter()
        .filter(|one| one.subject == "16 sites")
        .cloned()
        .collect();
    let times = |pair: &Pair<'_>| format!("{}x", number(pair.ratio()));
    let more = |unit: &'static str| move |pair: &Pair<'_>| format!("{} {unit}", signed(pair.value - pair.baseline));
    let more_ms_in_us = |pair: &Pair<'_>| format!("{} us", signed((pair.value - pair.baseline) * 1e3));
    let storm = |base: &str| {
        let of_storm = of(Part::Storm).iter().filter(|one| one.subject.starts_with("1048576"));
        let of_storm: Vec<Measurement> = of_storm.cloned().collect();
        each(pairs(&of_storm, "ms", layer, base), times)
    };
    let scan = of(Part::Rewrite).iter().filter(|one| one.metric == "scan ns");
    let scan: Vec<String> = scan
        .map(|one| format!("{}: {} ns", one.subject, one.value.map_or_else(String::new, number)))
        .collect();
    let large = of(Part::Messages)
        .iter()
        .filter(|one| one.subject.starts_with("64 KiB"));
    let large: Vec<String> = large
        .map(|one| {
            let value = one
                .value
                .map_or_else(|| one.reason.clone(), |value| format!("{} ms", number(value)));
            format!("{}, {}: {value}", one.driver, one.variant)
        })
        .collect();
    let submits = of(Part::Calls)
        .iter()
        .filter(|one| one.subject == "vkQueueSubmit")
        .cloned();
    let submits: Vec<Measurement> = submits.collect();
    let load = summed(of(Part::Load));
    let row = |measured: &str, against: &str, goal: &str, result: String| {
        ([measured, against, goal, &result].map(str::to_owned), "executed")
    };
    let compiled = |measured: &str, against: &str, goal: &str, result: String| {
        ([measured, against, goal, &result].map(str::to_owned), "only compiled")
    };
    vec![
        row(
            "scan of a module without aborts",
            "its size",
            "constant, below 100 ns",
            joined(&scan),
        ),
        row(
            "rewrite",
            "SPIRV-Tools validating, reading and writing the module",
            "0.05x",
            ratios(pairs(of(Part::Rewrite), "rewrite us", layer, WITH_VALIDATION)),
        ),
        row(
            "the same",
            "SPIRV-Tools reading and writing the module",
            "",
            ratios(pairs(of(Part::Rewrite), "rewrite us", layer, SPIRV_TOOLS)),
        ),
        compiled(
            "code, abort never taken",
            plain,
            "1.5x, at most 3x",
            ratios(pairs(compilers, "code", layer, plain)),
        ),
        compiled(
            "waves, abort never taken",
            plain,
            "the same",
            worse("waves", |value, base| value < base),
        ),
        compiled(
            "spills, abort never taken",
            plain,
            "the same",
            worse("spills", |value, base| value > base),
        ),
        compiled(
            "compilation of 16 sites",
            plain,
            "2x",
            ratios(pairs(&sites, "compile ms", layer, plain)),
        ),
        compiled(
            "code on drivers with the extension",
            native,
            "smaller",
            ratios(pairs(compilers, "code", layer, native)),
        ),
        compiled(
            "compilation on drivers with the extension",
            native,
            "faster",
            ratios(pairs(compilers, "compile ms", layer, native)),
        ),
        row(
            "kernel, abort never taken",
            plain,
            "1.1x",
            each(pairs(of(Part::Kernel), "ms", layer, plain), times),
        ),
        row(
            "the same",
            unchecked,
            "",
            each(pairs(of(Part::Kernel), "ms", layer, unchecked), times),
        ),
        row(
            "kernel, planted check",
            unchecked,
            "1.1x from 32 instructions on",
            each(pairs(of(Part::Kernel), "ms", planted, unchecked), times),
        ),
        row(
            "shaders without aborts, default checks, lavapipe",
            unchecked,
            "median 1.3x",
            ratios(pairs(&checks, "ms", default_checks, unchecked)),
        ),
        row(
            "the same under GPU-AV",
            unchecked,
            "",
            ratios(pairs(&checks, "ms", gpu_av, unchecked)),
        ),
        row(
            "the same under its shader sanitizer",
            unchecked,
            "",
            ratios(pairs(&checks, "ms", shader_sanitizer, unchecked)),
        ),
        row(
            "time that the default checks add",
            "that GPU-AV adds",
            "0.1x",
            ratios(added(&checks, default_checks, gpu_av, unchecked)),
        ),
        compiled(
            "waves, planted check",
            unchecked,
            "the same",
            worse_loops("waves", |value, base| value < base),
        ),
        compiled(
            "spills, planted check",
            unchecked,
            "the same",
            worse_loops("spills", |value, base| value > base),
        ),
        compiled(
            "code, planted check",
            unchecked,
            "",
            ratios(pairs(of(Part::Loops), "code", planted, unchecked)),
        ),
        row("a million invocations abort", plain, "1.5x", storm(plain)),
        row("the same", printf, "0.1x", storm(printf)),
        row(
            "vkQueueSubmit with the extension",
            "no layer",
            "+0.05 us",
            each(
                pairs(&submits, "us", "layer, extension enabled", "no layer"),
                more("us"),
            ),
        ),
        row(
            "vkCreateInstance and vkCreateDevice",
            "no layer",
            "+1 ms",
            each(
                pairs(&load, "ms", "layer, extension not enabled", "no layer"),
                more("ms"),
            ),
        ),
        row(
            "the same with the extension",
            "no layer",
            "+1 ms",
            each(pairs(&load, "ms", "layer, extension enabled", "no layer"), more("ms")),
        ),
        row(
            "memory of instance, device and shader module",
            "no layer",
            "+1 MiB",
            each(
                pairs(&load, "MiB", "layer, extension not enabled", "no layer"),
                more("MiB"),
            ),
        ),
        row(
            "the same with the extension",
            "no layer",
            "+1 MiB",
            each(pairs(&load, "MiB", "layer, extension enabled", "no layer"), more("MiB")),
        ),
        row(
            "pipeline of a 64 KiB message",
            "by value",
            "below 50 ms",
            joined(&large),
        ),
        row(
            "dispatch to VK_ERROR_DEVICE_LOST",
            "the same without an abort",
            "+1000 us",
            each(pairs(of(Part::Loss), "ms", "abort", "no abort"), more_ms_in_us),
        ),
    ]
}
