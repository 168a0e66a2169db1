//! Tests of [`super`].

use super::*;

#[test]
fn the_size_of_a_message_ends_with_its_last_byte() {
    let text = Type::string(9);
    let members = [
        Member::new(None, 0, text.clone()),
        Member::new(None, 12, ScalarType::U32),
    ];
    assert_eq!(text.size(), 9);
    assert_eq!(Type::structure(members).size(), 16);
}

#[test]
fn overlapping_and_empty_members_do_not_shrink_a_message() {
    let vec3 = Type::Vector {
        count: 3,
        component: ScalarType::F32,
    };
    let message = Type::structure([
        Member::new(None, 0, vec3),
        Member::new(None, 4, ScalarType::U32),
        Member::new(None, 64, Type::structure([])),
    ]);
    assert_eq!(message.size(), 64);
}

#[test]
fn site_tables_spell_every_scalar_type_and_refuse_others() {
    for &ty in ScalarType::ALL {
        let message = Type::array(Length::Constant(2), 8, ty);
        let json = serde_json::to_string(&message).expect("serialises");
        assert_eq!(
            serde_json::from_str::<Type>(&json).expect("reads back"),
            message,
            "{json}"
        );
    }
    let json = |ty: Type| serde_json::to_string(&ty).expect("serialises");
    assert_eq!(
        json(ScalarType::U16.into()),
        r#"{"kind":"int","bits":16,"signed":false}"#
    );
    assert_eq!(json(ScalarType::F32.into()), r#"{"kind":"float","bits":32}"#);
    assert_eq!(
        json(ScalarType::Bf16.into()),
        r#"{"kind":"encoded_float","encoding":"bf16"}"#
    );
    assert_eq!(json(ScalarType::Bool.into()), r#"{"kind":"bool"}"#);
    let vector = Type::Vector {
        count: 3,
        component: ScalarType::I32,
    };
    let vector_json = r#"{"kind":"vector","count":3,"component":{"kind":"int","bits":32,"signed":true}}"#;
    assert_eq!(json(vector), vector_json);
    let specialised = |spec_id| Type::array(Length::Specialised { spec_id, default: 2 }, 4, ScalarType::Bool);
    for (spec_id, spelling) in [(Some(u32::MAX), "4294967295"), (None, "null")] {
        let text = json(specialised(spec_id));
        assert!(
            text.contains(&format!(
                r#""length":{{"specialised":{{"spec_id":{spelling},"default":2}}}}"#
            )),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<Type>(&text).expect("reads back"),
            specialised(spec_id)
        );
    }
    for wrong in [
        r#"{"kind":"int","bits":7,"signed":true}"#,
        r#"{"kind":"float","bits":128}"#,
    ] {
        assert!(serde_json::from_str::<Type>(wrong).is_err(), "{wrong}");
    }
}
