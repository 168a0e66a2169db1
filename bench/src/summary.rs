//! The goals, each with what was measured.

use crate::comparison::{NOT_MEASURED, Pair, added, each, joined, pairs, ratios, signed, summed};
use crate::parts::Part;
use crate::rewriting::{CHAIN, SPIRV_TOOLS, WITH_VALIDATION};
use std::collections::BTreeMap;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;
use vkabort_tests::measure::shaders::Variant;

/// Measurements by part.
pub type ByPart = BTreeMap<Part, Vec<Measurement>>;

/// The rows of the table of goals: what, compared with what, the goal, the result; and whether the shaders were executed or
/// only compiled.
pub fn rows(parts: &ByPart) -> Vec<([String; 4], &'static str)> {
    let of = |part: Part| parts.get(&part).map_or(&[][..], Vec::as_slice);
    let (layer, unchecked, plain) = (Variant::Layer.name(), Variant::Unchecked.name(), Variant::Return.name());
    let (native, printf) = (Variant::Native.name(), Variant::Printf.name());
    let printf_with_room = Variant::PrintfWithRoom.name();
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
    // Where debugPrintf prints nothing, as on Honeykrisp, its code is that of `return`.
    let silent = pairs(compilers, "instructions", printf, plain);
    let silent = silent.iter().filter(|pair| pair.value == pair.baseline);
    let silent: Vec<String> = silent.map(Pair::name).collect();
    let against_printf = |metric, is_selected: fn(&str) -> bool| {
        let mut pairs = pairs(compilers, metric, layer, printf);
        pairs.retain(|pair| is_selected(&pair.of.subject) && !silent.contains(&pair.name()));
        ratios(pairs)
    };
    let storm = |base: &str| {
        let of_storm = of(Part::Storm).iter().filter(|one| one.subject.starts_with("1048576"));
        let of_storm: Vec<Measurement> = of_storm.cloned().collect();
        each(pairs(&of_storm, "ms", layer, base), times)
    };
    let scan = of(Part::Rewrite).iter().filter(|one| one.metric == "scan ns");
    let scan: Vec<String> = scan
        .map(|one| format!("{}: {} ns", one.subject, one.value.map_or_else(String::new, number)))
        .collect();
    let chains = of(Part::Rewrite).iter().filter(|one| one.metric == CHAIN);
    let chains: Vec<String> = chains
        .map(|one| format!("{}: {} ms", one.subject, one.value.map_or_else(String::new, number)))
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
        row(
            "rewrite with the default checks",
            "rewrite",
            "2x",
            ratios(pairs(of(Part::Rewrite), "rewrite us", default_checks, layer)),
        ),
        row(
            "planting into long chains",
            "their length",
            "linear, below 200 ms",
            joined(&chains),
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
            "instructions of one site",
            printf,
            "1.25x",
            against_printf("instructions", |subject| subject != "16 sites"),
        ),
        compiled(
            "instructions of 16 sites",
            printf,
            "fewer",
            against_printf("instructions", |subject| subject == "16 sites"),
        ),
        compiled(
            "compilation of one site",
            printf,
            "faster",
            against_printf("compile ms", |subject| subject != "16 sites"),
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
        row("the same", printf, "not slower", storm(printf)),
        row(
            "the same, and fewer",
            printf_with_room,
            "not slower",
            ratios(pairs(of(Part::Storm), "ms", layer, printf_with_room)),
        ),
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
            "recording of a draw, commands = on",
            "no layer",
            "+40 ns",
            each(
                pairs(of(Part::Commands), "ns a draw", "commands = on", "no layer"),
                more("ns"),
            ),
        ),
        row(
            "the same, commands = off",
            "no layer",
            "+0 ns",
            each(
                pairs(of(Part::Commands), "ns a draw", "commands = off", "no layer"),
                more("ns"),
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
