//! The imports of a source file, read from its tokens: paths in the arguments of macros have no syntax tree.

use super::TokenTree;
use proc_macro2::{Delimiter, TokenStream};
use std::collections::{BTreeMap, BTreeSet};

/// The segments of a path.
pub type Path = Vec<String>;

/// The paths and definitions of a source file, without those of `#[cfg(test)]` items.
#[derive(Default)]
pub struct Source {
    /// Paths of two or more segments, and those of `use` declarations that are not public.
    pub imports: BTreeSet<Path>,
    /// Names that `use` declarations bring into scope, with the paths that they stand for.
    pub names: BTreeMap<String, Path>,
    /// Modules whose names the file re-exports with a glob.
    pub globs: Vec<Path>,
    /// Names of items.
    pub items: BTreeSet<String>,
}

impl Source {
    /// Adds the tokens of a file, or of a group in it.
    pub fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut is_public = false;
        while let [token, after @ ..] = rest {
            rest = after;
            match token {
                TokenTree::Group(group) => {
                    self.add(group.stream());
                    // The visibility of `pub(crate) use`.
                    is_public &= group.delimiter() == Delimiter::Parenthesis;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' && rest.first().is_some_and(is_for_tests) => {
                    rest = behind_item(rest.get(1..).unwrap_or_default());
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = rest.iter().position(|token| is(token, ';')).unwrap_or(rest.len());
                    let (tree, after) = rest.split_at(end);
                    self.add_use(tree, &Path::new(), is_public);
                    rest = after;
                }
                TokenTree::Ident(word) => {
                    let mut path = vec![word.to_string()];
                    while let [first, second, TokenTree::Ident(next), after @ ..] = rest
                        && is(first, ':')
                        && is(second, ':')
                    {
                        path.push(next.to_string());
                        rest = after;
                    }
                    if path.len() > 1 {
                        self.imports.insert(path);
                    } else if let Some(TokenTree::Ident(name)) = rest.first()
                        && ITEMS.contains(&path[0].as_str())
                    {
                        self.items.insert(name.to_string());
                    }
                    is_public = word == "pub";
                    continue;
                }
                _ => {}
            }
            is_public = false;
        }
    }

    /// Adds the paths of a `use` declaration behind `prefix`.
    fn add_use(&mut self, tree: &[TokenTree], prefix: &[String], is_public: bool) {
        for tree in tree.split(|token| is(token, ',')) {
            let mut path = prefix.to_vec();
            let mut words = tree.iter();
            while let Some(token) = words.next() {
                match token {
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) if word == "as" => {
                        if let Some(name) = words.next() {
                            self.names.insert(name.to_string(), path.clone());
                        }
                    }
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Group(group) => {
                        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                        self.add_use(&inner, &path, is_public);
                        path.clear();
                    }
                    token if is(token, '*') && is_public => self.globs.push(path.clone()),
                    _ => {}
                }
            }
            let Some(name) = path.last() else { continue };
            self.names.entry(name.clone()).or_insert_with(|| path.clone());
            if !is_public {
                self.imports.insert(path);
            }
        }
    }
}

/// The tokens behind the first item, which ends with a semicolon or a block.
fn behind_item(tokens: &[TokenTree]) -> &[TokenTree] {
    let is_end = |token: &TokenTree| {
        is(token, ';') || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    };
    let end = tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1);
    tokens.get(end..).unwrap_or_default()
}

/// Keywords that are followed by the name of an item.
const ITEMS: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punctuation) if punctuation.as_char() == mark)
}

/// Whether the brackets of an attribute contain `cfg(test)`, or another condition that begins with `test`.
fn is_for_tests(attribute: &TokenTree) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text.starts_with("[cfg(test")
}
