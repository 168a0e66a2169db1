//! The order of the passes.

use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::options::Options;
use crate::pass::plan::Plan;
use crate::pass::{abort, constant_data, loops, mark, outline, poison, strip};
use crate::spv::op::{addressing_model, capability};
use crate::spv::words::{HEADER_WORDS, Insts, header};
use crate::spv::{Id, op};
use crate::{Instrumented, Outcome};
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::xxh3_64;

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
    let mut candidates: Vec<Id> = Vec::new();

    let mut index = Index::new(original)?;
    check(&index)?;
    let offsets = abort_offsets(&index);
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
    let mut lowered = Vec::new();
    if uses.abort {
        candidates.extend(aborted_ids(&index));
        let edits;
        (edits, sites) = mark::mark(&index, options, hash, &offsets)?;
        let marked = edits.apply(index.words, "mark")?;
        // An index is about as large as its module: none outlives its use.
        drop(index);
        lowered = lower_aborts(marked, options, &sites)?;
        index = Index::new(&lowered)?;
    }
    candidates.extend(index.globals().filter(constant_data::is_data).map(|i| i.result()));
    let (edits, tables) = strip::strip(&index, &candidates);
    let rest = index.words;
    drop(index);
    let mut words = if uses.abort {
        edits.apply_within(lowered, "strip")?
    } else {
        edits.apply(rest, "strip")?
    };
    if tables {
        // What only messages used has gone: tables are made of the rest.
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
    let (_, sites) = mark::mark(&index, options, hash, &abort_offsets(&index))?;
    Ok(Some(sites))
}

/// Brings loops into a form that invocations can leave, round by round, and lowers the aborts.
fn lower_aborts(mut words: Vec<u32>, options: &Options, sites: &SiteTable) -> Result<Vec<u32>> {
    let mut outlined: HashSet<Id> = HashSet::default();
    for _ in 0..MAX_ROUNDS {
        let index = Index::new(&words)?;
        let plan = Plan::new(&index, options);
        let edits = loops::normalize(&index, &plan)?;
        if !edits.is_empty() {
            words = edits.apply_within(words, "loops")?;
            continue;
        }
        let edits = outline::outline(&index, &plan, &mut outlined).map_err(without_offset)?;
        if !edits.is_empty() {
            words = edits.apply_within(words, "outline")?;
            continue;
        }
        let edits = abort::lower(&index, &plan, options, sites)?;
        drop((index, plan));
        return edits.apply_within(words, "abort");
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
    let bytes: Vec<[u8; 4]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let mut bytes = bytes.into_flattened();
    for (id, data) in &options.specialization {
        bytes.extend(id.to_le_bytes());
        bytes.extend((data.len() as u64).to_le_bytes());
        bytes.extend_from_slice(data);
    }
    ModuleHash(xxh3_64(&bytes))
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
    let calls = index.calls.iter().map(|call| (call.offset, call.callee));
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

/// Where the aborts of a module stand, in order.
fn abort_offsets(index: &Index<'_>) -> Vec<usize> {
    let aborts = index
        .blocks
        .iter()
        .filter(|b| index.terminator(b).opcode() == op::AbortKHR);
    aborts.map(|b| b.terminator).collect()
}

/// Ids that lose a use when the aborts go.
fn aborted_ids(index: &Index<'_>) -> Vec<Id> {
    let aborts = index
        .blocks
        .iter()
        .map(|b| index.terminator(b))
        .filter(|i| i.opcode() == op::AbortKHR);
    aborts.flat_map(|i| [i.word(2), i.word(1)]).collect()
}
