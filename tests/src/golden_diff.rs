//! The expected output of golden cases: the hunks of a diff between the disassembled input and output.

use anyhow::{Context, Result, ensure};
use similar::{Algorithm, DiffOp, capture_diff_slices_by_key};
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, instructions, push, string, without_extensions};

/// Prefix of the names of functions that the rewriter adds.
const PREFIX: &str = "%vkabort_";

/// Functions of the runtime that many rewritten modules contain, without prefix. Each is hidden, and not part of the digest, unless
/// the case shows it.
const SHARED: [&str; 9] = [
    "reserve",
    "commit",
    "put_bytes",
    "poll",
    "write_record",
    "print0",
    "print1",
    "print2",
    "print5",
];

/// Hidden unless the case shows it, but part of the digest, since it depends on the case.
const COPY_CONSTANTS: &str = "copy_constants";

/// Shown on request: the entry points that call the application's function and then write the record.
const ENTRY: &str = "entry";

/// Shown on request: all declarations.
const DECLARATIONS: &str = "declarations";

/// Starts of declarations that most rewritten modules add, or that the names of their ids describe.
const COMMON: [&str; 9] = [
    "OpCapability PhysicalStorageBufferAddresses",
    "OpExtension \"SPV_KHR_physical_storage_buffer\"",
    "OpMemoryModel ",
    "OpName ",
    "OpMemberName ",
    "OpMemberDecorate ",
    "OpType",
    "OpConstant",
    "OpVariable %ptr_id Input",
];

/// Whether `show=` accepts a name.
pub fn can_show(name: &str) -> bool {
    SHARED.contains(&name) || [COPY_CONSTANTS, ENTRY, DECLARATIONS].contains(&name)
}

/// Names of the ids of an assembled module, from id 1: the assembler numbers them by their first occurrence in the text.
///
/// # Errors
///
/// The module has another number of ids.
pub fn id_names<'t>(text: &'t str, words: &[u32]) -> Result<Vec<&'t str>> {
    let mut names = Vec::new();
    for line in text.lines() {
        let code = line.split(';').next().unwrap_or_default();
        let unquoted = code.split('"').step_by(2);
        for name in unquoted
            .flat_map(str::split_whitespace)
            .filter_map(|word| word.strip_prefix('%'))
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let bound = *words.get(3).context("not a module")? as usize;
    ensure!(
        names.len() + 1 == bound,
        "{} names for an id bound of {bound}",
        names.len()
    );
    Ok(names)
}

/// Disassembles a module, with `names` for the ids from 1. The lowered extensions are shown as core instructions, except
/// aborts.
///
/// # Errors
///
/// The words are not a module, or `disassemble` fails.
pub fn disassemble_with_names(
    words: &[u32],
    names: &[&str],
    disassemble: impl FnOnce(&[u32]) -> Result<String>,
) -> Result<String> {
    let core = without_extensions(words).context("not a module")?;
    let (header, code) = core.split_at(HEADER_WORDS);
    let mut named = header.to_vec();
    for (id, name) in (1..).zip(names) {
        push(&mut named, op::Name, &[&[id], &string(name)[..]].concat());
    }
    // The first name of an id counts, so that the module's own names do not matter.
    named.extend(code);
    let ends = instructions(words).context("not a module")?.into_iter();
    let mut ends = ends.filter(|inst| [op::AbortKHR, op::Unreachable].contains(&inst.op));
    let name = |id: u32| match names.get(id.wrapping_sub(1) as usize) {
        Some(name) => format!("%{name}"),
        None => format!("%{id}"),
    };
    let mut text = String::new();
    for line in disassemble(&named)?.lines().skip(names.len()) {
        let end = if line == "OpUnreachable" { ends.next() } else { None };
        text += &match end {
            Some(abort) if abort.op == op::AbortKHR => {
                format!("OpAbortKHR {} {}\n", name(abort.word(0)), name(abort.word(1)))
            }
            _ => format!("{line}\n"),
        };
    }
    Ok(text)
}

/// The runtime's shared functions in a disassembled output, without those that are shown.
pub fn shared_functions<'t>(after: &'t str, shown: &[String]) -> Vec<&'t str> {
    let functions = after.lines().filter_map(|line| line.split_once(" = OpFunction "));
    let is_shared = |id: &&str| {
        id.strip_prefix(PREFIX)
            .is_some_and(|name| SHARED.contains(&name) && shown.iter().all(|shown| shown != name))
    };
    functions.map(|(id, _)| id).filter(is_shared).collect()
}

/// The hunks that turn one disassembly into another, without context. A header names the function and block of the first new
/// line of a hunk, else of its first old one. `shown`: names that are not left out.
pub fn hunks(before: &str, after: &str, shown: &[String]) -> String {
    let (before, after) = (lines(before), lines(after));
    let hidden = Hidden::new(&after, shown);
    let mut out = String::new();
    // The module's declarations are one hunk.
    let mut is_module = false;
    for hunk in capture_diff_slices_by_key(Algorithm::Patience, &before, &after, |line| line.text) {
        if matches!(hunk, DiffOp::Equal { .. }) {
            continue;
        }
        let old = before[hunk.old_range()].iter();
        let new = after[hunk.new_range()].iter();
        // Of the common declarations, the input's are shown if the output lacks them; every output has another memory model.
        let is_removed = |line: &Line<'_>| {
            !line.text.starts_with("OpMemoryModel ") && after.iter().all(|other| other.text != line.text)
        };
        let old: Vec<_> = old
            .filter(|line| is_removed(line) || !hidden.has_declaration(line))
            .collect();
        let new: Vec<_> = new
            .filter(|line| !hidden.has_declaration(line) && !hidden.has_function(line))
            .collect();
        let Some(first) = new.first().or(old.first()) else {
            continue;
        };
        if !(is_module && first.function.is_none()) {
            out += &first.header();
        }
        is_module = first.function.is_none();
        out.extend(old.iter().map(|line| format!("-{}\n", line.text)));
        let mut function = first.function;
        for line in new {
            if line.function != function {
                out += &line.header();
                function = line.function;
            }
            out += &format!("+{}\n", line.text);
        }
    }
    out
}

/// A line of a disassembly, with the function and the label of the block that contain it.
struct Line<'t> {
    text: &'t str,
    function: Option<&'t str>,
    block: Option<&'t str>,
}

fn lines(disassembly: &str) -> Vec<Line<'_>> {
    let (mut function, mut block) = (None, None);
    let mut lines = Vec::new();
    for text in disassembly.lines() {
        if let Some((id, _)) = text.split_once(" = OpFunction ") {
            function = Some(id);
        }
        lines.push(Line { text, function, block });
        if let Some(id) = text.strip_suffix(" = OpLabel") {
            block = Some(id);
        } else if text == "OpFunctionEnd" {
            (function, block) = (None, None);
        }
    }
    lines
}

impl Line<'_> {
    fn header(&self) -> String {
        let place: Vec<_> = self.function.into_iter().chain(self.block).collect();
        match place.as_slice() {
            [] => "@@ module\n".to_owned(),
            _ => format!("@@ {}\n", place.join(" ")),
        }
    }
}

/// Lines that are not printed.
struct Hidden<'t> {
    /// Functions of the output.
    functions: Vec<&'t str>,
    /// Common declarations.
    declarations: bool,
}

impl<'t> Hidden<'t> {
    fn new(after: &[Line<'t>], shown: &[String]) -> Self {
        let is_shown = |name: &str| shown.iter().any(|shown| shown == name);
        let is_hidden = |line: &&Line<'t>| match line.function.and_then(|function| function.strip_prefix(PREFIX)) {
            Some(name) => (SHARED.contains(&name) || name == COPY_CONSTANTS) && !is_shown(name),
            None => line.text.contains(" = OpFunctionCall %void %vkabort_body") && !is_shown(ENTRY),
        };
        Self {
            functions: after
                .iter()
                .filter(is_hidden)
                .filter_map(|line| line.function)
                .collect(),
            declarations: !is_shown(DECLARATIONS),
        }
    }

    /// Whether a line is in a hidden function of the output.
    fn has_function(&self, line: &Line<'_>) -> bool {
        line.function.is_some_and(|function| self.functions.contains(&function))
    }

    /// Whether a line is a hidden declaration.
    fn has_declaration(&self, line: &Line<'_>) -> bool {
        let code = line.text.split_once(" = ").map_or(line.text, |(_, code)| code);
        let is_common = COMMON.iter().any(|common| code.starts_with(common))
            || [" Block", " ArrayStride ", " LocalInvocationId"]
                .iter()
                .any(|end| code.contains(end));
        self.declarations && line.function.is_none() && is_common
    }
}
