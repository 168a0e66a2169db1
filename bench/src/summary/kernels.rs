//! Time and code of shaders with aborts and checks.

use super::row::{ByPart, Row, compiled, executed, of, times, worse};
use crate::comparison::{added, each, pairs, ratios};
use crate::parts::Part;
use vkabort_runner::Measurement;
use vkabort_tests::measure::shaders::Variant;

pub(super) fn rows(parts: &ByPart) -> Vec<Row> {
    let [kernel, loops, memory] = [Part::Kernel, Part::Loops, Part::Memory].map(|part| of(parts, part));
    let [layer, unchecked, plain, count, planted] = [
        Variant::Layer,
        Variant::Unchecked,
        Variant::Return,
        Variant::Count,
        Variant::Planted,
    ]
    .map(Variant::name);
    let [printf, printf_with_room] = [Variant::Printf, Variant::PrintfWithRoom].map(Variant::name);
    let [default_checks, gpu_av, shader_sanitizer] =
        [Variant::DefaultChecks, Variant::GpuAv, Variant::ShaderSanitizer].map(Variant::name);
    let checks = of(parts, Part::Checks).iter();
    let checks: Vec<Measurement> = checks.filter(|one| one.driver.contains("lavapipe")).cloned().collect();
    let million = of(parts, Part::Storm).iter();
    let million: Vec<Measurement> = million
        .filter(|one| one.subject.starts_with("1048576"))
        .cloned()
        .collect();
    vec![
        executed(
            "kernel, abort never taken",
            plain,
            "1.1x",
            each(pairs(kernel, "ms", layer, plain), times),
        ),
        executed(
            "the same",
            unchecked,
            "",
            each(pairs(kernel, "ms", layer, unchecked), times),
        ),
        executed(
            "kernel, planted check",
            unchecked,
            "1.1x from 32 instructions on",
            each(pairs(kernel, "ms", planted, unchecked), times),
        ),
        executed(
            "shaders without aborts, default checks, lavapipe",
            unchecked,
            "median 1.3x",
            ratios(pairs(&checks, "ms", default_checks, unchecked)),
        ),
        executed(
            "the same under GPU-AV",
            unchecked,
            "",
            ratios(pairs(&checks, "ms", gpu_av, unchecked)),
        ),
        executed(
            "the same under its shader sanitizer",
            unchecked,
            "",
            ratios(pairs(&checks, "ms", shader_sanitizer, unchecked)),
        ),
        executed(
            "time that the default checks add",
            "that GPU-AV adds",
            "0.1x",
            ratios(added(&checks, default_checks, gpu_av, unchecked)),
        ),
        executed(
            "loop with an access, a check of the memory checker",
            unchecked,
            "",
            each(pairs(memory, "ms", planted, unchecked), times),
        ),
        executed(
            "the same under GPU-AV, its check alone",
            unchecked,
            "",
            each(pairs(memory, "ms", gpu_av, unchecked), times),
        ),
        executed(
            "time of a dispatch with such a check",
            "under GPU-AV",
            "0.5x",
            each(pairs(memory, "ms", planted, gpu_av), times),
        ),
        compiled(
            "waves, planted check",
            unchecked,
            "the same",
            worse(&pairs(loops, "waves", planted, unchecked), |value, base| value < base),
        ),
        compiled(
            "spills, planted check",
            unchecked,
            "the same",
            worse(&pairs(loops, "spills", planted, unchecked), |value, base| value > base),
        ),
        compiled(
            "code, planted check",
            unchecked,
            "",
            ratios(pairs(loops, "code", planted, unchecked)),
        ),
        executed(
            "a million invocations abort",
            plain,
            "1.5x",
            each(pairs(&million, "ms", layer, plain), times),
        ),
        executed(
            "the same",
            printf,
            "not slower",
            each(pairs(&million, "ms", layer, printf), times),
        ),
        executed(
            "an addition to a counter by each of them",
            printf,
            "",
            each(pairs(&million, "ms", count, printf), times),
        ),
        executed(
            "a million invocations abort, and fewer",
            printf_with_room,
            "not slower",
            ratios(pairs(of(parts, Part::Storm), "ms", layer, printf_with_room)),
        ),
    ]
}
