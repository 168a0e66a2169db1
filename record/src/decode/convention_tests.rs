//! Tests of [`super`].

use super::*;

fn payload(text: &str, arguments: &[&[u8]]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(arguments.concat());
    bytes
}

fn text(bytes: &[u8]) -> String {
    guess(bytes).text
}

#[test]
fn a_leading_format_decides_the_types() {
    let bytes = payload(
        "bad index %u in %v2f, %c",
        &[
            &7u32.to_le_bytes(),
            &0.5f32.to_le_bytes(),
            &(-1.5f32).to_le_bytes(),
            &65u32.to_le_bytes(),
        ],
    );
    assert_eq!(text(&bytes), "bad index 7 in 0.5, -1.5, A");
    assert!(guess(&bytes).follows_convention);
    assert!(guess(&bytes).rest.is_empty());
}

#[test]
fn sixty_four_bit_arguments_align_to_eight_bytes_or_four() {
    let wide = 0x1_0000_0002u64.to_le_bytes();
    let aligned = payload("abc %lu %d", &[&[0; 4], &wide, &(-1i32).to_le_bytes()]);
    assert_eq!(aligned.len(), 12 + 4 + 8 + 4);
    assert_eq!(text(&aligned), "abc 4294967298 -1");
    let packed = payload("abc %lu %d", &[&wide, &(-1i32).to_le_bytes()]);
    assert_eq!(text(&packed), "abc 4294967298 -1");
    let following_l = payload("abcd %ul", &[&[0; 4], &wide]);
    assert_eq!(text(&following_l), "abcd 4294967298");
}

#[test]
fn doubles_and_narrow_integers_are_found_by_the_size() {
    let double = payload("half %.2f", &[&[0; 4], &0.25f64.to_le_bytes()]);
    assert_eq!(text(&double), "half 0.25");
    let narrow = payload("%hhu%hd", &[&[200, 0], &(-2i16).to_le_bytes()]);
    assert_eq!(text(&narrow), "200-2");
    let widened = payload("%hhu%hd", &[&200u32.to_le_bytes(), &(-2i32).to_le_bytes()]);
    assert_eq!(text(&widened), "200-2");
}

#[test]
fn string_arguments_end_at_their_nul() {
    let bytes = payload("file %s line %u", &[b"a.comp\0\0", &3u32.to_le_bytes()]);
    assert_eq!(text(&bytes), "file a.comp line 3");
}

#[test]
fn text_without_conversions_shows_the_remaining_bytes() {
    assert_eq!(text(&payload("out of bounds", &[])), "out of bounds");
    assert_eq!(text(b"no nul at all"), "no nul at all");
    assert_eq!(
        text(&payload("limit", &[&7u32.to_le_bytes(), &[1, 2]])),
        "limit [6 more bytes: 0x00000007 0102]"
    );
    assert_eq!(text(&payload("at %u", &[])), "at %u<missing>");
}

#[test]
fn bytes_without_text_are_words() {
    assert_eq!(text(&7u32.to_le_bytes()), "7 (0x00000007)");
    assert_eq!(text(&1.0f32.to_le_bytes()), "1065353216 (0x3f800000)");
    assert_eq!(text(&[0xef, 0xbe, 0xad, 0xde, 9]), "5 bytes: 0xdeadbeef 09");
    assert_eq!(text(&[]), "");
    assert!(!guess(&[0xff; 100]).follows_convention);
    let letter = guess(&65u32.to_le_bytes());
    assert!(!letter.follows_convention, "one letter is a number");
    assert_eq!(text(b"ab\0\0"), "ab");
}

#[test]
fn every_prefix_of_a_message_is_read_without_panic() {
    let bytes = payload("%s %lu %v4lf %hhd %p %s", &[&[0xff; 61]]);
    for cut in 0..=bytes.len() {
        assert!(bytes[..cut].ends_with(&guess(&bytes[..cut]).rest));
    }
}
