//! Decoded values as JSON: each an object with its `type` and its `value`.
//!
//! ```json
//! {"type":"struct","members":[
//!   {"offset":0,"type":"string","value":"bad index %u"},
//!   {"name":"index","offset":12,"type":"u32","value":7},
//!   {"offset":16,"type":"vector","component":"f32","value":[0.5,"nan"]}]}
//! ```
//!
//! An array of scalars of one type has a `component`, like a vector; any other array holds objects. Integers are JSON
//! numbers of up to 64 bits, pointers strings of hexadecimal digits, floats numbers or `"nan"`, `"inf"`, `"-inf"`. A
//! member's `name` and `offset` are beside the keys of its value; the debug name of a structure, which would collide with
//! the member's name, is `struct` there.

use crate::float_format::FloatFormat;
use crate::scalar::{Number, Scalar};
use crate::scalar_type::{ScalarKind, ScalarType};
use crate::value::{Field, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Spelling::of_value(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spelling = Spelling::deserialize(deserializer)?;
        spelling.into_value().map_err(D::Error::custom)
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Scalar(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Scalar(scalar) => Ok(scalar),
            _ => Err(D::Error::custom("not a scalar")),
        }
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
            Value::Scalar(scalar) => new(scalar.ty().name(), None, scalar_to_json(scalar)),
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
                None => new("array", None, json!(elements)),
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
                Value::Array(serde_json::from_value(elements).map_err(|e| e.to_string())?)
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
    scalars.iter().map(scalar_to_json).collect()
}

fn scalar_to_json(scalar: &Scalar) -> Json {
    match scalar.number() {
        Number::Unsigned(_) if scalar.ty() == ScalarType::Pointer => json!(scalar.to_string()),
        Number::Signed(value) => json!(value),
        Number::Unsigned(value) => json!(value),
        Number::Bool(value) => json!(value),
        Number::Float(value) if !value.is_finite() => json!(scalar.to_string()),
        // Narrower formats too: the value is exact, and equal after it is read as a binary32.
        Number::Float(value) if scalar.ty().bits() <= 32 => json!(FloatFormat::Binary32.shortest(value)),
        Number::Float(value) => json!(value),
    }
}

fn scalars_from_json(ty: ScalarType, json: Json) -> Result<Vec<Scalar>, String> {
    match json {
        Json::Array(list) => list.iter().map(|value| scalar_from_json(ty, value)).collect(),
        other => Err(format!("expected a list, found {other}")),
    }
}

fn scalar_from_json(ty: ScalarType, json: &Json) -> Result<Scalar, String> {
    let number = match ty.kind() {
        ScalarKind::Signed => json.as_i64().map(Number::Signed),
        ScalarKind::Unsigned => json.as_u64().map(Number::Unsigned),
        ScalarKind::Bool => json.as_bool().map(Number::Bool),
        ScalarKind::Pointer => {
            let digits = json.as_str().and_then(|text| text.strip_prefix("0x"));
            digits
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                .map(Number::Unsigned)
        }
        ScalarKind::Float(_) => {
            let value = match json.as_str() {
                Some("nan") => Some(f64::NAN),
                Some("inf") => Some(f64::INFINITY),
                Some("-inf") => Some(f64::NEG_INFINITY),
                _ => json.as_f64(),
            };
            let narrow = |value: f64| {
                if ty.bits() <= 32 {
                    f64::from(value as f32)
                } else {
                    value
                }
            };
            value.map(|value| Number::Float(narrow(value)))
        }
    };
    let number = number.ok_or_else(|| format!("{json} is not a value of type `{}`", ty.name()))?;
    Ok(Scalar::from_number(ty, number))
}

#[cfg(test)]
#[path = "value_json_tests.rs"]
mod tests;
