//! The levels of the layer's modules: a module imports only from its own level and those below it. Tests may import anything.
//!
//! `layer/src/lib.rs` and `layer/src/device/mod.rs` document the levels of the modules in their folders, the highest first, and
//! `layer/src/device/features/mod.rs` the features, with those that each imports.

use super::circles;
use super::imports::Path;
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use vkabort_test_kit::root;

/// Imports of a crate: pairs of a module and one that it imports.
type Imports = BTreeSet<(Path, Path)>;

/// The rows of the first list behind `sentence` in the documentation of a file.
fn documented<'t>(text: &'t str, sentence: &str) -> Result<Vec<&'t str>> {
    let (_, list) = text
        .split_once(sentence)
        .and_then(|(_, rest)| rest.split_once("```text\n"))
        .with_context(|| format!("no list behind \"{sentence}\""))?;
    let lines = list.lines().map(|line| line.trim_start_matches("//!").trim());
    Ok(lines.take_while(|line| *line != "```").collect())
}

/// The child of the module `parent` that a module is or belongs to.
fn child<'p>(path: &'p Path, parent: &[&str]) -> Option<&'p str> {
    let is_below = path.iter().zip(parent).all(|(name, own)| name == own);
    path.get(parent.len()).filter(|_| is_below).map(String::as_str)
}

/// The imports between different children of a module, with the names of the children.
fn between<'i>(imports: &'i Imports, parent: &[&str]) -> Vec<(&'i str, &'i str, String)> {
    let pairs = imports.iter().filter_map(|(from, to)| {
        let text = format!("{} imports {}", from.join("::"), to.join("::"));
        Some((child(from, parent)?, child(to, parent)?, text))
    });
    pairs.filter(|(from, to, _)| from != to).collect()
}

/// The imports of a higher level. `levels`: the names of the children of `parent`, the highest level first.
fn upward(imports: &Imports, parent: &[&str], levels: &[&str]) -> Result<Vec<String>> {
    let level = |name: &str| {
        let position = levels.iter().position(|level| level.split(", ").any(|own| own == name));
        position.with_context(|| format!("no level of `{name}` is documented"))
    };
    let mut found = Vec::new();
    for (from, to, text) in between(imports, parent) {
        if level(to)? < level(from)? {
            found.push(text);
        }
    }
    Ok(found)
}

/// The imports between features that are not documented. `rows`: `NAME`, or `NAME -> OTHER, OTHER`.
fn undocumented(imports: &Imports, parent: &[&str], rows: &[&str]) -> Result<Vec<String>> {
    let allowed: BTreeMap<&str, Vec<&str>> = rows
        .iter()
        .map(|row| match row.split_once(" -> ") {
            Some((name, others)) => (name, others.split(", ").collect()),
            None => (*row, Vec::new()),
        })
        .collect();
    let mut found = Vec::new();
    for (from, to, text) in between(imports, parent) {
        match allowed.get(from) {
            Some(others) if others.contains(&to) => {}
            Some(_) => found.push(text),
            None => bail!("`{from}` is not documented"),
        }
    }
    Ok(found)
}

/// Checks that the rows name every module in a folder.
fn ensure_documented(folder: &std::path::Path, rows: &[&str]) -> Result<()> {
    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.split(" -> ").take(1))
        .flat_map(|row| row.split(", "))
        .collect();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_exempt = ["lib", "mod"].contains(&&*name) || name.ends_with("tests");
        ensure!(
            is_exempt || names.contains(&*name),
            "no row of `{name}` is documented for {}",
            folder.display()
        );
    }
    Ok(())
}

#[test]
fn no_module_of_the_layer_imports_one_above_it() -> Result<()> {
    let sources = root().join("layer/src");
    let imports = circles::imports(&sources)?;
    let read = |file: &str| fs::read_to_string(sources.join(file));
    let (lib, device, features) = (read("lib.rs")?, read("device/mod.rs")?, read("device/features/mod.rs")?);
    let sentence = "the lines below it";
    let levels = documented(&lib, sentence)?;
    ensure_documented(&sources, &levels)?;
    let mut found = upward(&imports, &[], &levels)?;
    let levels = documented(&device, sentence)?;
    ensure_documented(&sources.join("device"), &levels)?;
    found.extend(upward(&imports, &["device"], &levels)?);
    let rows = documented(&features, "A feature imports no other")?;
    ensure_documented(&sources.join("device/features"), &rows)?;
    found.extend(undocumented(&imports, &["device", "features"], &rows)?);
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[test]
fn imports_of_a_higher_level_and_of_other_features_are_found() -> Result<()> {
    let path = |text: &str| text.split("::").map(str::to_owned).collect::<Path>();
    let imports = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(from, to)| (path(from), path(to)))
            .collect::<Imports>()
    };
    let levels = ["top", "middle", "low, lower"];
    let good = imports(&[("top::a", "low"), ("low", "lower"), ("lower", "low"), ("top", "top::a")]);
    ensure!(upward(&good, &[], &levels)?.is_empty());
    let bad = imports(&[("low::a", "middle::b"), ("middle", "top")]);
    ensure!(upward(&bad, &[], &levels)? == ["low::a imports middle::b", "middle imports top"]);
    ensure!(upward(&imports(&[("new", "top")]), &[], &levels).is_err());
    let rows = ["a", "b -> a"];
    let features = imports(&[("f::b", "f::a"), ("f::a::x", "f::b::y"), ("f::a", "g")]);
    ensure!(undocumented(&features, &["f"], &rows)? == ["f::a::x imports f::b::y"]);
    ensure!(undocumented(&imports(&[("f::c", "f::a")]), &["f"], &rows).is_err());
    Ok(())
}
