//! Time of calls, memory, and the way to the loss of a device.

use super::row::{ByPart, Row, executed, of};
use crate::comparison::{Pair, each, joined, pairs, signed, summed};
use crate::parts::Part;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;

pub(super) fn rows(parts: &ByPart) -> Vec<Row> {
    let commands = of(parts, Part::Commands);
    let more = |unit: &'static str| move |pair: &Pair<'_>| format!("{} {unit}", signed(pair.value - pair.baseline));
    let more_ms_in_us = |pair: &Pair<'_>| format!("{} us", signed((pair.value - pair.baseline) * 1e3));
    let large = of(parts, Part::Messages)
        .iter()
        .filter(|one| one.subject.starts_with("64 KiB"));
    let large = large.map(|one| {
        let value = one
            .value
            .map_or_else(|| one.reason.clone(), |value| format!("{} ms", number(value)));
        format!("{}, {}: {value}", one.driver, one.variant)
    });
    let submits = of(parts, Part::Calls)
        .iter()
        .filter(|one| one.subject == "vkQueueSubmit");
    let submits: Vec<Measurement> = submits.cloned().collect();
    let load = summed(of(parts, Part::Load));
    vec![
        executed(
            "vkQueueSubmit with the extension",
            "no layer",
            "+0.05 us",
            each(
                pairs(&submits, "us", "layer, extension enabled", "no layer"),
                more("us"),
            ),
        ),
        executed(
            "recording of a draw, commands = on",
            "no layer",
            "+40 ns",
            each(pairs(commands, "ns a draw", "commands = on", "no layer"), more("ns")),
        ),
        executed(
            "the same, commands = off",
            "no layer",
            "+0 ns",
            each(pairs(commands, "ns a draw", "commands = off", "no layer"), more("ns")),
        ),
        executed(
            "vkCreateInstance and vkCreateDevice",
            "no layer",
            "+1 ms",
            each(
                pairs(&load, "ms", "layer, extension not enabled", "no layer"),
                more("ms"),
            ),
        ),
        executed(
            "the same with the extension",
            "no layer",
            "+1 ms",
            each(pairs(&load, "ms", "layer, extension enabled", "no layer"), more("ms")),
        ),
        executed(
            "memory of instance, device and shader module",
            "no layer",
            "+1 MiB",
            each(
                pairs(&load, "MiB", "layer, extension not enabled", "no layer"),
                more("MiB"),
            ),
        ),
        executed(
            "the same with the extension",
            "no layer",
            "+1 MiB",
            each(pairs(&load, "MiB", "layer, extension enabled", "no layer"), more("MiB")),
        ),
        executed(
            "pipeline of a 64 KiB message",
            "by value",
            "below 50 ms",
            joined(&large.collect::<Vec<_>>()),
        ),
        executed(
            "dispatch to VK_ERROR_DEVICE_LOST",
            "the same without an abort",
            "+1000 us",
            each(pairs(of(parts, Part::Loss), "ms", "abort", "no abort"), more_ms_in_us),
        ),
    ]
}
