//! Reads site tables from JSON.

use serde::de::DeserializeOwned;
use std::thread;
use vkabort_record::site::SiteTable;

/// Reads one table or a list of tables.
///
/// # Errors
///
/// The text is not JSON of that form; the message says where.
pub fn read(json: &[u8]) -> Result<Vec<SiteTable>, String> {
    let is_list = json.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[');
    let tables = match is_list {
        true => from_json(json),
        false => from_json(json).map(|table| vec![table]),
    };
    tables.map_err(|error| format!("not a site table: {error}"))
}

/// Levels of objects and arrays in the JSON of a site table at most. SPIR-V nests structures up to 255 deep (Universal
/// Limits), and each has three levels: the type, the list of its members, the member.
const MAX_NESTING: usize = 1024;
/// Stack of the thread that reads the JSON, in bytes: 64 KiB per level. Serde needs a tenth of it.
const STACK: usize = MAX_NESTING << 16;

/// Reads JSON that is nested deeper than serde_json's limit of 128 levels.
fn from_json<T: DeserializeOwned + Send>(bytes: &[u8]) -> Result<T, String> {
    if nesting(bytes) > MAX_NESTING {
        return Err(format!("more than {MAX_NESTING} levels of nesting"));
    }
    let read = || {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        json.disable_recursion_limit();
        let value = T::deserialize(&mut json)?;
        json.end().map(|()| value)
    };
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
        let result = reader.map_err(|error| format!("no thread to read it: {error}"))?.join();
        let result = result.map_err(|_| "the reader failed".to_owned())?;
        result.map_err(|error| error.to_string())
    })
}

/// Number of arrays and objects around the innermost value.
fn nesting(json: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' => level = level.saturating_sub(1),
            // A string, in which a backslash escapes the next byte.
            b'"' => {
                while bytes
                    .next()
                    .is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || bytes.next().is_some()))
                {}
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::message_type::{Member, Type};
    use vkabort_record::site::{ModuleHash, Site};

    /// A table of one site, whose message has `depth` structures in each other.
    fn nested(depth: usize) -> SiteTable {
        let integer = Type::from(vkabort_record::scalar_type::ScalarType::U32);
        let structure = |ty: Type| Type::structure([Member::new(Some("a \"[{\\"), 0, ty)]);
        SiteTable {
            module_hash: ModuleHash(1),
            sites: vec![Site {
                word_offset: 5,
                function: "main".to_owned(),
                message: (0..depth).fold(integer, |ty, _| structure(ty)),
                ..Site::default()
            }],
            ..SiteTable::default()
        }
    }

    #[test]
    fn messages_nested_as_deeply_as_spirv_allows_are_read_back() {
        for depth in [1, 40, 255] {
            let tables = vec![nested(depth)];
            for json in [
                serde_json::to_string(&tables).expect("JSON"),
                serde_json::to_string_pretty(&tables[0]).expect("JSON"),
            ] {
                assert_eq!(read(json.as_bytes()), Ok(tables.clone()));
            }
        }
    }

    #[test]
    fn hostile_nesting_is_refused() {
        let levels = [1025, 1_000_000].map(|levels| "[".repeat(levels));
        for json in levels.iter().chain([&"{\"sites\":[".repeat(10_000)]) {
            let error = read(json.as_bytes()).expect_err("refused");
            assert!(error.contains("more than 1024 levels"), "{error}");
        }
        let deepest = "[".repeat(1024);
        let error = read(deepest.as_bytes()).expect_err("refused");
        assert!(error.contains("not a site table"), "{error}");
    }

    #[test]
    fn brackets_in_strings_are_not_nesting() {
        assert_eq!(nesting(br#"{"a":["[[\\","\"[{",{}]}"#), 3);
        assert_eq!(nesting(br#"["unterminated [[\"#), 1);
    }
}
