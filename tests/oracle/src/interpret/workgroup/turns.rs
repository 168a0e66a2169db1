//! Schedules the invocations of a workgroup: one has the turn at a time.

use super::super::error::{Result, unsupported};
use super::super::memory::{Physical, Region};
use super::super::outcome::InvocationEnd;
use super::super::value::Value;
use super::accesses::Accesses;
use crate::choices::Choices;
use crate::module::Id;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The memory that the invocations share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) buffers: HashMap<Id, Region>,
    pub(super) physical: Vec<Physical>,
    /// The variables in shared memory.
    pub(super) variables: Vec<(Id, Option<Value>)>,
    pub(super) accesses: Accesses,
}

/// State of an invocation while another one has the turn.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Stage {
    /// It can go on.
    Ready,
    /// It waits at the barrier at a word offset.
    AtBarrier(usize),
    /// It has ended; by an abort, if true.
    Ended(bool),
}

/// The turns of a workgroup.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<State>,
    pub(super) changed: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    /// Memory that the invocations share. The one that has the turn has exchanged it for memory of its own.
    pub(super) shared: Shared,
    pub(super) stages: Vec<Stage>,
    pub(super) turn: Option<u32>,
    choices: Choices,
    pub(super) ends: Vec<(u32, InvocationEnd)>,
    /// An invocation has failed, and its turn was not handed on.
    pub(super) is_broken: bool,
}

impl State {
    /// Chooses the invocation that goes on. If all wait at barriers or have ended, those that wait pass first.
    pub(super) fn choose(&mut self) {
        let ready = |stages: &[Stage]| -> Vec<u32> {
            let numbered = (0..).zip(stages);
            let ready = numbered.filter(|(_, stage)| **stage == Stage::Ready);
            ready.map(|(number, _)| number).collect()
        };
        let mut next = ready(&self.stages);
        if next.is_empty() {
            let waiting = self.stages.iter().filter_map(|stage| match stage {
                Stage::AtBarrier(offset) => Some(*offset),
                Stage::Ready | Stage::Ended(_) => None,
            });
            let aborted = self.stages.iter().filter(|stage| **stage == Stage::Ended(true)).count();
            self.shared.accesses.pass_barriers(aborted as u32, waiting);
            for stage in self
                .stages
                .iter_mut()
                .filter(|stage| matches!(stage, Stage::AtBarrier(_)))
            {
                *stage = Stage::Ready;
            }
            next = ready(&self.stages);
        }
        self.turn = self.choices.pick(&next);
    }
}

impl Turns {
    pub(super) fn new(shared: Shared, invocations: u32, choices: Choices) -> Self {
        let mut state = State {
            shared,
            stages: vec![Stage::Ready; invocations as usize],
            turn: None,
            choices,
            ends: Vec::new(),
            is_broken: false,
        };
        state.choose();
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory and the ends, once all invocations have ended.
    pub(super) fn finish(self: Arc<Self>) -> Result<(Shared, Vec<(u32, InvocationEnd)>)> {
        let Some(turns) = Arc::into_inner(self) else {
            return unsupported("an invocation that has not ended");
        };
        let state = turns.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.is_broken {
            true => unsupported("a panic of the interpreter"),
            false => Ok((state.shared, state.ends)),
        }
    }
}

/// An invocation of a workgroup.
#[derive(Debug)]
pub(in super::super) struct Member {
    pub(super) turns: Arc<Turns>,
    pub(super) number: u32,
    /// The variables in shared memory.
    shared: Vec<Id>,
    /// The accesses of the workgroup, while it is the invocation's turn.
    pub(super) accesses: Accesses,
}

impl Member {
    pub(super) fn new(turns: Arc<Turns>, number: u32, shared: &[Id]) -> Self {
        Self {
            turns,
            number,
            shared: shared.to_vec(),
            accesses: Accesses::new(0),
        }
    }

    /// Whether a variable is in shared memory.
    pub(in super::super) fn shares(&self, variable: Id) -> bool {
        self.shared.contains(&variable)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if thread::panicking() {
            self.turns.lock().is_broken = true;
            self.turns.changed.notify_all();
        }
    }
}
