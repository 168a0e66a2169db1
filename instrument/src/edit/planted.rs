//! The aborts that the sanitizer has planted.

use crate::spv::Id;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_record::shared_access::SharedAccess;

/// Planted aborts, by ids that later passes keep until the sites are numbered.
#[derive(Debug, Default)]
pub(crate) struct Planted {
    /// Name of the check by the message of its aborts.
    pub(crate) checks: HashMap<Id, &'static str>,
    /// The result of the operation that a check is of, by the message of its aborts. Its position is that of the site.
    pub(crate) operations: HashMap<Id, Id>,
    /// Functions that only test a condition and abort, each called once. The sites of their aborts are at the call.
    pub(crate) guards: HashSet<Id>,
    /// The accesses that messages of races name by their number.
    pub(crate) shared_accesses: Vec<SharedAccess>,
    /// Checks that were left out, for the log.
    pub(crate) warnings: Vec<String>,
    /// The function without parameters that an invocation calls before it ends because another one has aborted.
    pub(crate) end: Option<Id>,
    /// `SpecId`s of the constants that the planted code depends on, ascending.
    pub(crate) spec_ids: Vec<u32>,
    /// The function without parameters that is to return TICKS.
    pub(crate) ticks: Option<Id>,
    /// The function without parameters that is to return true, which no compiler knows.
    pub(crate) holds: Option<Id>,
    /// The function that is to find the buffer of an address.
    pub(crate) find_buffer: Option<Id>,
    /// The functions that are to execute an atomic on a word of the shadow area, with its opcode.
    pub(crate) area_atomics: Vec<(u16, Id)>,
    /// The function without parameters that every invocation is to call once, after all others.
    pub(crate) leave: Option<Id>,
}

impl Planted {
    /// The result of the operation of which a check planted an abort with a message.
    pub(crate) fn operation_of(&self, message: Id) -> Option<Id> {
        self.operations.get(&message).copied()
    }

    /// Name of the check that planted an abort with a message. `None`: the application wrote it.
    pub(crate) fn check_of(&self, message: Id) -> Option<String> {
        self.checks.get(&message).map(|name| (*name).to_owned())
    }
}
