//! Values of settings as text: numbers, and suggestions for misspelt names.

/// Length in bytes from which the start of a name counts as similar to it.
const MIN_START: usize = 4;

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

/// The candidate that is most similar to `name`, in any case: one that differs in at most a third of its letters, or that
/// starts with it.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let similar = candidates.into_iter().filter_map(|candidate| {
        let lower = candidate.to_ascii_lowercase();
        let distance = strsim::osa_distance(&name, &lower);
        let is_start = name.len() >= MIN_START && lower.starts_with(&name);
        (is_start || distance * 3 <= name.chars().count()).then_some((distance, candidate))
    });
    similar.min().map(|(_, candidate)| candidate)
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
        assert_eq!(nearest("cont", names), Some("continue"));
        assert_eq!(nearest("con", names), None);
        // A similar name comes before a longer one that starts with it.
        assert_eq!(nearest("trap", ["trap_timeout_ms", "trap"]), Some("trap"));
    }
}
