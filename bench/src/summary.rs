//! The goals, each with what was measured.

use crate::comparison::{NOT_MEASURED, Pair, added, each, joined, pairs, ratios, signed, summed};
use crate::parts::Part;
use crate::rewriting::{SPIRV_TOOLS, WITH_VALIDATION};
use std::collections::BTreeMap;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;
use vkabort_tests::measure::shaders::Variant;

/// Measurements by part.
pub type ByPart = BTreeMap<Part, Vec<Measurement>>;

/// A row of the table of goals.
struct Goal {
    measured: &'static str,
    /// What it is compared with.
    against: &'static str,
    goal: &'static str,
    result: fn(&Measured<'_>) -> String,
    /// Whether the shaders were executed or only compiled.
    how: &'static str,
}

const LAYER: &str = Variant::Layer.name();
const UNCHECKED: &str = Variant::Unchecked.name();
const RETURN: &str = Variant::Return.name();
const NATIVE: &str = Variant::Native.name();
const PRINTF: &str = Variant::Printf.name();
const ROOMY_PRINTF: &str = Variant::PrintfWithRoom.name();
const PLANTED: &str = Variant::Planted.name();
const DEFAULT_CHECKS: &str = Variant::DefaultChecks.name();
const GPU_AV: &str = Variant::GpuAv.name();
const SHADER_SANITIZER: &str = Variant::ShaderSanitizer.name();
const NO_LAYER: &str = "no layer";
const DISABLED: &str = "layer, extension not enabled";
const ENABLED: &str = "layer, extension enabled";
const SITES: &str = "16 sites";

#[rustfmt::skip]
const GOALS: [Goal; 32] = [
    executed("scan of a module without aborts", "its size", "constant, below 100 ns", Measured::scan),
    executed("rewrite", "SPIRV-Tools validating, reading and writing the module", "0.05x",
        |m| ratios(m.pairs(Part::Rewrite, "rewrite us", LAYER, WITH_VALIDATION))),
    executed("the same", "SPIRV-Tools reading and writing the module", "",
        |m| ratios(m.pairs(Part::Rewrite, "rewrite us", LAYER, SPIRV_TOOLS))),
    compiled("code, abort never taken", RETURN, "1.5x, at most 3x",
        |m| ratios(m.pairs(Part::Compilers, "code", LAYER, RETURN))),
    compiled("waves, abort never taken", RETURN, "the same",
        |m| worse(m.pairs(Part::Compilers, "waves", LAYER, RETURN), |value, base| value < base)),
    compiled("spills, abort never taken", RETURN, "the same",
        |m| worse(m.pairs(Part::Compilers, "spills", LAYER, RETURN), |value, base| value > base)),
    compiled("compilation of 16 sites", RETURN, "2x",
        |m| ratios(with_subject(m.pairs(Part::Compilers, "compile ms", LAYER, RETURN), |subject| subject == SITES))),
    compiled("instructions of one site", PRINTF, "1.25x",
        |m| m.against_printf("instructions", |subject| subject != SITES)),
    compiled("instructions of 16 sites", PRINTF, "fewer",
        |m| m.against_printf("instructions", |subject| subject == SITES)),
    compiled("compilation of one site", PRINTF, "faster",
        |m| m.against_printf("compile ms", |subject| subject != SITES)),
    compiled("code on drivers with the extension", NATIVE, "smaller",
        |m| ratios(m.pairs(Part::Compilers, "code", LAYER, NATIVE))),
    compiled("compilation on drivers with the extension", NATIVE, "faster",
        |m| ratios(m.pairs(Part::Compilers, "compile ms", LAYER, NATIVE))),
    executed("kernel, abort never taken", RETURN, "1.1x",
        |m| each(m.pairs(Part::Kernel, "ms", LAYER, RETURN), times)),
    executed("the same", UNCHECKED, "",
        |m| each(m.pairs(Part::Kernel, "ms", LAYER, UNCHECKED), times)),
    executed("kernel, planted check", UNCHECKED, "1.1x from 32 instructions on",
        |m| each(m.pairs(Part::Kernel, "ms", PLANTED, UNCHECKED), times)),
    executed("shaders without aborts, default checks, lavapipe", UNCHECKED, "median 1.3x",
        |m| ratios(on_lavapipe(m.pairs(Part::Checks, "ms", DEFAULT_CHECKS, UNCHECKED)))),
    executed("the same under GPU-AV", UNCHECKED, "",
        |m| ratios(on_lavapipe(m.pairs(Part::Checks, "ms", GPU_AV, UNCHECKED)))),
    executed("the same under its shader sanitizer", UNCHECKED, "",
        |m| ratios(on_lavapipe(m.pairs(Part::Checks, "ms", SHADER_SANITIZER, UNCHECKED)))),
    executed("time that the default checks add", "that GPU-AV adds", "0.1x",
        |m| ratios(on_lavapipe(added(m.of(Part::Checks), DEFAULT_CHECKS, GPU_AV, UNCHECKED)))),
    compiled("waves, planted check", UNCHECKED, "the same",
        |m| worse(m.pairs(Part::Loops, "waves", PLANTED, UNCHECKED), |value, base| value < base)),
    compiled("spills, planted check", UNCHECKED, "the same",
        |m| worse(m.pairs(Part::Loops, "spills", PLANTED, UNCHECKED), |value, base| value > base)),
    compiled("code, planted check", UNCHECKED, "",
        |m| ratios(m.pairs(Part::Loops, "code", PLANTED, UNCHECKED))),
    executed("a million invocations abort", RETURN, "1.5x", |m| m.storm(RETURN)),
    executed("the same", PRINTF, "not slower", |m| m.storm(PRINTF)),
    executed("the same, and fewer", ROOMY_PRINTF, "not slower",
        |m| ratios(m.pairs(Part::Storm, "ms", LAYER, ROOMY_PRINTF))),
    executed("vkQueueSubmit with the extension", NO_LAYER, "+0.05 us", |m| {
        let submits = with_subject(m.pairs(Part::Calls, "us", ENABLED, NO_LAYER), |subject| subject == "vkQueueSubmit");
        each(submits, |pair| more(pair, 1.0, "us"))
    }),
    executed("vkCreateInstance and vkCreateDevice", NO_LAYER, "+1 ms", |m| m.start("ms", DISABLED)),
    executed("the same with the extension", NO_LAYER, "+1 ms", |m| m.start("ms", ENABLED)),
    executed("memory of instance, device and shader module", NO_LAYER, "+1 MiB", |m| m.start("MiB", DISABLED)),
    executed("the same with the extension", NO_LAYER, "+1 MiB", |m| m.start("MiB", ENABLED)),
    executed("pipeline of a 64 KiB message", "by value", "below 50 ms", Measured::large_messages),
    executed("dispatch to VK_ERROR_DEVICE_LOST", "the same without an abort", "+1000 us",
        |m| each(m.pairs(Part::Loss, "ms", "abort", "no abort"), |pair| more(pair, 1e3, "us"))),
];

type Result = fn(&Measured<'_>) -> String;

const fn executed(measured: &'static str, against: &'static str, goal: &'static str, result: Result) -> Goal {
    let how = "executed";
    Goal {
        measured,
        against,
        goal,
        result,
        how,
    }
}

const fn compiled(measured: &'static str, against: &'static str, goal: &'static str, result: Result) -> Goal {
    let how = "only compiled";
    Goal {
        how,
        ..executed(measured, against, goal, result)
    }
}

/// The rows of the table of goals: what, compared with what, the goal, the result; and whether the shaders were executed or
/// only compiled.
pub fn rows(parts: &ByPart) -> Vec<([String; 4], &'static str)> {
    let row = |row: &Goal| {
        let result = (row.result)(&Measured(parts));
        (
            [row.measured, row.against, row.goal, &result].map(str::to_owned),
            row.how,
        )
    };
    GOALS.iter().map(row).collect()
}

/// All measurements.
struct Measured<'a>(&'a ByPart);

impl<'a> Measured<'a> {
    fn of(&self, part: Part) -> &'a [Measurement] {
        self.0.get(&part).map_or(&[][..], Vec::as_slice)
    }

    fn pairs(&self, part: Part, metric: &str, variant: &str, baseline: &str) -> Vec<Pair<'a>> {
        pairs(self.of(part), metric, variant, baseline)
    }

    fn scan(&self) -> String {
        let scan = self.of(Part::Rewrite).iter().filter(|one| one.metric == "scan ns");
        let text = |one: &Measurement| {
            let value = one.value.map_or_else(String::new, number);
            format!("{}: {value} ns", one.subject)
        };
        joined(&scan.map(text).collect::<Vec<_>>())
    }

    fn large_messages(&self) -> String {
        let large = self
            .of(Part::Messages)
            .iter()
            .filter(|one| one.subject.starts_with("64 KiB"));
        let text = |one: &Measurement| {
            let value = one.value.map(|value| format!("{} ms", number(value)));
            format!(
                "{}, {}: {}",
                one.driver,
                one.variant,
                value.unwrap_or_else(|| one.reason.clone())
            )
        };
        joined(&large.map(text).collect::<Vec<_>>())
    }

    /// The layer's code by that of debugPrintf. Where that prints nothing, as on Honeykrisp, its code is that of `return`, and the
    /// pair is left out.
    fn against_printf(&self, metric: &str, is_selected: fn(&str) -> bool) -> String {
        let silent = self.pairs(Part::Compilers, "instructions", PRINTF, RETURN);
        let silent = silent.iter().filter(|pair| pair.value == pair.baseline);
        let silent: Vec<String> = silent.map(Pair::name).collect();
        let mut pairs = with_subject(self.pairs(Part::Compilers, metric, LAYER, PRINTF), is_selected);
        pairs.retain(|pair| !silent.contains(&pair.name()));
        ratios(pairs)
    }

    fn storm(&self, baseline: &str) -> String {
        let pairs = self.pairs(Part::Storm, "ms", LAYER, baseline);
        each(with_subject(pairs, |subject| subject.starts_with("1048576")), times)
    }

    fn start(&self, unit: &str, variant: &str) -> String {
        let load = summed(self.of(Part::Load));
        each(pairs(&load, unit, variant, NO_LAYER), |pair| more(pair, 1.0, unit))
    }
}

fn with_subject(mut pairs: Vec<Pair<'_>>, is_selected: fn(&str) -> bool) -> Vec<Pair<'_>> {
    pairs.retain(|pair| is_selected(&pair.of.subject));
    pairs
}

fn on_lavapipe(mut pairs: Vec<Pair<'_>>) -> Vec<Pair<'_>> {
    pairs.retain(|pair| pair.of.driver.contains("lavapipe"));
    pairs
}

/// The number of pairs whose value is worse than the baseline, and their names.
fn worse(all: Vec<Pair<'_>>, is_worse: fn(f64, f64) -> bool) -> String {
    let worse = all.iter().filter(|pair| is_worse(pair.value, pair.baseline));
    let text = |pair: &Pair<'_>| {
        let (baseline, value) = (number(pair.baseline), number(pair.value));
        format!("{} ({baseline} to {value})", pair.name())
    };
    let worse: Vec<String> = worse.map(text).collect();
    match (all.len(), worse.len()) {
        (0, _) => NOT_MEASURED.to_owned(),
        (all, 0) => format!("0 of {all} pairs"),
        (all, count) => format!("{count} of {all} pairs: {}", worse.join("; ")),
    }
}

fn times(pair: &Pair<'_>) -> String {
    format!("{}x", number(pair.ratio()))
}

/// The difference to the baseline. `unit` is that many times smaller than the unit of the values.
fn more(pair: &Pair<'_>, times: f64, unit: &str) -> String {
    format!("{} {unit}", signed((pair.value - pair.baseline) * times))
}
