//! Time and code of prints, against debugPrintf of the validation layer.

use super::row::{ByPart, Row, compiled, executed, of, times, worse};
use crate::comparison::{Pair, each, pairs, ratios};
use crate::parts::Part;
use vkabort_tests::measure::shaders::Variant;

pub(super) fn rows(parts: &ByPart) -> Vec<Row> {
    let (storm, compilers) = (of(parts, Part::Storm), of(parts, Part::Compilers));
    let [prints, plain, printf, printf_with_room] = [
        Variant::Prints,
        Variant::Return,
        Variant::Printf,
        Variant::PrintfWithRoom,
    ]
    .map(Variant::name);
    // Where debugPrintf prints nothing, as on Honeykrisp, its code is that of `return`.
    let silent = pairs(compilers, "instructions", printf, plain);
    let silent = silent.iter().filter(|pair| pair.value == pair.baseline);
    let silent: Vec<String> = silent.map(Pair::name).collect();
    let mut against_printf = pairs(compilers, "instructions", prints, printf);
    against_printf.retain(|pair| !silent.contains(&pair.name()));
    let mut frames = pairs(storm, "ms", prints, printf);
    frames.retain(|pair| pair.of.subject.starts_with("a frame"));
    vec![
        executed(
            "prints of a million invocations",
            printf_with_room,
            "not slower",
            each(pairs(storm, "ms", prints, printf_with_room), times),
        ),
        executed(
            "three frames in flight that print",
            printf,
            "not slower",
            each(frames, times),
        ),
        compiled(
            "waves, print never taken",
            plain,
            "the same",
            worse(&pairs(compilers, "waves", prints, plain), |value, base| value < base),
        ),
        compiled(
            "spills, print never taken",
            plain,
            "the same",
            worse(&pairs(compilers, "spills", prints, plain), |value, base| value > base),
        ),
        compiled("instructions of prints", printf, "fewer", ratios(against_printf)),
        compiled(
            "compilation of prints",
            printf,
            "faster",
            ratios(pairs(compilers, "compile ms", prints, printf)),
        ),
    ]
}
