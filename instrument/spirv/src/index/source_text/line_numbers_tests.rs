//! Tests of [`super`].

use super::*;

/// File, shift, lines and lines of code of a stretch.
type Row = (&'static str, Option<i64>, [u32; 2], [u32; 2]);

fn stretches(text: &str) -> Vec<Row> {
    let mut numbers = LineNumbers::new(text);
    let line = |offset: usize| text[..offset].matches('\n').count() as u32 + 1;
    for token in Tokens::new(text) {
        numbers.read(&token, line(token.range.start)..line(token.range.end) + 1);
    }
    let found = numbers.finish(text.lines().count() as u32);
    let file = |file: File| match file {
        File::Own => "",
        File::Named(name) => name.leak(),
        File::Unknown => "?",
    };
    let show = |s: Stretch| {
        (
            file(s.file),
            s.shift,
            [s.lines.start, s.lines.end - 1],
            [s.code.start, s.code.end - 1],
        )
    };
    found.into_iter().map(show).collect()
}

#[test]
fn a_text_without_directives_is_one_stretch() {
    assert_eq!(
        stretches("\na;\n\n#if X\nb;\n#endif\n"),
        [("", Some(0), [1, 6], [2, 5])]
    );
    assert_eq!(stretches("// nothing\n"), []);
}

#[test]
fn each_directive_begins_a_stretch() {
    let text = "// glslang\n#line 1\n#version 450\na;\n#line 0x20 \"b\" // c\nb;\n/* */ # line \\\n 010\nc;\n# 7 \"d\" 2\nd;\n#line 9 2\ne;";
    let expected = [
        ("", Some(-2), [3, 4], [4, 4]),
        ("b", Some(26), [6, 6], [6, 6]),
        ("b", Some(-1), [9, 9], [9, 9]),
        ("d", Some(-4), [11, 11], [11, 11]),
        ("?", Some(-4), [13, 13], [13, 13]),
    ];
    assert_eq!(stretches(text), expected);
}

#[test]
fn glsl_before_330_counts_from_the_directive() {
    assert_eq!(stretches("#version 140\n#line 5\na;"), [("", Some(3), [3, 3], [3, 3])]);
    assert_eq!(
        stretches("#version 310 es\n#line 5\na;"),
        [("", Some(2), [3, 3], [3, 3])]
    );
}

#[test]
fn a_number_that_is_not_a_literal_is_not_known() {
    assert_eq!(stretches("#line N\na;"), [("", None, [2, 2], [2, 2])]);
    assert_eq!(stretches("#line 5 + N\na;"), [("?", None, [2, 2], [2, 2])]);
}

#[test]
fn lines_behind_a_conditional_have_the_numbers_of_each_branch() {
    let text = "#if A\n#line 100\na;\n#else\nb;\n#endif\nc;\n#line 50\nd;";
    let expected = [
        ("", Some(97), [3, 3], [3, 3]),
        ("", Some(0), [5, 7], [5, 7]),
        ("", Some(97), [7, 7], [7, 7]),
        ("", Some(41), [9, 9], [9, 9]),
    ];
    assert_eq!(stretches(text), expected);
    let restored = "#ifdef A\n#line 1 \"a\"\na;\n#line 5 \"b\"\n#endif\nc;";
    let expected = [
        ("a", Some(-2), [3, 3], [3, 3]),
        ("b", Some(0), [5, 6], [6, 6]),
        ("", Some(0), [6, 6], [6, 6]),
    ];
    let mut found = stretches(restored);
    found.sort_by_key(|(file, ..)| match *file {
        "a" => 0,
        "b" => 1,
        _ => 2,
    });
    assert_eq!(found, expected);
    assert_eq!(stretches("#endif\n#else\na;"), [("", Some(0), [1, 3], [3, 3])]);
}

#[test]
fn too_many_numberings_are_not_known() {
    let groups: String = (0..16).map(|n| format!("#if A\n#line {n}00\n#endif\n")).collect();
    let found = stretches(&format!("{groups}a;"));
    assert_eq!(found, [("?", None, [49, 49], [49, 49])]);
}
