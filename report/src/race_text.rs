//! The text of a race in shared memory. Its message has the number of the other access, since a table of lines in the shader would be
//! code at each access; the site table has its kind, file and line.
//!
//! ```text
//! `s[l]` is accessed by invocation 9 (access 4) and 1 or more others, and stored by invocation 3 at line 27     without the site table
//! `s[l]` is read by several, one of them invocation 9 at line 5, and stored by invocation 3 at line 27          with it
//! ```

use vkabort_record::escape::one_line;
use vkabort_record::format::apply;
use vkabort_record::scalar::Number;
use vkabort_record::shared_access::{ACCESS, ACCESSED, OTHERS, SharedAccess, SharedAccessKind};
use vkabort_record::site::{Site, SiteTable};
use vkabort_record::value::{Field, Value};

/// The text of a message, with the other access. `None` if the site is not of a race.
pub(crate) fn race_text(table: &SiteTable, site: &Site, message: &Value) -> Option<String> {
    let Value::Struct { members, .. } = message else {
        return None;
    };
    let (first, values) = members.split_first()?;
    let Value::Text(format) = &first.value else { return None };
    if site.check.as_deref() != Some("races") || !format.contains(ACCESS) {
        return None;
    }
    let (other, access) = (word(values.first()?)?, word(values.get(1)?)?);
    let accessed = table.shared_accesses.get(access as usize);
    let place = accessed.map(|access| place(access, site)).unwrap_or_default();
    let mut values = values.to_vec();
    values.remove(1);
    let Some((start, end)) = format.split_once(&format!("{ACCESS}{OTHERS}")) else {
        return Some(apply(&format.replacen(ACCESS, &place, 1), &values).text);
    };
    let has_others = word(values.get(1)?)? > 0;
    values.remove(1);
    // The last value is the invocation of the store, or its subgroup if the other one is a subgroup, too.
    let is_own = values.len() > 1 && values.last().and_then(word) == Some(other);
    let (verb, between) = match accessed.map(|access| access.kind) {
        Some(SharedAccessKind::Load) if has_others && is_own => {
            let (name, _) = start.split_once(ACCESSED)?;
            let text = format!("{name}is read by others and stored by{end}");
            values.remove(0);
            return Some(apply(&text, &values).text);
        }
        Some(SharedAccessKind::Load) if has_others => ("is read by several, one of them", ", and stored by"),
        Some(SharedAccessKind::Load) => ("is read by", " and stored by"),
        Some(SharedAccessKind::Atomic) => ("is changed by an atomic of", " and stored by"),
        Some(SharedAccessKind::Store) => ("is stored by", " and by"),
        None => (ACCESSED, " and stored by"),
    };
    let text = format!("{}{place}{between}{end}", start.replacen(ACCESSED, verb, 1));
    Some(apply(&text, &values).text)
}

/// ` at line 27`, and the file if it is not that of the site.
fn place(access: &SharedAccess, site: &Site) -> String {
    let is_quoted = |file: &str| site.location.as_ref().is_some_and(|location| location.file == file);
    match (access.line, access.file.as_str()) {
        (0, _) => String::new(),
        (line, file) if file.is_empty() || is_quoted(file) => format!(" at line {line}"),
        (line, file) => format!(" at line {line} of {}", one_line(file).replace('%', "%%")),
    }
}

fn word(field: &Field) -> Option<u32> {
    let Value::Scalar(scalar) = &field.value else {
        return None;
    };
    match scalar.number() {
        Number::Unsigned(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::decode::decode;
    use vkabort_record::message_type::{Member, Type};
    use vkabort_record::scalar_type::ScalarType;
    use vkabort_record::site::Location;

    /// The text of a message with these words, by a table of a load in the file of the site, and a store and an atomic in another one.
    fn text(format: &str, words: &[u32]) -> Option<String> {
        let access = |kind, file: &str, line| SharedAccess {
            kind,
            file: file.into(),
            line,
        };
        let table = SiteTable {
            shared_accesses: vec![
                access(SharedAccessKind::Load, "a.comp", 5),
                access(SharedAccessKind::Store, "50%.glsl", 6),
                access(SharedAccessKind::Atomic, "b.glsl", 0),
            ],
            ..SiteTable::default()
        };
        let site = Site {
            check: Some("races".into()),
            location: Some(Location {
                file: "a.comp".into(),
                line: 9,
                column: 0,
                source: None,
            }),
            ..Site::default()
        };
        let member = |at: usize| Member {
            name: None,
            offset: at as u32 * 4,
            ty: Type::Scalar(ScalarType::U32),
        };
        let ty = Type::Struct {
            name: None,
            members: (0..words.len()).map(member).collect(),
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut value = decode(&ty, &bytes, false).value;
        if let Value::Struct { members, .. } = &mut value {
            let mut first = members.first().expect("a value").clone();
            first.value = Value::Text(format.into());
            members.insert(0, first);
        }
        race_text(&table, &site, &value)
    }

    const STORE: &str =
        "`s` is accessed by invocation %u (access %u) and %u or more others, and stored by invocation %u at line 9";

    #[test]
    fn the_other_access_is_named() {
        let of_store = |words| text(STORE, words).expect("a race");
        assert_eq!(
            of_store(&[3, 0, 0, 4]),
            "`s` is read by invocation 3 at line 5 and stored by invocation 4 at line 9"
        );
        assert_eq!(
            of_store(&[3, 0, 1, 4]),
            "`s` is read by several, one of them invocation 3 at line 5, and stored by invocation 4 at line 9"
        );
        assert_eq!(
            of_store(&[4, 0, 1, 4]),
            "`s` is read by others and stored by invocation 4 at line 9"
        );
        assert_eq!(
            of_store(&[3, 1, 0, 4]),
            "`s` is stored by invocation 3 at line 6 of 50%.glsl and by invocation 4 at line 9"
        );
        assert_eq!(
            of_store(&[3, 2, 0, 4]),
            "`s` is changed by an atomic of invocation 3 and stored by invocation 4 at line 9"
        );
        assert_eq!(
            of_store(&[3, 99, 0, 4]),
            "`s` is accessed by invocation 3 and stored by invocation 4 at line 9"
        );
        let load = "`s` is stored by invocation %u (access %u) and read by invocation %u at line 9";
        assert_eq!(
            text(load, &[3, 1, 4]).expect("a race"),
            "`s` is stored by invocation 3 at line 6 of 50%.glsl and read by invocation 4 at line 9"
        );
    }

    #[test]
    fn subgroups_are_compared_with_the_subgroup() {
        let format = "`s` is accessed by subgroup %u (access %u) and %u or more others, and stored by invocation %u of subgroup %u";
        assert_eq!(
            text(format, &[3, 0, 1, 100, 3]).expect("a race"),
            "`s` is read by others and stored by invocation 100 of subgroup 3"
        );
        assert_eq!(
            text(format, &[3, 0, 1, 3, 0]).expect("a race"),
            "`s` is read by several, one of them subgroup 3 at line 5, and stored by invocation 3 of subgroup 0"
        );
    }

    #[test]
    fn other_messages_are_left_alone() {
        assert_eq!(text("%u of %u", &[1, 2]), None);
        assert_eq!(text(STORE, &[1]), None);
        assert_eq!(text(STORE, &[1, 2]), None);
    }
}
