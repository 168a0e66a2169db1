//! Phrases of the text report: shader, pipelines and queues, source position, invocation, counts.
//!
//! They quote names as they are; what prints a phrase escapes it.

use crate::data::SpecializationReport;
use crate::message::{Decoding, Message};
use vkabort_record::hex::hex;
use vkabort_record::invocation::Invocation;
use vkabort_record::site::{Frame, Location};

/// Specialisation constants that are written out; the others are counted. The JSON report has all of them.
const SHOWN_CONSTANTS: usize = 16;

/// Bytes of a message that are written out in hexadecimal; the others are counted.
const SHOWN_BYTES: usize = 64;

pub(crate) fn list(kind: &str, names: &[String]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    match quoted.as_slice() {
        [] => None,
        [one] => Some(format!("{kind} {one}")),
        _ => Some(format!("{kind}s {}", quoted.join(", "))),
    }
}

/// `pipeline "cull pass"`, or the possible pipelines.
pub(crate) fn pipelines(names: &[String], unnamed: u64) -> Option<String> {
    match (list("pipeline", names), unnamed) {
        (named, 0) => named,
        (None, 1) => None,
        (None, _) => Some(format!("one of {unnamed} pipelines without a name")),
        (Some(named), _) => Some(format!("{named} or {} without a name", count(unnamed, "pipeline"))),
    }
}

/// `workgroup size 64 x 1 x 1`.
pub(crate) fn workgroup_size([x, y, z]: [u32; 3]) -> String {
    format!("workgroup size {x} x {y} x {z}")
}

/// `BLOCK = 64, constant 3 = 0.5`.
pub(crate) fn constants(specialization: &SpecializationReport) -> String {
    let mut shown: Vec<String> = specialization
        .constants
        .iter()
        .take(SHOWN_CONSTANTS)
        .map(|constant| match &constant.name {
            Some(name) => format!("{name} = {}", constant.value),
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
pub(crate) fn queue_label(path: &[String]) -> Option<String> {
    let quoted: Vec<String> = path.iter().map(|label| format!("\"{label}\"")).collect();
    (!quoted.is_empty()).then(|| format!("queue label {}", quoted.join(" > ")))
}

/// `queue "compute"`, or the possible queues.
pub(crate) fn queues(names: &[String]) -> Option<String> {
    // A queue without a name is `(family 0, index 1)`.
    let quoted = |name: &String| match name.starts_with('(') {
        true => name.clone(),
        false => format!("\"{name}\""),
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

/// `1 abort`, `2 aborts`.
pub(crate) fn count(number: u64, unit: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

/// `` `function` (file:line:column)``.
pub fn show_frame(frame: &Frame) -> String {
    match &frame.location {
        Some(location) => format!("`{}` ({})", frame.function, show_location(location)),
        None => format!("`{}`", frame.function),
    }
}

/// `file:line:column`; unknown parts are left out. The file's name is not escaped.
pub fn show_location(location: &Location) -> String {
    let file = &location.file;
    match (location.line, location.column) {
        (0, _) => file.clone(),
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

/// Notes, and the bytes that the text does not show.
pub(crate) fn notes(message: &Message) -> Vec<String> {
    let mut notes: Vec<String> = message.notes.iter().map(|note| format!("note: {note}")).collect();
    match message.decoding {
        Decoding::Typed if message.rest.is_empty() => {}
        Decoding::Typed => notes.push(format!("remaining bytes: {}", show_bytes(&message.rest))),
        Decoding::Convention | Decoding::Raw => {
            if message.decoding == Decoding::Convention {
                notes.push("note: unknown site: the types are guessed from the format".to_owned());
            }
            notes.push(format!("bytes: {}", show_bytes(&message.bytes)));
        }
    }
    notes
}

fn show_bytes(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN_BYTES).unwrap_or(bytes);
    let groups: Vec<String> = shown.chunks(4).map(hex).collect();
    let more = match bytes.len().checked_sub(SHOWN_BYTES) {
        None | Some(0) => String::new(),
        Some(n) => format!(" ... {n} more"),
    };
    format!("{}{more}", groups.join(" "))
}

/// `dump: folder`.
pub(crate) fn dump(folder: &str) -> String {
    format!("dump: {folder}")
}
