//! Finds identifiers that say nothing about the thing that they name.

use super::{TokenTree, rust_files};
use anyhow::Result;
use proc_macro2::TokenStream;
use std::path::Path;

/// Words that are not names: use the noun or verb of the thing.
const REFUSED: &[&str] = &["asked", "given", "known", "made", "stand", "told", "what"];

/// Every use of a refused identifier below `folder`, as `file:line: identifier`.
///
/// # Errors
///
/// A file cannot be read or is not Rust.
pub fn refused(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (file, tokens) in rust_files(folder)? {
        visit(tokens, &mut |identifier, line| {
            if REFUSED.contains(&identifier.to_lowercase().as_str()) {
                found.push(format!("{}:{line}: {identifier}", file.display()));
            }
        });
    }
    Ok(found)
}

fn visit(tokens: TokenStream, found: &mut impl FnMut(String, usize)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => visit(group.stream(), found),
            TokenTree::Ident(identifier) => found(identifier.to_string(), identifier.span().start().line),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
