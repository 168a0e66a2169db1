use super::*;
use crate::toolchain;
use anyhow::ensure;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use vkabort_test_kit::{process, root};

/// The folders of the crates of the workspace.
fn crates() -> Result<Vec<PathBuf>> {
    let metadata = toolchain::metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // The models have the layer's files, in modules of their own.
    let models = root().join("tests/models");
    let manifests = packages.filter_map(|package| Some(Path::new(package["manifest_path"].as_str()?)));
    let folders = manifests.filter_map(Path::parent).map(Path::to_owned);
    Ok(folders
        .filter(|folder| folder.starts_with(root()) && *folder != models)
        .collect())
}

#[test]
fn no_crate_has_an_import_circle() -> Result<()> {
    let mut message = String::new();
    for folder in crates()? {
        for circle in circles::find(&folder.join("src"))? {
            let modules = circle.join(", ");
            message += &format!("{}: these modules import each other: {modules}\n", folder.display());
        }
    }
    ensure!(message.is_empty(), "{message}");
    Ok(())
}

/// Crates that serve tests alone are under `tests/`; the tools of this repository may use them.
#[test]
fn no_crate_of_the_product_depends_on_one_of_the_tests() -> Result<()> {
    let metadata = toolchain::metadata()?;
    let tests = root().join("tests");
    let tools = [tests.clone(), root().join("xtask"), root().join("bench")];
    let path = |json: &Value| json.as_str().map(PathBuf::from).unwrap_or_default();
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let is_tool = |folder: &PathBuf| path(&package["manifest_path"]).starts_with(folder);
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let of_tests = dependencies.filter(|one| one["kind"] != "dev" && path(&one["path"]).starts_with(&tests));
        if !tools.iter().any(is_tool) {
            found.extend(of_tests.map(|one| format!("{} depends on {}", package["name"], one["name"])));
        }
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// Others see the rewriter through `instrument`, and its crates know those of the level below them alone: analyses know no pass, and
/// passes that lower and that check do not know each other.
#[test]
fn the_crates_of_the_rewriter_know_only_those_below_them() -> Result<()> {
    const BELOW: [(&str, &[&str]); 6] = [
        ("spirv", &[]),
        ("options", &["spirv"]),
        ("analysis", &["spirv", "options"]),
        ("runtime", &["spirv", "options"]),
        ("lower", &["spirv", "options", "analysis", "runtime"]),
        ("checks", &["spirv", "options", "analysis", "runtime"]),
    ];
    let short = |json: &Value| {
        json.as_str()
            .and_then(|name| name.strip_prefix("vkabort-"))
            .map(str::to_owned)
    };
    let metadata = toolchain::metadata()?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let Some(name) = short(&package["name"]).filter(|name| name != "instrument") else {
            continue;
        };
        let allowed = BELOW
            .iter()
            .find(|(of, _)| *of == name)
            .map_or(&[][..], |(_, below)| below);
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let of_rewriter = dependencies
            .filter_map(|one| short(&one["name"]))
            .filter(|one| BELOW.iter().any(|(of, _)| of == one));
        let refused = of_rewriter.filter(|one| !allowed.contains(&one.as_str()));
        found.extend(refused.map(|one| format!("{name} depends on {one}")));
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// The rewriter and the contract that it writes to format nothing: what makes sentences, JSON and filters is in `report`.
#[test]
fn the_rewriter_depends_on_no_formatter() -> Result<()> {
    const FORMATTERS: [&str; 4] = ["annotate-snippets", "serde_json", "vkabort-report", "wildmatch"];
    let mut found = Vec::new();
    for package in ["vkabort-instrument", "vkabort-record"] {
        let mut tree = toolchain::cargo(&["tree", "--locked", "--edges", "normal,build", "--prefix", "none"]);
        let tree = process::output(tree.args(["--format", "{p}", "--package", package]))?;
        let names = tree.lines().filter_map(|line| line.split_whitespace().next());
        let formatters = names.filter(|name| FORMATTERS.contains(name));
        found.extend(formatters.map(|name| format!("{package} depends on {name}")));
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// The analyses that follow values read the view of values: they build no graph and no map of stores themselves.
#[test]
fn readers_of_values_have_no_view_of_their_own() -> Result<()> {
    const READERS: [&str; 9] = [
        "analysis/src/constant_exits",
        "analysis/src/constant_exits.rs",
        "analysis/src/effects",
        "analysis/src/ranges",
        "analysis/src/trip_count",
        "analysis/src/trip_count.rs",
        "analysis/src/unstored.rs",
        "analysis/src/waiting_loops",
        "lower/src/captured_values",
    ];
    const BUILDERS: [&str; 4] = ["Dominators", "successor_nodes", ".reversed()", "LoopNest::new"];
    let mut found = Vec::new();
    for reader in READERS {
        let mut paths = vec![root().join("instrument").join(reader)];
        while let Some(path) = paths.pop() {
            if path.is_dir() {
                for entry in fs::read_dir(&path)? {
                    paths.push(entry?.path());
                }
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let built = BUILDERS.iter().filter(|builder| text.contains(**builder));
            found.extend(built.map(|builder| format!("{}: {builder}", path.display())));
        }
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[test]
fn every_identifier_names_its_thing() -> Result<()> {
    let mut found = Vec::new();
    for folder in crates()? {
        found.extend(identifiers::refused(&folder)?);
    }
    ensure!(found.is_empty(), "rename:\n{}", found.join("\n"));
    Ok(())
}

/// A file's documentation names its subject: a noun phrase or a verb, not a question.
#[test]
fn no_documentation_of_a_file_begins_with_a_question_word() -> Result<()> {
    const REFUSED: [&str; 5] = ["What", "Which", "Where", "Whether", "Who"];
    let mut found = BTreeSet::new();
    // Crates under `tests` may be outside of the workspace.
    for folder in crates()?.into_iter().chain([root().join("tests")]) {
        for (file, _) in rust_files(&folder)? {
            let text = fs::read_to_string(&file)?;
            let sentences = text.lines().filter_map(|line| line.strip_prefix("//! "));
            let refused = sentences.filter(|line| REFUSED.iter().any(|word| line.starts_with(word)));
            found.extend(refused.map(|line| format!("{}: {line}", file.display())));
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    ensure!(found.is_empty(), "write again:\n{}", found.join("\n"));
    Ok(())
}

/// Files of a crate, and the circle among them.
type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

#[test]
fn circles_are_those_of_imports() -> Result<()> {
    let cases: [Case; 5] = [
        (
            &[
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "pub struct B; pub fn f() { super::c::g() }"),
                ("c.rs", "pub fn g() -> Option<crate::a::A> { None }"),
            ],
            &["crate::a", "crate::b", "crate::c"],
        ),
        // A re-export leads to the module that defines the item.
        (
            &[
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod b; mod c; pub use b::B; pub use c::*;"),
                ("a/b.rs", "pub struct B; use super::C;"),
                ("a/c.rs", "pub struct C;"),
            ],
            &[],
        ),
        // A child imports an item of its parent, which uses the child.
        (
            &[
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }"),
                ("a/b.rs", "use super::A; pub fn g() { let _: A; }"),
            ],
            &["crate::a", "crate::a::b"],
        ),
        // Tests may import anything.
        (
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
                ("b.rs", "pub struct B(crate::a::A);"),
            ],
            &[],
        ),
        // Paths in macros count, and names that a `use` brings into scope.
        (
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "table! { f = crate::b::c::f, }"),
                ("b/mod.rs", "pub mod c;"),
                ("b/c.rs", "use crate as this; pub fn f() -> this::a::A {}"),
            ],
            &["crate::a", "crate::b::c"],
        ),
    ];
    for (files, expected) in cases {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder.path()))?;
            fs::write(file, text)?;
        }
        let found = circles::find(folder.path())?.concat();
        ensure!(found == expected, "{files:?}: {found:?}");
    }
    Ok(())
}
