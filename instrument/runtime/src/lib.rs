//! The runtime of instrumented modules: functions that reserve, write and commit records and poll ABORTED, the variables of
//! deferred records, and pointers into the arena. Each is written on first use.
//!
//! The decisions and their reasons: `docs/design/records.md`.
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "a crate of the rewriter, which others use through vkabort-instrument"
)]

mod arena;
mod compact_record;
mod compact_reserve;
mod compact_shape;
mod deferred;
mod find_buffer;
mod functions;
mod identity;
mod record;
mod record_payload;
mod record_writer;
mod reserve;
mod shared_function;
mod state;
mod trap;

pub use arena::block_pointer;
pub use deferred::{DeferredRecord, EntryRecords, RecordWord, record_key};
pub use find_buffer::{write_difference, write_is_inside};
pub use identity::{AddedBuiltIns, EntryInterface, load_identity, load_local_index, load_number};
pub use record::Extent;
pub use reserve::NO_RECORD;
pub use state::{Runtime, bool_constant, uses_vulkan_memory_model, widest_scope};
