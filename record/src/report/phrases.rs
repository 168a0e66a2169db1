//! Phrases of the text report: shader, pipelines and queues, source position, invocation, counts.

use crate::escape::one_line;
use crate::invocation::Invocation;
use crate::report::data::{SiteReport, SpecializationReport};
use crate::site::{Frame, Location};
use crate::stage::stage_name;

/// Specialisation constants that are written out; the others are counted. The JSON report has all of them.
const SHOWN_CONSTANTS: usize = 16;

/// Specialisations that are written out; the others are counted.
const SHOWN_SPECIALIZATIONS: usize = 8;

/// `compute entry point `main`, workgroup size 64 x 1 x 1, module "cull" (hash), function `check` called from `main` (file:line)`
pub(crate) fn shader(site: &SiteReport) -> Option<String> {
    let mut parts: Vec<String> = site
        .stages
        .iter()
        .map(|s| {
            let names: Vec<String> = s.entry_points.iter().map(|e| format!("`{}`", one_line(e))).collect();
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
            parts.push(format!(
                "function `{}` called from {}",
                one_line(function),
                callers.join(" from ")
            ));
        } else if entry != Some(function) {
            parts.push(format!("function `{}`", one_line(function)));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `module "cull" (hash)`.
pub(crate) fn module(site: &SiteReport) -> String {
    match (&site.module_name, site.module_hash) {
        (Some(name), Some(hash)) => format!("module \"{}\" ({hash})", one_line(name)),
        (Some(name), None) => format!("module \"{}\"", one_line(name)),
        (None, Some(hash)) => format!("module {hash}"),
        (None, None) => "unknown module".to_owned(),
    }
}

/// `pipeline "cull pass", command buffer "frame", queue "compute"`.
pub(crate) fn objects(site: &SiteReport) -> Option<String> {
    let parts: Vec<String> = [
        pipelines(&site.pipelines, site.unnamed_pipelines),
        list("command buffer", site.command_buffer.as_slice()),
        queues(&site.queues),
        queue_label(&site.queue_labels),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn list(kind: &str, names: &[String]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{}\"", one_line(n))).collect();
    match quoted.as_slice() {
        [] => None,
        [one] => Some(format!("{kind} {one}")),
        _ => Some(format!("{kind}s {}", quoted.join(", "))),
    }
}

/// `pipeline "cull pass"`, or the possible pipelines.
fn pipelines(names: &[String], unnamed: u64) -> Option<String> {
    match (list("pipeline", names), unnamed) {
        (named, 0) => named,
        (None, 1) => None,
        (None, _) => Some(format!("one of {unnamed} pipelines without a name")),
        (Some(named), _) => Some(format!("{named} or {} without a name", count(unnamed, "pipeline"))),
    }
}

/// `workgroup size 64 x 1 x 1`.
fn workgroup_size([x, y, z]: [u32; 3]) -> String {
    format!("workgroup size {x} x {y} x {z}")
}

/// `specialization: BLOCK = 64, constant 3 = 0.5`; a line for each if there are several.
pub(crate) fn specializations(site: &SiteReport) -> Option<String> {
    match site.specializations.as_slice() {
        [] => None,
        [only] => Some(format!("specialization: {}", constants(only))),
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
                format!("\n{stage}{}: {invocations}{facts}", constants(specialization))
            });
            let mut text = format!("{} specializations:", several.len());
            let more = several.len().saturating_sub(SHOWN_SPECIALIZATIONS);
            text.extend(shown.chain((more > 0).then(|| format!("\n... {more} more"))));
            Some(text)
        }
    }
}

/// `BLOCK = 64, constant 3 = 0.5`.
pub(crate) fn constants(specialization: &SpecializationReport) -> String {
    let mut shown: Vec<String> = specialization
        .constants
        .iter()
        .take(SHOWN_CONSTANTS)
        .map(|constant| match &constant.name {
            Some(name) => format!("{} = {}", one_line(name), constant.value),
            None => format!("constant {} = {}", constant.id, constant.value),
        })
        .collect();
    match specialization.constants.len().saturating_sub(SHOWN_CONSTANTS) {
        0 => {}
        more => shown.push(format!("... {more} more")),
    }
    match (shown.is_empty(), specialization.key) {
        (false, _) => shown.join(", "),
        (true, 0) => "defaults".to_owned(),
        (true, key) => format!("unknown values (key {key:08x})"),
    }
}

/// `queue label "frame 7" > "shadows"`.
fn queue_label(path: &[String]) -> Option<String> {
    let quoted: Vec<String> = path.iter().map(|label| format!("\"{}\"", one_line(label))).collect();
    (!quoted.is_empty()).then(|| format!("queue label {}", quoted.join(" > ")))
}

/// `queue "compute"`, or the possible queues.
fn queues(names: &[String]) -> Option<String> {
    // A queue without a name is `(family 0, index 1)`.
    let quoted = |name: &String| match name.starts_with('(') {
        true => one_line(name),
        false => format!("\"{}\"", one_line(name)),
    };
    match names {
        [] => None,
        [one] => Some(format!("queue {}", quoted(one))),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(quoted).collect();
            Some(format!(
                "queue {} or {} (each had pending work)",
                first.join(", "),
                quoted(last)
            ))
        }
    }
}

/// `again: 312 invocations in at least 78 submits at cull.comp:31 (bad index 7)`.
pub(crate) fn again(site: &SiteReport) -> String {
    let submits = match site.repeats.unwrap_or(1) {
        1 => "another submit".to_owned(),
        n => format!("at least {n} more submits"),
    };
    let invocations = count(site.invocations, "invocation");
    format!("again: {invocations} in {submits} at {}", place(site))
}

/// Position, else function and module, and the first message: one line.
pub(crate) fn place(site: &SiteReport) -> String {
    let place = match (&site.location, &site.function) {
        (Some(location), _) => show_location(location),
        (None, Some(function)) => format!("function `{}`, {}", one_line(function), module(site)),
        (None, None) => module(site),
    };
    match site.samples.first().map(|s| one_line(s.message.text.trim_end())) {
        Some(message) if !message.is_empty() => format!("{place} ({message})"),
        _ => place,
    }
}

/// `1 abort`, `2 aborts`.
pub(crate) fn count(number: u64, unit: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

fn show_frame(frame: &Frame) -> String {
    match &frame.location {
        Some(location) => format!("`{}` ({})", one_line(&frame.function), show_location(location)),
        None => format!("`{}`", one_line(&frame.function)),
    }
}

/// `file:line:column`; unknown parts are left out.
pub fn show_location(location: &Location) -> String {
    let file = one_line(&location.file);
    match (location.line, location.column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

/// `global (7, 0, 0), local (7, 0, 0) in workgroup (0, 0, 0)`, `pixel (3, 4)`, by stage.
pub(crate) fn show_invocation(invocation: &Invocation) -> String {
    match *invocation {
        Invocation::Global {
            global,
            local: Some(local),
            workgroup: Some(workgroup),
            ..
        } => format!(
            "global {}, local {} in workgroup {}",
            show_id(global),
            show_id(local),
            show_id(workgroup)
        ),
        Invocation::Global {
            global, local_index, ..
        } => format!("global {}, local index {local_index}", show_id(global)),
        Invocation::Vertex { vertex, instance } => format!("vertex {vertex}, instance {instance}"),
        Invocation::Fragment { pixel: [x, y] } => format!("pixel ({x}, {y})"),
        Invocation::Primitive { primitive, invocation } => format!("primitive {primitive}, invocation {invocation}"),
        Invocation::Launch { id } => format!("launch {}", show_id(id)),
        Invocation::Unknown { words: [a, b, c, d] } => format!("identity words {a:#x} {b:#x} {c:#x} {d:#x}"),
    }
}

/// `(7, 0, 0)`.
pub(crate) fn show_id([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}
