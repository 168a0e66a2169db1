//! Literal strings: UTF-8, NUL-terminated, four bytes a word, first byte lowest.

/// The string that starts at `words[0]`, with invalid UTF-8 replaced.
pub(crate) fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .take_while(|b| *b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the string at `words[0]` is `text`.
pub(crate) fn is(words: &[u32], text: &str) -> bool {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0);
    bytes.eq(text.bytes())
}

/// Words that the string at `words[0]` takes, its terminator included; all of them if it has none.
pub(crate) fn length(words: &[u32]) -> usize {
    words
        .iter()
        .position(|w| w.to_le_bytes().contains(&0))
        .map_or(words.len(), |i| i + 1)
}

/// The words of a string.
pub(crate) fn words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_the_way_through_words() {
        for text in ["", "a", "abc", "abcd", "GLSL.std.450", "größer"] {
            let packed = words(text);
            assert_eq!(string(&packed), text);
            assert!(is(&packed, text));
            assert_eq!(length(&packed), packed.len());
        }
        assert_eq!(length(&[0x6161_6161]), 1);
        assert!(!is(&words("abc"), "ab"));
    }
}
