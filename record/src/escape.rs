//! Strings in messages and names, made safe to print.
//!
//! A string in a message ends with its array, not at a NUL: only some compilers write one.

/// Bytes as text that is safe to print: UTF-8 unchanged, invalid bytes and control characters as `\xNN`. Line feeds and
/// tabs are kept.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        escape_controls(chunk.valid(), &mut text);
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// [`escape_bytes`] for UTF-8: names and paths in a shader are as untrusted as its messages.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    escape_controls(text, &mut safe);
    safe
}

/// Appends [`printable`] text with this in front of each line but the first.
pub fn push_indented(text: &str, indentation: &str, out: &mut String) {
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
            out.push_str(indentation);
        }
        escape_controls(line, out);
    }
}

/// [`printable`] with line feeds and tabs escaped too, so that a name cannot pass for a line of its own.
pub fn one_line(text: &str) -> String {
    let text = printable(text);
    match text.contains(['\n', '\t']) {
        true => text.replace('\n', "\\n").replace('\t', "\\t"),
        false => text,
    }
}

/// JSON text with the characters escaped that JSON allows in strings but that are not safe to print. The values of the
/// strings are unchanged.
pub fn json_text(json: &str) -> String {
    if json.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => safe.push(c),
            c if is_unsafe(c) => safe.push_str(&format!("\\u{:04x}", c as u32)),
            c => safe.push(c),
        }
    }
    safe
}

/// Whether a character is a control, can rewrite what a terminal shows (C1 controls, bidirectional formatting), or is not
/// allowed in XML (noncharacters).
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

fn escape_controls(text: &str, out: &mut String) {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return out.push_str(text);
    }
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() && c.is_ascii() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if is_unsafe(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
}

/// Bytes without trailing NULs.
pub fn trim_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

/// Whether bytes are text: UTF-8 without control characters other than white space.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')))
}

/// Whether a `uint` array with these bytes is a string as Slang packs it: text, and one to four NULs that fill the last
/// word.
pub(crate) fn is_packed_text(bytes: &[u8]) -> bool {
    let text = trim_padding(bytes);
    !text.is_empty() && (1..=4).contains(&(bytes.len() - text.len())) && is_text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_utf8_and_controls_are_escaped() {
        assert_eq!(escape_bytes("größer".as_bytes()), "größer");
        assert_eq!(escape_bytes(b"a\xff\xfeb"), "a\\xff\\xfeb");
        assert_eq!(escape_bytes(b"cut \xe2\x82"), "cut \\xe2\\x82");
        assert_eq!(escape_bytes(b"\x1b[31mred\x00!\n\t"), "\\x1b[31mred\\x00!\n\t");
        assert_eq!(one_line("a\nb\tc\x1b"), "a\\nb\\tc\\x1b");
        assert_eq!(escape_bytes("\u{202e}x\u{9b}".as_bytes()), "\\u{202e}x\\u{9b}");
    }

    #[test]
    fn packed_text_needs_text_and_one_to_four_nuls() {
        assert!(is_packed_text(b"abc\0"));
        assert!(is_packed_text(b"abcd\0\0\0\0"));
        assert!(!is_packed_text(b"abcd"));
        assert!(!is_packed_text(b"abc\0\0\0\0\0"));
        assert!(!is_packed_text(b"\0\0\0\0"));
        assert!(!is_packed_text(b"a\0b\0"));
        assert!(!is_packed_text(b"\x07\0\0\0"));
        assert!(!is_packed_text(b""));
    }
}
