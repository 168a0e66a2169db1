//! The values at the aborts of a site: which record bytes hold the operands of the condition that led to the abort, and the
//! variables in scope there.
//!
//! Offsets count from the start of the payload. Values that the message does not hold lie behind it.

use crate::decode::decode;
use crate::format::value_display::show;
use crate::message_type::Type;
use crate::report::{ConditionReport, NamedValue};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// The values at the aborts of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteValues {
    /// The condition that held, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The variables in scope, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// Number of variables for which there was no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

/// A condition, as an expression that was true when the invocation aborted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The expression.
    pub text: Vec<Part>,
    /// The operands that the expression names.
    pub operands: Vec<Variable>,
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// Text, as it is.
    Text(String),
    /// An operand without a name: its value.
    Value(Place),
}

/// A value in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Byte offset from the start of the payload.
    pub offset: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the source, or an expression.
    pub name: String,
    /// `None` if the compiler has removed the value.
    pub place: Option<Place>,
}

impl SiteValues {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The condition of a message that comes without the values behind it: an operand that the message does not hold is `..`, or
    /// has no value.
    pub(crate) fn condition_in_message(&self, message: &[u8]) -> Option<ConditionReport> {
        let is_inside = |place: &Place| {
            let end = place.offset.checked_add(place.ty.size());
            end.and_then(|end| usize::try_from(end).ok())
                .is_some_and(|end| end <= message.len())
        };
        let part = |part: &Part| match part {
            Part::Value(place) if !is_inside(place) => Part::Text("..".to_owned()),
            part => part.clone(),
        };
        let of_message = |condition: &Condition| Condition {
            text: condition.text.iter().map(part).collect(),
            operands: (condition.operands.iter())
                .filter(|operand| operand.place.as_ref().is_some_and(is_inside))
                .cloned()
                .collect(),
        };
        let condition = self.condition.as_ref().map(of_message);
        Self {
            condition,
            ..Self::default()
        }
        .condition(message)
    }

    /// The condition with its values. `bytes`: the payload with the values behind it.
    pub(crate) fn condition(&self, bytes: &[u8]) -> Option<ConditionReport> {
        let condition = self.condition.as_ref()?;
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(place) => show(&place.decode(bytes)),
        };
        Some(ConditionReport {
            text: condition.text.iter().map(part).collect(),
            values: named(&condition.operands, bytes),
        })
    }

    /// The variables with their values. `bytes`: the payload with the values behind it.
    pub(crate) fn variables(&self, bytes: &[u8]) -> Vec<NamedValue> {
        named(&self.variables, bytes)
    }
}

fn named(variables: &[Variable], bytes: &[u8]) -> Vec<NamedValue> {
    let named = |variable: &Variable| NamedValue {
        name: variable.name.clone(),
        value: variable.place.as_ref().map(|place| place.decode(bytes)),
    };
    variables.iter().map(named).collect()
}

impl Place {
    fn decode(&self, bytes: &[u8]) -> Value {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(self.ty.size() as usize).min(bytes.len());
        decode(&self.ty, bytes.get(start..end).unwrap_or_default(), false).value
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar_type::ScalarType;

    fn place(offset: u32) -> Place {
        let ty = ScalarType::U32.into();
        Place { offset, ty }
    }

    #[test]
    fn operands_with_names_follow_the_expression_and_others_are_in_it() {
        let values = SiteValues {
            condition: Some(Condition {
                text: vec![Part::Value(place(16)), Part::Text(" >= count".into())],
                operands: vec![Variable {
                    name: "count".into(),
                    place: Some(place(4)),
                }],
            }),
            variables: vec![Variable {
                name: "lost".into(),
                place: None,
            }],
            left_out: 0,
        };
        let bytes: Vec<u8> = [1_u32, 64, 0, 0, 70]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let condition = values.condition(&bytes).expect("a condition");
        assert_eq!(condition.text, "70 >= count");
        assert_eq!(show(condition.values[0].value.as_ref().expect("a value")), "64");
        assert_eq!(values.variables(&bytes)[0].value, None);
        let short = values.condition(&bytes[..8]).expect("a condition");
        assert_eq!(short.text, "<missing> >= count");
        let of_message = values.condition_in_message(&bytes[..8]).expect("a condition");
        assert_eq!(of_message.text, ".. >= count");
        assert_eq!(show(of_message.values[0].value.as_ref().expect("a value")), "64");
        let of_message = values.condition_in_message(&bytes[..4]).expect("a condition");
        assert_eq!((of_message.text.as_str(), of_message.values.len()), (".. >= count", 0));
        let json = serde_json::to_string(&values).expect("JSON");
        assert_eq!(serde_json::from_str::<SiteValues>(&json).expect("reads back"), values);
    }
}
