//! The levels of the layer's modules, from the documentation of `layer/src/lib.rs`: a module imports only from its own level
//! and those below it. Tests may import anything.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The modules of every level, the highest first.
fn levels(lib: &str) -> Result<Vec<Vec<&str>>> {
    let (_, list) = lib
        .split_once("the lines below it")
        .and_then(|(_, rest)| rest.split_once("```text\n"))
        .context("lib.rs does not document the levels")?;
    let lines = list.lines().map(|line| line.trim_start_matches("//!").trim());
    let lines = lines.take_while(|line| *line != "```");
    Ok(lines.map(|line| line.split(", ").collect()).collect())
}

/// The imports of a higher level in a file of `level`, as `crate::module`.
fn violations(levels: &[Vec<&str>], level: usize, text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let imported = product.split("crate::").skip(1).filter_map(|rest| {
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        levels[..level].iter().flatten().find(|module| **module == name)
    });
    imported.map(|name| format!("crate::{name}")).collect()
}

/// Adds the violations in the files below `path`, which belong to `level`.
fn check(levels: &[Vec<&str>], level: usize, path: &Path, found: &mut String) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            check(levels, level, &entry?.path(), found)?;
        }
    } else if !path
        .file_stem()
        .is_some_and(|name| name.to_string_lossy().ends_with("tests"))
    {
        for name in violations(levels, level, &fs::read_to_string(path)?) {
            *found += &format!("{} imports {name}, which is above it\n", path.display());
        }
    }
    Ok(())
}

#[test]
fn no_module_of_the_layer_imports_one_above_it() -> Result<()> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../layer/src");
    let lib = fs::read_to_string(sources.join("lib.rs"))?;
    let levels = levels(&lib)?;
    let level_of = |name: &str| levels.iter().position(|level| level.contains(&name));
    let mut found = String::new();
    for entry in fs::read_dir(&sources)? {
        let path = entry?.path();
        let name = path.file_stem().context("a file without a name")?.to_string_lossy();
        if name != "lib" {
            let level = level_of(&name).with_context(|| format!("lib.rs names no level of `{name}`"))?;
            check(&levels, level, &path, &mut found)?;
        }
    }
    ensure!(found.is_empty(), "{found}");
    Ok(())
}

#[test]
fn an_import_of_a_higher_level_is_found() {
    let levels = [vec!["top"], vec!["middle"], vec!["low", "lower"]];
    let text = "use crate::middle::A;\nuse crate::lower::B;\nfn f() { crate::top::g() }\n#[cfg(test)]\nmod tests {\n    use crate::top;";
    assert_eq!(violations(&levels, 2, text), ["crate::middle", "crate::top"]);
    assert_eq!(violations(&levels, 1, text), ["crate::top"]);
}
