//! What instrumented modules share: functions that reserve, write and commit records and poll ABORTED, the variables of
//! deferred records, and pointers into the arena. Each is written on first use.

mod arena;
mod compact_record;
mod compact_reserve;
mod compact_shape;
mod deferred;
mod functions;
mod identity;
mod open_function;
mod record;
mod record_payload;
mod record_writer;
mod reserve;
mod state;
mod trap;

pub(super) use deferred::{DeferredRecord, EntryRecords, RecordWord, record_key};
pub(super) use identity::{AddedBuiltIns, EntryInterface, load_identity};
pub(super) use record::Extent;
pub(super) use reserve::NO_RECORD;
pub(super) use state::{Runtime, bool_constant};
