//! A site in a report: its rows, and the texts that depend on several of them.

use crate::command_lines::{commands, labels};
use crate::commands::CommandReport;
use crate::data::{Extent, Sample, SpecializationReport, StageReport};
use crate::other_samples::other_samples;
use crate::phrases::{
    constants, count, list, notes, pipelines, queue_label, queues, show_frame, show_id, show_invocation, show_location,
    workgroup_size,
};
use crate::rows::{Lines, is_zero, report_rows};
use crate::value_lines::{condition, values};
use std::fmt::Write;
use vkabort_record::invocation::Invocation;
use vkabort_record::site::{Frame, Location, ModuleHash, SiteId, Snippet};
use vkabort_record::stage::stage_name;

/// Specialisations that are written out; the others are counted.
const SHOWN_SPECIALIZATIONS: usize = 8;

report_rows! {
    /// One site that aborted.
    SiteReport, with lines of SiteReport:
    /// Hash of the module; `None` for messages from the driver's own debug info.
    module_hash: Option<ModuleHash>;
    /// Debug-utils name of the module.
    module_name: Option<String>;
    /// Index of the site in its module.
    site: Option<SiteId>;
    /// Word offset of the `OpAbortKHR` in the module.
    word_offset: Option<u32>;
    /// The check of the sanitizer that planted the abort; `None` for the module's own aborts.
    check: Option<String> [absent if "Option::is_none"]
        [line 0: |site| site.check.as_ref().map(|check| format!("check: {check}"))];
    /// Where the faulty value of the check had its effect, if that is elsewhere.
    used_in: Option<Frame> [absent if "Option::is_none"]
        [line 2: used_in];
    /// What the address of a failed check of the first sample has to do with the buffers of the program.
    address: Option<String> [absent if "Option::is_none"]
        [line 1: |site| site.address.as_ref().map(|address| format!("address: {address}"))];
    /// The function that aborted.
    function: Option<String>;
    /// A shortest call path to it from an entry point, outermost first.
    callers: Vec<Frame>;
    /// Source position of the abort.
    location: Option<Location>;
    /// The source text around it.
    snippet: Option<Snippet> [absent if "Option::is_none"];
    /// Stages in which it was reached.
    stages: Vec<StageReport>
        [line 4: shader];
    /// Names of the pipelines and shader objects that the aborting invocations may have run.
    pipelines: Vec<String>
        [line 5: |site| pipelines(&site.pipelines, site.unnamed_pipelines)];
    /// Number of such objects without a name.
    unnamed_pipelines: u64 [absent if "is_zero"];
    /// The values of the module's specialisation constants. Empty if it has none, or if they are not known.
    specializations: Vec<SpecializationReport> [absent if "Vec::is_empty"]
        [line 9: specializations];
    /// Debug-utils name of the command buffer, if only one can have aborted.
    command_buffer: Option<String> [absent if "Option::is_none"]
        [line 5: |site| list("command buffer", site.command_buffer.as_slice())];
    /// Names of the queues that the aborting invocations may have run on.
    queues: Vec<String>
        [line 5: |site| queues(&site.queues)];
    /// Debug-utils labels of the queue under which all work that can have aborted was submitted, outermost first.
    queue_labels: Vec<String> [absent if "Vec::is_empty"]
        [line 5: |site| queue_label(&site.queue_labels)];
    /// The first commands of pending work that can have run the invocation of the first sample.
    commands: Vec<CommandReport> [absent if "Vec::is_empty"]
        [line 6: |site| commands(&site.commands, site.command_count, &site.labels)];
    /// Number of such commands.
    command_count: u64 [absent if "is_zero"];
    /// Debug-utils labels that are open at each of these commands, outermost first.
    labels: Vec<String> [absent if "Vec::is_empty"]
        [line 7: |site| labels(&site.labels)];
    /// Invocations that aborted here.
    invocations: u64
        [line 10: counts];
    /// For aborts at a site that was reported before: the minimum number of submits in which they happened.
    repeats: Option<u64> [absent if "Option::is_none"];
    /// Distinct messages among those invocations; 0 with `repeats`.
    distinct_messages: u64;
    /// Smallest and largest ids of the invocations, if their stage has ids in three dimensions or pixels.
    extent: Option<Extent>;
    /// Some of the messages, in the order of their records: distinct ones, then others. With `repeats`, the first message that was
    /// ever reported.
    samples: Vec<Sample>
        [line 2: |site| site.samples.first().and_then(condition)]
        [line 3: |site| site.samples.first().and_then(|first| values(first, site.values_left_out))]
        [line 8: invocation]
        [line 12: notes_of_first];
    /// Number of variables at the abort for which the records had no room.
    values_left_out: u64 [absent if "is_zero"];
    /// Sites that can send the same message, if the bytes do not identify one.
    also_possible: Vec<String>
        [line 11: |site| site.also_possible.iter().map(|place| format!("one of: {place}")).collect::<Vec<_>>()];
}

/// `compute entry point `main`, workgroup size 64 x 1 x 1, module "cull" (hash), function `check` called from `main` (file:line)`
fn shader(site: &SiteReport) -> Option<String> {
    let mut parts: Vec<String> = site
        .stages
        .iter()
        .map(|s| {
            let names: Vec<String> = s.entry_points.iter().map(|e| format!("`{e}`")).collect();
            let shader = match names.as_slice() {
                [] => format!("{} shader", s.stage),
                [name] => format!("{} entry point {name}", s.stage),
                _ => format!("{} entry points {}", s.stage, names.join(" or ")),
            };
            match s.workgroup_size {
                Some(size) => format!("{shader}, {}", workgroup_size(size)),
                None => shader,
            }
        })
        .collect();
    // Without a source position the line of the arrow names the module.
    let arrow_names_module = site.location.is_none() && site.word_offset.is_some();
    if site.module_hash.is_some() && !arrow_names_module {
        parts.push(module(site));
    }
    let entry = site.stages.iter().flat_map(|s| &s.entry_points).next();
    if let Some(function) = &site.function {
        let callers: Vec<String> = site.callers.iter().rev().map(show_frame).collect();
        if !callers.is_empty() {
            parts.push(format!("function `{function}` called from {}", callers.join(" from ")));
        } else if entry != Some(function) {
            parts.push(format!("function `{function}`"));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `module "cull" (hash)`.
pub(crate) fn module(site: &SiteReport) -> String {
    match (&site.module_name, site.module_hash) {
        (Some(name), Some(hash)) => format!("module \"{name}\" ({hash})"),
        (Some(name), None) => format!("module \"{name}\""),
        (None, Some(hash)) => format!("module {hash}"),
        (None, None) => "unknown module".to_owned(),
    }
}

/// `used at: cull.comp:31`, with the function if it is not that of the site.
fn used_in(site: &SiteReport) -> Option<String> {
    let Frame { function, location } = site.used_in.as_ref()?;
    let is_same = site.function.as_ref() == Some(function);
    Some(match location.as_ref().map(show_location) {
        None => format!("used in: `{function}`"),
        Some(at) if is_same => format!("used at: {at}"),
        Some(at) => format!("used at: {at}, in `{function}`"),
    })
}

/// `invocation global (7, 0, 0), ..`, of the first message.
fn invocation(site: &SiteReport) -> Option<String> {
    let invocation = site.samples.first()?.invocation?;
    Some(format!("invocation {}", show_invocation(&invocation)))
}

fn notes_of_first(site: &SiteReport) -> Vec<String> {
    site.samples
        .first()
        .map(|sample| notes(&sample.message))
        .unwrap_or_default()
}

/// `specialization: BLOCK = 64, constant 3 = 0.5`; a line for each if there are several.
fn specializations(site: &SiteReport) -> Option<Lines> {
    match site.specializations.as_slice() {
        [] => None,
        [only] => Some(format!("specialization: {}", constants(only)).into()),
        several => {
            let shown = several.iter().take(SHOWN_SPECIALIZATIONS).map(|specialization| {
                let stage = match site.stages.len() {
                    0 | 1 => String::new(),
                    _ => format!("{}: ", stage_name(specialization.execution_model)),
                };
                let invocations = count(specialization.invocations, "invocation");
                let facts = [
                    specialization.workgroup_size.map(workgroup_size),
                    pipelines(&specialization.pipelines, specialization.unnamed_pipelines),
                ];
                let facts: Vec<String> = facts.into_iter().flatten().collect();
                let facts = match facts.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", facts.join(", ")),
                };
                format!("{stage}{}: {invocations}{facts}", constants(specialization))
            });
            let mut lines = vec![format!("{} specializations:", several.len())];
            let more = several.len().saturating_sub(SHOWN_SPECIALIZATIONS);
            lines.extend(shown.chain((more > 0).then(|| format!("... {more} more"))));
            Some(Lines(lines))
        }
    }
}

/// The number of invocations, their stages and ids, and the other messages.
fn counts(site: &SiteReport) -> Option<Lines> {
    let mut text = match site.invocations {
        0 | 1 => String::new(),
        n => format!("{n} invocations aborted here"),
    };
    if site.stages.len() > 1 {
        let stages: Vec<String> = site
            .stages
            .iter()
            .filter(|s| s.invocations > 0)
            .map(|s| format!("{} {}", s.invocations, s.stage))
            .collect();
        if !stages.is_empty() {
            let _ = write!(text, " ({})", stages.join(", "));
        }
    }
    if let Some(Extent { min, max }) = site.extent {
        let pixels = matches!(
            site.samples.first().and_then(|s| s.invocation),
            Some(Invocation::Fragment { .. })
        );
        let show = |id: [u32; 3]| match pixels {
            true => format!("({}, {})", id[0], id[1]),
            false => show_id(id),
        };
        let kind = if pixels { "pixels" } else { "ids" };
        let _ = write!(text, ", {kind} {} to {}", show(min), show(max));
    }
    if text.is_empty() {
        return None;
    }
    let mut lines = Lines(other_samples(
        &site.samples,
        site.distinct_messages,
        &site.specializations,
    ));
    if site.distinct_messages > 1 {
        let _ = write!(text, ", {} different messages", site.distinct_messages);
    }
    lines.0.insert(0, text);
    Some(lines)
}

/// `again: 312 invocations in at least 78 submits at cull.comp:31 (bad index 7)`.
pub(crate) fn again(site: &SiteReport) -> String {
    let submits = match site.repeats.unwrap_or(1) {
        // The submit of the last report may not have ended then.
        0 => String::new(),
        1 => " in another submit".to_owned(),
        n => format!(" in at least {n} more submits"),
    };
    let invocations = count(site.invocations, "invocation");
    format!("again: {invocations}{submits} at {}", place(site))
}

/// Position, else function and module, and the first message: one line.
pub(crate) fn place(site: &SiteReport) -> String {
    let place = match (&site.location, &site.function) {
        (Some(location), _) => show_location(location),
        (None, Some(function)) => format!("function `{function}`, {}", module(site)),
        (None, None) => module(site),
    };
    match site.samples.first().map(|s| s.message.text.trim_end()) {
        Some(message) if !message.is_empty() => format!("{place} ({message})"),
        _ => place,
    }
}
