//! Every relative link of a document leads to a file, and every anchor to a heading. The guide's summary lists its pages.

use crate::blocks;
use anyhow::{Context, Result, ensure};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use vkabort_test_kit::root;

/// The anchors of a page, to which links can lead, and its links.
#[derive(Default)]
struct Page {
    anchors: Vec<String>,
    links: Vec<String>,
}

/// The anchor that GitHub and mdBook give to a heading.
fn anchor(heading: &str, counts: &mut HashMap<String, usize>) -> String {
    let slug: String = heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            _ => None,
        })
        .collect();
    let count = counts.entry(slug.clone()).or_default();
    *count += 1;
    if *count == 1 {
        slug
    } else {
        format!("{slug}-{}", *count - 1)
    }
}

fn parse(source: &str) -> Page {
    let (mut page, mut counts, mut heading) = (Page::default(), HashMap::new(), None);
    for event in Parser::new_ext(source, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                page.anchors
                    .extend(heading.take().map(|text| anchor(&text, &mut counts)));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            _ => {}
        }
    }
    page
}

/// Removes `.` and `..` without following links.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The file that a relative link leads to, and its anchor. None for a link to another site.
fn target(from: &Path, link: &str) -> Option<(PathBuf, Option<String>)> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link
        .split_once('#')
        .map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() {
        from.to_path_buf()
    } else {
        normalize(&folder.join(file))
    };
    Some((path, anchor.map(str::to_owned)))
}

#[test]
fn every_link_leads_somewhere() -> Result<()> {
    let mut paths = blocks::guide()?;
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "bench/RESULTS.md",
    ] {
        paths.push(root().join(name));
    }
    for entry in fs::read_dir(root().join("docs/design"))? {
        paths.push(entry?.path());
    }
    let mut pages = BTreeMap::new();
    for path in paths {
        let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        pages.insert(path, parse(&source));
    }
    let guide = root().join("docs/src");
    let mut wrong = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            let Some((to, anchor)) = target(path, link) else {
                continue;
            };
            let problem = if !to.exists() {
                "does not exist"
            } else if path.starts_with(&guide) && !to.starts_with(&guide) {
                "is not part of the book"
            } else if anchor.is_some_and(|anchor| pages.get(&to).is_some_and(|page| !page.anchors.contains(&anchor))) {
                "has no such heading"
            } else {
                continue;
            };
            wrong.push(format!("{}: `{link}` {problem}", path.display()));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn the_summary_lists_every_page_and_every_picture_is_shown() -> Result<()> {
    let guide = root().join("docs/src");
    let summary = guide.join("SUMMARY.md");
    let linked = |path: &Path| -> Result<Vec<PathBuf>> {
        let links = parse(&fs::read_to_string(path)?).links;
        Ok(links
            .iter()
            .filter_map(|link| target(path, link))
            .map(|(path, _)| path)
            .collect())
    };
    let listed = linked(&summary)?;
    let mut linked_files = linked(&root().join("README.md"))?;
    for page in &listed {
        linked_files.extend(linked(page)?);
    }
    for entry in fs::read_dir(&guide)? {
        let path = entry?.path();
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        if is_page && path != summary {
            let count = listed.iter().filter(|page| **page == path).count();
            ensure!(count == 1, "SUMMARY.md lists {} {count} times", path.display());
        } else if !is_page {
            ensure!(linked_files.contains(&path), "no page shows {}", path.display());
        }
    }
    Ok(())
}

#[test]
fn anchors_are_those_of_github_and_mdbook() {
    let page = parse("# Ending an `OpKill`, *early*\n\n## A\n\n## A\n\n[x](a.md#b) ![y](y.svg)\n");
    assert_eq!(page.anchors, ["ending-an-opkill-early", "a", "a-1"]);
    assert_eq!(page.links, ["a.md#b", "y.svg"]);
    assert_eq!(
        target(Path::new("/d/src/a.md"), "../b.md#c"),
        Some((PathBuf::from("/d/b.md"), Some("c".into())))
    );
    assert_eq!(target(Path::new("/d/a.md"), "https://x"), None);
}
