//! Time of a scan and of a rewrite.

use super::row::{ByPart, Row, executed, of};
use crate::comparison::{joined, pairs, ratios};
use crate::parts::Part;
use crate::rewriting::{CHAIN, LOWERED_CHAIN, SPIRV_TOOLS, WITH_VALIDATION};
use vkabort_runner::measurements::number;
use vkabort_tests::measure::shaders::Variant;

pub(super) fn rows(parts: &ByPart) -> Vec<Row> {
    let all = of(parts, Part::Rewrite);
    let (layer, default_checks) = (Variant::Layer.name(), Variant::DefaultChecks.name());
    let values = |metric: &str, unit: &str| {
        let of_metric = all.iter().filter(|one| one.metric == metric);
        let texts =
            of_metric.map(|one| format!("{}: {} {unit}", one.subject, one.value.map_or_else(String::new, number)));
        joined(&texts.collect::<Vec<_>>())
    };
    vec![
        executed(
            "scan of a module without aborts",
            "its size",
            "constant, below 100 ns",
            values("scan ns", "ns"),
        ),
        executed(
            "rewrite",
            "SPIRV-Tools validating, reading and writing the module",
            "0.05x",
            ratios(pairs(all, "rewrite us", layer, WITH_VALIDATION)),
        ),
        executed(
            "the same",
            "SPIRV-Tools reading and writing the module",
            "",
            ratios(pairs(all, "rewrite us", layer, SPIRV_TOOLS)),
        ),
        executed(
            "rewrite with the default checks",
            "rewrite",
            "2x",
            ratios(pairs(all, "rewrite us", default_checks, layer)),
        ),
        executed(
            "planting into long chains",
            "their length",
            "linear, below 200 ms",
            values(CHAIN, "ms"),
        ),
        executed(
            "the same, and lowering",
            "their length",
            "linear",
            values(LOWERED_CHAIN, "ms"),
        ),
    ]
}
