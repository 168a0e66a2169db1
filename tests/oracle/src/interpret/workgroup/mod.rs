//! Runs the invocations of a workgroup together: each instruction that accesses shared memory, and each atomic, may let another one go
//! on.
//!
//! Each invocation is a [`Machine`] on a thread of its own. One runs at a time: the one whose turn it is holds the shared memory, and hands
//! it on with the turn (`turns`, `members`). The choices pick the next one, so that a run can be repeated. At a barrier an invocation waits
//! until no other one can go on. `accesses` knows which accesses happen before which.

mod accesses;
mod members;
mod turns;

use super::error::{InterpretError, Result};
use super::machine::{Machine, Setup};
use super::memory::{Physical, Region};
use super::outcome::InvocationEnd;
use super::types::Type;
use crate::choices::Choices;
use crate::module::{Entry, Id, Module};
use crate::op::{self, decoration, storage_class};
use accesses::Accesses;
pub use accesses::{Access, AccessKind, Arrivals, Race};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
pub(super) use turns::{Member, Stage};
use turns::{Shared, Turns};

/// Run of a workgroup: its ends, memory and reports.
#[derive(Debug)]
pub struct WorkgroupRun {
    /// The invocations and how they ended, in the order of their ends.
    pub ends: Vec<(u32, InvocationEnd)>,
    /// Buffers by binding.
    pub buffers: Vec<(u32, Region)>,
    /// Physically addressed memory.
    pub physical: Vec<Physical>,
    /// Pairs of accesses to one scalar that nothing orders.
    pub races: BTreeSet<Race>,
    /// Whether `races` finds one in whatever order the invocations run, unless one of them has executed an atomic.
    pub has_certain_race: bool,
    /// One entry for each time that invocations passed barriers although some that no abort had ended were not at the same one: the
    /// barriers, and how many were at each.
    pub divergences: Vec<Vec<Arrivals>>,
    /// Whether an atomic was executed on shared memory.
    pub has_atomics: bool,
}

/// Runs a workgroup of `invocations` invocations.
///
/// # Errors
///
/// The first error of an invocation.
pub fn run_workgroup(
    module: &Module,
    entry: &Entry,
    setup: Setup,
    invocations: u32,
    choices: &mut Choices,
) -> Result<WorkgroupRun> {
    let later = Setup {
        specialization: setup.specialization.clone(),
        steps: setup.steps,
        ..Setup::default()
    };
    let mut first = Machine::new(module, setup)?;
    let mut variables = Vec::new();
    for inst in module
        .globals
        .iter()
        .filter(|inst| inst.op == op::Variable && inst.word(2) == storage_class::Workgroup)
    {
        if let Type::Pointer { pointee, .. } = *first.types.get(inst.word(0)) {
            variables.push((inst.word(1), Some(first.initial(inst, pointee)?)));
        }
    }
    let ids: Vec<Id> = variables.iter().map(|(id, _)| *id).collect();
    let shared = Shared {
        buffers: std::mem::take(&mut first.buffers),
        physical: std::mem::take(&mut first.physical),
        variables,
        accesses: Accesses::new(invocations),
    };
    let turns = Arc::new(Turns::new(shared, invocations, choices.clone()));
    // The next workgroup runs in another order.
    choices.word();
    let mut machines = vec![first];
    for _ in 1..invocations {
        machines.push(Machine::new(module, later.clone())?);
    }
    let failures: Vec<InterpretError> = thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(machines)
            .map(|(number, mut machine)| {
                let member = Member::new(Arc::clone(&turns), number, &ids);
                scope.spawn(move || machine.run_member(entry, member))
            })
            .collect();
        let results = threads.into_iter().map(|thread| thread.join());
        // A panic shows its own message.
        results.filter_map(|result| result.ok()?.err()).collect()
    });
    let (shared, ends) = turns.finish()?;
    if let Some(failure) = failures.into_iter().next() {
        return Err(failure);
    }
    let buffers = shared.buffers.into_iter();
    let mut buffers: Vec<(u32, Region)> = buffers
        .filter_map(|(id, region)| Some((binding(module, id)?, region)))
        .collect();
    buffers.sort_by_key(|(binding, _)| *binding);
    let Accesses {
        races,
        has_certain_race,
        divergences,
        has_atomics,
        ..
    } = shared.accesses;
    Ok(WorkgroupRun {
        ends,
        buffers,
        physical: shared.physical,
        races,
        has_certain_race,
        divergences,
        has_atomics,
    })
}

fn binding(module: &Module, variable: Id) -> Option<u32> {
    let mut decorations = module.globals.iter();
    let inst = decorations
        .find(|inst| inst.op == op::Decorate && inst.word(0) == variable && inst.word(1) == decoration::Binding)?;
    Some(inst.word(2))
}

impl Machine<'_> {
    /// Runs an invocation as a member of a workgroup.
    fn run_member(&mut self, entry: &Entry, member: Member) -> Result<()> {
        let number = member.number;
        self.member = Some(member);
        self.take_turn()?;
        let result = self.run(entry, [number, 0, 0, number]);
        let end = result.as_ref().ok().cloned();
        self.leave_turns(end);
        result.map(drop)
    }
}
