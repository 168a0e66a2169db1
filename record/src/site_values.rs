//! The values at the aborts of a site: which record bytes hold the operands of the condition that led to the abort, and the
//! variables in scope there.
//!
//! Offsets count from the start of the payload. Values that the message does not hold lie behind it.

use crate::message_type::Type;
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
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
