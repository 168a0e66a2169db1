//! Values of settings as text: numbers, and suggestions for misspelt names.

/// Parses a whole number, decimal or hexadecimal (`0x`).
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses a number of bytes, with an optional suffix `K` (1024 bytes) or `M` (1024 K); `KiB`, `KB`, `MiB` and `MB` mean the
/// same.
pub fn bytes(text: &str) -> Option<u64> {
    let trimmed = text.trim_end_matches('B').trim_end_matches('i');
    let suffixes = [('K', 10), ('k', 10), ('M', 20), ('m', 20)];
    let suffixed = suffixes
        .iter()
        .find_map(|(suffix, shift)| Some((trimmed.strip_suffix(*suffix)?, *shift)));
    match suffixed {
        Some((digits, shift)) => number(digits.trim_end())?.checked_mul(1 << shift),
        None => number(text),
    }
}

/// The candidate that is most similar to `name`, in any case. None if all differ from it in more than a third of its letters.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let distances = candidates.into_iter().map(|candidate| {
        let distance = strsim::osa_distance(&name, &candidate.to_ascii_lowercase());
        (distance, candidate)
    });
    let (distance, nearest) = distances.min()?;
    (distance * 3 <= name.chars().count()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes_have_suffixes() {
        for (text, expected) in [
            ("65536", Some(65536)),
            ("0x100", Some(256)),
            ("64K", Some(65536)),
            ("64 k", Some(65536)),
            ("1M", Some(1 << 20)),
            ("1MiB", Some(1 << 20)),
            ("2MB", Some(2 << 20)),
            ("", None),
            ("K", None),
            ("64KK", None),
            ("1B", None),
            ("-1K", None),
            ("99999999999999999999", None),
            ("18446744073709551615M", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["lose", "continue"];
        assert_eq!(nearest("contineu", names), Some("continue"));
        assert_eq!(nearest("LOOSE", names), Some("lose"));
        assert_eq!(nearest("explode", names), None);
        assert_eq!(nearest("", names), None);
    }
}
