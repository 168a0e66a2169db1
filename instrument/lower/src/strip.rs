//! Removes lowered capabilities and extensions, and definitions that only aborts used.
//!
//! ```text
//! Capability AbortKHR, ConstantDataKHR, PoisonFreezeKHR     removed, and their extensions
//! Capability Int8                                           removed with the last 8-bit type
//! %t = TypeStruct .., %m = CompositeConstruct %t ..         removed if only an abort used them
//! Decorate %array UTFEncodedKHR                             removed
//! ExtInst %debug DebugFunctionDefinition ..                 removed
//! ExtInst %debug DebugValue .. %expression                  removed if the expression has an operation
//! ```
//!
//! Without `Int8`, messages with strings run on devices without the feature `shaderInt8`. SwiftShader ends the process on a
//! `DebugFunctionDefinition`, and on a `DebugValue` behind a pointer (the operation `Deref`, as spirv-opt writes it), in a function
//! that is not an entry point, as every function of the application is once its aborts are lowered. Site tables are built before,
//! and no other instruction refers to these.
//!
//! Phases: (1) capabilities and extensions are removed; (2) dead definitions are found: the ids that lost a use and their
//! operands, transitively, less everything that the rest of the module or the inserted words use; (3) they and their
//! annotations are removed.
//!
//! Not handled: definitions that the application left unused stay, since only ids that lost a use are candidates.

use std::ops::Range;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::annotations::remove_annotations;
use vkabort_spirv::index::Index;
use vkabort_spirv::lowered::{self, Feature, LoweredFeatures};
use vkabort_spirv::op::capability;
use vkabort_spirv::op_sets::is_type_or_constant;
use vkabort_spirv::words::Insts;
use vkabort_spirv::{Id, Inst, op, operands};

/// Words that are not yet part of the edits, and whose operands stay.
#[derive(Clone, Copy, Default)]
struct LateWords<'a> {
    /// Words to be inserted later.
    declarations: &'a [u32],
    /// Ids that other words to be inserted use.
    used: &'a [Id],
}

/// Strips the module that `edits` make of `index`, adding to them. The ids in `maybe_dead` have lost a use; constant data may
/// have. `declarations` are words to be inserted later, and `used` are ids that other words to be inserted use. Returns
/// whether the module still uses constant data.
pub(crate) fn strip(
    index: &Index<'_>,
    maybe_dead: &[Id],
    edits: &mut Edits,
    declarations: &[u32],
    used: &[Id],
) -> bool {
    let late = LateWords { declarations, used };
    strip_edited(index, LoweredFeatures::ALL, maybe_dead, edits, late)
}

/// Like [`strip`], but a module without edits, and only `features`; the rest of the module may use the others.
pub fn strip_features(index: &Index<'_>, features: LoweredFeatures) -> (Edits, bool) {
    let mut edits = Edits::default();
    let uses_data = strip_edited(index, features, &[], &mut edits, LateWords::default());
    (edits, uses_data)
}

fn strip_edited(
    index: &Index<'_>,
    features: LoweredFeatures,
    maybe_dead: &[Id],
    edits: &mut Edits,
    late: LateWords<'_>,
) -> bool {
    // Phase 1.
    for inst in index.capabilities.iter().chain(&index.extensions) {
        if lowered::is_removed(features, inst.opcode(), inst.from(1)) {
            edits.remove_inst(inst);
        }
    }
    if !features.contains(Feature::ConstantData) {
        return false;
    }
    let has_data = index.has_capability(capability::ConstantDataKHR);
    let data = index.constant_data.iter().filter(|_| has_data);
    // Phase 2.
    let unneeded = data.clone().copied().chain(index.fragile_debug_insts());
    let candidates = maybe_dead.iter().copied().chain(unneeded.map(|inst| inst.result()));
    let dead = DeadDefinitions::find(index, candidates.collect(), edits, late);
    // Phase 3.
    dead.remove(index, edits);
    remove_annotations(index, |id| dead.is_dead(id), edits);
    // Passes declare no 8-bit types, so the index has all of them.
    if index.byte_types.iter().all(|ty| dead.is_dead(*ty)) {
        let bytes = index.capabilities.iter().filter(|i| i.capability() == capability::Int8);
        bytes.for_each(|inst| edits.remove_inst(inst));
    }
    data.into_iter().any(|i| !dead.is_dead(i.result()))
}

/// Definitions that only dead definitions use.
struct DeadDefinitions {
    /// By id.
    is_dead: Vec<bool>,
    /// The candidates in the order of their discovery, including those found to be used since.
    candidates: Vec<Id>,
    /// The lowest dead id, and the distance of the highest one from it.
    first: u32,
    span: u32,
    /// Worklist: former candidates that are used, whose operands are therefore used too.
    used: Vec<Id>,
}

impl DeadDefinitions {
    /// The candidates and their operands, less what the rest of the module and the inserted words use. O(words of the
    /// module).
    fn find(index: &Index<'_>, candidates: Vec<Id>, edits: &Edits, late: LateWords<'_>) -> Self {
        let removed = edits.removed();
        let mut dead = Self {
            is_dead: vec![false; index.bound as usize],
            candidates: Vec::with_capacity(candidates.len() * 4),
            first: u32::MAX,
            span: 0,
            used: Vec::new(),
        };
        dead.add_candidates(index, candidates, &removed);
        late.used.iter().for_each(|id| dead.keep(*id));
        for inserted in [edits.inserted(), late.declarations] {
            dead.keep_transitively(index);
            let mut insts = Insts::new(inserted, 0);
            while let Some(inst) = dead.next_possible_use(inserted, &mut insts) {
                dead.keep_operands(index, &inst);
            }
        }
        // A name or decoration does not use its target, but decorations and execution modes use their id operands. No other
        // instruction before the declarations uses a candidate.
        index
            .execution_modes
            .iter()
            .for_each(|mode| dead.keep_operands(index, mode));
        for inst in &index.decorate_ids {
            inst.ids(3).for_each(|operand| dead.keep(operand));
        }
        // A constant decorated WorkgroupSize is used by that decoration alone.
        let built_ins = index.decorations.iter().filter(|d| d.kind == op::decoration::BuiltIn);
        built_ins.for_each(|d| dead.keep(d.target));
        dead.keep_transitively(index);
        let mut insts = Insts::new(index.words, index.globals_start());
        while let Some(inst) = dead.next_possible_use(index.words, &mut insts) {
            // Removed and dead instructions do not use their operands.
            if !dead.is_dead(inst.result()) && !contains(&removed, &inst) {
                dead.keep_operands(index, &inst);
            }
        }
        dead.keep_transitively(index);
        dead
    }

    /// Keeps the operands of kept definitions, and updates the range of dead ids.
    fn keep_transitively(&mut self, index: &Index<'_>) {
        while let Some(id) = self.used.pop() {
            if let Some(inst) = index.def(id) {
                self.keep_operands(index, &inst);
            }
        }
        let (first, last) = self
            .dead_ids()
            .map(Id::word)
            .fold((u32::MAX, 0), |(first, last), id| (first.min(id), last.max(id)));
        (self.first, self.span) = (first, last.saturating_sub(first));
    }

    /// Adds the removable definitions of a worklist and of their operands, transitively.
    fn add_candidates(&mut self, index: &Index<'_>, mut worklist: Vec<Id>, removed: &[Range<u32>]) {
        while let Some(id) = worklist.pop() {
            let Some(slot) = self.is_dead.get_mut(id.index()).filter(|dead| !**dead) else {
                continue;
            };
            let removable = index
                .def(id)
                .filter(|inst| is_removable(index, inst) && !contains(removed, inst));
            let Some(inst) = removable else { continue };
            *slot = true;
            self.candidates.push(id);
            operands::visit_ids(&inst, 1, |i| worklist.push(inst.id(i)));
        }
    }

    /// The next of `insts`, the instructions of `words`, with a word that may be a dead id. Few have one, so this searches the
    /// words first and then the instruction that holds the word found.
    fn next_possible_use<'w>(&self, words: &'w [u32], insts: &mut Insts<'w>) -> Option<Inst<'w>> {
        let rest = words.get(insts.offset()..)?;
        insts.holding(insts.offset() + self.position(rest)?)
    }

    /// Position of the first word that may be a dead id. Compilers number related definitions consecutively, so a comparison
    /// with the range of dead ids rules out most words, several at a time.
    fn position(&self, words: &[u32]) -> Option<usize> {
        const WORDS: usize = 8;
        let mut chunks = words.chunks_exact(WORDS);
        let in_range = |word: &u32| word.wrapping_sub(self.first) <= self.span;
        let position = |words: &[u32]| words.iter().position(|word| self.is_dead(Id::new(*word)));
        for (number, chunk) in chunks.by_ref().enumerate() {
            if chunk.iter().fold(false, |any, word| any | in_range(word))
                && let Some(found) = position(chunk)
            {
                return Some(number * WORDS + found);
            }
        }
        let rest = chunks.remainder();
        Some(words.len() - rest.len() + position(rest)?)
    }

    fn keep_operands(&mut self, index: &Index<'_>, inst: &Inst<'_>) {
        let has_known_operands = operands::visit_ids(inst, index.selector_words(inst), |i| self.keep(inst.id(i)));
        if !has_known_operands {
            // Any word may be an id.
            inst.ids(1).for_each(|word| self.keep(word));
        }
    }

    fn keep(&mut self, id: Id) {
        if let Some(slot) = self.is_dead.get_mut(id.index()).filter(|dead| **dead) {
            *slot = false;
            self.used.push(id);
        }
    }

    fn is_dead(&self, id: Id) -> bool {
        self.is_dead.get(id.index()) == Some(&true)
    }

    fn dead_ids(&self) -> impl Iterator<Item = Id> {
        self.candidates.iter().copied().filter(|id| self.is_dead(*id))
    }

    fn remove(&self, index: &Index<'_>, edits: &mut Edits) {
        for inst in self.dead_ids().filter_map(|id| index.def(id)) {
            edits.remove_inst(&inst);
        }
    }
}

/// Whether an instruction begins in one of the ranges, sorted by start.
fn contains(ranges: &[Range<u32>], inst: &Inst<'_>) -> bool {
    let offset = inst.offset as u32;
    let after = ranges.partition_point(|range| range.start <= offset);
    let last = after.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| range.contains(&offset))
}

/// Whether an instruction has no effect but its result.
fn is_removable(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let value = matches!(
        inst.opcode(),
        op::CompositeConstruct
            | op::CompositeExtract
            | op::CopyObject
            | op::CopyLogical
            | op::AccessChain
            | op::InBoundsAccessChain
            | op::Undef
    );
    let load = inst.opcode() == op::Load && inst.load_access() & op::memory_operands::VOLATILE == 0;
    value || load || is_type_or_constant(inst.opcode()) || index.is_fragile_debug_inst(inst)
}
