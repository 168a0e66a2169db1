//! The fenced blocks of a document, and the comments before them that say how a block is checked.

use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::root;

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    pub language: String,
    pub text: String,
    /// The comments directly before it, `<!-- KEY: VALUE -->`: key and value.
    pub directives: Vec<(String, String)>,
    /// Line of its first line, for errors.
    pub line: usize,
}

/// The keys of directives, which CONTRIBUTING.md explains.
const KEYS: [&str; 5] = ["run by", "from", "file", "driver", "exit"];

/// Start of a page that `cargo xtask generate` writes.
const GENERATED: &str = "<!-- Generated";

/// The pages of the guide.
///
/// # Errors
///
/// The folder cannot be read.
pub fn guide() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root().join("docs/src"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// The fenced blocks of a document in their order; none of a generated page, which is compared as a whole.
///
/// # Errors
///
/// The file cannot be read, or a directive is not before a block.
pub fn blocks(path: &Path) -> Result<Vec<Block>> {
    let source = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if source.starts_with(GENERATED) {
        return Ok(Vec::new());
    }
    parse(&source).with_context(|| path.display().to_string())
}

fn parse(source: &str) -> Result<Vec<Block>> {
    let (mut blocks, mut directives, mut open) = (Vec::new(), Vec::new(), false);
    for (event, range) in Parser::new(source).into_offset_iter() {
        match event {
            Event::Html(html) => {
                if let Some((key, value)) = directive(&html) {
                    ensure!(KEYS.contains(&key), "`{key}` is not a directive; see CONTRIBUTING.md");
                    directives.push((key.to_owned(), value.to_owned()));
                }
            }
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                open = true;
                blocks.push(Block {
                    language: language.into_string(),
                    text: String::new(),
                    directives: std::mem::take(&mut directives),
                    line: source[..range.start].lines().count() + 2,
                });
            }
            Event::Text(text) if open => {
                if let Some(block) = blocks.last_mut() {
                    block.text += &text;
                }
            }
            Event::End(TagEnd::CodeBlock) => open = false,
            _ if !directives.is_empty() => bail!("{directives:?} is not before a block"),
            _ => {}
        }
    }
    Ok(blocks)
}

fn directive(html: &str) -> Option<(&str, &str)> {
    let comment = html.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    comment.split_once(": ")
}

#[test]
fn a_block_has_the_comments_before_it() -> Result<()> {
    let blocks = parse("a\n\n<!-- file: a.c -->\n<!-- exit: 3 -->\n```c\nint a;\n```\n\n<!-- x -->\n```sh\nls\n```\n")?;
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[0].text, "int a;\n");
    assert_eq!(blocks[0].line, 6);
    assert_eq!(
        blocks[0].directives,
        [("file", "a.c"), ("exit", "3")].map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
    assert!(blocks[1].directives.is_empty());
    assert!(parse("<!-- run: x -->\n```sh\n```\n").is_err());
    assert!(parse("<!-- exit: 3 -->\ntext\n\n# heading").is_err());
    Ok(())
}
