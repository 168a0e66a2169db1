use super::*;
use anyhow::ensure;
use std::fs;
use vkabort_test_kit::root;

/// The sources of every crate of the workspace.
const SOURCES: &[&str] = &[
    "record/src",
    "instrument/src",
    "vk-ext/src",
    "layer/src",
    "manifest/src",
    "cli/src",
    "conform/src",
    "examples/cube/src",
    "examples/demo/src",
    "tests/src",
    "tests/kit/src",
    "tests/driver/src",
    "tests/oracle/src",
    "tests/on_machine/src",
    "xtask/src",
];

#[test]
fn no_crate_has_an_import_circle() -> Result<()> {
    let mut message = String::new();
    for sources in SOURCES {
        for circle in circles::find(&root().join(sources))? {
            message += &format!("{sources}: these modules import each other: {}\n", circle.join(", "));
        }
    }
    ensure!(message.is_empty(), "{message}");
    Ok(())
}

#[test]
fn every_identifier_names_its_thing() -> Result<()> {
    let mut found = Vec::new();
    for folder in [
        "record",
        "instrument",
        "vk-ext",
        "layer",
        "manifest",
        "cli",
        "decode",
        "conform",
        "examples",
        "tests",
        "xtask",
    ] {
        found.extend(identifiers::refused(&root().join(folder))?);
    }
    ensure!(found.is_empty(), "rename:\n{}", found.join("\n"));
    Ok(())
}

/// Writes a crate of these files and finds its circles.
fn circles_of(files: &[(&str, &str)]) -> Result<Vec<Vec<String>>> {
    let folder = tempfile::tempdir()?;
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder.path()))?;
        fs::write(file, text)?;
    }
    circles::find(folder.path())
}

#[test]
fn a_circle_of_three_is_found() -> Result<()> {
    let found = circles_of(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; pub fn f() { super::c::g() }"),
        ("c.rs", "pub fn g() -> Option<crate::a::A> { None }"),
    ])?;
    assert_eq!(found, [["crate::a", "crate::b", "crate::c"]]);
    Ok(())
}

#[test]
fn a_re_export_leads_to_the_module_that_defines_the_item() -> Result<()> {
    let found = circles_of(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b; mod c; pub use b::B; pub use c::*;"),
        ("a/b.rs", "pub struct B; use super::C;"),
        ("a/c.rs", "pub struct C;"),
    ])?;
    assert_eq!(found, Vec::<Vec<String>>::new());
    Ok(())
}

#[test]
fn a_child_that_imports_its_parent_s_item_makes_a_circle_with_a_parent_that_uses_it() -> Result<()> {
    let found = circles_of(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }"),
        ("a/b.rs", "use super::A; pub fn g() { let _: A; }"),
    ])?;
    assert_eq!(found, [["crate::a", "crate::a::b"]]);
    Ok(())
}

#[test]
fn tests_may_import_anything() -> Result<()> {
    let found = circles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
        ("b.rs", "pub struct B(crate::a::A);"),
    ])?;
    assert_eq!(found, Vec::<Vec<String>>::new());
    Ok(())
}

#[test]
fn paths_in_macros_count() -> Result<()> {
    let found = circles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "table! { f = crate::b::f, }"),
        ("b.rs", "pub fn f() -> crate::a::A {}"),
    ])?;
    assert_eq!(found, [["crate::a", "crate::b"]]);
    Ok(())
}
