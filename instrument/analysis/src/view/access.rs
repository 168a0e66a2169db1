//! Objects that only an invocation sees, their parts, and an access to one.

use super::path::Path;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, ObjectIndex};

/// Memory that holds an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectClass {
    /// A variable of the function.
    Function,
    /// The pointee of a parameter of the function, by the parameter's position.
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
    pub fn is_variable_of_module(self) -> bool {
        matches!(self, Self::Private | Self::Output | Self::Workgroup)
    }
}

/// A variable, or the pointee of a parameter.
#[derive(Clone, Debug)]
pub struct Object {
    /// The variable or parameter.
    pub pointer: Id,
    /// The type of the whole.
    pub ty: Id,
    pub class: ObjectClass,
    /// The initialiser of a variable.
    pub initializer: Option<Id>,
    /// A pointer into it is used in a way that the view does not follow: its accesses are not known.
    pub is_escaped: bool,
}

/// A part of an object.
#[derive(Clone, Debug)]
pub struct Place {
    pub object: ObjectIndex,
    /// The part, up to the first index that is not constant.
    pub path: Path,
    /// Whether all indices are constant: otherwise it is some part of `path`.
    pub is_exact: bool,
}

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
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
pub struct Access {
    pub block: BlockIndex,
    /// Word offset of the instruction.
    pub offset: usize,
    pub kind: AccessKind,
    pub place: Place,
}
