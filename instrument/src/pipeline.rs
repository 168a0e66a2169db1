//! The order of the passes.

use crate::edit::Edits;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::options::Options;
use crate::pass::plan::Plan;
use crate::pass::{abort, constant_data, loops, mark, outline, poison, strip};
use crate::spv::op::{addressing_model, capability};
use crate::spv::words::{HEADER_WORDS, Insts, header};
use crate::spv::{Id, op};
use crate::{Instrumented, Outcome};
use std::borrow::Cow;
use std::collections::HashSet;
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

pub(crate) fn run(words: &[u32], options: &Options) -> Result<Outcome> {
    header(words)?;
    let uses = scan(words);
    if uses == Uses::default() {
        return Ok(Outcome::Unchanged);
    }
    let hash = module_hash(words);
    let mut words: Cow<'_, [u32]> = words.into();
    let mut sites = SiteTable {
        module_hash: hash,
        entry_points: Vec::new(),
        sites: Vec::new(),
    };
    let mut data_spec_ids = Vec::new();
    let mut candidates: Vec<Id> = Vec::new();

    if uses.constant_data {
        let index = Index::new(&words)?;
        data_spec_ids = constant_data::spec_ids(&index);
        if !data_spec_ids.is_empty() {
            words = apply(&index, constant_data::specialize(&index, options)?, "constant_data")?;
        }
    }
    if uses.poison_freeze {
        let index = Index::new(&words)?;
        words = apply(&index, poison::lower(&index)?, "poison")?;
    }
    if uses.abort {
        let index = Index::new(&words)?;
        check(&index)?;
        candidates.extend(aborted_ids(&index));
        let edits;
        (edits, sites) = mark::mark(&index, options, hash)?;
        words = apply(&index, edits, "mark")?;
        words = lower_aborts(words, options, hash)?;
    }
    let index = Index::new(&words)?;
    candidates.extend(index.globals().filter(constant_data::is_data).map(|i| i.result()));
    let edits = strip::strip(&index, &candidates);
    let mut words = apply(&index, edits, "strip")?;
    if uses.constant_data {
        // What only messages used has gone: tables are made of the rest.
        let index = Index::new(&words)?;
        words = apply(&index, constant_data::lower(&index)?, "constant_data")?;
    }
    Ok(Outcome::Instrumented(Instrumented {
        words: words.into_owned(),
        module_hash: hash,
        sites,
        data_spec_ids,
    }))
}

/// Brings loops into a form that invocations can leave, round by round, and lowers the aborts.
fn lower_aborts<'w>(mut words: Cow<'w, [u32]>, options: &Options, hash: ModuleHash) -> Result<Cow<'w, [u32]>> {
    let mut outlined: HashSet<Id> = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let index = Index::new(&words)?;
        let plan = Plan::new(&index, options);
        let edits = loops::normalize(&index, &plan)?;
        if !edits.is_empty() {
            words = apply(&index, edits, "loops")?;
            continue;
        }
        let edits = outline::outline(&index, &plan, &mut outlined)?;
        if !edits.is_empty() {
            words = apply(&index, edits, "outline")?;
            continue;
        }
        return apply(&index, abort::lower(&index, &plan, options, hash)?, "abort");
    }
    Err(Error::new(
        ErrorKind::Limit,
        "outline",
        None,
        "loops are nested too deeply in continue constructs",
    ))
}

/// The module with a pass's edits made.
fn apply<'w>(index: &Index<'_>, edits: Edits, pass: &'static str) -> Result<Cow<'w, [u32]>> {
    edits.apply(index.words, pass).map(Cow::Owned)
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

/// XXH3 of the words as little-endian bytes.
fn module_hash(words: &[u32]) -> ModuleHash {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    ModuleHash(xxh3_64(&bytes))
}

/// What the passes rely on and the index does not check.
fn check(index: &Index<'_>) -> Result<()> {
    let model = index.inst(index.sections.memory_model);
    match model.word(1) {
        addressing_model::Logical | addressing_model::PhysicalStorageBuffer64 => Ok(()),
        other => Err(Error::new(
            ErrorKind::Unsupported,
            "scan",
            model.offset as u32,
            format!("addressing model {other}: only Logical and PhysicalStorageBuffer64 have a place in Vulkan"),
        )),
    }
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
