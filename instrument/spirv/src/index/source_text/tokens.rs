//! Splits a source text in a C-like language into tokens and preprocessor directives.

use std::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier, a keyword or the digits of a number.
    Word,
    /// A string literal, with its quotation marks.
    String,
    /// Another character.
    Mark(u8),
    /// A preprocessor directive, from `#` to the end of its last line.
    Directive,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    /// Whether no token of its line precedes it.
    pub(super) begins_line: bool,
}

impl Token {
    /// Whether this is the definition of a macro.
    pub(super) fn is_definition(&self, text: &str) -> bool {
        let directive = text
            .get(self.range.start + 1..self.range.end)
            .filter(|_| self.kind == Kind::Directive);
        directive.is_some_and(|directive| {
            let name = Tokens::new(directive).next();
            name.and_then(|name| directive.get(name.range)) == Some("define")
        })
    }
}

/// The tokens of a text, without comments. O(text).
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    begins_line: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            begins_line: true,
        }
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.bytes.get(self.at + offset).copied()
    }

    /// Length of the line end behind a backslash that continues a line, with the backslash.
    fn continuation(&self) -> Option<usize> {
        match (self.byte(0)?, self.byte(1)?, self.byte(2)) {
            (b'\\', b'\n', _) => Some(2),
            (b'\\', b'\r', Some(b'\n')) => Some(3),
            _ => None,
        }
    }

    /// Moves to the end of a comment that ends with its line.
    fn skip_line_comment(&mut self) {
        while self.byte(0).is_some_and(|byte| byte != b'\n') {
            self.at += self.continuation().unwrap_or(1);
        }
    }

    /// Moves to the end of a directive, which ends with its line.
    fn skip_directive(&mut self) {
        while let Some(byte) = self.byte(0).filter(|byte| *byte != b'\n') {
            match (byte, self.byte(1)) {
                (b'/', Some(b'/')) => self.skip_line_comment(),
                (b'/', Some(b'*')) => self.at += self.block_comment(),
                (b'"', _) => self.at += self.string(),
                _ => self.at += self.continuation().unwrap_or(1),
            }
        }
    }

    /// Length of the block comment here.
    fn block_comment(&self) -> usize {
        let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
        let end = rest.windows(2).position(|window| window == b"*/");
        end.map_or(rest.len(), |end| end + 2) + 2
    }

    /// Length of the string literal here, which ends with its line if it is not closed.
    fn string(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut end = 1;
        while let Some(byte) = rest.get(end).filter(|byte| **byte != b'\n') {
            end += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        end.min(rest.len())
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let start = self.at;
            let byte = self.byte(0)?;
            let kind = match (byte, self.byte(1)) {
                (b'\n', _) => {
                    self.begins_line = true;
                    self.at += 1;
                    continue;
                }
                (byte, _) if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                (b'/', Some(b'/')) => {
                    self.skip_line_comment();
                    continue;
                }
                (b'/', Some(b'*')) => {
                    let length = self.block_comment();
                    let comment = self.bytes.get(start..start + length).unwrap_or_default();
                    self.begins_line |= comment.contains(&b'\n');
                    self.at += length;
                    continue;
                }
                (b'\\', _) if self.continuation().is_some() => {
                    self.at += self.continuation().unwrap_or(1);
                    continue;
                }
                (b'#', _) if self.begins_line => {
                    self.skip_directive();
                    Kind::Directive
                }
                (b'"', _) => {
                    self.at += self.string();
                    Kind::String
                }
                (byte, _) if is_word(byte) => {
                    let rest = self.bytes.get(start..).unwrap_or_default();
                    self.at += rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                    Kind::Word
                }
                (byte, _) => {
                    self.at += 1;
                    Kind::Mark(byte)
                }
            };
            let begins_line = std::mem::replace(&mut self.begins_line, false);
            return Some(Token {
                kind,
                range: start..self.at,
                begins_line,
            });
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(&str, bool)> {
        Tokens::new(source)
            .map(|token| (&source[token.range], token.begins_line))
            .collect()
    }

    #[test]
    fn comments_are_left_out_and_directives_are_one_token() {
        let source = "a // b\n/* c\n*/ #define d \\\r\n e /*\n f */ g \"/*\" // /*\n(\"#\\\"\") # 1";
        let expected = [
            ("a", true),
            ("#define d \\\r\n e /*\n f */ g \"/*\" // /*", true),
            ("(", true),
            ("\"#\\\"\"", false),
            (")", false),
            ("#", false),
            ("1", false),
        ];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn a_backslash_continues_code_and_comments() {
        assert_eq!(
            texts("// a \\\n#line 1\nb\\\n#c"),
            [("b", true), ("#", false), ("c", false)]
        );
    }

    #[test]
    fn open_strings_and_comments_end() {
        assert_eq!(texts("\"a\nb \"c\\"), [("\"a", true), ("b", true), ("\"c\\", false)]);
        assert_eq!(texts("a /* b"), [("a", true)]);
        assert_eq!(texts("a /"), [("a", true), ("/", false)]);
    }
}
