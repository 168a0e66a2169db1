//! Writes the message of an abort into its record.

pub(in crate::pass::abort) mod array;
pub(in crate::pass::abort) mod payload;
pub(in crate::pass::abort) mod pending;
pub(in crate::pass::abort) mod scalar;
pub(in crate::pass::abort) mod size;
pub(in crate::pass::abort) mod source;
pub(in crate::pass::abort) mod variable;
pub(in crate::pass::abort) mod writer;
