//! The fenced blocks of a document, and the comments before them that say how a block is checked.

use anyhow::{Context, Result, bail};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::root;

/// A comment before a block: `<!-- KEY: VALUE -->`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `run by: FILE::TEST`: a test of `tests/tests`, or of a file with its path, or a script of `.ci`, runs the commands.
    RunBy(String),
    /// `file: NAME`: the block is the whole file, which is written to the scratch folder.
    File(String),
    /// `from: PATH`: every line is a line of this file of the repository.
    From(String),
    /// `exit: CODE`: the exit code of the last command, if it is not 0.
    Exit(i32),
    /// `copy: FOLDER`: the files of this folder of the repository are copied to the scratch folder.
    Copy(String),
}

impl Directive {
    fn parse(html: &str) -> Result<Option<Self>> {
        let comment = html
            .trim()
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"));
        let Some((key, value)) = comment.and_then(|comment| comment.split_once(": ")) else {
            return Ok(None);
        };
        let value = value.to_owned();
        Ok(Some(match key {
            "run by" => Self::RunBy(value),
            "file" => Self::File(value),
            "from" => Self::From(value),
            "exit" => Self::Exit(value.parse().context("the exit code is not a number")?),
            "copy" => Self::Copy(value),
            _ => bail!("`{key}` is not a directive"),
        }))
    }
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    pub language: String,
    pub text: String,
    /// The comments directly before it.
    pub directives: Vec<Directive>,
    /// Line of its first line, for errors.
    pub line: usize,
}

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
/// The file cannot be read, or a comment is not a directive.
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
            Event::Html(html) => directives.extend(Directive::parse(&html)?),
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

#[test]
fn a_block_has_the_comments_before_it() -> Result<()> {
    let blocks = parse("a\n\n<!-- file: a.c -->\n<!-- exit: 3 -->\n```c\nint a;\n```\n\n<!-- x -->\n```sh\nls\n```\n")?;
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[0].text, "int a;\n");
    assert_eq!(blocks[0].line, 6);
    assert_eq!(
        blocks[0].directives,
        [Directive::File("a.c".into()), Directive::Exit(3)]
    );
    assert!(blocks[1].directives.is_empty());
    assert!(parse("<!-- run: x -->\n```sh\n```\n").is_err());
    assert!(parse("<!-- exit: 3 -->\ntext\n\n# heading").is_err());
    Ok(())
}
