//! Tests of [`super`].

use super::*;
use vkabort_record::message_type::{Length, Member};
use vkabort_record::scalar_type::ScalarType::U32;

fn message(members: Vec<(Option<&str>, u32, Type)>) -> Type {
    let member = |(name, offset, ty)| Member::new(name, offset, ty);
    Type::structure(members.into_iter().map(member))
}

#[test]
fn a_glsl_message_is_formatted_with_its_typed_arguments() {
    let ty = message(vec![(None, 0, Type::string(16)), (None, 16, U32.into())]);
    let bytes = [b"bad index %u\0\0\0\0".as_slice(), &7u32.to_le_bytes()].concat();
    let message = Message::of_type(&ty, &bytes);
    assert_eq!(message.text, "bad index 7");
    assert_eq!(message.decoding, Decoding::Typed);
    assert!(message.notes.is_empty() && message.rest.is_empty());
    let cut = Message::of_type(&ty, &bytes[..18]);
    assert_eq!(cut.text, "bad index <missing>");
    assert_eq!(cut.rest, [7, 0]);
    assert_eq!(cut.notes, ["the message is 2 bytes shorter than its type: 18 of 20"]);
}

/// The example of SPV_KHR_abort, "Using SPV_KHR_abort to output string messages".
#[test]
fn a_format_may_be_split_between_adjacent_strings() {
    let two_strings = |texts: [&str; 2], rest: &[u32]| {
        let mut members = Vec::new();
        let mut bytes = Vec::new();
        for text in texts {
            members.push((None, bytes.len() as u32, Type::string(text.len() as u32)));
            bytes.extend(text.bytes());
        }
        for value in rest {
            members.push((None, bytes.len() as u32, U32.into()));
            bytes.extend(value.to_le_bytes());
        }
        Message::of_type(&message(members), &bytes)
    };
    let message = two_strings(["test: ", "%u"], &[42]);
    assert_eq!((message.text.as_str(), message.notes.len()), ("test: 42", 0));
    assert_eq!(two_strings(["100%% ", "%x"], &[42]).text, "100% 2a");
    // A string behind a conversion is its argument.
    assert_eq!(two_strings(["%s: %u", "100%"], &[42]).text, "100%: 42");
    // Neither is data that looks like a format where no argument follows, or text without a conversion.
    assert_eq!(two_strings(["name ", "%u"], &[]).text, "name [\"%u\"]");
    assert_eq!(two_strings(["name ", "value"], &[42]).text, "name [\"value\", 42]");
}

#[test]
fn the_text_of_the_site_distinguishes_strings_from_numbers() {
    let site = |text_constant: Option<&str>| Site {
        message: message(vec![(None, 0, Type::array(Length::Constant(1), 4, U32))]),
        text: text_constant.map(str::to_owned),
        ..Site::default()
    };
    assert_eq!(Message::of_site(&site(Some("")), &[0; 4]).text, "");
    assert_eq!(Message::of_site(&site(None), &[0; 4]).text, "[0]");
    assert_eq!(Message::of_site(&site(Some("other")), &[0; 4]).text, "[0]");
}

#[test]
fn a_message_that_is_only_a_string_is_a_format() {
    let bare = Type::string(12);
    assert_eq!(Message::of_type(&bare, b"100%% wrong\0").text, "100% wrong");
    let message = Message::of_type(&bare, b"index %u\0\0\0\0");
    assert_eq!(message.text, "index %u<missing>");
    assert_eq!(message.notes.len(), 1);
}

#[test]
fn parts_that_are_nested_too_deeply_are_left_as_bytes() {
    let nested = (0..255).fold(Type::from(U32), |ty, _| message(vec![(None, 0, ty)]));
    let ty = message(vec![(None, 0, U32.into()), (None, 4, nested)]);
    let message = Message::of_type(&ty, &[7, 0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(message.rest, [8, 0, 0, 0]);
    assert_eq!(message.notes.len(), 1);
    assert!(
        message.notes[0].starts_with("the last 4 bytes are not decoded"),
        "{:?}",
        message.notes
    );
}

#[test]
fn messages_without_a_string_show_their_values() {
    assert_eq!(Message::of_type(&U32.into(), &[7, 0, 0, 0]).text, "7");
    let named = message(vec![(Some("code"), 0, U32.into()), (None, 4, U32.into())]);
    assert_eq!(Message::of_type(&named, &[7, 0, 0, 0, 8, 0, 0, 0]).text, "{code: 7, 8}");
    assert_eq!(Message::of_type(&message(vec![]), &[]).text, "");
}
