//! Words of the checks in shared memory, which are 0 when the code of an entry point begins.
//!
//! ```text
//! %vkabort_shadow = Variable Workgroup            an array of words
//! %vkabort_invocation, %vkabort_workgroup_size = Variable Private
//!
//! entry point: FunctionCall %vkabort_begin
//!
//! void vkabort_begin()
//!     vkabort_invocation = gl_LocalInvocationIndex, vkabort_workgroup_size = ..
//!     for (i = vkabort_invocation; i < words; i += vkabort_workgroup_size) atomicStore(vkabort_shadow[i], 0)
//!     ControlBarrier Workgroup Workgroup AcquireRelease|WorkgroupMemory
//! ```
//!
//! A check reserves words before it plants code that uses them, and names the entry points that reach the code. The words are
//! accessed by atomics only, so that the barrier is enough under every memory model. Modules with an explicit layout of shared
//! memory (`SPV_KHR_workgroup_memory_explicit_layout`) have no room for it, since their blocks share one memory.

use super::super::steps::write_steps;
use super::block::ShadowBlock;
use super::layout::shared_bytes;
use super::size::{MESH_MODELS, WorkgroupSize};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_analysis::callgraph::Reach;
use vkabort_options::Options;
use vkabort_runtime::{AddedBuiltIns, EntryInterface, load_local_index, load_number};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{built_in, capability, memory_semantics, scope, storage_class};
use vkabort_spirv::{Code, Id, op};

/// Bytes of shared memory that task and mesh shaders may have beside the largest payload: `maxMeshPayloadAndSharedMemorySize` and
/// `maxTaskPayloadSize` are at least 28,672 and 16,384.
const MESH_SHARED_BYTES: u32 = 12 << 10;

/// The variable takes a multiple of these words. Where it comes first, the program's arrays are as aligned as without it: loads of
/// cooperative matrices need rows that are aligned to 16 bytes (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986), and drivers align an
/// array of `uvec2` to 8 bytes behind it.
const ALIGNED_WORDS: u32 = 4;

/// Words of the checks in shared memory, and variables that identify an invocation in its workgroup.
#[derive(Debug)]
pub(crate) struct SharedWords {
    variable: Option<Id>,
    words: u32,
    /// Words that shared memory has room for.
    room: u32,
    /// Words in device memory.
    pub(crate) block: Option<ShadowBlock>,
    /// Why there is not more.
    pub(crate) obstacle: &'static str,
    /// Private variables: LocalInvocationIndex, the invocations of the workgroup, and SubgroupId.
    invocation: Option<Id>,
    size: Option<Id>,
    subgroup: Option<Id>,
    /// Functions that the entry points call at their start, behind the barrier.
    pub(crate) starts: Vec<Id>,
    /// Variables that the code uses.
    pub(crate) globals: Vec<Id>,
    /// The entry points that reach a use.
    entry_points: BTreeSet<u32>,
}

impl SharedWords {
    pub(crate) fn new(index: &Index<'_>, options: &Options) -> Self {
        let is_explicit = index.has_capability(capability::WorkgroupMemoryExplicitLayoutKHR);
        let used = shared_bytes(index, options).filter(|_| !is_explicit);
        let has_meshes = index
            .entry_points
            .iter()
            .any(|entry| MESH_MODELS.contains(&entry.model));
        let all = options
            .sanitize
            .shared_memory
            .min(if has_meshes { MESH_SHARED_BYTES } else { u32::MAX });
        let room = used.and_then(|used| all.checked_sub(used));
        Self {
            variable: None,
            words: 0,
            room: room.unwrap_or(0) / (4 * ALIGNED_WORDS) * ALIGNED_WORDS,
            block: None,
            obstacle: match used {
                _ if is_explicit => "shared memory is laid out explicitly",
                None => "the size of shared memory depends on specialisation constants",
                Some(_) => "shared memory has no room",
            },
            invocation: None,
            size: None,
            subgroup: None,
            starts: Vec::new(),
            globals: Vec::new(),
            entry_points: BTreeSet::new(),
        }
    }

    /// Whether the module gets words, so that its code depends on the size of its shared memory.
    pub(crate) fn is_planted(&self) -> bool {
        self.variable.is_some() || self.block.is_some()
    }

    /// Words that can be reserved yet.
    pub(crate) fn room(&self) -> u32 {
        self.room
    }

    /// Reserves words. Returns the first one. `None` if there is no room.
    pub(crate) fn reserve(&mut self, words: u32) -> Option<u32> {
        self.room = self.room.checked_sub(words)?;
        let first = self.words;
        self.words += words;
        Some(first)
    }

    /// Reserves the word behind all others for the number of the block. Returns whether there is room.
    pub(crate) fn reserve_number(&mut self) -> bool {
        let left = self.room.checked_sub(1);
        self.room = left.unwrap_or(0);
        left.is_some()
    }

    /// Marks the words and variables as used by the entry points that reach a function.
    pub(crate) fn mark_used(&mut self, reach: &Reach) {
        self.entry_points.extend(&reach.entry_points);
    }

    /// The variable with the words.
    pub(crate) fn variable(&mut self, out: &mut Emitter) -> Id {
        *self.variable.get_or_insert_with(|| out.fresh())
    }

    /// Writes the pointer to a word, whose number is below those reserved.
    pub(crate) fn word(&mut self, out: &mut Emitter, number: Id) -> Id {
        let variable = self.variable(out);
        Self::word_of(out, variable, number)
    }

    /// [`Self::word`] of the variable.
    pub(crate) fn word_of(out: &mut Emitter, variable: Id, number: Id) -> Id {
        let uint = out.uint();
        let pointer = out.pointer(storage_class::Workgroup, uint);
        out.emit(op::AccessChain, pointer, (variable, number))
    }

    /// The private variable with LocalInvocationIndex.
    pub(crate) fn invocation(&mut self, out: &mut Emitter) -> Id {
        Self::number(&mut self.invocation, out, "vkabort_invocation")
    }

    /// The private variable with the number of invocations of the workgroup.
    pub(crate) fn size(&mut self, out: &mut Emitter) -> Id {
        Self::number(&mut self.size, out, "vkabort_workgroup_size")
    }

    /// The private variable with SubgroupId. The module has the capability for it.
    pub(crate) fn subgroup(&mut self, out: &mut Emitter) -> Id {
        Self::number(&mut self.subgroup, out, "vkabort_subgroup")
    }

    fn number(variable: &mut Option<Id>, out: &mut Emitter, name: &str) -> Id {
        *variable.get_or_insert_with(|| {
            let (uint, zero) = (out.uint(), out.constant(0));
            let variable = out.private(uint, zero);
            out.name(variable, name);
            variable
        })
    }

    /// Writes the start of the entry points. Returns the additions to their interfaces: built-ins, and other variables.
    pub(crate) fn write(
        &mut self,
        index: &Index<'_>,
        out: &mut Emitter,
        functions: &mut Code,
        edits: &mut Edits,
    ) -> BTreeMap<u32, (SmallVec<[Id; 6]>, Vec<Id>)> {
        let mut interfaces = BTreeMap::new();
        if self.entry_points.is_empty() {
            return interfaces;
        }
        self.invocation(out);
        self.size(out);
        if let Some(block) = &self.block {
            self.globals.push(block.variable);
        }
        self.declare(out);
        let (mut added, mut written) = (AddedBuiltIns::new(), BTreeMap::new());
        for number in std::mem::take(&mut self.entry_points) {
            let Some(entry) = index.entry_points.get(number as usize).copied() else {
                continue;
            };
            let Some(size) = WorkgroupSize::of(index, entry.function) else {
                continue;
            };
            let mut interface = EntryInterface {
                entry,
                number,
                workgroup_size: size.fixed(index),
                added: SmallVec::new(),
            };
            // Entry points of one stage that share a function have the same built-ins.
            let (mut code, void) = (Code::default(), out.void());
            let begin = out.function(&mut code, "vkabort_begin", (void, &[]), |out, entry, _| {
                self.write_begin(index, &mut interface, (size, entry), &mut added, out);
                None
            });
            let function = index.function_of(entry.function).and_then(|f| index.functions.get(f));
            let start = function.and_then(|function| index.after_variables(function));
            if let (Some(start), false) = (start, written.contains_key(&entry.function)) {
                written.insert(entry.function, begin);
                functions.append(&code);
                out.emit(op::FunctionCall, void, begin);
                out.place(|code| edits.insert_ranked(start, Rank::Entry, code));
            }
            let own = [self.variable, self.invocation, self.size, self.subgroup];
            let all = own.into_iter().flatten().chain(self.globals.iter().copied());
            interfaces.insert(number, (interface.added, all.collect()));
        }
        interfaces
    }

    fn declare(&mut self, out: &mut Emitter) {
        let has_number = self.block.as_ref().is_some_and(|block| block.passes_by_word());
        if has_number {
            self.variable(out);
        }
        let Some(variable) = self.variable else { return };
        let words = self.words + u32::from(has_number);
        let (uint, length) = (out.uint(), out.constant(words.next_multiple_of(ALIGNED_WORDS)));
        let array = out.array(uint, length);
        out.variable_as(variable, storage_class::Workgroup, array, None);
        out.name(variable, "vkabort_shadow");
    }

    /// Writes the body of the function `vkabort_begin` of an entry point, behind the label `entry`.
    fn write_begin(
        &mut self,
        index: &Index<'_>,
        interface: &mut EntryInterface<'_>,
        (size, entry): (WorkgroupSize, Id),
        added: &mut AddedBuiltIns,
        out: &mut Emitter,
    ) {
        let (void, zero) = (out.void(), out.constant(0));
        let local = load_local_index(index, interface, added, out);
        let local = local.first().copied().unwrap_or(zero);
        let count = size.write(index, out);
        let variables = [(self.invocation, local), (self.size, count)];
        for (variable, value) in variables
            .into_iter()
            .filter_map(|(variable, value)| Some((variable?, value)))
        {
            out.op(op::Store, (variable, value));
        }
        if let Some(variable) = self.subgroup {
            let subgroup = load_number(index, interface, added, built_in::SubgroupId, out);
            out.op(op::Store, (variable, subgroup.first().copied().unwrap_or(zero)));
        }
        if self.words > 0 {
            let is_one_step = size.invocations().is_some_and(|count| count >= self.words);
            self.write_zeros(out, entry, local, (!is_one_step).then_some(count));
        }
        let claimed = self.block.as_ref().map(|block| {
            let word = self.variable.filter(|_| block.passes_by_word()).map(|variable| {
                let number = out.constant(self.words);
                Self::word_of(out, variable, number)
            });
            block.write_claim(index, out, local, word)
        });
        if self.is_planted() {
            let workgroup = out.constant(scope::Workgroup);
            let semantics = out.constant(memory_semantics::ACQUIRE_RELEASE | memory_semantics::WORKGROUP_MEMORY);
            out.op(op::ControlBarrier, (workgroup, workgroup, semantics));
        }
        if let Some((block, claimed)) = self.block.as_ref().zip(claimed) {
            block.write_clear(index, out, claimed, (local, count));
        }
        for start in &self.starts {
            out.emit(op::FunctionCall, void, *start);
        }
    }

    /// Stores 0 to the word `first` and, if `step` is given, to those at each step behind it.
    fn write_zeros(&mut self, out: &mut Emitter, before: Id, first: Id, step: Option<Id>) {
        let (zero, words) = (out.constant(0), out.constant(self.words));
        write_steps(out, before, (first, words, step), |out, at| {
            let word = self.word(out, at);
            let workgroup = out.constant(scope::Workgroup);
            out.op(op::AtomicStore, (word, workgroup, zero, zero));
        });
    }
}
