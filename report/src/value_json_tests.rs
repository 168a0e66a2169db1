//! Tests of [`super`].

use super::*;
use ScalarType::*;

fn read(text: &str) -> serde_json::Result<Value> {
    deserialize(&mut serde_json::Deserializer::from_str(text))
}

#[test]
fn values_read_back_unchanged() {
    let scalars = [
        Scalar::from_bits(I8, 0x80),
        Scalar::from_bits(I64, 1 << 63),
        Scalar::from_bits(U64, u64::MAX),
        Scalar::from_bits(F32, 0.1f32.to_bits().into()),
        Scalar::from_bits(F32, (f32::MIN_POSITIVE / 8.0).to_bits().into()),
        Scalar::from_bits(F64, 0.1f64.to_bits()),
        Scalar::from_bits(F16, 0x7e00),
        Scalar::from_bits(F64, f64::NEG_INFINITY.to_bits()),
        Scalar::from_bits(Bf16, 0xbfc0),
        Scalar::from_bits(F8E4M3, 0x7f),
        Scalar::from_bits(Bool, 1),
        Scalar::from_bits(Pointer, 0xffff_8000_0000_0000),
    ];
    let [.., float, denormal, double, _, _, _, _, _, _] = scalars;
    let mut members: Vec<Field> = scalars
        .iter()
        .map(|&scalar| Field {
            name: Some("x".into()),
            offset: 4,
            value: Value::Scalar(scalar),
        })
        .collect();
    members.push(Field {
        name: Some("inner".into()),
        offset: 8,
        value: Value::Struct {
            name: Some("Inner".into()),
            members: vec![],
        },
    });
    for value in [
        Value::Text("t".into()),
        Value::Missing,
        Value::Vector(vec![float, float]),
        Value::Vector(vec![]),
        Value::Matrix(vec![vec![double], vec![double]]),
        Value::Array(vec![Value::Text("a".into()), Value::Missing]),
        Value::Array(vec![Value::Scalar(float), Value::Scalar(float)]),
        Value::Array(vec![Value::Scalar(float), Value::Scalar(denormal)]),
        Value::Array(vec![Value::Scalar(float), Value::Scalar(double)]),
        Value::Array(vec![]),
    ] {
        members.push(Field::unnamed(0, value));
    }
    let value = Value::Struct {
        name: Some("M".into()),
        members,
    };
    let text = serde_json::to_string(&Spelling::of_value(&value)).expect("serialises");
    assert_eq!(read(&text).expect("reads back"), value);
    assert!(text.contains(r#""value":0.1"#), "{text}");
}

#[test]
fn the_reader_refuses_keys_and_values_that_do_not_belong() {
    for text in [
        r#"{"type":"u32","value":7,"extra":1}"#,
        r#"{"type":"u32","value":7,"offset":1}"#,
        r#"{"type":"u32","value":7,"members":[]}"#,
        r#"{"type":"missing","value":7}"#,
        r#"{"type":"missing","value":null}"#,
        r#"{"type":"struct","members":[],"name":null}"#,
        r#"{"type":"u32","value":-7}"#,
        r#"{"type":"u7","value":7}"#,
        r#"{"type":"struct","members":[{"type":"u32","value":1}]}"#,
        r#"{"value":7}"#,
        r#"7"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
