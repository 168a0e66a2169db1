//! Code of aborts, by the compilers of GPUs.

use super::row::{ByPart, Row, compiled, of, worse};
use crate::comparison::{Pair, pairs, ratios};
use crate::parts::Part;
use vkabort_runner::Measurement;
use vkabort_tests::measure::shaders::Variant;

pub(super) fn rows(parts: &ByPart) -> Vec<Row> {
    let all = of(parts, Part::Compilers);
    let [layer, plain, native, printf] =
        [Variant::Layer, Variant::Return, Variant::Native, Variant::Printf].map(Variant::name);
    let sites = all.iter().filter(|one| one.subject == "16 sites");
    let sites: Vec<Measurement> = sites.cloned().collect();
    // Where debugPrintf prints nothing, as on Honeykrisp, its code is that of `return`.
    let silent = pairs(all, "instructions", printf, plain);
    let silent = silent.iter().filter(|pair| pair.value == pair.baseline);
    let silent: Vec<String> = silent.map(Pair::name).collect();
    let against_printf = |metric, is_selected: fn(&str) -> bool| {
        let mut pairs = pairs(all, metric, layer, printf);
        pairs.retain(|pair| is_selected(&pair.of.subject) && !silent.contains(&pair.name()));
        ratios(pairs)
    };
    vec![
        compiled(
            "code, abort never taken",
            plain,
            "1.5x, at most 3x",
            ratios(pairs(all, "code", layer, plain)),
        ),
        compiled(
            "waves, abort never taken",
            plain,
            "the same",
            worse(&pairs(all, "waves", layer, plain), |value, base| value < base),
        ),
        compiled(
            "spills, abort never taken",
            plain,
            "the same",
            worse(&pairs(all, "spills", layer, plain), |value, base| value > base),
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
            ratios(pairs(all, "code", layer, native)),
        ),
        compiled(
            "compilation on drivers with the extension",
            native,
            "faster",
            ratios(pairs(all, "compile ms", layer, native)),
        ),
    ]
}
