//! Writes a message into its record, or finds the words that the record's writer stores.
//!
//! `source` follows the message value back to where its parts come from, `parts` walks the message type, with a loop for each
//! long array (`array_loop`), `scalar` makes words of each scalar, `pending` assembles words from parts that share them, and
//! `writer` stores them, `frame` by `frame`. `size` computes the size of the record, and `variable` makes array values indexable.

mod array_loop;
mod frame;
mod parts;
mod pending;
mod scalar;
mod size;
mod source;
mod variable;
mod writer;

pub(super) use pending::Bits;
pub(super) use size::Size;
pub(super) use source::Sources;
pub(super) use writer::MessageWriter;
