//! Tests of [`super`].

use super::*;
use crate::decode::fits;
use crate::message_type::{Length, Member};
use ScalarType::*;

fn decode(ty: &Type, bytes: &[u8]) -> Decoded {
    super::decode(ty, bytes, false)
}

fn structure(members: Vec<(&str, u32, Type)>) -> Type {
    let member = |(name, offset, ty): (&str, u32, Type)| Member::new(Some(name).filter(|n| !n.is_empty()), offset, ty);
    Type::structure(members.into_iter().map(member))
}

fn u32_scalar(value: u64) -> Scalar {
    Scalar::from_bits(U32, value)
}

fn members(decoded: &Decoded) -> Vec<&Value> {
    match &decoded.value {
        Value::Struct { members, .. } => members.iter().map(|m| &m.value).collect(),
        other => panic!("{other:?} is not a structure"),
    }
}

fn u32s(values: &[u64]) -> Value {
    Value::Array(values.iter().map(|&value| Value::Scalar(u32_scalar(value))).collect())
}

#[test]
fn scalars_decode_at_unaligned_offsets() {
    let ty = structure(vec![
        ("a", 0, I8.into()),
        ("b", 1, I16.into()),
        ("c", 3, U64.into()),
        ("d", 11, F16.into()),
        ("e", 13, F32.into()),
        ("f", 17, F64.into()),
        ("g", 25, Bool.into()),
        ("h", 29, Pointer.into()),
        ("i", 37, Bf16.into()),
        ("j", 39, F8E4M3.into()),
        ("k", 40, F8E5M2.into()),
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
            Value::Scalar(s) => format!("{} {s}", s.ty().name()),
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
        component: F32,
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
    for spec_id in [Some(7), Some(u32::MAX), None] {
        let length = Length::Specialised { spec_id, default: 2 };
        let ty = structure(vec![("n", 0, U32.into()), ("items", 4, Type::array(length, 4, U32))]);
        let bytes: Vec<u8> = [5u32, 1, 2, 3, 4, 5].iter().flat_map(|w| w.to_le_bytes()).collect();
        let decoded = decode(&ty, &bytes);
        assert_eq!(members(&decoded)[1], &u32s(&[1, 2, 3, 4, 5]));
        assert_eq!((decoded.short_by, decoded.rest.len()), (0, 0));
        assert_eq!(members(&decode(&ty, &bytes[..12]))[1], &u32s(&[1, 2]));
        assert_eq!(members(&decode(&ty, &bytes[..4]))[1], &Value::Array(vec![]));
        assert!(fits(&ty, 4) && fits(&ty, 400) && !fits(&ty, 401));
    }
}

#[test]
fn ambiguous_specialised_lengths_stay_at_their_defaults() {
    let length = |spec_id| Length::Specialised { spec_id, default: 1 };
    // One constant has one value, but two expressions may have two.
    for (of_a, of_b) in [(Some(1), Some(2)), (None, None)] {
        let ty = structure(vec![
            ("a", 0, Type::array(length(of_a), 4, U32)),
            ("b", 4, Type::array(length(of_b), 4, U32)),
        ]);
        let decoded = decode(&ty, &[1; 16]);
        assert_eq!(members(&decoded).len(), 2);
        assert_eq!(decoded.rest, [1; 8]);
    }
}

#[test]
fn strings_are_recognised_by_decoration_or_as_first_member_by_content() {
    let text = |bytes: &[u8], ty: &Type| match members(&decode(ty, bytes))[0] {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let glsl = structure(vec![("", 0, Type::string(8))]);
    assert_eq!(text(b"bad \xff%u\0", &glsl).as_deref(), Some("bad \\xff%u"));
    assert_eq!(text(b"\0\0\0\0\0\0\0\0", &glsl).as_deref(), Some(""));
    assert_eq!(text(b"no nul!!", &glsl).as_deref(), Some("no nul!!"));
    assert_eq!(text(b"a\0b\0\0\0\0\0", &glsl).as_deref(), Some("a\\x00b"));
    let slang = structure(vec![("", 0, Type::array(Length::Constant(2), 4, U32))]);
    assert_eq!(text(b"at %u\0\0\0", &slang).as_deref(), Some("at %u"));
    assert_eq!(text(&[1, 0, 0, 0, 2, 0, 0, 0], &slang), None);
    assert_eq!(text(b"12345678", &slang), None, "no NUL: not one of Slang's");
    let second = structure(vec![
        ("", 0, U32.into()),
        ("", 4, Type::array(Length::Constant(2), 4, U32)),
    ]);
    let decoded = decode(&second, b"\x01\0\0\0at %u\0\0\0");
    assert!(matches!(members(&decoded)[1], Value::Array(_)), "only the first member");
    let forced = super::decode(&slang, &[0; 8], true);
    assert_eq!(members(&forced)[0], &Value::Text(String::new()));
}

#[test]
fn a_short_payload_yields_its_whole_values_and_the_remaining_bytes() {
    let vec3 = Type::Vector {
        count: 3,
        component: U32,
    };
    let ty = structure(vec![("text", 0, Type::string(4)), ("v", 4, vec3)]);
    let bytes: Vec<u8> = [b"abc\0".as_slice(), &[1, 0, 0, 0, 2, 0, 0, 0, 9, 9]].concat();
    let decoded = decode(&ty, &bytes);
    assert_eq!(members(&decoded)[1], &Value::Vector(vec![u32_scalar(1), u32_scalar(2)]));
    assert_eq!((decoded.short_by, decoded.rest.as_slice()), (2, &[9u8, 9][..]));
    for cut in 0..bytes.len() {
        let decoded = decode(&ty, &bytes[..cut]);
        assert_eq!(decoded.short_by as usize, 16 - cut);
        assert!(bytes[..cut].ends_with(&decoded.rest));
    }
}

#[test]
fn a_long_payload_yields_its_remaining_bytes() {
    let decoded = decode(&Type::Scalar(U32), &[1, 0, 0, 0, 2, 3]);
    assert_eq!(decoded.value, Value::Scalar(u32_scalar(1)));
    assert_eq!(decoded.rest, [2, 3]);
}

#[test]
fn hostile_types_stay_bounded() {
    let mut ty = Type::from(U8);
    for _ in 0..8 {
        ty = Type::array(Length::Constant(u32::MAX), 0, ty);
    }
    let decoded = decode(&ty, &[1, 2, 3, 4]);
    assert!(matches!(decoded.value, Value::Array(_)));
    let mut deep = Type::from(U8);
    for _ in 0..400 {
        deep = structure(vec![("", u32::MAX, deep)]);
    }
    assert!(matches!(decode(&deep, &[0; 16]).value, Value::Struct { .. }));
}
