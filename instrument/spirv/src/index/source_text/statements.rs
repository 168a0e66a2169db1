//! Finds the statements of a source text in a C-like language, without parsing it.
//!
//! glslang gives an abort over several lines the line of its last argument, and no column. The statement around that line
//! begins at the abort.

use super::tokens::{Kind, Token};

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

/// Collects the statements of a text from its tokens. Headers of control flow and of functions are not statements: no abort is in
/// them. A call that no semicolon follows, but the next statement, is one of a macro.
pub(super) struct Statements<'a> {
    text: &'a str,
    found: Vec<Statement>,
    /// Start of the current statement.
    start: Option<usize>,
    head: Head,
    form: Form,
    /// Open round and square brackets.
    depth: u32,
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

/// First token of the current statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    None,
    /// `if`, `for`, `while`, `switch`: ends at its closing bracket.
    Control,
    /// `[unroll]` and the like: ends at its closing bracket.
    Attribute,
    /// `case`, `default`: ends at its colon.
    Label,
}

/// Whether the current statement may be a macro, which may end without a semicolon.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Other,
    /// A name that ends here.
    Name(usize),
    /// A name and its arguments, whose bracket is open.
    Arguments,
    /// A name and its arguments, which end here.
    Call(usize),
}

impl<'a> Statements<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
            start: None,
            head: Head::None,
            form: Form::Other,
            depth: 0,
        }
    }

    /// Reads the next token.
    pub(super) fn read(&mut self, token: &Token) {
        if let (Some(start), Some(end)) = (self.start, self.end_before(token)) {
            self.found.push(Statement { start, end });
            self.begin();
        }
        match token.kind {
            Kind::Directive => {}
            Kind::Word => self.word(token),
            Kind::String => self.other(token),
            Kind::Mark(byte) => self.mark(byte, token),
        }
    }

    /// The statements, in order.
    pub(super) fn finish(mut self) -> Vec<Statement> {
        if let (Some(start), Form::Call(end)) = (self.start, self.form) {
            self.found.push(Statement { start, end });
        }
        self.found
    }

    /// The end of the current statement, if it is a macro and the token is behind it.
    fn end_before(&self, token: &Token) -> Option<usize> {
        let next_byte = || self.text.as_bytes().get(token.range.end).copied();
        match (self.form, token.kind) {
            (Form::Call(end), Kind::Word | Kind::Mark(b'}')) => Some(end),
            (Form::Call(end), Kind::Mark(b'[' | b'(')) if token.begins_line => Some(end),
            (Form::Call(end), Kind::Mark(sign @ (b'+' | b'-'))) if token.begins_line && next_byte() == Some(sign) => {
                Some(end)
            }
            // A type or a qualifier may be alone on its line; macros without arguments have capital letters.
            (Form::Name(end), Kind::Word | Kind::Mark(b'}')) if token.begins_line => {
                let name = self.text.get(self.start?..end)?;
                (!name.bytes().any(|byte| byte.is_ascii_lowercase())).then_some(end)
            }
            _ => None,
        }
    }

    fn word(&mut self, token: &Token) {
        if self.start.is_some() {
            return self.other(token);
        }
        let word = self.text.get(token.range.clone()).unwrap_or_default();
        self.head = match word {
            "else" | "do" => return,
            "if" | "for" | "while" | "switch" => Head::Control,
            "case" | "default" => Head::Label,
            _ => Head::None,
        };
        self.start = Some(token.range.start);
        let is_name = self.head == Head::None && !word.starts_with(|first: char| first.is_ascii_digit());
        self.form = if is_name {
            Form::Name(token.range.end)
        } else {
            Form::Other
        };
    }

    fn mark(&mut self, byte: u8, token: &Token) {
        let is_outside = self.depth == 0;
        match byte {
            b'(' | b'[' => {
                self.depth += 1;
                if self.start.is_none() && byte == b'[' {
                    self.head = Head::Attribute;
                }
                if byte == b'(' && is_outside && matches!(self.form, Form::Name(_)) {
                    self.form = Form::Arguments;
                    return;
                }
            }
            b')' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                match (self.depth, self.head, self.form) {
                    (0, Head::Control | Head::Attribute, _) => return self.begin(),
                    (0, _, Form::Arguments) => {
                        self.form = Form::Call(token.range.end);
                        return;
                    }
                    _ => {}
                }
            }
            b'{' | b'}' if is_outside => return self.begin(),
            b':' if is_outside && self.head == Head::Label => return self.begin(),
            // Inside brackets only the head of a `for` has semicolons; elsewhere a bracket is missing.
            b';' if is_outside || self.head != Head::Control => {
                if let Some(start) = self.start {
                    let end = token.range.end;
                    self.found.push(Statement { start, end });
                }
                return self.begin();
            }
            _ => {}
        }
        self.other(token);
    }

    /// A token that a statement may have anywhere.
    fn other(&mut self, token: &Token) {
        self.start.get_or_insert(token.range.start);
        if self.form != Form::Arguments {
            self.form = Form::Other;
        }
    }

    /// The next token begins a statement.
    fn begin(&mut self) {
        self.start = None;
        self.head = Head::None;
        self.form = Form::Other;
        self.depth = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Tokens;
    use super::*;

    fn statements(source: &str) -> Vec<Statement> {
        let mut statements = Statements::new(source);
        Tokens::new(source).for_each(|token| statements.read(&token));
        statements.finish()
    }

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
    fn macros_end_without_a_semicolon() {
        let source = "void f() { CHECK(a, (b)) CHECK(c,
            d)
            x = CAST(y) + 1; if (z) CHECK(e) else CHECK(f)
            CHECK(g)
            ++i; CHECK(h)
            [unroll] for (int j = 0; j < 3; j++) k(); CHECK(l)
            (m).n = 1; g(o)
            + 2; BARRIER
            p = 1; const
            int q = 2; CHECK(r) }
            CHECK(s)";
        let expected = [
            "CHECK(a, (b))",
            "CHECK(c,\n            d)",
            "x = CAST(y) + 1;",
            "CHECK(e)",
            "CHECK(f)",
            "CHECK(g)",
            "++i;",
            "CHECK(h)",
            "k();",
            "CHECK(l)",
            "(m).n = 1;",
            "g(o)\n            + 2;",
            "BARRIER",
            "p = 1;",
            "const\n            int q = 2;",
            "CHECK(r)",
            "CHECK(s)",
        ];
        assert_eq!(texts(source), expected);
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
