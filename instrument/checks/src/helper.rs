//! Helper invocations of fragment shaders: they never fail a check.
//!
//! They exist for the derivatives of their neighbours, so one that ended would change these: wrong pixels in a shader without a fault,
//! and without a report, since a helper writes none. In modules where a neighbour can see values of a helper, checks in functions
//! that fragment shaders reach ask a private variable:
//!
//! ```text
//! %vkabort_is_helper = Variable Private false
//!
//! entry point: %is_helper = Load %gl_HelperInvocation, Store %vkabort_is_helper %is_helper
//! DemoteToHelperInvocation, Store %vkabort_is_helper true
//!
//! %failed = ..
//! %is_helper = Load %vkabort_is_helper, %not_helper = LogicalNot %is_helper, LogicalAnd %failed %not_helper
//! ```
//!
//! Functions that other stages reach too ask the same variable, which is false there.
//!
//! A helper ends where it has used up its budget of loop iterations, since nothing else would end it, and at `OpUnreachable`. Not
//! handled: an entry point of a fragment shader whose function is that of another stage, too.

use super::properties::Properties;
use std::collections::BTreeSet;
use vkabort_analysis::callgraph::Reach;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::index::{EntryPoint, Index};
use vkabort_spirv::op::{built_in, decoration, storage_class};
use vkabort_spirv::{Code, Id, op};

/// The execution model of fragment shaders, the only ones with helper invocations.
const FRAGMENT: u32 = spirv::ExecutionModel::Fragment as u32;

/// The private variable that tells helpers from others.
#[derive(Debug)]
pub(super) struct Helpers {
    /// Whether an invocation can see values of a helper: derivatives, also those of samples, and operations of quads and subgroups.
    are_seen: bool,
    flag: Option<Id>,
    /// The entry points that reach a use of the variable.
    pub(super) entry_points: BTreeSet<u32>,
}

impl Helpers {
    pub(super) fn new(index: &Index<'_>) -> Self {
        let mut fragments = index.entry_points.iter().filter(|entry| is_fragment(entry));
        let are_seen = fragments.next().is_some() && {
            let code = index.insts(index.sections.globals, index.words.len());
            code.into_iter().any(|inst| sees_neighbours(inst.opcode()))
        };
        Self {
            are_seen,
            flag: None,
            entry_points: BTreeSet::new(),
        }
    }

    /// Whether a check in a function excludes helper invocations.
    pub(super) fn are_excluded(&self, reach: &Reach, properties: Properties) -> bool {
        self.are_seen && !properties.ends_helpers && reach.models.contains(&FRAGMENT)
    }

    /// Writes whether a check that `failed` fails in an invocation of a function that is not a helper.
    pub(super) fn write_failed(&mut self, out: &mut Emitter, reach: &Reach, failed: Id) -> Id {
        self.entry_points.extend(&reach.entry_points);
        let bool = out.bool();
        let flag = *self.flag.get_or_insert_with(|| {
            let no = out.value(op::ConstantFalse, bool, ());
            let flag = out.private(bool, no);
            out.name(flag, "vkabort_is_helper");
            flag
        });
        let is_helper = out.emit(op::Load, bool, flag);
        let is_not = out.emit(op::LogicalNot, bool, is_helper);
        out.emit(op::LogicalAnd, bool, (failed, is_not))
    }

    /// Writes the variable where invocations begin and become helpers. Returns the variable, and the built-in that entry points
    /// without their own read.
    pub(super) fn write_variable(
        &mut self,
        index: &Index<'_>,
        out: &mut Emitter,
        edits: &mut Edits,
    ) -> Option<(Id, Option<Id>)> {
        let flag = self.flag?;
        let mut added = None;
        let mut written = BTreeSet::new();
        for entry in index.entry_points.iter().filter(|entry| is_fragment(entry)) {
            let same_function = |other: &EntryPoint<'_>| other.function == entry.function;
            let is_shared = index
                .entry_points
                .iter()
                .any(|other| same_function(other) && !is_fragment(other));
            let function = index
                .functions
                .values()
                .iter()
                .find(|function| function.id == entry.function);
            let first = function.and_then(|function| index.blocks_of(function).first());
            let (Some(first), false) = (first, is_shared || !written.insert(entry.function)) else {
                continue;
            };
            let variables = index.insts(first.offset, first.end);
            let variables = variables.filter(|inst| inst.opcode() == op::Variable);
            let start = variables.map(|inst| inst.end()).last().unwrap_or(first.offset + 2);
            let bool = out.bool();
            let own = own_built_in(index, entry);
            let built_in = own.unwrap_or_else(|| *added.get_or_insert_with(|| declare_built_in(out)));
            let is_helper = out.emit(op::Load, bool, built_in);
            out.op(op::Store, (flag, is_helper));
            out.place(|code| edits.insert_ranked(start, Rank::Entry, code));
        }
        let demotes = index.insts(index.sections.globals, index.words.len());
        for demote in demotes.filter(|inst| inst.opcode() == op::DemoteToHelperInvocation) {
            let bool = out.bool();
            let yes = out.value(op::ConstantTrue, bool, ());
            let mut code = Code::default();
            code.op(op::Store, (flag, yes));
            edits.insert_ranked(demote.end(), Rank::Entry, &code);
            // The function may be one without a check.
            self.entry_points.extend(0..index.entry_points.len() as u32);
        }
        Some((flag, added))
    }
}

pub(super) fn is_fragment(entry: &EntryPoint<'_>) -> bool {
    entry.model == FRAGMENT
}

/// The built-in in the interface of an entry point.
pub(super) fn own_built_in(index: &Index<'_>, entry: &EntryPoint<'_>) -> Option<Id> {
    entry
        .interface()
        .find(|id| index.decoration(*id, decoration::BuiltIn) == Some(built_in::HelperInvocation))
}

fn declare_built_in(out: &mut Emitter) -> Id {
    let bool = out.bool();
    let variable = out.variable(storage_class::Input, bool, None);
    out.decorate(variable, decoration::BuiltIn, &[built_in::HelperInvocation]);
    variable
}

/// Whether an instruction can read values of other invocations of a quad or subgroup, which helpers may be.
fn sees_neighbours(opcode: u16) -> bool {
    matches!(
        opcode,
        op::DPdx..=op::FwidthCoarse
            | op::ImageSampleImplicitLod
            | op::ImageSampleDrefImplicitLod
            | op::ImageSampleProjImplicitLod
            | op::ImageSampleProjDrefImplicitLod
            | op::ImageSparseSampleImplicitLod
            | op::ImageSparseSampleDrefImplicitLod
            | op::ImageSparseSampleProjImplicitLod
            | op::ImageSparseSampleProjDrefImplicitLod
            | op::ImageQueryLod
            | op::GroupNonUniformElect..=op::GroupNonUniformQuadSwap
            | op::GroupNonUniformRotateKHR
            | op::GroupNonUniformQuadAllKHR
            | op::GroupNonUniformQuadAnyKHR
            | op::SubgroupBallotKHR..=op::SubgroupReadInvocationKHR
    )
}
