//! Objects that only an invocation sees, their parts, and an access to one.

use super::path::Path;
use crate::analysis::index::typed::{BlockIndex, ObjectIndex};
use crate::spv::Id;

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectClass {
    /// A variable of the function.
    Function,
    /// What a parameter of the function points to, by the parameter's position.
    Parameter(usize),
    Private,
    Output,
    Workgroup,
    /// Without memory: a variable that debug information describes, by its position in [`FunctionAccesses::described`](super::accesses::FunctionAccesses::described). Each
    /// `DebugValue` is a store to it.
    Described(usize),
}

impl ObjectClass {
    /// Whether functions share it by the variable.
    pub(crate) fn is_variable_of_module(self) -> bool {
        matches!(self, Self::Private | Self::Output | Self::Workgroup)
    }
}

/// A variable, or what a parameter points to.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The variable or parameter.
    pub(crate) pointer: Id,
    /// The type of the whole.
    pub(crate) ty: Id,
    pub(crate) class: ObjectClass,
    /// The initialiser of a variable.
    pub(crate) initializer: Option<Id>,
    /// A pointer into it is used in a way that the view does not follow: it is not known what accesses it.
    pub(crate) is_escaped: bool,
}

/// A part of an object.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) object: ObjectIndex,
    /// The part, up to the first index that is not constant.
    pub(crate) path: Path,
    /// Whether all indices are constant: otherwise it is some part of `path`.
    pub(crate) is_exact: bool,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// Reads all of its place into this value.
    Load(Id),
    /// Writes this value to all of its place.
    Store(Id),
    /// `OpCopyMemory` reads all of its place, and the next access writes it.
    CopyFrom,
    /// Writes all that the access before it has read.
    CopyTo,
    /// Writes a value that is not followed to all of its place.
    Write,
    /// May read and write its place in other ways.
    Other,
    /// Passes the pointer to a function, at the position of this argument.
    Argument(usize),
}

/// An access to a part of an object.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) block: BlockIndex,
    /// Word offset of the instruction.
    pub(crate) offset: usize,
    pub(crate) kind: AccessKind,
    pub(crate) place: Place,
}
