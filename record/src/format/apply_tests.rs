//! Tests of [`super`]. The conversions themselves are compared with C's in `tests/printf.rs`.

use super::*;
use crate::scalar_type::ScalarType;

fn scalar(ty: ScalarType, bits: u64) -> Value {
    Value::Scalar(Scalar::from_bits(ty, bits))
}

fn uint(value: u64) -> Value {
    scalar(ScalarType::U32, value)
}

fn int(value: i64) -> Value {
    scalar(ScalarType::I32, value as u64)
}

fn wide(value: u64) -> Value {
    scalar(ScalarType::U64, value)
}

fn f(value: f32) -> Scalar {
    Scalar::from_bits(ScalarType::F32, value.to_bits().into())
}

fn float(value: f32) -> Value {
    Value::Scalar(f(value))
}

fn vec3() -> Value {
    Value::Vector(vec![f(1.0), f(2.5), f(-3.0)])
}

fn apply_to(format: &str, values: Vec<Value>) -> Formatted {
    let fields: Vec<Field> = values.into_iter().map(|value| Field::unnamed(0, value)).collect();
    apply(format, &fields)
}

fn clean(format: &str, values: Vec<Value>) -> String {
    let formatted = apply_to(format, values);
    assert_eq!(formatted.notes, Vec::<String>::new(), "{format}");
    formatted.text
}

fn noted(format: &str, values: Vec<Value>) -> (String, String) {
    let formatted = apply_to(format, values);
    assert_eq!(formatted.notes.len(), 1, "{format}: {:?}", formatted.notes);
    (formatted.text, formatted.notes[0].clone())
}

#[test]
fn arguments_are_formatted_by_their_specifiers() {
    assert_eq!(clean("bad index %u of %i", vec![uint(7), int(-3)]), "bad index 7 of -3");
    assert_eq!(
        clean(
            "%5.1f|%-6x|%c|%s|%%",
            vec![float(2.25), uint(255), uint(65), Value::Text("né".into())]
        ),
        "  2.2|ff    |A|né|%"
    );
    assert_eq!(
        clean("%p", vec![scalar(ScalarType::Pointer, 0xdead_beef)]),
        "0xdeadbeef"
    );
    assert_eq!(clean("%d", vec![scalar(ScalarType::Bool, 1)]), "1");
    assert_eq!(clean("no arguments", vec![]), "no arguments");
}

#[test]
fn vectors_work_in_both_spellings_and_by_component() {
    assert_eq!(clean("%v3f", vec![vec3()]), "1.0, 2.5, -3.0");
    assert_eq!(clean("%3vf", vec![vec3()]), "1.0, 2.5, -3.0");
    assert_eq!(clean("%1.2v3f", vec![vec3()]), "1.00, 2.50, -3.00");
    assert_eq!(clean("%.1f/%.1f/%.1f", vec![vec3()]), "1.0/2.5/-3.0");
    assert_eq!(clean("%.0v2f", vec![float(1.0), float(2.0)]), "1, 2");
    assert_eq!(clean("%.0v3f %u", vec![vec3(), uint(9)]), "1, 2, -3 9");
}

#[test]
fn composites_are_split_as_the_format_needs() {
    let matrix = Value::Matrix(vec![vec![f(1.0), f(2.0)], vec![f(3.0), f(4.0)]]);
    assert_eq!(clean("%.0v2f | %.0v2f", vec![matrix.clone()]), "1, 2 | 3, 4");
    assert_eq!(clean("%.0f %.0f %.0f %.0f", vec![matrix]), "1 2 3 4");
    let nested = Value::Struct {
        name: None,
        members: vec![Field::unnamed(0, Value::Array(vec![uint(1), uint(2)]))],
    };
    assert_eq!(clean("%u-%u %u", vec![nested, uint(3)]), "1-2 3");
}

#[test]
fn sixty_four_bit_arguments_accept_every_length_spelling() {
    let big = 0xdead_beef_0000_0001;
    assert_eq!(clean("%lu", vec![wide(big)]), big.to_string());
    assert_eq!(clean("%ul!", vec![wide(big)]), format!("{big}!"));
    assert_eq!(clean("%lx", vec![wide(big)]), format!("{big:x}"));
    assert_eq!(clean("%llu", vec![wide(big)]), big.to_string());
    assert_eq!(
        clean(
            "%v2ul;",
            vec![Value::Vector(vec![
                Scalar::from_bits(ScalarType::U64, 1),
                Scalar::from_bits(ScalarType::U64, 2)
            ])]
        ),
        "1, 2;"
    );
    assert_eq!(clean("%ulights", vec![uint(4)]), "4lights");
    assert_eq!(clean("%u", vec![wide(big)]), big.to_string(), "the type decides");
}

#[test]
fn the_type_wins_over_the_specifier() {
    let (text, note) = noted("at %u!", vec![float(0.5)]);
    assert_eq!(
        (text.as_str(), note.as_str()),
        ("at 0.5!", "the argument of `%u` is a float (f32)")
    );
    assert_eq!(noted("%.2f", vec![uint(3)]).0, "3");
    assert_eq!(noted("%d", vec![uint(4_294_967_295)]).0, "4294967295");
    assert_eq!(noted("%u", vec![int(-1)]).0, "-1");
    assert_eq!(clean("%x", vec![int(-1)]), "ffffffff");
    assert_eq!(noted("%u", vec![Value::Text("text".into())]).0, "text");
    assert_eq!(noted("%s", vec![uint(7)]).0, "7");
    assert_eq!(
        noted("%v2f", vec![vec3()]),
        (
            "1.0, 2.5, -3.0".into(),
            "the argument of `%v2f` is a vector of 3".into()
        )
    );
}

#[test]
fn too_few_arguments_leave_the_specifier_visible() {
    assert_eq!(noted("a %d b %-5.3f c", vec![int(1)]).0, "a 1 b %-5.3f<missing> c");
    assert_eq!(noted("%v3f", vec![]).0, "%v3f<missing>");
    assert_eq!(noted("%.0v3f", vec![float(1.0), float(2.0)]).0, "1, 2<missing>");
    assert_eq!(clean("%d %d", vec![int(1), Value::Missing]), "1 <missing>");
}

#[test]
fn too_many_arguments_are_appended() {
    let two = apply_to("bad", vec![uint(7), vec3()]);
    assert_eq!(two.text, "bad [7, (1.0, 2.5, -3.0)]");
    assert_eq!(
        two.notes,
        [
            "the format has no conversion for argument 1 (u32), which follows in brackets: add `%u`",
            "the format has no conversion for argument 2 (f32 x 3), which follows in brackets: add `%v3f`"
        ]
    );
    assert_eq!(noted("bad %f\n", vec![vec3()]).0, "bad 1.0 [2.5, -3.0]\n");
    assert_eq!(noted("", vec![uint(7)]).0, "[7]");
    let named = Field {
        name: Some("limit".into()),
        offset: 0,
        value: uint(9),
    };
    let over = apply("over", &[named]);
    assert_eq!(over.text, "over [limit: 9]");
    assert!(
        over.notes[0].contains(" argument 1 (`limit`, u32), "),
        "{:?}",
        over.notes
    );
}

#[test]
fn arguments_without_a_conversion_of_their_own_are_no_fault() {
    let array = Value::Array(vec![uint(1), uint(2)]);
    let pair = Value::Struct {
        name: None,
        members: vec![Field::unnamed(0, uint(3)), Field::unnamed(4, float(0.5))],
    };
    assert_eq!(
        clean("at %u:", vec![uint(7), array.clone(), pair.clone()]),
        "at 7: [[1, 2], {3, 0.5}]"
    );
    // Its parts have conversions, so that one that is left has been forgotten.
    let (text, note) = noted("at %u", vec![pair]);
    assert_eq!(text, "at 3 [0.5]");
    assert_eq!(
        note,
        "the format has no conversion for argument 1 (f32), which follows in brackets: add `%f`"
    );
    for (value, conversion) in [
        (int(-1), "%d"),
        (scalar(ScalarType::U64, 1), "%lu"),
        (scalar(ScalarType::I64, 1), "%ld"),
        (scalar(ScalarType::Bool, 1), "%u"),
        (scalar(ScalarType::Pointer, 1), "%p"),
        (Value::Text("x".into()), "%s"),
        (vec3(), "%v3f"),
    ] {
        assert!(
            noted("", vec![value.clone()])
                .1
                .ends_with(&format!("add `{conversion}`")),
            "{conversion}"
        );
        assert!(apply_to(conversion, vec![value]).notes.is_empty(), "{conversion}");
    }
}

#[test]
fn stray_percent_signs_are_kept() {
    assert_eq!(noted("100%!", vec![]).0, "100%!");
    assert_eq!(noted("%*d", vec![]).0, "%*d");
}

#[test]
fn characters_that_cannot_be_printed_are_escaped() {
    assert_eq!(
        clean("%c%c%c", vec![uint(27), uint(0xe9), uint(0xd800)]),
        "\\x1bé\\u{d800}"
    );
}

#[test]
fn a_remainder_in_an_expression_is_not_a_conversion() {
    let values = || vec![uint(12), uint(97), uint(97)];
    assert_eq!(
        clean("line %d: (keys[i] % 100u) < (97u) -> %d < %d", values()),
        "line 12: (keys[i] % 100u) < (97u) -> 97 < 97"
    );
    assert_eq!(
        clean("a.comp:%d: k%100u < x % d -> %d < %d", values()),
        "a.comp:12: k%100u < x % d -> 97 < 97"
    );
    // As many arguments as conversions.
    assert_eq!(clean("% d%3u", vec![int(1), uint(2)]), " 1  2");
}

#[test]
fn a_nan_has_no_sign() {
    let negative = Value::Scalar(Scalar::from_bits(ScalarType::F32, 0xFFC0_0000));
    assert_eq!(
        clean("%f %.1f %e", vec![float(f32::NAN), negative.clone(), negative]),
        "nan nan nan"
    );
}
