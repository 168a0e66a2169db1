//! Suggests the nearest valid name for a misspelt one.

/// ` Did you mean ..?` with the nearest of `names`, or nothing if all differ from `name` in more than a third of its letters.
pub fn did_you_mean(name: &str, names: &[&str]) -> String {
    let name = name.to_ascii_lowercase();
    let nearest = names.iter().map(|other| (distance(&name, other), other)).min();
    match nearest {
        Some((distance, nearest)) if distance * 3 <= name.len() => format!(" Did you mean `{nearest}`?"),
        _ => String::new(),
    }
}

/// Levenshtein distance in bytes. O(|a| * |b|).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (above, to) in row.iter_mut().skip(1).zip(b.bytes()) {
            let substituted = diagonal + usize::from(from != to);
            diagonal = *above;
            left = substituted.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_inserted_removed_and_replaced_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("trap", "trap"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["lose", "continue"];
        assert_eq!(did_you_mean("contineu", &names), " Did you mean `continue`?");
        assert_eq!(did_you_mean("LOOSE", &names), " Did you mean `lose`?");
        assert_eq!(did_you_mean("explode", &names), "");
        assert_eq!(did_you_mean("", &names), "");
    }
}
