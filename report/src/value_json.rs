//! Decoded values as JSON, for `#[serde(with)]`: each an object with its `type` and its `value`.
//!
//! ```json
//! {"type":"struct","members":[
//!   {"offset":0,"type":"string","value":"bad index %u"},
//!   {"name":"index","offset":12,"type":"u32","value":7},
//!   {"offset":16,"type":"vector","component":"f32","value":[0.5,"nan"]}]}
//! ```
//!
//! An array of scalars of one type has a `component`, like a vector; any other array holds objects. [`SpelledNumber`] says how
//! numbers are spelt. A member's `name` and `offset` are beside the keys of its value; the debug name of a structure, which would collide with
//! the member's name, is `struct` there.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_spelling::SpelledNumber;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::value::{Field, Value};

/// A value or a member as JSON spells it; keys in the order in which they are written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelling {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_null")]
    component: Option<ScalarType>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_null")]
    members: Option<Vec<Spelling>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_null")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_null")]
    offset: Option<u32>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "not_null",
        rename = "struct"
    )]
    struct_name: Option<String>,
    #[serde(rename = "type")]
    ty: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_null")]
    value: Option<Json>,
}

/// A key is absent or has a value: serde reads `null` as absent otherwise.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Writes a value.
pub(crate) fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Spelling::of_value(value).serialize(serializer)
}

/// Reads a value.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let spelling = Spelling::deserialize(deserializer)?;
    spelling.into_value().map_err(D::Error::custom)
}

/// The same for values that may be absent.
pub(crate) mod optional {
    use super::{Spelling, Value};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(Spelling::of_value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        let spelling = Option::<Spelling>::deserialize(deserializer)?;
        let value = spelling.map(Spelling::into_value);
        value.transpose().map_err(D::Error::custom)
    }
}

impl Spelling {
    fn of_value(value: &Value) -> Self {
        let new = |ty: &str, component: Option<ScalarType>, value: Json| Self {
            component,
            ty: ty.to_owned(),
            value: Some(value),
            ..Self::default()
        };
        match value {
            Value::Scalar(scalar) => new(scalar.ty().name(), None, json!(scalar.spelled())),
            Value::Text(text) => new("string", None, json!(text)),
            Value::Vector(scalars) => new("vector", Some(component(scalars)), scalars_to_json(scalars)),
            Value::Matrix(columns) => new(
                "matrix",
                Some(columns.first().map_or(ScalarType::U32, |column| component(column))),
                columns.iter().map(|column| scalars_to_json(column)).collect(),
            ),
            // Often thousands of numbers of one type, which need not repeat it.
            Value::Array(elements) => match scalars_of_one_type(elements) {
                Some(scalars) => new("array", Some(component(&scalars)), scalars_to_json(&scalars)),
                None => {
                    let spellings: Vec<Self> = elements.iter().map(Self::of_value).collect();
                    new("array", None, json!(spellings))
                }
            },
            Value::Struct { name, members } => Self {
                members: Some(members.iter().map(Self::of_member).collect()),
                name: name.clone(),
                ty: "struct".to_owned(),
                ..Self::default()
            },
            Value::Missing => Self {
                ty: "missing".to_owned(),
                ..Self::default()
            },
        }
    }

    fn of_member(member: &Field) -> Self {
        let value = Self::of_value(&member.value);
        Self {
            struct_name: value.name,
            name: member.name.clone(),
            offset: Some(member.offset),
            ..value
        }
    }

    fn into_member(self) -> Result<Field, String> {
        let Self {
            name,
            offset: Some(offset),
            struct_name,
            ..
        } = self
        else {
            return Err("a member without `offset`".to_owned());
        };
        let value = Self {
            name: struct_name,
            offset: None,
            struct_name: None,
            ..self
        };
        Ok(Field {
            name,
            offset,
            value: value.into_value()?,
        })
    }

    /// Strict: every key must belong to the type.
    fn into_value(self) -> Result<Value, String> {
        let Self {
            component,
            members,
            name,
            offset: None,
            struct_name: None,
            ty,
            value,
        } = self
        else {
            return Err("`offset` and `struct` belong to members of structures".to_owned());
        };
        Ok(match (ty.as_str(), component, members, name, value) {
            ("struct", None, Some(members), name, None) => Value::Struct {
                name,
                members: members.into_iter().map(Self::into_member).collect::<Result<_, _>>()?,
            },
            ("missing", None, None, None, None) => Value::Missing,
            ("string", None, None, None, Some(Json::String(text))) => Value::Text(text),
            ("vector", Some(component), None, None, Some(list)) => Value::Vector(scalars_from_json(component, list)?),
            ("matrix", Some(component), None, None, Some(Json::Array(columns))) => {
                let columns = columns.into_iter().map(|column| scalars_from_json(component, column));
                Value::Matrix(columns.collect::<Result<_, _>>()?)
            }
            ("array", Some(component), None, None, Some(list)) => {
                let scalars = scalars_from_json(component, list)?;
                Value::Array(scalars.into_iter().map(Value::Scalar).collect())
            }
            ("array", None, None, None, Some(elements)) => {
                let spellings: Vec<Self> = serde_json::from_value(elements).map_err(|e| e.to_string())?;
                Value::Array(spellings.into_iter().map(Self::into_value).collect::<Result<_, _>>()?)
            }
            (scalar, None, None, None, Some(value)) => {
                let ty = serde_json::from_value(json!(scalar)).map_err(|e| e.to_string())?;
                Value::Scalar(scalar_from_json(ty, &value)?)
            }
            _ => return Err(format!("missing or superfluous keys in a value of type `{ty}`")),
        })
    }
}

fn component(scalars: &[Scalar]) -> ScalarType {
    scalars.first().map_or(ScalarType::U32, |scalar| scalar.ty())
}

/// The elements as scalars, if they are all of one type.
fn scalars_of_one_type(elements: &[Value]) -> Option<Vec<Scalar>> {
    let scalar = |value: &Value| match value {
        Value::Scalar(scalar) => Some(*scalar),
        _ => None,
    };
    let scalars: Vec<Scalar> = elements.iter().map(scalar).collect::<Option<_>>()?;
    let first = scalars.first()?.ty();
    scalars.iter().all(|s| s.ty() == first).then_some(scalars)
}

fn scalars_to_json(scalars: &[Scalar]) -> Json {
    scalars.iter().map(|scalar| json!(scalar.spelled())).collect()
}

fn scalars_from_json(ty: ScalarType, json: Json) -> Result<Vec<Scalar>, String> {
    match json {
        Json::Array(list) => list.iter().map(|value| scalar_from_json(ty, value)).collect(),
        other => Err(format!("expected a list, found {other}")),
    }
}

fn scalar_from_json(ty: ScalarType, json: &Json) -> Result<Scalar, String> {
    let number = SpelledNumber::deserialize(json).ok();
    let scalar = number.and_then(|number| Scalar::from_spelled(ty, &number));
    scalar.ok_or_else(|| format!("{json} is not a value of type `{}`", ty.name()))
}

#[cfg(test)]
#[path = "value_json_tests.rs"]
mod tests;
