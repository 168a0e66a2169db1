//! The order of the passes, and the result of a rewrite.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::spec_constants;
use crate::analysis::waiting_loops::WaitingLoops;
use crate::edit::Edits;
use crate::error::{Error, ErrorKind, Result};
use crate::lowered::{Feature, scan};
use crate::options::Options;
use crate::pass::site_numbering::SiteOperand;
use crate::pass::{abort, constant_data, loop_normalize, outline, poison, reconverge, site_numbering, strip};
use crate::spv::Id;
use crate::spv::op::addressing_model;
use crate::spv::words::header;
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::Xxh3Default;

/// Limit on rounds of `loop_normalize` and `outline`: one of each for every level of loops nested in continue constructs.
const MAX_ROUNDS: u32 = 256;

/// The result of a rewrite.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The module declares none of the capabilities that [`Options::lowers`] selects. Use it unchanged.
    Unchanged,
    /// The module was rewritten.
    Instrumented(Instrumented),
}

/// A rewritten module.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrumented {
    /// The new module.
    pub words: Vec<u32>,
    /// Hash of the original module, as in records.
    pub module_hash: ModuleHash,
    /// Its abort sites.
    pub sites: SiteTable,
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module, which the new module lacks. A pipeline that specialises one of
    /// them needs another rewrite with all its constants in `Options::specialization`.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that lengths of constant data depend on. A pipeline that specialises one of them needs
    /// another rewrite too.
    pub length_spec_ids: Vec<u32>,
    /// `SpecId` of the added constant that records carry: the key of the pipeline's specialisation. `None` if the module has no
    /// other constants to specialise.
    pub key_spec_id: Option<u32>,
}

/// Called after each pass with its name and the words of the module.
pub type AfterPass<'a> = dyn FnMut(&'static str, &[u32]) + 'a;
/// Stores words where the device can read them, and returns their device address.
pub type Place<'a> = dyn FnMut(&[u32]) -> Option<u64> + 'a;

/// Functions that a rewrite calls, if they are set.
#[derive(Default)]
pub struct Hooks<'a> {
    /// Between passes a module may contain `OpAbortKHR` with a third operand, the site number.
    pub after_pass: Option<&'a mut AfterPass<'a>>,
    /// Stores the words of large constant data. The address must be a multiple of 4. Data without an address becomes a
    /// constant, which many drivers take minutes to compile.
    pub place: Option<&'a mut Place<'a>>,
}

/// Runs the passes on one module.
pub(crate) struct Pipeline<'a, 'h> {
    pub(crate) options: &'a Options,
    pub(crate) hooks: Hooks<'h>,
}

impl Pipeline<'_, '_> {
    pub(crate) fn run(self, original: &[u32]) -> Result<Outcome> {
        let mut spec_ids = constant_data::SpecIds::default();
        self.run_passes(original, &mut spec_ids).map_err(|error| Error {
            is_specializable: !spec_ids.is_empty(),
            ..error
        })
    }

    fn run_passes(mut self, original: &[u32], spec_ids: &mut constant_data::SpecIds) -> Result<Outcome> {
        header(original)?;
        let declared = scan(original);
        let mut lowers = self.options.lowers;
        if lowers.contains(Feature::Abort) {
            // Messages contain constant data.
            lowers = lowers.with(Feature::ConstantData);
        }
        let features = declared.and(lowers);
        if features.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        let mut sites = SiteTable {
            module_hash: module_hash(original, self.options),
            ..SiteTable::default()
        };
        let mut index = Index::new(original)?;
        check(&index)?;
        let offsets: Vec<usize> = index.aborts().collect();
        if declared.contains(Feature::Abort) && !features.contains(Feature::Abort) {
            let graph = CallGraph::new(&index);
            match site_numbering::build_sites(&index, &graph, self.options, sites.module_hash, &offsets) {
                Ok(built) => sites = built,
                // The driver may support more than the layer decodes.
                Err(error) => sites.warnings.push(format!("messages cannot be decoded: {error}")),
            }
        }
        let specialized;
        if features.contains(Feature::ConstantData) {
            *spec_ids = constant_data::spec_ids(&index);
            if !spec_ids.is_empty() {
                let edits = constant_data::specialize(&index, self.options)?;
                specialized = self.apply("constant_data", edits, original)?;
                index = index_again(&specialized)?;
            }
        }
        let unpoisoned;
        if features.contains(Feature::PoisonFreeze) {
            let is_original = std::ptr::eq(index.words, original);
            let edits = poison::lower(&index).map_err(|e| if is_original { e } else { without_offset(e) })?;
            unpoisoned = self.apply("poison", edits, index.words)?;
            index = index_again(&unpoisoned)?;
        }
        let (mut words, uses_constant_data);
        let mut key_spec_id = None;
        if features.contains(Feature::Abort) {
            key_spec_id = spec_constants::key_spec_id(&index);
            (words, uses_constant_data) = self.lower_aborts(index, &offsets, &mut sites)?;
        } else {
            let mut edits = Edits::default();
            uses_constant_data = strip::strip_features(&index, lowers, &[], &mut edits, (&[], &[]));
            words = self.apply("strip", edits, index.words)?;
        }
        if uses_constant_data {
            // Constant data that only messages used is gone; the rest becomes ordinary constants.
            let place = |words: &[u32]| self.hooks.place.as_mut().and_then(|place| place(words));
            let edits = constant_data::lower(&index_again(&words)?, place).map_err(without_offset)?;
            words = self.apply("constant_data", edits, &words)?;
        }
        Ok(Outcome::Instrumented(Instrumented {
            words,
            module_hash: sites.module_hash,
            sites,
            data_spec_ids: std::mem::take(&mut spec_ids.data),
            length_spec_ids: std::mem::take(&mut spec_ids.lengths),
            key_spec_id,
        }))
    }

    /// Describes the aborts, brings loops into a form that invocations can leave, round by round, and lowers the aborts.
    /// Most modules have no such loop and are rewritten in one round. True if constant data is still used.
    fn lower_aborts(&mut self, index: Index<'_>, offsets: &[usize], sites: &mut SiteTable) -> Result<(Vec<u32>, bool)> {
        let options = self.options;
        let plan = ExitPlan::new(&index, options, &WaitingLoops::default());
        *sites = site_numbering::build_sites(&index, &plan.graph, options, sites.module_hash, offsets)?;
        let mut edits = loop_normalize::normalize(&index, &plan);
        if edits.is_empty() && !outline::is_needed(&index, &plan) {
            let lowered = abort::lower(&index, &plan, options, sites, SiteOperand::InOrder)?;
            let headers = plan.polled_headers(&index);
            let words = index.words;
            // An index is about as large as its module: none outlives its use.
            drop((index, plan));
            return self.leave(lowered, &headers, words, &mut sites.warnings);
        }
        edits.append(&site_numbering::mark(&index));
        let waiting_loops = plan.waiting_loops(&index);
        let mut words = self.apply("loop_normalize", edits, index.words)?;
        drop((index, plan));
        let mut outlined: HashSet<Id> = HashSet::default();
        for _ in 0..MAX_ROUNDS {
            let index = index_again(&words)?;
            let plan = ExitPlan::new(&index, options, &waiting_loops);
            let edits = loop_normalize::normalize(&index, &plan);
            if !edits.is_empty() {
                drop((index, plan));
                words = self.apply("loop_normalize", edits, &words)?;
                continue;
            }
            let edits = outline::outline(&index, &plan, &mut outlined).map_err(without_offset)?;
            if !edits.is_empty() {
                drop((index, plan));
                words = self.apply("outline", edits, &words)?;
                continue;
            }
            let lowered = abort::lower(&index, &plan, options, sites, SiteOperand::Marked)?;
            let headers = plan.polled_headers(&index);
            drop((index, plan));
            return self.leave(lowered, &headers, &words, &mut sites.warnings);
        }
        Err(Error::new(
            ErrorKind::Limit,
            "outline",
            None,
            "loops are nested too deeply in continue constructs",
        ))
    }

    /// Applies the lowering, then lets invocations that leave meet the others in front of waiting loops, whose headers have
    /// the labels `headers`.
    fn leave(
        &mut self,
        lowered: abort::Lowered,
        headers: &HashSet<Id>,
        words: &[u32],
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<u32>, bool)> {
        let abort::Lowered {
            edits,
            uses_constant_data,
            exits,
            flag,
        } = lowered;
        let mut words = self.apply("abort", edits, words)?;
        if let Some(flag) = flag {
            let (edits, warning) = reconverge::reconverge(&index_again(&words)?, flag, &exits, headers);
            warnings.extend(warning);
            if !edits.is_empty() {
                words = self.apply("reconverge", edits, &words)?;
            }
        }
        Ok((words, uses_constant_data))
    }

    fn apply(&mut self, pass: &'static str, edits: Edits, words: &[u32]) -> Result<Vec<u32>> {
        let words = edits.apply(words, pass)?;
        if let Some(after_pass) = &mut self.hooks.after_pass {
            after_pass(pass, &words);
        }
        Ok(words)
    }
}

/// The site table of a module that is not rewritten. `None` if it declares no aborts.
pub(crate) fn sites(original: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    header(original)?;
    if !scan(original).contains(Feature::Abort) {
        return Ok(None);
    }
    let index = Index::new(original)?;
    check(&index)?;
    let hash = module_hash(original, options);
    let offsets: Vec<usize> = index.aborts().collect();
    let graph = CallGraph::new(&index);
    site_numbering::build_sites(&index, &graph, options, hash, &offsets).map(Some)
}

/// The index of a module that a pass has changed.
fn index_again(words: &[u32]) -> Result<Index<'_>> {
    Index::new(words).map_err(without_offset)
}

/// Removes the offset: it is not one of the original module.
fn without_offset(error: Error) -> Error {
    Error { offset: None, ..error }
}

/// XXH3 of the words as little-endian bytes, then of the specialisation data if there is any: the same words with other
/// data decode differently.
pub(crate) fn module_hash(words: &[u32], options: &Options) -> ModuleHash {
    /// Words that are converted to bytes at a time.
    const CHUNK: usize = 256;
    let mut hasher = Xxh3Default::new();
    let mut bytes = [[0; 4]; CHUNK];
    for chunk in words.chunks(CHUNK) {
        let (bytes, _) = bytes.split_at_mut(chunk.len());
        for (bytes, word) in bytes.iter_mut().zip(chunk) {
            *bytes = word.to_le_bytes();
        }
        hasher.update(bytes.as_flattened());
    }
    for (id, data) in &options.specialization {
        hasher.update(&id.to_le_bytes());
        hasher.update(&(data.len() as u64).to_le_bytes());
        hasher.update(data);
    }
    ModuleHash(hasher.digest())
}

/// Checks what the passes rely on and the index does not check.
fn check(index: &Index<'_>) -> Result<()> {
    let model = index.inst(index.sections.memory_model);
    if !matches!(
        model.addressing_model(),
        addressing_model::Logical | addressing_model::PhysicalStorageBuffer64
    ) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "scan",
            model.offset as u32,
            format!(
                "addressing model {}: Vulkan allows only Logical and PhysicalStorageBuffer64",
                model.addressing_model()
            ),
        ));
    }
    // Detects a module that is cut short between two instructions: the missing function is called or is an entry point.
    let entry_points = index
        .entry_points
        .iter()
        .map(|entry| (entry.inst.offset, entry.function));
    let calls = index.calls.values().iter().map(|call| (call.offset, call.callee));
    for (offset, function) in entry_points.chain(calls) {
        if index.function_of(function).is_none() {
            return Err(Error::new(
                ErrorKind::Invalid,
                "scan",
                offset as u32,
                format!("{function} is not a function"),
            ));
        }
    }
    Ok(())
}
