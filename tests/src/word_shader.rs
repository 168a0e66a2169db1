//! Compute shaders over a buffer of words, composed from fragments of SPIR-V assembly.
//!
//! A fragment is a file in `shaders/assembly`. After a line `;; types` it has the text of the part `types`. `{{name}}` is a
//! hole, which a part of the fragment inside it or a value of the caller fills.

use crate::assembly;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// Parts that are empty unless a fragment has them.
const PARTS: [&str; 9] = [
    "needs",
    "interface",
    "modes",
    "decorations",
    "types",
    "variables",
    "code",
    "functions",
    "body",
];

/// Assembly of a shader from `fragments`, innermost first, in `word_shader.spvasm`. That file declares `%void`, `%bool`,
/// `%uint`, `%uvec3` and `%zero`, the buffer `%words` with pointers `%element` to its words, and computes the number of
/// the invocation, `%i`.
///
/// # Errors
///
/// A fragment does not exist, or nothing fills one of its holes.
pub fn word_shader(fragments: &[&str], values: &[(&str, &str)]) -> Result<String> {
    let mut parts = BTreeMap::new();
    for name in fragments {
        let text = fill(name, &parts, values)?;
        let sections = text.split(";; ").skip(1).filter_map(|section| section.split_once('\n'));
        parts = sections
            .map(|(part, text)| (part.to_owned(), text.to_owned()))
            .collect();
    }
    fill("word_shader", &parts, values)
}

/// Text of a fragment with its holes filled.
fn fill(name: &str, parts: &BTreeMap<String, String>, values: &[(&str, &str)]) -> Result<String> {
    let text = assembly::read(&format!("assembly/{name}.spvasm"))?;
    let mut pieces = text.split("{{");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (hole, rest) = piece.split_once("}}").context("a hole does not end")?;
        let value = values.iter().find(|(name, _)| *name == hole).map(|(_, value)| *value);
        let value = parts.get(hole).map(String::as_str).or(value);
        let value = value.or_else(|| PARTS.contains(&hole).then_some(""));
        filled += value.with_context(|| format!("nothing fills {hole} in {name}"))?;
        filled += rest;
    }
    Ok(filled)
}
