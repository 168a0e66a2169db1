//! Checked loads of memory that may be uninitialised.

use super::init_bits::InitBits;
use super::layout::BitPlace;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use vkabort_analysis::view::path::Path;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::{Id, Inst};

/// A load.
#[derive(Clone, Debug)]
pub(super) struct CheckedLoad<'w> {
    pub(super) block: BlockIndex,
    pub(super) inst: Inst<'w>,
    pub(super) variable: Id,
    /// The bits of the loaded memory. `None`: no checked part of it is ever stored.
    pub(super) bits: Option<BitPlace>,
    /// The parts of the loaded value that are certain to have an effect.
    pub(super) at_once: Vec<CheckedPart>,
    /// The other parts, whose faults travel.
    pub(super) travelling: Vec<CheckedPart>,
}

/// A scalar of a loaded value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CheckedPart {
    pub(super) path: Path,
    /// Its bit, relative to the first bit of the load. `None`: nothing has stored it when the load is executed.
    pub(super) bit: Option<u32>,
}

/// The loads that are checked, and the bits of their variables.
#[derive(Debug, Default)]
pub(crate) struct UnstoredLoads<'w> {
    pub(super) loads: BTreeMap<FunctionIndex, Vec<CheckedLoad<'w>>>,
    pub(super) init_bits: HashMap<Id, InitBits>,
    /// The word with the number of invocations of the workgroup that have ended, if loads of shared memory are checked.
    pub(super) ends: Option<u32>,
}
