//! Finds the statements of a source text in a C-like language, without parsing it.
//!
//! glslang gives an abort over several lines the line of its last argument, and no column. The statement around that line
//! begins at the abort.

/// A statement, from its first character to behind its semicolon, in bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Statement {
    /// Whether an identifier of the statement contains `abort`, in any case, as intrinsics and most macros do.
    fn aborts(&self, text: &str) -> bool {
        let bytes = text.as_bytes().get(self.start..self.end).unwrap_or_default();
        bytes.windows(5).any(|window| window.eq_ignore_ascii_case(b"abort"))
    }
}

/// The statements of a text, in order. Headers of control flow and of functions are not statements: no abort is in them.
/// O(text).
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        found: Vec::new(),
        start: None,
        head: Head::None,
        depth: 0,
    };
    scanner.scan();
    scanner.found
}

/// The statement at `offset` where that is known, else the one between `line_start` and `line_end` that aborts, or the only
/// one there. `None` if that is ambiguous.
pub(super) fn find(
    statements: &[Statement],
    text: &str,
    line: std::ops::Range<usize>,
    offset: Option<usize>,
) -> Option<Statement> {
    let first = statements.partition_point(|statement| statement.end <= line.start);
    let on_line = statements.get(first..).unwrap_or_default();
    let on_line = || on_line.iter().take_while(|statement| statement.start < line.end);
    if let Some(offset) = offset {
        return on_line().find(|s| (s.start..s.end).contains(&offset)).copied();
    }
    let mut aborting = on_line().filter(|statement| statement.aborts(text));
    match (aborting.next(), aborting.next()) {
        (Some(only), None) => Some(*only),
        (None, _) if on_line().count() == 1 => on_line().next().copied(),
        _ => None,
    }
}

/// What the current statement begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    None,
    /// `if`, `for`, `while`, `switch`: ends at its closing bracket.
    Control,
    /// `case`, `default`: ends at its colon.
    Label,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Vec<Statement>,
    /// Start of the current statement.
    start: Option<usize>,
    head: Head,
    /// Open round and square brackets.
    depth: u32,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        let mut begins_line = true;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    begins_line = true;
                    self.at += 1;
                    continue;
                }
                b if b.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'#' if begins_line => self.skip_directive(),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_until(b"\n", 0),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => self.skip_until(b"*/", 2),
                b'"' => self.string(),
                b if b == b'_' || b.is_ascii_alphanumeric() => self.word(),
                _ => self.punctuation(byte),
            }
            begins_line = false;
        }
    }

    /// Moves to the next `end`, and `then` bytes further.
    fn skip_until(&mut self, end: &[u8], then: usize) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.bytes.len(), |found| self.at + 1 + found + then);
    }

    /// A preprocessor directive, continued behind backslashes.
    fn skip_directive(&mut self) {
        loop {
            self.skip_until(b"\n", 0);
            let line = self.bytes.get(..self.at).unwrap_or_default();
            if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") || self.at >= self.bytes.len() {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.start.get_or_insert(self.at);
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
            self.at += 1;
            if byte == b'"' {
                return;
            }
        }
    }

    fn word(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_end = |b: &u8| *b != b'_' && !b.is_ascii_alphanumeric();
        let word = rest
            .get(..rest.iter().position(is_end).unwrap_or(rest.len()))
            .unwrap_or_default();
        if self.start.is_none() {
            match word {
                b"else" | b"do" => {
                    self.at += word.len();
                    return;
                }
                b"if" | b"for" | b"while" | b"switch" => self.head = Head::Control,
                b"case" | b"default" => self.head = Head::Label,
                _ => {}
            }
            self.start = Some(self.at);
        }
        self.at += word.len();
    }

    fn punctuation(&mut self, byte: u8) {
        let at = self.at;
        self.at += 1;
        match byte {
            b'(' | b'[' => self.depth += 1,
            b')' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 && self.head == Head::Control {
                    return self.begin();
                }
            }
            b'{' | b'}' if self.depth == 0 => return self.begin(),
            b':' if self.depth == 0 && self.head == Head::Label => return self.begin(),
            // Inside brackets only the head of a `for` has semicolons; elsewhere a bracket is missing.
            b';' if self.depth == 0 || self.head != Head::Control => {
                if let Some(start) = self.start {
                    self.found.push(Statement { start, end: self.at });
                }
                return self.begin();
            }
            _ => {}
        }
        self.start.get_or_insert(at);
    }

    /// The next token begins a statement.
    fn begin(&mut self) {
        self.start = None;
        self.head = Head::None;
        self.depth = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        statements(source).iter().map(|s| &source[s.start..s.end]).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_brackets_strings_and_comments() {
        let source = "a(1, // ) ;\n  \"x;\\\" )\", /* ; */ b[2]);\n#define F(x) \\\n y;\nc = 3;";
        assert_eq!(texts(source), ["a(1, // ) ;\n  \"x;\\\" )\", /* ; */ b[2]);", "c = 3;"]);
    }

    #[test]
    fn control_flow_and_function_heads_are_not_part_of_statements() {
        let source = "void f(int a) { if (a > (1)) g(); else h(); for (int i = 0; i < 3; i++) { k(); }
            switch (a) { case X: l(); default: m(); } do n(); while (o); }";
        assert_eq!(texts(source), ["g();", "h();", "k();", "l();", "m();", "n();"]);
    }

    #[test]
    fn a_missing_bracket_spoils_one_statement() {
        assert_eq!(texts("a(1; b(2);"), ["a(1;", "b(2);"]);
        assert_eq!(texts("\"open\na;"), ["\"open\na;"]);
        assert!(statements("/* never closed; a;").is_empty());
        assert!(statements("a(").is_empty());
    }

    #[test]
    fn the_statement_that_aborts_is_chosen_or_the_only_one() {
        let choose = |source: &str, offset| {
            let end = source.find('\n').unwrap_or(source.len());
            find(&statements(source), source, 0..end, offset).map(|s| source[s.start..s.end].to_owned())
        };
        assert_eq!(
            choose("a(); abortEXT(\"x\"); b();", None).as_deref(),
            Some("abortEXT(\"x\");")
        );
        assert_eq!(choose("a(); abort(); ABORT();", None), None);
        assert_eq!(choose("a(); b();", None), None);
        assert_eq!(choose("if (x) CHECK(y);", None).as_deref(), Some("CHECK(y);"));
        assert_eq!(choose("a(); b();", Some(5)).as_deref(), Some("b();"));
        assert_eq!(choose("a();\nabort();", None).as_deref(), Some("a();"));
        assert_eq!(choose("", None), None);
    }
}
