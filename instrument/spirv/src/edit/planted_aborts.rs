//! Table of the aborts that checks have planted.

use super::runtime_hooks::RuntimeHooks;
use crate::Id;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use vkabort_record::shared_access::SharedAccess;
use vkabort_record::site::Frame;

/// How the invocations of an abort leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaving {
    #[default]
    Anyhow,
    /// Behind a branch that is rarely taken, which has no further one at the exit.
    BehindBranch,
    /// They may not come to the end of their entry point.
    MayWait,
}

/// An abort that a check has planted.
#[derive(Debug)]
pub struct PlantedAbort {
    /// Name of the check.
    pub check: &'static str,
    /// The result of the operation that the check is of, whose position is that of the site.
    pub operation: Option<Id>,
    pub leaving: Leaving,
    /// Whether the message names one of [`PlantedAborts::faults`].
    pub is_of_faults: bool,
    /// Where the fault of the operation has its effect, if that is elsewhere.
    pub used_in: Option<Frame>,
}

/// An operation whose fault travels to aborts whose messages name its number.
#[derive(Debug)]
pub struct PlantedFault {
    /// Its result.
    pub operation: Id,
    /// See [`SiteFault`](vkabort_record::site::SiteFault), also of the following.
    pub parts: u32,
    pub check: &'static str,
    pub text: String,
    pub numbers: Vec<u32>,
}

/// Planted aborts, by ids that later passes keep until the sites are numbered.
#[derive(Debug, Default)]
pub struct PlantedAborts {
    /// The aborts, by their messages. Any other abort is the application's.
    pub aborts: HashMap<Id, PlantedAbort>,
    /// Functions that only test a condition and abort, each called once. The sites of their aborts are at the call.
    pub guards: HashSet<Id>,
    /// The operations that messages name, by the numbers of their first parts.
    pub faults: BTreeMap<u32, PlantedFault>,
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
