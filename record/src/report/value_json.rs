//! Decoded values as JSON: each an object with its `type` and its `value`.
//!
//! ```json
//! {"type":"struct","members":[
//!   {"offset":0,"type":"string","value":"bad index %u"},
//!   {"name":"index","offset":12,"type":"u32","value":7},
//!   {"offset":16,"type":"vector","component":"f32","value":[0.5,"nan"]}]}
//! ```
//!
//! An array of numbers has a `component` as a vector has; of anything else it holds objects. Integers are JSON numbers of up to 64 bits, pointers strings of hexadecimal digits, floats numbers or `"nan"`, `"inf"`,
//! `"-inf"`. Bytes are strings of hexadecimal digits.

use crate::decode::{Field, Value};
use crate::encoding::Encoding;
use crate::scalar::Scalar;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::Object(to_json(self)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        from_json(json).map_err(D::Error::custom)
    }
}

fn to_json(value: &Value) -> Map<String, Json> {
    let (ty, key, content) = match value {
        Value::Scalar(scalar) => (scalar.type_name(), "value", scalar_to_json(*scalar)),
        Value::Text(text) => ("string", "value", json!(text)),
        Value::Vector(components) => {
            let mut map = typed("vector", "value", scalars_to_json(components));
            map.insert("component".into(), json!(component(components)));
            return map;
        }
        Value::Matrix(columns) => {
            let content = columns.iter().map(|c| scalars_to_json(c)).collect();
            let mut map = typed("matrix", "value", content);
            map.insert(
                "component".into(),
                json!(columns.first().map_or("u32", |c| component(c))),
            );
            return map;
        }
        Value::Array(elements) => {
            // Numbers of one type, thousands of them as often as not: they need not repeat it.
            if let Some((component, scalars)) = uniform(elements) {
                let mut map = typed("array", "value", scalars_to_json(&scalars));
                map.insert("component".into(), json!(component));
                return map;
            }
            let content = elements.iter().map(|e| Json::Object(to_json(e))).collect();
            ("array", "value", content)
        }
        Value::Struct { name, members } => {
            let members = members.iter().map(|m| Json::Object(member_to_json(m))).collect();
            let mut map = typed("struct", "members", members);
            if let Some(name) = name {
                map.insert("name".into(), json!(name));
            }
            return map;
        }
        Value::Missing => return Map::from_iter([("type".to_owned(), json!("missing"))]),
    };
    typed(ty, key, content)
}

/// A member's own name and offset stand beside its value's keys; a structure's debug name would collide with the
/// member's name, so it is `struct` there.
fn member_to_json(member: &Field) -> Map<String, Json> {
    let mut map = to_json(&member.value);
    if let Some(name) = map.remove("name") {
        map.insert("struct".into(), name);
    }
    if let Some(name) = &member.name {
        map.insert("name".into(), json!(name));
    }
    map.insert("offset".into(), json!(member.offset));
    map
}

fn typed(ty: &str, key: &str, content: Json) -> Map<String, Json> {
    Map::from_iter([("type".to_owned(), json!(ty)), (key.to_owned(), content)])
}

fn component(components: &[Scalar]) -> &'static str {
    components.first().map_or("u32", |c| c.type_name())
}

/// The elements as scalars, if they are all of one type.
fn uniform(elements: &[Value]) -> Option<(&'static str, Vec<Scalar>)> {
    let scalar = |value: &Value| match value {
        Value::Scalar(scalar) => Some(*scalar),
        _ => None,
    };
    let component = scalar(elements.first()?)?.type_name();
    let scalars: Option<Vec<Scalar>> = elements.iter().map(scalar).collect();
    let scalars = scalars.filter(|all| all.iter().all(|s| s.type_name() == component))?;
    Some((component, scalars))
}

fn scalars_to_json(scalars: &[Scalar]) -> Json {
    scalars.iter().map(|&s| scalar_to_json(s)).collect()
}

fn scalar_to_json(scalar: Scalar) -> Json {
    match scalar {
        Scalar::Int { value, .. } => json!(value),
        Scalar::Uint { value, .. } => json!(value),
        Scalar::Bool(value) => json!(value),
        Scalar::Pointer(value) => json!(format!("{value:#018x}")),
        Scalar::EncodedFloat { value, .. } => scalar_to_json(Scalar::Float { bits: 32, value }),
        Scalar::Float { value, .. } if !value.is_finite() => json!(scalar.to_string()),
        Scalar::Float { bits, value } if bits <= 32 => json!(shortest(value as f32)),
        Scalar::Float { value, .. } => json!(value),
    }
}

/// The double whose shortest decimal is that of `value`: 0.1, not 0.10000000149011612.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn from_json(json: Json) -> Result<Value, String> {
    let Json::Object(mut map) = json else {
        return Err(format!("expected a value object, found {json}"));
    };
    let value = from_map(&mut map)?;
    finish(&map)?;
    Ok(value)
}

/// No key may be left over: the reader is the format's specification.
fn finish(map: &Map<String, Json>) -> Result<(), String> {
    match map.keys().next() {
        Some(key) => Err(format!("unknown key `{key}` in a value")),
        None => Ok(()),
    }
}

fn from_map(map: &mut Map<String, Json>) -> Result<Value, String> {
    let ty = string(map, "type")?;
    Ok(match ty.as_str() {
        "string" => Value::Text(string(map, "value")?),
        "vector" => {
            let component = string(map, "component")?;
            Value::Vector(scalars_from_json(&component, take(map, "value")?)?)
        }
        "matrix" => {
            let component = string(map, "component")?;
            let columns = list(take(map, "value")?)?.into_iter();
            let columns = columns.map(|c| scalars_from_json(&component, c));
            Value::Matrix(columns.collect::<Result<_, _>>()?)
        }
        "array" if map.contains_key("component") => {
            let component = string(map, "component")?;
            let scalars = scalars_from_json(&component, take(map, "value")?)?;
            Value::Array(scalars.into_iter().map(Value::Scalar).collect())
        }
        "array" => {
            let elements = list(take(map, "value")?)?.into_iter().map(from_json);
            Value::Array(elements.collect::<Result<_, _>>()?)
        }
        "struct" => {
            let name = optional_string(map, "name")?;
            let members = list(take(map, "members")?)?.into_iter().map(member_from_json);
            Value::Struct {
                name,
                members: members.collect::<Result<_, _>>()?,
            }
        }
        "missing" => Value::Missing,
        scalar => Value::Scalar(scalar_from_json(scalar, &take(map, "value")?)?),
    })
}

fn member_from_json(json: Json) -> Result<Field, String> {
    let Json::Object(mut map) = json else {
        return Err(format!("expected a member object, found {json}"));
    };
    let name = optional_string(&mut map, "name")?;
    let offset = take(&mut map, "offset")?;
    let offset = offset.as_u64().and_then(|o| u32::try_from(o).ok());
    if let Some(struct_name) = map.remove("struct") {
        map.insert("name".into(), struct_name);
    }
    let value = from_map(&mut map)?;
    finish(&map)?;
    Ok(Field {
        name,
        offset: offset.ok_or("`offset` is no 32-bit number")?,
        value,
    })
}

fn scalars_from_json(component: &str, json: Json) -> Result<Vec<Scalar>, String> {
    list(json)?.iter().map(|v| scalar_from_json(component, v)).collect()
}

fn scalar_from_json(ty: &str, json: &Json) -> Result<Scalar, String> {
    let wrong = || format!("{json} is no value of type `{ty}`");
    let bits: u32 = ty
        .trim_start_matches(|c: char| c.is_ascii_alphabetic())
        .parse()
        .unwrap_or(0);
    Ok(match ty {
        "i8" | "i16" | "i32" | "i64" => Scalar::Int {
            bits,
            value: json.as_i64().ok_or_else(wrong)?,
        },
        "u8" | "u16" | "u32" | "u64" => Scalar::Uint {
            bits,
            value: json.as_u64().ok_or_else(wrong)?,
        },
        "f16" | "f32" | "f64" => {
            let value = match json.as_str() {
                Some("nan") => f64::NAN,
                Some("inf") => f64::INFINITY,
                Some("-inf") => f64::NEG_INFINITY,
                _ => json.as_f64().ok_or_else(wrong)?,
            };
            let value = if bits <= 32 { f64::from(value as f32) } else { value };
            Scalar::Float { bits, value }
        }
        "bool" => Scalar::Bool(json.as_bool().ok_or_else(wrong)?),
        "pointer" => {
            let digits = json.as_str().and_then(|s| s.strip_prefix("0x")).ok_or_else(wrong)?;
            Scalar::Pointer(u64::from_str_radix(digits, 16).map_err(|_| wrong())?)
        }
        _ => match (Encoding::named(ty), scalar_from_json("f32", json)) {
            (Some(encoding), Ok(Scalar::Float { value, .. })) => Scalar::EncodedFloat { encoding, value },
            (Some(_), _) => return Err(wrong()),
            (None, _) => return Err(format!("unknown type `{ty}`")),
        },
    })
}

fn take(map: &mut Map<String, Json>, key: &str) -> Result<Json, String> {
    map.remove(key).ok_or_else(|| format!("a value without `{key}`"))
}

fn string(map: &mut Map<String, Json>, key: &str) -> Result<String, String> {
    optional_string(map, key)?.ok_or_else(|| format!("a value without `{key}`"))
}

fn optional_string(map: &mut Map<String, Json>, key: &str) -> Result<Option<String>, String> {
    match map.remove(key) {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` is {other}, not a string")),
    }
}

fn list(json: Json) -> Result<Vec<Json>, String> {
    match json {
        Json::Array(list) => Ok(list),
        other => Err(format!("expected a list, found {other}")),
    }
}

/// Bytes as a string of hexadecimal digits.
pub mod hex_bytes {
    use crate::escape::{hex, unhex};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    /// For `#[serde(with)]`.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(bytes))
    }

    /// For `#[serde(with)]`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        unhex(&text).ok_or_else(|| D::Error::custom("not a string of hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let scalars = [
            Scalar::Int { bits: 8, value: -128 },
            Scalar::Int {
                bits: 64,
                value: i64::MIN,
            },
            Scalar::Uint {
                bits: 64,
                value: u64::MAX,
            },
            Scalar::Float {
                bits: 32,
                value: f64::from(0.1f32),
            },
            Scalar::Float {
                bits: 32,
                value: f64::from(f32::MIN_POSITIVE / 8.0),
            },
            Scalar::Float { bits: 64, value: 0.1 },
            Scalar::Float {
                bits: 16,
                value: f64::NAN,
            },
            Scalar::Float {
                bits: 64,
                value: f64::NEG_INFINITY,
            },
            Scalar::EncodedFloat {
                encoding: Encoding::Bf16,
                value: -1.5,
            },
            Scalar::EncodedFloat {
                encoding: Encoding::F8E4M3,
                value: f64::NAN,
            },
            Scalar::Bool(true),
            Scalar::Pointer(0xffff_8000_0000_0000),
        ];
        let mut members: Vec<Field> = scalars
            .iter()
            .map(|&s| Field {
                name: Some("x".into()),
                offset: 4,
                value: Value::Scalar(s),
            })
            .collect();
        members.push(Field {
            name: Some("inner".into()),
            offset: 8,
            value: Value::Struct {
                name: Some("Inner".into()),
                members: vec![],
            },
        });
        for value in [
            Value::Text("t".into()),
            Value::Missing,
            Value::Vector(vec![scalars[3], scalars[3]]),
            Value::Vector(vec![]),
            Value::Matrix(vec![vec![scalars[5]], vec![scalars[5]]]),
            Value::Array(vec![Value::Text("a".into()), Value::Missing]),
            Value::Array(vec![Value::Scalar(scalars[3]), Value::Scalar(scalars[3])]),
            Value::Array(vec![Value::Scalar(scalars[3]), Value::Scalar(scalars[4])]),
            Value::Array(vec![Value::Scalar(scalars[3]), Value::Scalar(scalars[5])]),
            Value::Array(vec![]),
        ] {
            members.push(Field {
                name: None,
                offset: 0,
                value,
            });
        }
        let value = Value::Struct {
            name: Some("M".into()),
            members,
        };
        let text = serde_json::to_string(&value).expect("serialises");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("reads back"), value);
        assert!(text.contains(r#""value":0.1"#), "{text}");
    }

    #[test]
    fn the_reader_refuses_what_it_does_not_know() {
        for text in [
            r#"{"type":"u32","value":7,"extra":1}"#,
            r#"{"type":"u32","value":-7}"#,
            r#"{"type":"u7","value":7}"#,
            r#"{"type":"struct","members":[{"type":"u32","value":1}]}"#,
            r#"{"value":7}"#,
            r#"7"#,
        ] {
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
        }
    }
}
