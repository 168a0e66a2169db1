//! The digest of a golden case's output: all of the module but the shared functions of the runtime that the case does not show.
//!
//! The digest is that of a canonical text, so that a change of a shared function changes no other digest:
//!
//! ```text
//! instructions before the functions that define nothing, in their order
//! functions, in their order
//! definitions before the functions, and their decorations, in the order in which the text above refers to them
//! definitions that nothing refers to, in their order
//! ```
//!
//! Ids are numbered by their first occurrence in it. Definitions that only omitted functions refer to are omitted, too.

use std::collections::{HashMap, HashSet, VecDeque};
use vkabort_oracle::op;
use vkabort_oracle::words::instructions;
use xxhash_rust::xxh3::xxh3_64;

/// The digest of a module without the functions `omitted`. `names`: ids of the input, which are never omitted.
pub fn digest(words: &[u32], disassembly: &str, names: &[&str], omitted: &[&str]) -> u64 {
    let mut text = canonical(disassembly, names, omitted);
    for word in not_disassembled(words) {
        text += &format!("{word:08x}\n");
    }
    xxh3_64(text.as_bytes())
}

/// The version of SPIR-V, and the parts of the lowered extensions that a disassembly shows as core instructions or not at all.
fn not_disassembled(words: &[u32]) -> Vec<u32> {
    let mut exact = Vec::from_iter(words.get(1).copied());
    for inst in instructions(words).unwrap_or_default() {
        let (op, first_literal) = match inst.op {
            op::PoisonKHR | op::FreezeKHR => (inst.op, usize::MAX),
            op::ConstantDataKHR | op::SpecConstantDataKHR => (inst.op, 2),
            op::Decorate if inst.word(1) == op::decoration::UTFEncodedKHR => (inst.op, 1),
            op::ExecutionMode if inst.word(1) == op::execution_mode::ArithmeticPoisonKHR => (inst.op, 1),
            _ => continue,
        };
        exact.push(op.into());
        exact.extend(inst.operands_from(first_literal));
    }
    exact
}

fn canonical(disassembly: &str, names: &[&str], omitted: &[&str]) -> String {
    let module = Module::new(disassembly, omitted);
    let mut text = Text::default();
    for line in module.others.iter().chain(&module.functions) {
        text.push(line);
    }
    text.push_definitions(&module);
    for id in &module.definitions {
        let is_of_input = id.get(1..).is_some_and(|name| names.contains(&name));
        if is_of_input || !module.omitted.contains(id) {
            text.refer(id);
        }
    }
    text.push_definitions(&module);
    text.lines
}

/// The parts of a disassembled module.
#[derive(Default)]
struct Module<'t> {
    /// Instructions before the functions that neither define an id nor decorate or name one.
    others: Vec<&'t str>,
    /// Ids that instructions before the functions define, in their order.
    definitions: Vec<&'t str>,
    /// For an id: the instruction before the functions that defines it, its decorations and names.
    lines: HashMap<&'t str, Vec<&'t str>>,
    /// Instructions of the functions that are not omitted.
    functions: Vec<&'t str>,
    /// Ids that omitted functions refer to, also by other definitions.
    omitted: HashSet<&'t str>,
}

impl<'t> Module<'t> {
    fn new(disassembly: &'t str, omitted: &[&str]) -> Self {
        let mut module = Self::default();
        let (mut function, mut pending) = (None, Vec::new());
        for line in disassembly.lines() {
            let result = line.split_once(" = ").filter(|_| line.starts_with('%'));
            if let Some((id, code)) = result
                && code.starts_with("OpFunction ")
            {
                function = Some(id);
            }
            match (function, result) {
                (Some(function), _) if omitted.contains(&function) => pending.extend(ids(line)),
                (Some(_), _) => module.functions.push(line),
                (None, Some((id, _))) => {
                    module.definitions.push(id);
                    module.lines.entry(id).or_default().push(line);
                }
                (None, None) if DECORATIONS.iter().any(|start| line.starts_with(start)) => {
                    let of_target = ids(line).first().map(|id| module.lines.entry(id).or_default());
                    of_target.unwrap_or(&mut module.others).push(line);
                }
                (None, None) => module.others.push(line),
            }
            if line == "OpFunctionEnd" {
                function = None;
            }
        }
        while let Some(id) = pending.pop() {
            if module.omitted.insert(id) {
                pending.extend(module.lines.get(id).into_iter().flatten().flat_map(|line| ids(line)));
            }
        }
        module
    }
}

/// Starts of instructions about an id, their first operand.
const DECORATIONS: [&str; 4] = ["OpName ", "OpMemberName ", "OpDecorate", "OpMemberDecorate"];

/// Lines with numbered ids.
#[derive(Default)]
struct Text<'t> {
    lines: String,
    numbers: HashMap<&'t str, usize>,
    /// Ids whose definitions have not been added.
    referred: VecDeque<&'t str>,
}

impl<'t> Text<'t> {
    /// The number of an id.
    fn refer(&mut self, id: &'t str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(id).or_insert_with(|| {
            self.referred.push_back(id);
            next
        })
    }

    fn push(&mut self, line: &'t str) {
        let mut rest = line;
        for id in ids(line) {
            let number = self.refer(id);
            if let Some((before, after)) = rest.split_once(id) {
                self.lines += &format!("{before}%{number}");
                rest = after;
            }
        }
        self.lines += rest;
        self.lines.push('\n');
    }

    /// Adds the definitions of the ids that lines refer to, and of those that the definitions refer to.
    fn push_definitions(&mut self, module: &Module<'t>) {
        while let Some(id) = self.referred.pop_front() {
            for line in module.lines.get(id).into_iter().flatten() {
                self.push(line);
            }
        }
    }
}

/// The ids of a line, in their order. Strings contain none.
fn ids(line: &str) -> Vec<&str> {
    let (mut is_string, mut is_escaped) = (false, false);
    let outside = |c: char| {
        let is_separator = is_string || c == ' ' || c == '"';
        match c {
            '"' if !is_escaped => is_string = !is_string,
            _ => {}
        }
        is_escaped = is_string && !is_escaped && c == '\\';
        is_separator
    };
    line.split(outside).filter(|word| word.starts_with('%')).collect()
}
