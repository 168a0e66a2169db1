//! State that the checks of all functions of a module share.

use super::faults::Faults;
use super::filter::Places;
use super::helper::{Helpers, is_fragment, own_built_in};
use super::message::MessageWriter;
use super::properties::Properties;
use super::states::States;
use super::workgroup::ended::EndedInvocations;
use super::workgroup::layout::shared_spec_ids;
use super::workgroup::shared_words::SharedWords;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_analysis::callgraph::CallGraph;
use vkabort_analysis::loop_nest::LoopNest;
use vkabort_options::{Check, Options};
use vkabort_record::site::ModuleHash;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::edit::runtime_hooks::RuntimeHooks;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, Table};
use vkabort_spirv::op::capability;
use vkabort_spirv::words::{MAX_INST_WORDS, version};
use vkabort_spirv::{Code, Id, Words, op};

/// Constructs in which checks are planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planting {
    Nothing,
    /// Not in continue constructs nor in functions that they call: an invocation that leaves there takes a function more.
    OutsideContinues,
    Everywhere,
}

/// An operation and its check: word offset, check, and kind of the test.
pub(super) type OperationKey = (usize, u32, u32);
/// Components of a vector; `None` for a scalar.
pub(super) type Components = SmallVec<[Option<u32>; 4]>;

const EXTENSION: &str = "SPV_KHR_abort";

/// A module that checks are planted into.
pub(super) struct ModulePlanter<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) options: &'a Options,
    pub(super) planting: Planting,
    /// How a check is planted.
    pub(super) properties: fn(Check) -> Properties,
    pub(super) graph: CallGraph,
    /// Functions that continue constructs call, and their callees.
    pub(super) called_in_continues: Table<FunctionIndex, bool>,
    pub(super) places: Places<'a, 'w>,
    pub(super) out: Emitter,
    pub(super) edits: Edits,
    pub(super) messages: MessageWriter,
    pub(super) planted: PlantedAborts,
    /// Functions that abort for continue constructs.
    pub(super) guards: Code,
    pub(super) helpers: Helpers,
    /// Private variables of checks, by the entry points that reach a use of them.
    pub(super) interfaces: BTreeMap<u32, BTreeSet<Id>>,
    pub(super) shared_words: SharedWords,
    pub(super) ended: EndedInvocations,
    /// What single checks keep.
    pub(super) states: States<'w>,
    /// Faults that travel to their effects.
    pub(super) faults: Faults<'w>,
    /// Whether operations are only collected whose faults travel.
    pub(super) is_collecting: bool,
    /// The components of operations that are tested where they are computed.
    pub(super) tested_at_once: HashMap<OperationKey, Components>,
}

impl<'a, 'w> ModulePlanter<'a, 'w> {
    pub(super) fn new(
        index: &'a Index<'w>,
        (options, properties): (&'a Options, fn(Check) -> Properties),
        planting: Planting,
        hashes: [ModuleHash; 2],
    ) -> Self {
        let graph = CallGraph::new(index);
        Self {
            index,
            options,
            planting,
            properties,
            called_in_continues: match planting {
                Planting::OutsideContinues => {
                    graph.called_in(index, |function| LoopNest::new(index, function).closed_blocks(index))
                }
                _ => Table::default(),
            },
            graph,
            places: Places::new(index, options, hashes),
            out: Emitter::new(index),
            edits: Edits::default(),
            messages: MessageWriter::default(),
            planted: PlantedAborts::default(),
            guards: Code::default(),
            helpers: Helpers::new(index),
            interfaces: BTreeMap::new(),
            shared_words: SharedWords::new(index, options),
            ended: EndedInvocations::default(),
            states: States::default(),
            faults: Faults::default(),
            is_collecting: false,
            tested_at_once: HashMap::default(),
        }
    }

    /// Whether checks are planted into a function: an entry point reaches it, none of an execution model that is skipped, and no continue
    /// construct from which no abort can leave.
    pub(super) fn is_planted(&self, function: FunctionIndex) -> bool {
        let Some(reach) = self.graph.reach.get(function) else {
            return false;
        };
        let is_skipped = |model: &u32| self.options.sanitize.skipped_models.contains(model);
        !reach.entry_points.is_empty()
            && !reach.models.iter().any(is_skipped)
            && !self.called_in_continues.is_set(function)
    }

    /// Lists a private variable in the interfaces of the entry points that reach a function.
    pub(super) fn list_in_interfaces(&mut self, function: FunctionIndex, variable: Id) {
        let entry_points = self.graph.reach.get(function).map(|reach| reach.entry_points.clone());
        for entry in entry_points.into_iter().flatten() {
            self.interfaces.entry(entry).or_default().insert(variable);
        }
    }

    /// The edits of the module; none if nothing was planted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`] if an interface has no room for another variable.
    pub(super) fn finish(mut self) -> Result<(Edits, PlantedAborts)> {
        if self.planted.aborts.is_empty() {
            // Code that prepares checks is not used.
            self.planted.hooks = RuntimeHooks::default();
            return Ok((Edits::default(), self.planted));
        }
        if !self.index.has_capability(capability::AbortKHR) {
            self.out.capability(capability::AbortKHR);
        }
        if !self.index.has_extension(EXTENSION) {
            self.out.extension(EXTENSION);
        }
        self.write_interfaces()?;
        if self.shared_words.is_planted() {
            self.planted.spec_ids = shared_spec_ids(self.index);
        }
        if let Some(block) = &self.shared_words.block {
            self.planted.hooks.area_atomics = block.atomics.to_vec();
            self.planted.hooks.leave = Some(block.leave);
        }
        self.edits.insert(self.index.new_functions(), &self.guards);
        self.out.finish(self.index, &mut self.edits);
        Ok((self.edits, self.planted))
    }

    /// From SPIR-V 1.4 on, an interface lists every global variable that the entry point references (OpEntryPoint), before that
    /// those of inputs and outputs.
    fn write_interfaces(&mut self) -> Result<()> {
        let helpers = self.helpers.write_variable(self.index, &mut self.out, &mut self.edits);
        let shared = self
            .shared_words
            .write(self.index, &mut self.out, &mut self.guards, &mut self.edits);
        let lists_all = self.index.version >= version(1, 4);
        for (number, entry) in (0..).zip(&self.index.entry_points) {
            let mut added: SmallVec<[Id; 6]> = SmallVec::new();
            if let Some(variables) = self.interfaces.get(&number).filter(|_| lists_all) {
                added.extend(variables.iter().copied());
            }
            if let Some((flag, built_in)) = helpers {
                added.extend(
                    (lists_all && (is_fragment(entry) || self.helpers.entry_points.contains(&number))).then_some(flag),
                );
                added.extend(built_in.filter(|_| is_fragment(entry) && own_built_in(self.index, entry).is_none()));
            }
            if let Some((built_ins, others)) = shared.get(&number) {
                added.extend_from_slice(built_ins);
                added.extend(others.iter().copied().filter(|_| lists_all));
            }
            if added.is_empty() {
                continue;
            }
            if entry.inst.words.len() + added.len() > MAX_INST_WORDS {
                let message = format!("the interface of entry point {} is full", entry.function);
                return Err(Error::new(ErrorKind::Limit, "sanitize", None, message));
            }
            let operands = (Words(entry.inst.from(1)), added.as_slice());
            self.edits.replace_by(&entry.inst, op::EntryPoint, operands);
        }
        Ok(())
    }
}
