//! The invocation that prints: its built-ins and its stage.
//!
//! In a module with one entry point, a print reads them where it writes its record: kept from the start of the entry point, they would
//! occupy registers all the time. With several, they are in private variables that the entry points set, since a print may be in a
//! function that several call, of several stages or workgroup sizes:
//!
//! ```text
//! %vkabort_invocation = Variable Private, %vkabort_stage = Variable Private
//!
//! entry point: Store %vkabort_invocation %words, Store %vkabort_stage MODEL
//! ```
//!
//! If all entry points of a module have one stage, records have none.

use smallvec::SmallVec;
use vkabort_record::layout::UNIT_WORDS;
use vkabort_runtime::{AddedBuiltIns, EntryInterface, load_identity};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::{EntryPoint, Index};
use vkabort_spirv::words::{MAX_INST_WORDS, version};
use vkabort_spirv::{Id, Words, op};

/// Stands for a stage that is not known.
const UNKNOWN: u32 = u32::MAX;

/// Sources of the invocation's identity.
pub(super) struct InvocationIdentity<'w> {
    words: Source<'w>,
    /// The variable with the stage, unless it is that of the module.
    stage: Option<Id>,
}

enum Source<'w> {
    Variable(Id),
    /// In the built-ins of the only entry point.
    BuiltIns(EntryInterface<'w>, AddedBuiltIns),
}

impl<'w> InvocationIdentity<'w> {
    /// `has_stages`: the entry points are of several stages.
    pub(super) fn new(
        index: &Index<'w>,
        workgroup_sizes: &[Option<[u32; 3]>],
        has_stages: bool,
        out: &mut Emitter,
    ) -> Self {
        let stage = has_stages.then(|| {
            let (uint, unknown) = (out.uint(), out.constant(UNKNOWN));
            let stage = out.private(uint, unknown);
            out.name(stage, "vkabort_stage");
            stage
        });
        let words = match index.entry_points.as_slice() {
            [only] => Source::BuiltIns(interface(*only, 0, workgroup_sizes), AddedBuiltIns::new()),
            _ => {
                let uint = out.uint();
                let unit = out.vector(uint, UNIT_WORDS);
                let zero = out.null(unit);
                let words = out.private(unit, zero);
                out.name(words, "vkabort_invocation");
                Source::Variable(words)
            }
        };
        Self { words, stage }
    }

    /// Loads the words of the identity.
    pub(super) fn load_words(&mut self, index: &Index<'w>, out: &mut Emitter) -> Id {
        match &mut self.words {
            Source::Variable(words) => {
                let uint = out.uint();
                let unit = out.vector(uint, UNIT_WORDS);
                out.emit(op::Load, unit, *words)
            }
            Source::BuiltIns(interface, added) => load_identity(index, interface, true, added, out),
        }
    }

    /// Loads the execution model, unless it is that of the module.
    pub(super) fn load_stage(&self, out: &mut Emitter) -> Option<Id> {
        self.stage.map(|variable| out.calculate(op::Load, variable))
    }
}

/// An entry point of the module, without added variables.
fn interface<'w>(entry: EntryPoint<'w>, number: u32, workgroup_sizes: &[Option<[u32; 3]>]) -> EntryInterface<'w> {
    EntryInterface {
        entry,
        number,
        workgroup_size: workgroup_sizes.get(number as usize).copied().flatten(),
        added: SmallVec::new(),
    }
}

/// Sets the variables at the start of these entry points, and adds the needed variables to their interfaces.
///
/// # Errors
///
/// [`ErrorKind::Limit`] if an interface has no room for another variable.
pub(super) fn add_identity(
    index: &Index<'_>,
    identity: InvocationIdentity<'_>,
    workgroup_sizes: &[Option<[u32; 3]>],
    entry_points: &[u32],
    out: &mut Emitter,
    edits: &mut Edits,
) -> Result<()> {
    let variable = match identity.words {
        Source::Variable(variable) => variable,
        Source::BuiltIns(mut interface, _) => {
            // Each function that writes records has added them.
            interface.added.sort_unstable();
            interface.added.dedup();
            return write_interface(interface, edits);
        }
    };
    let mut added = AddedBuiltIns::new();
    let mut written: Vec<Id> = Vec::new();
    for number in entry_points {
        let Some(entry) = index.entry_points.get(*number as usize).copied() else {
            continue;
        };
        let mut interface = interface(entry, *number, workgroup_sizes);
        let is_other = |other: &&EntryPoint<'_>| other.function == entry.function && other.model != entry.model;
        let is_shared = index.entry_points.iter().any(|other| is_other(&other));
        let start = index.function_of(entry.function).and_then(|f| index.functions.get(f));
        let start = start.and_then(|function| index.after_variables(function));
        if let (Some(start), false) = (start, is_shared) {
            // Entry points of one stage that share a function have the same built-ins.
            let words = load_identity(index, &mut interface, false, &mut added, out);
            out.op(op::Store, (variable, words));
            if let Some(variable) = identity.stage {
                let model = out.constant(entry.model);
                out.op(op::Store, (variable, model));
            }
            let code = out.take_code();
            if !written.contains(&entry.function) {
                written.push(entry.function);
                edits.insert_ranked(start, Rank::Entry, &code);
            }
        }
        if index.version >= version(1, 4) {
            // OpEntryPoint: from SPIR-V 1.4 on, an interface lists every global variable that the entry point references.
            interface.added.push(variable);
            if let Some(variable) = identity.stage {
                interface.added.push(variable);
            }
        }
        write_interface(interface, edits)?;
    }
    Ok(())
}

fn write_interface(interface: EntryInterface<'_>, edits: &mut Edits) -> Result<()> {
    let EntryInterface { entry, added, .. } = interface;
    if entry.inst.words.len() + added.len() > MAX_INST_WORDS {
        let message = format!("the interface of entry point {} is full", entry.function);
        return Err(Error::new(ErrorKind::Limit, "prints", None, message));
    }
    if !added.is_empty() {
        edits.replace_by(
            &entry.inst,
            op::EntryPoint,
            (Words(entry.inst.from(1)), added.as_slice()),
        );
    }
    Ok(())
}
