//! Table of the aborts that checks have planted.

use super::runtime_hooks::RuntimeHooks;
use crate::Id;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_record::shared_access::SharedAccess;

/// Planted aborts, by ids that later passes keep until the sites are numbered.
#[derive(Debug, Default)]
pub struct PlantedAborts {
    /// Name of the check by the message of its aborts.
    pub checks: HashMap<Id, &'static str>,
    /// The result of the operation that a check is of, by the message of its aborts. Its position is that of the site.
    pub operations: HashMap<Id, Id>,
    /// Functions that only test a condition and abort, each called once. The sites of their aborts are at the call.
    pub guards: HashSet<Id>,
    /// The accesses that messages of races name by their number.
    pub shared_accesses: Vec<SharedAccess>,
    /// Checks that were left out, for the log.
    pub warnings: Vec<String>,
    /// `SpecId`s of the constants that the planted code depends on, ascending.
    pub spec_ids: Vec<u32>,
    /// Variables of faults: what they hold is read behind loops.
    pub fault_variables: HashSet<Id>,
    /// The planted functions that the runtime completes.
    pub hooks: RuntimeHooks,
}

impl PlantedAborts {
    /// The result of the operation of which a check planted an abort with a message.
    pub fn operation_of(&self, message: Id) -> Option<Id> {
        self.operations.get(&message).copied()
    }

    /// Name of the check that planted an abort with a message. `None`: the application wrote it.
    pub fn check_of(&self, message: Id) -> Option<String> {
        self.checks.get(&message).map(|name| (*name).to_owned())
    }
}
