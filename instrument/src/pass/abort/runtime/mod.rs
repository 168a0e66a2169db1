//! What instrumented modules share: functions that reserve, fill and commit a record and poll ABORTED, the stage and
//! identity of the invocation, and pointers into the arena. Each is written on first use.

mod functions;
mod identity;
mod open_function;
mod reserve;
mod state;
mod trap;

pub(super) use identity::{EntryInterface, store_identity};
pub(super) use reserve::NO_RECORD;
pub(super) use state::{Runtime, bool_constant};
