//! A small interpreter of JSON Schema. It fails on a keyword that it does not support, so that a schema cannot state more
//! than is checked.

use serde_json::{Map, Value as Json};

/// Checks `value` against `schema`, a part of `root`.
///
/// # Errors
///
/// The path of keywords to the first violation.
pub fn check(schema: &Json, value: &Json, root: &Json) -> Result<(), String> {
    let Json::Object(keywords) = schema else {
        return Err(format!("{schema} is not a schema"));
    };
    for (keyword, rule) in keywords {
        check_keyword(keyword, rule, keywords, value, root).map_err(|e| format!("{keyword}: {e}"))?;
    }
    Ok(())
}

fn check_keyword(keyword: &str, rule: &Json, all: &Map<String, Json>, value: &Json, root: &Json) -> Result<(), String> {
    let fail = |reason: &str| Err(format!("{value} {reason} {rule}"));
    let list = || rule.as_array().cloned().unwrap_or_default();
    match keyword {
        "$schema" | "$id" | "title" | "description" | "$defs" => Ok(()),
        "$ref" => {
            let path = rule
                .as_str()
                .and_then(|r| r.strip_prefix('#'))
                .ok_or("a foreign reference")?;
            check(root.pointer(path).ok_or("a dangling reference")?, value, root)
        }
        "type" => {
            let names = if rule.is_array() { list() } else { vec![rule.clone()] };
            let fits = names.iter().any(|name| match name.as_str() {
                Some("object") => value.is_object(),
                Some("array") => value.is_array(),
                Some("string") => value.is_string(),
                Some("integer") => value.is_i64() || value.is_u64(),
                Some("number") => value.is_number(),
                Some("boolean") => value.is_boolean(),
                Some("null") => value.is_null(),
                _ => panic!("type {name}"),
            });
            if fits { Ok(()) } else { fail("is not of type") }
        }
        "const" if value == rule => Ok(()),
        "const" => fail("is not"),
        "enum" if list().contains(value) => Ok(()),
        "enum" => fail("is not one of"),
        "anyOf" | "oneOf" => {
            let errors: Vec<String> = list().iter().filter_map(|s| check(s, value, root).err()).collect();
            let fitting = list().len() - errors.len();
            match (keyword, fitting) {
                (_, 0) => Err(errors.join("\n  ")),
                ("oneOf", 2..) => fail("fits several of"),
                _ => Ok(()),
            }
        }
        "minimum" => match (value.as_u64(), rule.as_u64()) {
            (Some(v), Some(r)) if v >= r => Ok(()),
            _ if value.is_null() => Ok(()),
            _ => fail("is less than"),
        },
        "maximum" => match (value.as_u64(), rule.as_u64()) {
            (Some(v), Some(r)) if v <= r => Ok(()),
            _ => fail("is more than"),
        },
        "pattern" => {
            let Some(text) = value.as_str() else { return Ok(()) };
            let hex = text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
            let fits = match rule.as_str() {
                Some("^[0-9a-f]{16}$") => text.len() == 16 && hex,
                Some("^([0-9a-f][0-9a-f])*$") => text.len() % 2 == 0 && hex,
                Some(r"^1\.[0-9]+\.[0-9]+$") => text.strip_prefix("1.").is_some_and(|rest| {
                    let numbers: Vec<&str> = rest.split('.').collect();
                    let is_number = |n: &&str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
                    numbers.len() == 2 && numbers.iter().all(is_number)
                }),
                Some("^0x[0-9a-f]{16}$") => text.len() == 18 && text.starts_with("0x"),
                _ => panic!("pattern {rule}"),
            };
            if fits { Ok(()) } else { fail("does not match") }
        }
        "items" => value
            .as_array()
            .into_iter()
            .flatten()
            .try_for_each(|item| check(rule, item, root)),
        "minItems" | "maxItems" => match (value.as_array(), rule.as_u64()) {
            (Some(items), Some(n)) if items.len() as u64 == n => Ok(()),
            _ => fail("does not have the number of items"),
        },
        "required" => list().iter().filter_map(Json::as_str).try_for_each(|key| {
            value
                .get(key)
                .map(|_| ())
                .ok_or(format!("`{key}` is missing in {value}"))
        }),
        "properties" => value.as_object().into_iter().flatten().try_for_each(|(key, v)| {
            rule.get(key)
                .map_or(Ok(()), |s| check(s, v, root).map_err(|e| format!("{key}: {e}")))
        }),
        "additionalProperties" => {
            assert_eq!(rule, &Json::Bool(false));
            let properties = all.get("properties").ok_or("no properties")?;
            value
                .as_object()
                .into_iter()
                .flatten()
                .try_for_each(|(key, _)| properties.get(key).map(|_| ()).ok_or(format!("unknown key `{key}`")))
        }
        other => panic!("the schema uses `{other}`, which this test does not support"),
    }
}
