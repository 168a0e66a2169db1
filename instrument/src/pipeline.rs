//! The order of the passes.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::waiting_loops::WaitingLoops;
use crate::edit::Edits;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::outcome::{Instrumented, Outcome};
use crate::pass::abort::Lowered;
use crate::pass::site_numbering::SiteOperand;
use crate::pass::{abort, constant_data, loop_normalize, outline, poison, site_numbering, strip};
use crate::spv::op::{addressing_model, capability};
use crate::spv::words::{HEADER_WORDS, Insts, header};
use crate::spv::{Id, op};
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::Xxh3Default;

/// Rounds of `loops` and `outline`: one for each level of loops nested in continue constructs, and one in between.
const MAX_ROUNDS: u32 = 256;

/// Which extensions a module uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    abort: bool,
    constant_data: bool,
    poison_freeze: bool,
}

pub(crate) fn run(original: &[u32], options: &Options) -> Result<Outcome> {
    header(original)?;
    let uses = scan(original);
    if uses == Uses::default() {
        return Ok(Outcome::Unchanged);
    }
    let hash = module_hash(original, options);
    let mut sites = SiteTable {
        module_hash: hash,
        entry_points: Vec::new(),
        sites: Vec::new(),
    };
    let mut data_spec_ids = Vec::new();
    let mut index = Index::new(original)?;
    check(&index)?;
    let offsets: Vec<usize> = index.aborts().collect();
    let specialized;
    if uses.constant_data {
        data_spec_ids = constant_data::spec_ids(&index);
        if !data_spec_ids.is_empty() {
            specialized = constant_data::specialize(&index, options)?.apply(original, "constant_data")?;
            index = Index::new(&specialized)?;
        }
    }
    let unpoisoned;
    if uses.poison_freeze {
        unpoisoned = poison::lower(&index)?.apply(index.words, "poison")?;
        index = Index::new(&unpoisoned)?;
    }
    let (mut words, uses_constant_data);
    if uses.abort {
        (words, uses_constant_data) = lower_aborts(index, options, &offsets, &mut sites)?;
    } else {
        let mut edits = Edits::default();
        uses_constant_data = strip::strip(&index, &[], &mut edits, &[], &[]);
        words = edits.apply(index.words, "strip")?;
    }
    if uses_constant_data {
        // Constant data that only messages used is gone; the rest becomes ordinary constants.
        let edits = constant_data::lower(&Index::new(&words)?).map_err(without_offset)?;
        words = edits.apply(&words, "constant_data")?;
    }
    Ok(Outcome::Instrumented(Instrumented {
        words,
        module_hash: hash,
        sites,
        data_spec_ids,
    }))
}

/// The site table of a module that is not rewritten.
pub(crate) fn sites(original: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    header(original)?;
    if !scan(original).abort {
        return Ok(None);
    }
    let index = Index::new(original)?;
    check(&index)?;
    let hash = module_hash(original, options);
    let offsets: Vec<usize> = index.aborts().collect();
    Ok(Some(site_numbering::build_sites(
        &index,
        &CallGraph::new(&index),
        options,
        hash,
        &offsets,
    )?))
}

/// Describes the aborts, brings loops into a form that invocations can leave, round by round, and lowers the aborts. Most
/// modules have no such loop and are changed in one go.
fn lower_aborts(
    index: Index<'_>,
    options: &Options,
    offsets: &[usize],
    sites: &mut SiteTable,
) -> Result<(Vec<u32>, bool)> {
    let plan = ExitPlan::new(&index, options, &WaitingLoops::default());
    *sites = site_numbering::build_sites(&index, &plan.graph, options, sites.module_hash, offsets)?;
    let mut edits = loop_normalize::normalize(&index, &plan);
    if edits.is_empty() && !outline::is_needed(&index, &plan) {
        let Lowered {
            edits,
            uses_constant_data,
        } = abort::lower(&index, &plan, options, sites, SiteOperand::InOrder)?;
        let words = index.words;
        // An index is about as large as its module: none outlives its use.
        drop((index, plan));
        return Ok((edits.apply(words, "abort")?, uses_constant_data));
    }
    edits.append(&site_numbering::mark(&index));
    let waiting_loops = plan.waiting_loops(&index);
    let mut words = edits.apply(index.words, "loops")?;
    drop((index, plan));
    let mut outlined: HashSet<Id> = HashSet::default();
    for _ in 0..MAX_ROUNDS {
        let index = Index::new(&words)?;
        let plan = ExitPlan::new(&index, options, &waiting_loops);
        let edits = loop_normalize::normalize(&index, &plan);
        if !edits.is_empty() {
            words = edits.apply_within(words, "loops")?;
            continue;
        }
        let edits = outline::outline(&index, &plan, &mut outlined).map_err(without_offset)?;
        if !edits.is_empty() {
            words = edits.apply_within(words, "outline")?;
            continue;
        }
        let Lowered {
            edits,
            uses_constant_data,
        } = abort::lower(&index, &plan, options, sites, SiteOperand::Marked)?;
        drop((index, plan));
        return Ok((edits.apply_within(words, "abort")?, uses_constant_data));
    }
    Err(Error::new(
        ErrorKind::Limit,
        "outline",
        None,
        "loops are nested too deeply in continue constructs",
    ))
}

/// Offsets in a module that passes have changed mean nothing to whoever gave the module.
fn without_offset(error: Error) -> Error {
    Error { offset: None, ..error }
}

/// Reads the capability section. Its cost does not depend on the size of the module.
fn scan(words: &[u32]) -> Uses {
    let mut uses = Uses::default();
    for inst in Insts::new(words, HEADER_WORDS) {
        if inst.opcode() != op::Capability {
            break;
        }
        match inst.word(1) {
            capability::AbortKHR => uses.abort = true,
            capability::ConstantDataKHR => uses.constant_data = true,
            capability::PoisonFreezeKHR => uses.poison_freeze = true,
            _ => {}
        }
    }
    uses
}

/// XXH3 of the words as little-endian bytes, then of the specialisation data if there is any: modules that differ in
/// that decode differently.
fn module_hash(words: &[u32], options: &Options) -> ModuleHash {
    /// Words that are brought into byte order at once.
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

/// What the passes rely on and the index does not check.
fn check(index: &Index<'_>) -> Result<()> {
    let model = index.inst(index.sections.memory_model);
    if !matches!(
        model.word(1),
        addressing_model::Logical | addressing_model::PhysicalStorageBuffer64
    ) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "scan",
            model.offset as u32,
            format!(
                "addressing model {}: only Logical and PhysicalStorageBuffer64 have a place in Vulkan",
                model.word(1)
            ),
        ));
    }
    // A module that was cut off between two instructions shows here: what is missing is called or is an entry point.
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
                format!("%{function} is not a function"),
            ));
        }
    }
    Ok(())
}
