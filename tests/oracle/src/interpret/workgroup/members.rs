//! Takes and passes on the turns of an invocation.

use super::super::error::{Result, unsupported};
use super::super::machine::Machine;
use super::super::outcome::InvocationEnd;
use super::super::value::Pointer;
use super::accesses::AccessKind;
use super::turns::{Shared, Stage, Turns};
use crate::module::Id;
use std::mem;
use std::sync::{Arc, PoisonError};

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

    /// Lets an invocation go on, which may be this one.
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

    /// An instruction accesses memory, in front of which another invocation may go on. `constant`: the
    /// value that it stores, if that is a constant.
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
