//! Signatures of generated functions.

use crate::choices::Choices;
use crate::module::Id;

/// Return type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Void,
    Uint,
    Uvec4,
    Pair,
}

/// Parameter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Uint,
    Uvec4,
    /// Pointer to a `uint` variable of storage class Function.
    Local,
    /// Pointer to a `uint` variable of storage class Private.
    Private,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) id: Id,
    pub(super) returns: Returns,
    pub(super) parameters: Vec<Parameter>,
    /// Maximum number of instructions of a call.
    pub(super) cost: u32,
}

/// Kind of function to generate.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Callee {
        returns: Returns,
        parameters: Vec<Parameter>,
    },
    Entry {
        function: Id,
        input: Id,
        input_type: Id,
        output: Option<Id>,
        model: u32,
    },
}

impl Kind {
    pub(super) fn callee(choices: &mut Choices) -> Self {
        let returns = [Returns::Uint, Returns::Void, Returns::Uvec4, Returns::Pair];
        let parameters = [Parameter::Uint, Parameter::Uvec4, Parameter::Local, Parameter::Private];
        Self::Callee {
            returns: choices.pick(&returns).unwrap_or(Returns::Uint),
            parameters: (0..choices.below(4))
                .filter_map(|_| choices.pick(&parameters))
                .collect(),
        }
    }
}
