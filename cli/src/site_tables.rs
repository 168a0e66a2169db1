//! Reads site tables from the output of `vkabort sites --json` or `vkabort instrument --sites`, or from modules.

use crate::failure::{Failure, Result};
use crate::io;
use crate::module::Module;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use vkabort_instrument::{Options, Outcome, instrument};
use vkabort_record::report::ModuleInfo;
use vkabort_record::site::SiteTable;

/// Returns the sites of a module, or `None` if there is nothing to rewrite in it.
///
/// # Errors
///
/// The rewriter rejects the module.
pub fn of_module(module: &Module, options: &Options) -> Result<Option<SiteTable>> {
    match instrument(&module.words, options) {
        Ok(Outcome::Unchanged) => Ok(None),
        Ok(Outcome::Instrumented(instrumented)) => Ok(Some(instrumented.sites)),
        Err(error) => Err(Failure::input(format!("{}: {error}", module.name))),
    }
}

/// Reads the files of `--sites`: each is a module, or JSON with one table or a list of tables.
///
/// # Errors
///
/// A file cannot be read, or is neither a module nor a site table.
pub fn read(paths: &[String]) -> Result<Vec<ModuleInfo>> {
    let mut modules = Vec::new();
    for path in paths {
        let bytes = io::read(path)?;
        let name = io::input_name(path);
        let tables = if Module::has_magic(&bytes) {
            let module = Module::parse(name.clone(), &bytes)?;
            of_module(&module, &Options::default())?.into_iter().collect()
        } else {
            parse(&name, &bytes)?
        };
        modules.extend(tables.into_iter().map(|table| ModuleInfo {
            name: module_name(path, &table),
            sites: Some(Arc::new(table)),
            ..ModuleInfo::default()
        }));
    }
    Ok(modules)
}

/// The file's stem, unless it is the module's hash: `aborts/5a6b000000000001.sites.json` is not a name.
fn module_name(path: &str, table: &SiteTable) -> Option<String> {
    let file = Path::new(path).file_name()?.to_string_lossy().into_owned();
    let stem = file.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-")?;
    (stem != table.module_hash.to_string()).then(|| stem.to_owned())
}

fn parse(name: &str, bytes: &[u8]) -> Result<Vec<SiteTable>> {
    let is_list = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[');
    let parsed = if is_list {
        from_json(bytes)
    } else {
        from_json(bytes).map(|table| vec![table])
    };
    parsed.map_err(|error| {
        Failure::input(format!(
            "{name}: not a site table: {error}; expected a SPIR-V module or the output of `vkabort sites --json`"
        ))
    })
}

/// Levels of objects and arrays in the JSON of a site table at most. SPIR-V nests structures up to 255 deep (Universal
/// Limits), and each has three levels: the type, the list of its members, the member.
const MAX_NESTING: usize = 1024;
/// Stack of the thread that reads the JSON, in bytes: 64 KiB per level. Serde needs a tenth of it.
const STACK: usize = MAX_NESTING << 16;

/// Reads JSON that is nested deeper than serde_json's limit of 128 levels.
fn from_json<T: DeserializeOwned + Send>(bytes: &[u8]) -> std::result::Result<T, String> {
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
    use vkabort_record::site::{ModuleHash, Site, SiteId};

    /// A table of one site, whose message has `depth` structures in each other.
    fn nested(depth: usize) -> SiteTable {
        let integer = Type::from(vkabort_record::scalar_type::ScalarType::U32);
        let structure = |ty| Type::Struct {
            name: None,
            members: vec![Member {
                name: Some("a \"[{\\".to_owned()),
                offset: 0,
                ty,
            }],
        };
        SiteTable {
            module_hash: ModuleHash(1),
            entry_points: Vec::new(),
            sites: vec![Site {
                id: SiteId(0),
                word_offset: 5,
                function: "main".to_owned(),
                entry_points: Vec::new(),
                callers: Vec::new(),
                location: None,
                snippet: None,
                message: (0..depth).fold(integer, |ty, _| structure(ty)),
                text: None,
            }],
            warnings: Vec::new(),
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
                assert_eq!(
                    parse("f", json.as_bytes()).map_err(|e| e.to_string()),
                    Ok(tables.clone())
                );
            }
        }
    }

    #[test]
    fn hostile_nesting_is_refused() {
        let levels = [1025, 1_000_000].map(|levels| "[".repeat(levels));
        for json in levels.iter().chain([&"{\"sites\":[".repeat(10_000)]) {
            let error = parse("f", json.as_bytes()).expect_err("refused").to_string();
            assert!(error.contains("more than 1024 levels"), "{error}");
        }
        let deepest = "[".repeat(1024);
        let error = parse("f", deepest.as_bytes()).expect_err("refused").to_string();
        assert!(error.contains("not a site table"), "{error}");
    }

    #[test]
    fn brackets_in_strings_are_not_nesting() {
        assert_eq!(nesting(br#"{"a":["[[\\","\"[{",{}]}"#), 3);
        assert_eq!(nesting(br#"["unterminated [[\"#), 1);
    }
}
