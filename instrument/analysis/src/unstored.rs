//! Finds the memory definitions that may still be the initial contents of a variable.
//!
//! For the check `initialized`. Followed are variables of the storage class Function, from the start of their function, and those of
//! Private, Output and Workgroup, from the start of the entry point over calls; to those of Workgroup, other invocations may have stored
//! at any time. Where the answer is not known, they count as stored: what a
//! pointer parameter points to, variables with an initialiser, objects that escape, and functions of a recursion.
//!
//! ```text
//! float sum;                entry: unstored
//! if (c) sum = 1.0;         store: stored
//!                           phi: both
//! words[0] = sum;           reads the phi: it may be unstored
//! ```

use super::view::{FunctionView, Memory, MemoryUse, ModuleView, ObjectClass, Origin};
use std::collections::BTreeSet;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{DefIndex, FunctionIndex, Table};

/// Paths on which a variable has been stored to before a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// On every path, though perhaps not to all of it.
    Always,
    /// On some paths, or to some element.
    Perhaps,
    Never,
}

/// The variables of the module that nothing may have stored when a function is called.
#[derive(Debug, Default)]
pub struct Unstored {
    at_entry: BTreeSet<(FunctionIndex, Id)>,
}

impl Unstored {
    /// O(definitions + calls * variables that the callee reads).
    pub fn new(view: &ModuleView<'_, '_>) -> Self {
        let mut found = Self::default();
        let (callees_first, _) = view.graph.callees_first();
        for caller in callees_first.into_iter().rev() {
            let is_reached = view.graph.reach.get(caller);
            if is_reached.is_none_or(|reach| reach.entry_points.is_empty()) || view.graph.calls_in(caller).count() == 0
            {
                continue;
            }
            if let Some(function) = view.function(caller) {
                found.add_callees(view, function);
            }
        }
        found
    }

    fn add_callees(&mut self, view: &ModuleView<'_, '_>, function: &FunctionView<'_, '_>) {
        let states = self.states(view, function);
        for call in view.graph.calls_in(function.number).iter() {
            let (Some(callee), Some(call)) = (view.graph.callee(call), view.index.calls.get(call)) else {
                continue;
            };
            let Some(summary) = view.summary(callee).filter(|summary| !summary.is_unknown) else {
                continue;
            };
            let mut seen: BTreeSet<Id> = BTreeSet::new();
            for definition in function.memory.seen_by_event(call.offset) {
                let is_unstored = states.get(definition).is_some_and(|stored| *stored != Stored::Always);
                if let Some(object) = function.object(definition).filter(|_| is_unstored) {
                    seen.insert(object.pointer);
                }
            }
            for variable in &summary.reads {
                let is_own = function.accesses.place(*variable).is_some();
                let passes_on = !is_own && self.is_unstored_in(view, function.number, *variable);
                if passes_on || seen.contains(variable) {
                    self.at_entry.insert((callee, *variable));
                }
            }
        }
    }

    /// Whether nothing may have been stored to a variable of the module when a function is called.
    fn is_unstored_in(&self, view: &ModuleView<'_, '_>, function: FunctionIndex, variable: Id) -> bool {
        let has_initializer = view.index.def(variable).is_none_or(|variable| variable.words.len() > 4);
        !has_initializer && (view.is_entry_point(function) || self.at_entry.contains(&(function, variable)))
    }

    /// The state of each definition of a function. O(definitions + uses).
    pub fn states(&self, view: &ModuleView<'_, '_>, function: &FunctionView<'_, '_>) -> Table<DefIndex, Stored> {
        let memory = &function.memory;
        let (mut unstored, mut stored) = (Vec::new(), Vec::new());
        for (number, definition) in memory.definitions.iter() {
            match definition.origin {
                Origin::Phi => {}
                Origin::Entry if self.is_unstored_at_entry(view, function, number) => {
                    unstored.push(number);
                    // Callers that have stored something may call the function, too, and other invocations may have stored.
                    let may_be_stored = function.object(number).is_some_and(|object| match object.class {
                        ObjectClass::Workgroup => true,
                        class => class.is_variable_of_module() && !view.is_entry_point(function.number),
                    });
                    if may_be_stored {
                        stored.push(number);
                    }
                }
                Origin::Entry | Origin::Access(_) | Origin::Event(_) => stored.push(number),
            }
        }
        let unstored = spread(memory, unstored, |to| !is_passed(function, to));
        let stored = spread(memory, stored, |_| true);
        memory
            .definitions
            .map(|number| match (unstored.is_set(number), stored.is_set(number)) {
                (true, false) => Stored::Never,
                (true, true) => Stored::Perhaps,
                (false, _) => Stored::Always,
            })
    }

    fn is_unstored_at_entry(
        &self,
        view: &ModuleView<'_, '_>,
        function: &FunctionView<'_, '_>,
        entry: DefIndex,
    ) -> bool {
        let object = function.object(entry);
        object.is_some_and(|object| match object.class {
            ObjectClass::Function => object.initializer.is_none(),
            ObjectClass::Private | ObjectClass::Output | ObjectClass::Workgroup => {
                self.is_unstored_in(view, function.number, object.pointer)
            }
            ObjectClass::Parameter(_) | ObjectClass::Described(_) => false,
        })
    }
}

/// Whether a definition is made by a call that may store all of a variable of the function through a pointer.
fn is_passed(function: &FunctionView<'_, '_>, definition: DefIndex) -> bool {
    let Some(found) = function.memory.definitions.get(definition) else {
        return false;
    };
    let (Origin::Event(event), Some(cell)) = (found.origin, function.cells.all.get(found.cell)) else {
        return false;
    };
    let is_local = function
        .object(definition)
        .is_some_and(|object| object.class == ObjectClass::Function);
    let mut passed = function.accesses.at(event.offset);
    is_local
        && passed.any(|access| {
            let place = &access.place;
            place.object == cell.object && place.is_exact && cell.path.starts_with(&place.path)
        })
}

/// The definitions that may have the contents of one of `sources`, through phis and those partial stores for which `keeps` holds.
fn spread(memory: &Memory, sources: Vec<DefIndex>, keeps: impl Fn(DefIndex) -> bool) -> Table<DefIndex, bool> {
    let mut marks = memory.definitions.map(|_| false);
    let mut worklist = sources;
    for source in &worklist {
        marks.set(*source);
    }
    while let Some(number) = worklist.pop() {
        for at in memory.uses(number) {
            let to = match at {
                MemoryUse::Phi(to, _) => to,
                MemoryUse::Changed(to) if keeps(to) => to,
                _ => continue,
            };
            if marks.set(to) {
                worklist.push(to);
            }
        }
    }
    marks
}
