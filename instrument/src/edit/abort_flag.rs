//! The variable by which an invocation knows that it has aborted.

use super::globals::Globals;
use crate::spv::{Code, Id, op};

/// A Private variable, initially false or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbortFlag {
    /// True if the invocation has aborted.
    Bool(Id),
    /// The key of its record, which is not 0 if it has aborted.
    Key(Id),
}

impl AbortFlag {
    /// Loads whether the invocation has aborted, as a `bool`.
    pub(crate) fn load(self, code: &mut Code, globals: &mut Globals) -> Id {
        let (bool, aborted) = (globals.bool(), globals.fresh());
        match self {
            Self::Bool(variable) => code.op(op::Load, (bool, aborted, variable)),
            Self::Key(variable) => {
                let (uint, zero, key) = (globals.uint(), globals.constant(0), globals.fresh());
                code.op(op::Load, (uint, key, variable));
                code.op(op::INotEqual, (bool, aborted, key, zero));
            }
        }
        aborted
    }
}
