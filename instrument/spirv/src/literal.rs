//! Literal strings: UTF-8, NUL-terminated, four bytes a word, first byte lowest.

/// The string that starts at `words[0]`, with invalid UTF-8 replaced.
pub fn string(words: &[u32]) -> String {
    let mut bytes = Vec::with_capacity(length(words) * 4);
    for word in words {
        let part = word.to_le_bytes();
        match part.iter().position(|b| *b == 0) {
            Some(end) => {
                bytes.extend_from_slice(&part[..end]);
                break;
            }
            None => bytes.extend_from_slice(&part),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Whether the string at `words[0]` is `text`.
pub fn is(words: &[u32], text: &str) -> bool {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0);
    bytes.eq(text.bytes())
}

/// Whether the string at `words[0]` begins with `text`.
pub(crate) fn begins(words: &[u32], text: &str) -> bool {
    let mut bytes = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0);
    text.bytes().all(|byte| bytes.next() == Some(byte))
}

/// Words that the string at `words[0]` takes, its terminator included; all of them if it has none.
pub(crate) fn length(words: &[u32]) -> usize {
    words
        .iter()
        .position(|w| w.to_le_bytes().contains(&0))
        .map_or(words.len(), |i| i + 1)
}

/// The words of a string, its terminator included.
pub fn words(text: &str) -> impl Iterator<Item = u32> + Clone {
    let bytes = text.as_bytes();
    (0..=bytes.len() / 4).map(move |word| {
        let part = bytes.get(word * 4..).unwrap_or(&[]);
        let byte = |i: usize| u32::from(part.get(i).copied().unwrap_or(0));
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_packing_into_words() {
        for text in ["", "a", "abc", "abcd", "GLSL.std.450", "größer"] {
            let packed: Vec<u32> = words(text).collect();
            assert!(text.len() < 4 || begins(&packed, &text[..4]) && !begins(&packed, "no"));
            assert_eq!(string(&packed), text);
            assert!(is(&packed, text));
            assert_eq!(length(&packed), packed.len());
        }
        assert_eq!(length(&[0x6161_6161]), 1);
        let packed: Vec<u32> = words("abc").collect();
        assert!(!is(&packed, "ab") && begins(&packed, "ab") && !begins(&packed, "abcd"));
    }
}
