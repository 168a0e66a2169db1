//! Whose turn it is in a workgroup.

use super::super::error::{Result, unsupported};
use super::super::machine::{Machine, Physical};
use super::super::memory::Region;
use super::super::outcome::InvocationEnd;
use super::super::value::{Pointer, Value};
use super::accesses::{AccessKind, Accesses};
use crate::choices::Choices;
use crate::module::Id;
use std::collections::HashMap;
use std::mem;
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

/// What an invocation does when it is not its turn.
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
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Of whoever's turn it is, unless it is nobody's.
    shared: Shared,
    stages: Vec<Stage>,
    turn: Option<u32>,
    choices: Choices,
    ends: Vec<(u32, InvocationEnd)>,
    /// An invocation has failed, and its turn was not handed on.
    is_broken: bool,
}

impl State {
    /// Chooses who is next. If nobody can go on, the barriers let everybody pass.
    fn choose(&mut self) {
        let ready = |stages: &[Stage]| -> Vec<u32> {
            let numbered = (0..).zip(stages);
            let ready = numbered.filter(|(_, stage)| **stage == Stage::Ready);
            ready.map(|(number, _)| number).collect()
        };
        let mut next = ready(&self.stages);
        if next.is_empty() {
            self.shared.accesses.pass_barriers(&self.stages);
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

    fn lock(&self) -> MutexGuard<'_, State> {
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
    turns: Arc<Turns>,
    pub(super) number: u32,
    /// The variables in shared memory, and the accesses while it is its turn.
    shared: Vec<Id>,
    accesses: Accesses,
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

impl Machine<'_> {
    /// Exchanges the memory of the machine with that of the workgroup.
    fn exchange(&mut self, shared: &mut Shared) {
        mem::swap(&mut self.buffers, &mut shared.buffers);
        mem::swap(&mut self.physical, &mut shared.physical);
        for (id, value) in &mut shared.variables {
            if let Some(own) = self.variables.get_mut(*id as usize) {
                mem::swap(own, value);
            }
        }
        if let Some(member) = &mut self.member {
            mem::swap(&mut member.accesses, &mut shared.accesses);
        }
    }

    /// Waits for the turn of the invocation.
    pub(super) fn take_turn(&mut self) -> Result<()> {
        let Some((turns, number)) = self.turns() else {
            return Ok(());
        };
        let mut state = turns.lock();
        while state.turn != Some(number) && !state.is_broken {
            state = turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_broken {
            return unsupported("another invocation that has failed");
        }
        self.exchange(&mut state.shared);
        Ok(())
    }

    /// Lets the next one go on, which may be this one.
    pub(in super::super) fn pass_turn(&mut self, stage: Stage) -> Result<()> {
        self.hand_on(stage, None);
        self.take_turn()
    }

    /// Ends the invocation. `end`: `None` if it failed.
    pub(super) fn leave_turns(&mut self, end: Option<InvocationEnd>) {
        let is_aborted = matches!(end, Some(InvocationEnd::Aborted { .. }));
        self.hand_on(Stage::Ended(is_aborted), end);
        self.member = None;
    }

    fn hand_on(&mut self, stage: Stage, end: Option<InvocationEnd>) {
        let Some((turns, number)) = self.turns() else { return };
        let mut state = turns.lock();
        self.exchange(&mut state.shared);
        state.ends.extend(end.map(|end| (number, end)));
        if let Some(own) = state.stages.get_mut(number as usize) {
            *own = stage;
        }
        state.choose();
        turns.changed.notify_all();
    }

    fn turns(&self) -> Option<(Arc<Turns>, u32)> {
        let member = self.member.as_ref()?;
        Some((Arc::clone(&member.turns), member.number))
    }

    /// An instruction accesses memory, in front of which another invocation may go on. `constant`: what it stores, if that is one.
    pub(in super::super) fn share(
        &mut self,
        offset: usize,
        pointer: &Pointer,
        kind: AccessKind,
        constant: Option<Id>,
    ) -> Result<()> {
        let Some(member) = &self.member else { return Ok(()) };
        let shared = match pointer {
            Pointer::Logical { variable, path } => member.shares(*variable).then_some((*variable, path)),
            Pointer::Bytes(_) => None,
        };
        if shared.is_none() && kind != AccessKind::Atomic {
            return Ok(());
        }
        self.pass_turn(Stage::Ready)?;
        let Some((variable, path)) = shared else { return Ok(()) };
        let accessed = self.variables.get(variable as usize).and_then(Option::as_ref);
        let accessed = accessed.and_then(|value| value.at(path));
        if let Some((value, member)) = accessed.zip(self.member.as_mut()) {
            let number = member.number;
            member
                .accesses
                .add((number, offset, kind), (variable, path, value), constant);
        }
        Ok(())
    }
}
