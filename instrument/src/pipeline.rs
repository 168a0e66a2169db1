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
use std::collections::HashSet;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::xxh3_64;

/// Rounds of `loops` and `outline`: one for each level of loops nested in continue constructs, and one in between.
const MAX_ROUNDS: u32 = 128;

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
    let index = Index::new(words)?;
    check(&index)?;
    let mut module = Module { words: words.to_vec() };
    let mut sites = SiteTable {
        module_hash: hash,
        entry_points: Vec::new(),
        sites: Vec::new(),
    };
    let mut data_spec_ids = Vec::new();
    let mut candidates: Vec<Id> = Vec::new();

    if uses.constant_data {
        data_spec_ids = constant_data::spec_ids(&index);
        if !data_spec_ids.is_empty() {
            module.pass("constant_data", |index| constant_data::specialize(index, options))?;
        }
    }
    if uses.poison_freeze {
        module.pass("poison", poison::lower)?;
    }
    if uses.abort {
        module.pass("mark", |index| {
            let (edits, table) = mark::mark(index, options, hash)?;
            sites = table;
            candidates.extend(aborted_ids(index));
            Ok(edits)
        })?;
        let mut outlined: HashSet<Id> = HashSet::new();
        for round in 0.. {
            let normal = module.pass("loops", |index| loops::normalize(index, &Plan::new(index, options)))?;
            let done = !module.pass("outline", |index| {
                outline::outline(index, &Plan::new(index, options), &mut outlined)
            })?;
            if !normal && done {
                break;
            }
            if round == MAX_ROUNDS {
                return Err(Error::new(
                    ErrorKind::Limit,
                    "outline",
                    None,
                    "loops are nested too deeply in continue constructs",
                ));
            }
        }
        module.pass("abort", |index| {
            abort::lower(index, &Plan::new(index, options), options, hash)
        })?;
    }
    if uses.constant_data {
        // What only messages used goes before tables are made of it.
        let index = Index::new(&module.words)?;
        candidates.extend(
            index
                .globals()
                .filter(|i| matches!(i.opcode(), op::ConstantDataKHR | op::SpecConstantDataKHR))
                .map(|i| i.result()),
        );
    }
    module.pass("strip", |index| Ok(strip::strip(index, &candidates)))?;
    if uses.constant_data {
        module.pass("constant_data", constant_data::lower)?;
    }
    Ok(Outcome::Instrumented(Instrumented {
        words: module.words,
        module_hash: hash,
        sites,
        data_spec_ids,
    }))
}

/// A module between passes.
struct Module {
    words: Vec<u32>,
}

impl Module {
    /// Runs a pass. Says whether it changed anything.
    fn pass(&mut self, name: &'static str, pass: impl FnOnce(&Index<'_>) -> Result<Edits>) -> Result<bool> {
        let index = Index::new(&self.words)?;
        let edits = pass(&index)?;
        if edits.is_empty() {
            return Ok(false);
        }
        self.words = edits.apply(&self.words, name)?;
        Ok(true)
    }
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
