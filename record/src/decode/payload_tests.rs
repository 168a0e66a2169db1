//! Tests of [`super`].

use super::*;
use crate::encoding::Encoding;
use crate::site::Member;

fn int(bits: u32, signed: bool) -> Type {
    Type::Int { bits, signed }
}

fn array(length: Length, stride: u32, element: Type, utf: bool) -> Type {
    Type::Array {
        length,
        stride,
        element: Box::new(element),
        utf,
    }
}

fn structure(members: Vec<(&str, u32, Type)>) -> Type {
    Type::Struct {
        name: None,
        members: members
            .into_iter()
            .map(|(name, offset, ty)| Member {
                name: (!name.is_empty()).then(|| name.to_owned()),
                offset,
                ty,
            })
            .collect(),
    }
}

fn members(decoded: &Decoded) -> Vec<&Value> {
    match &decoded.value {
        Value::Struct { members, .. } => members.iter().map(|m| &m.value).collect(),
        other => panic!("{other:?} is not a structure"),
    }
}

fn u32s(values: &[u32]) -> Value {
    Value::Array(
        values
            .iter()
            .map(|&value| {
                Value::Scalar(Scalar::Uint {
                    bits: 32,
                    value: u64::from(value),
                })
            })
            .collect(),
    )
}

#[test]
fn every_scalar_type_has_its_value_at_its_odd_offset() {
    let encoded = |encoding| Type::EncodedFloat { encoding };
    let ty = structure(vec![
        ("a", 0, int(8, true)),
        ("b", 1, int(16, true)),
        ("c", 3, int(64, false)),
        ("d", 11, Type::Float { bits: 16 }),
        ("e", 13, Type::Float { bits: 32 }),
        ("f", 17, Type::Float { bits: 64 }),
        ("g", 25, Type::Bool),
        ("h", 29, Type::Pointer),
        ("i", 37, encoded(Encoding::Bf16)),
        ("j", 39, encoded(Encoding::F8E4M3)),
        ("k", 40, encoded(Encoding::F8E5M2)),
    ]);
    let mut bytes = vec![0xff];
    bytes.extend((-2i16).to_le_bytes());
    bytes.extend(u64::MAX.to_le_bytes());
    bytes.extend(0x3e00u16.to_le_bytes());
    bytes.extend(0.1f32.to_le_bytes());
    bytes.extend(0.1f64.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(0x1234_5678_9abcu64.to_le_bytes());
    bytes.extend([0xc0, 0x3f, 0x7e, 0xfc]);
    let decoded = decode(&ty, &bytes);
    let shown: Vec<String> = members(&decoded)
        .iter()
        .map(|v| match v {
            Value::Scalar(s) => format!("{} {s}", s.type_name()),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "i8 -1",
            "i16 -2",
            "u64 18446744073709551615",
            "f16 1.5",
            "f32 0.1",
            "f64 0.1",
            "bool true",
            "pointer 0x0000123456789abc",
            "bf16 1.5",
            "f8e4m3 448.0",
            "f8e5m2 -inf"
        ]
    );
    assert_eq!((decoded.short_by, decoded.rest.len()), (0, 0));
}

#[test]
fn a_matrix_gives_its_columns_in_both_layouts() {
    let floats: Vec<u8> = [1.0f32, 2.0, 0.0, 3.0, 4.0, 0.0, 5.0, 6.0]
        .iter()
        .flat_map(|f| f.to_le_bytes())
        .collect();
    let matrix = |columns, rows, row_major| Type::Matrix {
        columns,
        rows,
        component: Box::new(Type::Float { bits: 32 }),
        stride: 12,
        row_major,
    };
    let shown = |ty: &Type| match decode(ty, &floats).value {
        Value::Matrix(columns) => columns
            .iter()
            .map(|c| c.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
            .join(" | "),
        other => format!("{other:?}"),
    };
    assert_eq!(shown(&matrix(3, 2, false)), "1.0 2.0 | 3.0 4.0 | 5.0 6.0");
    assert_eq!(shown(&matrix(2, 3, true)), "1.0 3.0 5.0 | 2.0 4.0 6.0");
    assert_eq!(decode(&matrix(3, 2, false), &floats).short_by, 0);
}

#[test]
fn the_length_of_one_specialised_array_follows_from_the_size() {
    let length = Length::Specialised { spec_id: 7, default: 2 };
    let ty = structure(vec![
        ("n", 0, int(32, false)),
        ("items", 4, array(length, 4, int(32, false), false)),
    ]);
    let bytes: Vec<u8> = [5u32, 1, 2, 3, 4, 5].iter().flat_map(|w| w.to_le_bytes()).collect();
    let decoded = decode(&ty, &bytes);
    assert_eq!(members(&decoded)[1], &u32s(&[1, 2, 3, 4, 5]));
    assert_eq!((decoded.short_by, decoded.rest.len()), (0, 0));
    assert_eq!(members(&decode(&ty, &bytes[..12]))[1], &u32s(&[1, 2]));
    assert_eq!(members(&decode(&ty, &bytes[..4]))[1], &Value::Array(vec![]));
    assert!(fits(&ty, 4) && fits(&ty, 400) && !fits(&ty, 401));
}

#[test]
fn two_specialised_arrays_that_could_both_explain_the_size_are_left_at_their_defaults() {
    let length = |spec_id| Length::Specialised { spec_id, default: 1 };
    let ty = structure(vec![
        ("a", 0, array(length(1), 4, int(32, false), false)),
        ("b", 4, array(length(2), 4, int(32, false), false)),
    ]);
    let decoded = decode(&ty, &[1; 16]);
    assert_eq!(members(&decoded).len(), 2);
    assert_eq!(decoded.rest, [1; 8]);
}

#[test]
fn strings_are_recognised_by_decoration_or_as_first_member_by_content() {
    let text = |bytes: &[u8], ty: &Type| match members(&decode(ty, bytes))[0] {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let glsl = structure(vec![("", 0, array(Length::Constant(8), 1, int(8, true), true))]);
    assert_eq!(text(b"bad \xff%u\0", &glsl).as_deref(), Some("bad \\xff%u"));
    assert_eq!(text(b"\0\0\0\0\0\0\0\0", &glsl).as_deref(), Some(""));
    assert_eq!(text(b"no nul!!", &glsl).as_deref(), Some("no nul!!"));
    assert_eq!(text(b"a\0b\0\0\0\0\0", &glsl).as_deref(), Some("a\\x00b"));
    let slang = structure(vec![("", 0, array(Length::Constant(2), 4, int(32, false), false))]);
    assert_eq!(text(b"at %u\0\0\0", &slang).as_deref(), Some("at %u"));
    assert_eq!(text(&[1, 0, 0, 0, 2, 0, 0, 0], &slang), None);
    assert_eq!(text(b"12345678", &slang), None, "no NUL: not one of Slang's");
    let second = structure(vec![
        ("", 0, int(32, false)),
        ("", 4, array(Length::Constant(2), 4, int(32, false), false)),
    ]);
    let decoded = decode(&second, b"\x01\0\0\0at %u\0\0\0");
    assert!(matches!(members(&decoded)[1], Value::Array(_)), "only the first member");
    let forced = decode_with(&slang, &[0; 8], true);
    assert_eq!(members(&forced)[0], &Value::Text(String::new()));
}

#[test]
fn a_short_payload_gives_what_is_there_and_the_bytes_that_are_left() {
    let vec3 = Type::Vector {
        count: 3,
        component: Box::new(int(32, false)),
    };
    let ty = structure(vec![
        ("text", 0, array(Length::Constant(4), 1, int(8, true), true)),
        ("v", 4, vec3),
    ]);
    let bytes: Vec<u8> = [b"abc\0".as_slice(), &[1, 0, 0, 0, 2, 0, 0, 0, 9, 9]].concat();
    let decoded = decode(&ty, &bytes);
    assert_eq!(
        members(&decoded)[1],
        &Value::Vector(vec![
            Scalar::Uint { bits: 32, value: 1 },
            Scalar::Uint { bits: 32, value: 2 }
        ])
    );
    assert_eq!((decoded.short_by, decoded.rest.as_slice()), (2, &[9u8, 9][..]));
    for cut in 0..bytes.len() {
        let decoded = decode(&ty, &bytes[..cut]);
        assert_eq!(decoded.short_by as usize, 16 - cut);
        assert!(bytes[..cut].ends_with(&decoded.rest));
    }
}

#[test]
fn a_long_payload_leaves_its_tail() {
    let decoded = decode(&int(32, false), &[1, 0, 0, 0, 2, 3]);
    assert_eq!(decoded.value, Value::Scalar(Scalar::Uint { bits: 32, value: 1 }));
    assert_eq!(decoded.rest, [2, 3]);
}

#[test]
fn hostile_types_stay_bounded() {
    let mut ty = int(8, false);
    for _ in 0..8 {
        ty = array(Length::Constant(u32::MAX), 0, ty, false);
    }
    let decoded = decode(&ty, &[1, 2, 3, 4]);
    assert!(matches!(decoded.value, Value::Array(_)));
    let mut deep = int(8, false);
    for _ in 0..400 {
        deep = structure(vec![("", u32::MAX, deep)]);
    }
    assert!(matches!(decode(&deep, &[0; 16]).value, Value::Struct { .. }));
    let odd = structure(vec![
        ("", 0, Type::Int { bits: 7, signed: true }),
        ("", 0, Type::Float { bits: 128 }),
        (
            "",
            0,
            Type::Int {
                bits: 4096,
                signed: false,
            },
        ),
    ]);
    assert_eq!(members(&decode(&odd, &[0xff; 4])).len(), 3);
}
