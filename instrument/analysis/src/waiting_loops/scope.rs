//! A loop or a function, and the shared reads in it.

use super::shared_reads::{Kind, SharedReads};
use crate::view::{ControlDependence, FunctionView};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::op_sets::is_memory_object;
use vkabort_spirv::{Id, Inst, op};

/// The blocks of a loop or a function, in which values are followed.
pub(super) struct Scope<'s, 'a, 'w> {
    pub(super) view: &'s FunctionView<'a, 'w>,
    pub(super) shared: &'s SharedReads<'a, 'w>,
    pub(super) control: ControlDependence,
    /// Plain loads count as shared reads.
    pub(super) synchronizes: bool,
    /// Stores to memory that the view does not follow, by variable: stored values and blocks. A call with a pointer into it counts as
    /// a store of the call's result.
    pub(super) stores: HashMap<Id, Vec<(Id, BlockIndex)>>,
    /// Private variables that only callees access, in which some leave shared reads: one function that does, and whether others do.
    left: HashMap<Id, (Id, bool)>,
}

impl<'s, 'a, 'w> Scope<'s, 'a, 'w> {
    /// O(instructions of the blocks).
    pub(super) fn new(
        view: &'s FunctionView<'a, 'w>,
        shared: &'s SharedReads<'a, 'w>,
        control: ControlDependence,
        synchronizes: bool,
    ) -> Self {
        let mut stores: HashMap<Id, Vec<(Id, BlockIndex)>> = HashMap::default();
        let mut add = |pointer: Id, value: Id, block: BlockIndex| {
            let variable = shared.memory.pointers.base(pointer);
            if view.accesses.place(pointer).is_none() && is_memory_object(view.index.opcode(variable)) {
                stores.entry(variable).or_default().push((value, block));
            }
        };
        let mut callees = BTreeSet::new();
        for number in control.blocks() {
            let Some(block) = view.index.blocks.get(*number) else {
                continue;
            };
            for inst in view.index.body(block) {
                match inst.opcode() {
                    op::Store => add(inst.pointer(), inst.stored_value(), *number),
                    op::FunctionCall => {
                        callees.insert(inst.callee());
                        inst.ids(4).for_each(|argument| add(argument, inst.result(), *number));
                    }
                    _ => {}
                }
            }
        }
        let is_own = |variable| view.accesses.place(variable).is_some();
        let mut left: HashMap<Id, (Id, bool)> = HashMap::default();
        for callee in callees {
            let private = shared.result(callee).map(|results| &results.private);
            for variable in private.into_iter().flatten().filter(|variable| !is_own(**variable)) {
                let (first, more) = left.entry(*variable).or_insert((callee, false));
                *more |= *first != callee;
            }
        }
        Self {
            view,
            shared,
            control,
            synchronizes,
            stores,
            left,
        }
    }

    /// Whether an instruction reads memory that other invocations write, itself or in a callee.
    pub(super) fn is_read(&self, inst: &Inst<'_>) -> bool {
        let gets = |callee| {
            let reads = self.shared.view.summary_of(callee).map(|summary| &summary.reads);
            let mut left = reads
                .into_iter()
                .flatten()
                .filter_map(|variable| self.left.get(variable));
            self.shared.returns(callee) || left.any(|(first, more)| *first != callee || *more)
        };
        self.shared.memory.reads(inst)
            || self.synchronizes && self.shared.has(Kind::PlainLoad, inst)
            || inst.opcode() == op::FunctionCall && gets(inst.callee())
    }
}
