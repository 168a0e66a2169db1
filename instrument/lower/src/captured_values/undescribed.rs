//! Variables without debug information but a name.

use super::candidate::{Candidate, Point, Source};
use super::resolver::Resolver;
use super::stores::Memory;
use vkabort_analysis::view::AccessKind;
use vkabort_spirv::{Id, op};

impl Resolver<'_, '_, '_, '_> {
    /// A name that only `OpName` gives.
    pub(super) fn undescribed(&self, values: &[Id]) -> Vec<Candidate> {
        let (flow, block) = (self.point.flow, self.point.block);
        // Variables to which nothing has been stored yet.
        let has_nothing = |memory: &Memory| {
            let held = memory.definitions_before(flow, &[], block, self.point.offset);
            held.is_initial() && !memory.has_value(self.memories, &held)
        };
        let memories: Vec<&Memory> = self
            .of_group
            .iter()
            .copied()
            .filter(|memory| !has_nothing(memory))
            .collect();
        match (memories.as_slice(), values) {
            ([memory], []) if !self.is_pending(memory) => self.of_memory(memory),
            ([], [value]) => Vec::from_iter(self.of_value(*value)),
            ([memory], values) if !values.is_empty() => self.of_memory_or_value(memory, values),
            _ => Vec::new(),
        }
    }

    /// Memory that some of the named values are stored to: the newest of both.
    fn of_memory_or_value(&self, memory: &Memory, values: &[Id]) -> Vec<Candidate> {
        let Point {
            flow, block, offset, ..
        } = *self.point;
        let Some(held) = memory.definitions_before(flow, &[], block, offset).only() else {
            return Vec::new();
        };
        let is_of_memory = |value: &Id| {
            let is_loaded = flow
                .load(*value)
                .is_some_and(|(_, load)| load.place.object == memory.object);
            is_loaded
                || flow.uses.of(*value).any(|at| {
                    let mut stores = flow.accesses.at(at.offset);
                    stores.any(|store| store.place.object == memory.object && store.kind == AccessKind::Store(*value))
                })
        };
        if !values.iter().all(is_of_memory) {
            return Vec::new();
        }
        let reaching = values.iter().filter(|value| flow.reaches(**value, block));
        let newest = reaching
            .filter_map(|value| Some((flow.index.def(*value)?.offset, *value)))
            .max();
        let Some((defined, value)) = newest else {
            return match self.is_pending(memory) {
                true => Vec::new(),
                false => self.of_memory(memory),
            };
        };
        if flow.stored_value(held) == Some(value) {
            return self.of_memory(memory);
        }
        let (Some(at), Some(of_memory)) = (flow.block_at(defined), flow.memory.definitions.get(held)) else {
            return Vec::new();
        };
        let is_newer = match of_memory.block == at {
            true => of_memory.offset > defined,
            false => flow.graph.dominates(at, of_memory.block),
        };
        if is_newer {
            return match self.is_pending(memory) {
                true => Vec::new(),
                false => self.of_memory(memory),
            };
        }
        // Another value of the name may have come after it on some path.
        let is_other = |other: &Id| {
            let of_other = flow.block_of(*other);
            !flow.reaches(*other, block) && of_other.is_some_and(|other| flow.graph.dominates(at, other))
        };
        match flow.graph.dominates(of_memory.block, at) && !values.iter().any(is_other) {
            true => Vec::from_iter(self.of_value(value)),
            false => Vec::new(),
        }
    }

    fn of_value(&self, value: Id) -> Option<Candidate> {
        let (flow, block) = (self.point.flow, self.point.block);
        let defined = flow.index.def(value)?;
        let is_undefined = self.debug.undefined.has(value);
        if is_undefined || !flow.reaches(value, block) || !self.point.saw_value(defined.offset) {
            return None;
        }
        // The next value of a loop's variable has been computed.
        let is_next = |(next, _): (Id, Id)| {
            next != value && (flow.index.opcode(next) != op::Phi || flow.block_of(next) != flow.block_of(value)) && {
                let at = flow.block_of(next);
                at.is_some_and(|at| Some(at) != flow.block_of(value) && flow.reaches(next, block))
                    && flow
                        .block_of(value)
                        .zip(at)
                        .is_some_and(|(of, at)| flow.graph.dominates(of, at))
            }
        };
        let is_stale = defined.opcode() == op::Phi && defined.phi_pairs().any(is_next);
        let at = flow.block_of(value)?;
        let is_live = self.is_live(at, |left| self.is_used_outside(value, left));
        (!is_stale && is_live).then(|| Candidate {
            name: self.name.to_owned(),
            source: Source::Value(value),
            offset: defined.offset,
        })
    }

    /// Whether the compiler stores a value to the variable only later that the source may have assigned already: Slang writes variables
    /// at the end of blocks.
    fn is_pending(&self, memory: &Memory) -> bool {
        let (flow, block) = (self.point.flow, self.point.block);
        let stores = flow
            .accesses
            .accesses
            .values()
            .iter()
            .filter(|access| access.place.object == memory.object);
        self.debug.is_slang
            && stores.into_iter().any(|access| match access.kind {
                AccessKind::Store(value) => !flow.graph.dominates(access.block, block) && flow.reaches(value, block),
                _ => false,
            })
    }
}
