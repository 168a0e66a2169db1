//! The abort flag: a private variable that is set once the invocation has aborted.

use super::emitter::Emitter;
use crate::{Id, op};

/// A Private variable, initially false or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortFlag {
    /// True if the invocation has aborted.
    Bool(Id),
    /// The key of its record, which is not 0 if it has aborted.
    Key(Id),
}

impl AbortFlag {
    /// Loads whether the invocation has aborted, as a `bool`.
    pub fn load(self, out: &mut Emitter) -> Id {
        let (bool, aborted) = (out.bool(), out.fresh());
        match self {
            Self::Bool(variable) => out.op(op::Load, (bool, aborted, variable)),
            Self::Key(variable) => {
                let (uint, zero, key) = (out.uint(), out.constant(0), out.fresh());
                out.op(op::Load, (uint, key, variable));
                out.op(op::INotEqual, (bool, aborted, key, zero));
            }
        }
        aborted
    }
}
