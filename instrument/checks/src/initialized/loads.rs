//! Checked loads of memory that may be uninitialised.

use super::super::place::Place;
use super::init_bits::InitBits;
use super::layout::BitPlace;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use vkabort_analysis::effects::EffectPoint;
use vkabort_analysis::points_before::PointsBefore;
use vkabort_analysis::view::path::Path;
use vkabort_options::Check;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op};

/// A load.
#[derive(Debug)]
pub(super) struct CheckedLoad<'w> {
    pub(super) block: BlockIndex,
    pub(super) inst: Inst<'w>,
    pub(super) variable: Id,
    /// The bits of the loaded memory. `None`: no checked part of it is ever stored.
    pub(super) bits: Option<BitPlace>,
    /// The places, each with the parts of the loaded value that have an effect there.
    pub(super) points: Vec<(EffectPoint, Vec<CheckedPart>)>,
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
    /// The word with the number of invocations of the workgroup that have ended.
    pub(super) ends: Option<u32>,
    /// The points in front of the stores that set bits in shared memory, and of the checked barriers.
    pub(super) before_stores: PointsBefore,
}

impl UnstoredLoads<'_> {
    /// Whether a load of shared memory is checked.
    pub(crate) fn reads_shared_memory(&self) -> bool {
        self.ends.is_some()
    }

    /// Whether an invocation that fails a check at a place is counted in front of the branch: loads of shared memory are checked, and it may
    /// have had a store to it ahead, or is itself one that reads too early, which another check then explains to the others. Drivers for
    /// CPUs compile each count to a loop.
    pub(crate) fn counts_end(&self, index: &Index<'_>, check: Check, place: &Place<'_>) -> bool {
        let guarded = &place.guarded;
        let is_shared_load = check == Check::Initialized
            && guarded.opcode() == op::Load
            && index.storage_class(index.type_of(guarded.pointer())) == Some(storage_class::Workgroup);
        self.reads_shared_memory() && (is_shared_load || self.before_stores.contains(place.block, place.offset))
    }
}
