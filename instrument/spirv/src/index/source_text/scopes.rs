//! Scopes of declarations in a source text in a C-like language: from the declaration to the end of its block, or of the statement that
//! its header begins.
//!
//! ```text
//! { uint a; for (uint b = 0; b < 4; b++) { uint c; } uint d; }
//!        a-------------------------------------------------
//!                    b-----------------------------
//!                                               c--
//! ```

use super::tokens::{Kind, Token, Tokens};

/// The scopes of a text.
#[derive(Debug)]
pub(super) struct Scopes {
    /// Offsets from which on another scope is the innermost, ascending, and its number.
    changes: Vec<(usize, usize)>,
    /// The end of each scope.
    ends: Vec<usize>,
}

/// Brackets and statements that are open at a token.
#[derive(Clone, Copy)]
enum OpenConstruct {
    /// A curly bracket, with the number of its scope.
    Block(usize),
    /// The round bracket of `for` and the like.
    Header(usize),
    /// The statement behind it.
    Body(usize),
    /// Another bracket.
    Bracket,
}

impl Scopes {
    /// O(text). `None` if the brackets of the text or of one of its macros do not match, so that no scope is certain.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut scopes = Self {
            changes: Vec::new(),
            ends: Vec::new(),
        };
        let mut open: Vec<OpenConstruct> = Vec::new();
        let mut begins_header = false;
        for token in Tokens::new(text) {
            let word = text.get(token.range.clone()).unwrap_or_default();
            let is_header = std::mem::replace(
                &mut begins_header,
                matches!(word, "for" | "if" | "while" | "switch" | "catch"),
            );
            match token.kind {
                Kind::Directive if !is_balanced(&token, text) => return None,
                Kind::Mark(b'{') => open.push(OpenConstruct::Block(scopes.begin(token.range.start))),
                Kind::Mark(b'(') if is_header => open.push(OpenConstruct::Header(scopes.begin(token.range.start))),
                Kind::Mark(b'(' | b'[') => open.push(OpenConstruct::Bracket),
                Kind::Mark(b')' | b']') => match open.pop()? {
                    OpenConstruct::Header(scope) => open.push(OpenConstruct::Body(scope)),
                    OpenConstruct::Bracket => {}
                    OpenConstruct::Block(_) | OpenConstruct::Body(_) => return None,
                },
                Kind::Mark(b'}') => {
                    let OpenConstruct::Block(scope) = open.pop()? else {
                        return None;
                    };
                    scopes.end(scope, token.range.end, &open);
                    scopes.end_bodies(&mut open, token.range.end);
                }
                Kind::Mark(b';') => scopes.end_bodies(&mut open, token.range.end),
                _ => {}
            }
        }
        open.is_empty().then_some(scopes)
    }

    /// The end of the innermost scope at an offset. `None`: that of the text. O(log n).
    pub(super) fn end_at(&self, offset: usize) -> Option<usize> {
        let behind = self.changes.partition_point(|(from, _)| *from <= offset);
        let (_, scope) = self.changes.get(behind.checked_sub(1)?)?;
        self.ends.get(*scope).copied()
    }

    fn begin(&mut self, offset: usize) -> usize {
        let scope = self.ends.len();
        self.ends.push(usize::MAX);
        self.changes.push((offset, scope));
        scope
    }

    fn end(&mut self, scope: usize, offset: usize, around: &[OpenConstruct]) {
        if let Some(end) = self.ends.get_mut(scope) {
            *end = offset;
        }
        let outer = around.iter().rev().find_map(|open| match open {
            OpenConstruct::Block(scope) | OpenConstruct::Header(scope) | OpenConstruct::Body(scope) => Some(*scope),
            OpenConstruct::Bracket => None,
        });
        // That of the text has no number.
        self.changes.push((offset, outer.unwrap_or(usize::MAX)));
    }

    /// Ends the statements that the end of the innermost one ends.
    fn end_bodies(&mut self, open: &mut Vec<OpenConstruct>, offset: usize) {
        while let Some(OpenConstruct::Body(scope)) = open.last().copied() {
            open.pop();
            self.end(scope, offset, open);
        }
    }
}

/// Whether the curly brackets of a directive match.
fn is_balanced(directive: &Token, text: &str) -> bool {
    let body = text.get(directive.range.start + 1..directive.range.end);
    let depths = Tokens::new(body.unwrap_or_default()).scan(0_i64, |depth, token| {
        *depth += match token.kind {
            Kind::Mark(b'{') => 1,
            Kind::Mark(b'}') => -1,
            _ => 0,
        };
        Some(*depth)
    });
    let (least, last) = depths.fold((0, 0), |(least, _), depth| (depth.min(least), depth));
    (least, last) == (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text from `of` to the end of its scope.
    fn scope<'a>(text: &'a str, of: &str) -> Option<&'a str> {
        let offset = text.find(of)?;
        let end = Scopes::new(text)?.end_at(offset).unwrap_or(text.len());
        text.get(offset..end)
    }

    #[test]
    fn a_scope_ends_with_its_block() {
        let text = "uint g; void f(uint p) { uint a; { uint b; } /* } */ uint c[2]; } uint h;";
        assert_eq!(scope(text, "b"), Some("b; }"));
        assert_eq!(scope(text, "a;"), Some("a; { uint b; } /* } */ uint c[2]; }"));
        assert_eq!(scope(text, "c[2]"), Some("c[2]; }"));
        assert_eq!(scope(text, "g"), Some(text.get(5..).unwrap_or_default()));
        assert_eq!(scope(text, "h"), Some("h;"));
    }

    #[test]
    fn a_header_ends_with_its_statement() {
        assert_eq!(
            scope("{ for (int i = f(0); i < 4; i++) a(i); b; }", "i ="),
            Some("i = f(0); i < 4; i++) a(i);")
        );
        assert_eq!(
            scope("{ for (int i = 0;;) { a; { } b; } c; }", "i ="),
            Some("i = 0;;) { a; { } b; }")
        );
        let nested = "{ for (int i;;) for (int j;;) { a; } b; }";
        assert_eq!(scope(nested, "i;"), Some("i;;) for (int j;;) { a; }"));
        assert_eq!(scope(nested, "j;"), Some("j;;) { a; }"));
        assert_eq!(
            scope("{ int k; do { a; } while (k); b; }", "k;"),
            Some("k; do { a; } while (k); b; }")
        );
        assert_eq!(scope("if (int m = 1) { a; } b;", "m"), Some("m = 1) { a; }"));
    }

    #[test]
    fn brackets_that_do_not_match_leave_nothing_certain() {
        for text in [
            "{ a; ",
            "{ a; } }",
            "{ ( a } )",
            "#define A {\n{ a; }",
            "#define A } {\n{ a; }",
        ] {
            assert_eq!(scope(text, "a;"), None, "{text}");
        }
        assert_eq!(scope("#define B { }\n{ a; }", "a;"), Some("a; }"));
    }
}
