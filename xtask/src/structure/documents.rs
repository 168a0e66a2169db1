//! The documents about the code: ARCHITECTURE.md, CONTRIBUTING.md and the pages of `docs/design`. Paths, tests and passes that they
//! name exist, and the code links to the pages.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::root;

/// Columns of a line.
const COLUMNS: usize = 120;

/// Files and folders of the repository, without those that builds write.
fn paths(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            paths(&path, found)?;
        }
        found.push(path);
    }
    Ok(())
}

/// The names of the pages of `docs/design`.
fn pages() -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root().join("docs/design"))? {
        pages.push(format!("docs/design/{}", entry?.file_name().to_string_lossy()));
    }
    Ok(pages)
}

/// The documents, by their paths in the repository, with their texts.
fn documents() -> Result<Vec<(String, String)>> {
    let names = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned);
    let names = names.into_iter().chain(pages()?);
    names
        .map(|name| {
            let text = fs::read_to_string(root().join(&name)).with_context(|| name.clone())?;
            Ok((name, text))
        })
        .collect()
}

/// Paths in documents are complete, or end the path of a file, without its `.rs`, or of a folder.
#[test]
fn files_that_documents_name_exist() -> Result<()> {
    const WRITTEN: [&str; 3] = ["target/", "NAME", "VERSION"];
    let mut all = Vec::new();
    paths(&root(), &mut all)?;
    let is_path = |word: &&str| word.contains('/') && word.starts_with(|c: char| c.is_ascii_lowercase());
    let is_one_word = |word: &&str| !word.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-./".contains(c));
    let mut missing = Vec::new();
    for (document, text) in documents()? {
        let words = text.split('`').skip(1).step_by(2);
        for word in words.filter(is_path).filter(is_one_word) {
            let exists = |path: &PathBuf| path.ends_with(word) || path.ends_with(format!("{word}.rs"));
            if !WRITTEN.iter().any(|written| word.contains(written)) && !all.iter().any(exists) {
                missing.push(format!("{document}: {word}"));
            }
        }
    }
    ensure!(missing.is_empty(), "{}", missing.join("\n"));
    Ok(())
}

/// A test is named as `FILE`: `FUNCTION`.
#[test]
fn tests_that_documents_name_exist() -> Result<()> {
    let mut missing = Vec::new();
    let mut count = 0;
    for (document, text) in documents()? {
        let parts: Vec<&str> = text.split('`').collect();
        for named in parts.windows(3) {
            if let [file, between, function] = named
                && file.ends_with(".rs")
                && between.trim() == ":"
            {
                count += 1;
                let source = fs::read_to_string(root().join(file)).unwrap_or_default();
                if !source.contains(&format!("fn {function}()")) {
                    missing.push(format!("{document}: {file}: {function}"));
                }
            }
        }
    }
    ensure!(missing.is_empty(), "{}", missing.join("\n"));
    ensure!(count >= 12, "only {count} tests are named");
    Ok(())
}

#[test]
fn the_table_of_passes_is_that_of_the_pipeline() -> Result<()> {
    let pipeline = fs::read_to_string(root().join("instrument/src/pipeline.rs"))?;
    let names = pipeline.split("Pass::new(\"").skip(1);
    let passes: BTreeSet<&str> = names.filter_map(|rest| rest.split('"').next()).collect();
    let text = fs::read_to_string(root().join("ARCHITECTURE.md"))?;
    let (_, table) = text.split_once("| pass | effect |\n").context("no table of passes")?;
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let listed: BTreeSet<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    let difference: Vec<_> = passes.symmetric_difference(&listed).collect();
    ensure!(difference.is_empty(), "in one of both only: {difference:?}");
    Ok(())
}

#[test]
fn each_page_of_design_begins_with_its_question_and_the_code_links_to_it() -> Result<()> {
    let mut all = Vec::new();
    paths(&root(), &mut all)?;
    let mut links = BTreeSet::new();
    for path in all
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
    {
        let text = fs::read_to_string(path)?;
        let docs = text.lines().filter(|line| line.starts_with("//!"));
        let words = docs.flat_map(|line| line.split('`'));
        links.extend(words.filter(|word| word.starts_with("docs/design/")).map(str::to_owned));
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let contents = one_line(&fs::read_to_string(root().join("ARCHITECTURE.md"))?);
    for page in pages()? {
        let text = fs::read_to_string(root().join(&page))?;
        let first = one_line(text.split("\n\n").nth(1).unwrap_or_default());
        ensure!(first.ends_with('?'), "{page} does not begin with a question");
        ensure!(links.remove(&page), "no module links to {page}");
        let row = format!("({page}): {first}");
        ensure!(contents.contains(&row), "ARCHITECTURE.md has no \"{row}\"");
    }
    ensure!(links.is_empty(), "pages that do not exist: {links:?}");
    Ok(())
}

#[test]
fn lines_of_architecture_and_design_are_short() -> Result<()> {
    let mut long = Vec::new();
    for (document, text) in documents()? {
        let is_long = |line: &&str| line.chars().count() > COLUMNS;
        if document != "CONTRIBUTING.md" {
            long.extend(text.lines().filter(is_long).map(|line| format!("{document}: {line}")));
        }
    }
    ensure!(long.is_empty(), "more than {COLUMNS} columns:\n{}", long.join("\n"));
    Ok(())
}
