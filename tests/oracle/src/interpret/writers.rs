//! Records the instruction that wrote the scalars of each load, to compare it with the rewriter's view of memory.

use super::value::{Pointer, Value};
use crate::module::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Writer of a scalar that a load reads: the store at a word offset, or the call whose function stored it. `None`: it was there
/// when the function of the load was called, or at the start.
pub type Writer = Option<usize>;

/// A store.
#[derive(Clone, Copy, Debug)]
struct Write {
    time: u64,
    offset: usize,
    /// Depth of the call stack.
    depth: usize,
}

/// A called function.
#[derive(Clone, Debug, Default)]
struct Activation {
    start: u64,
    /// When the calls in it began, and their word offsets.
    calls: Vec<(u64, usize)>,
}

/// The stores to variables without layout, and the loads that have read them.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// By variable and indices, for each scalar.
    written: HashMap<(Id, Vec<u32>), Write>,
    activations: Vec<Activation>,
    time: u64,
    loads: BTreeMap<usize, BTreeSet<Writer>>,
}

impl Writers {
    /// The writers of each load, by its word offset, in all invocations.
    pub fn loads(&self) -> &BTreeMap<usize, BTreeSet<Writer>> {
        &self.loads
    }

    /// An invocation begins.
    pub(super) fn begin(&mut self) {
        self.written.clear();
        self.activations.clear();
    }

    /// The call at a word offset begins; `None` for the entry point.
    pub(super) fn enter(&mut self, call: Writer) {
        self.time += 1;
        let start = self.time;
        if let (Some(caller), Some(offset)) = (self.activations.last_mut(), call) {
            caller.calls.push((start, offset));
        }
        self.activations.push(Activation {
            start,
            calls: Vec::new(),
        });
    }

    pub(super) fn leave(&mut self) {
        self.activations.pop();
    }

    pub(super) fn store(&mut self, offset: usize, pointer: &Pointer, value: &Value) {
        let Pointer::Logical { variable, path } = pointer else {
            return;
        };
        self.time += 1;
        let write = Write {
            time: self.time,
            offset,
            depth: self.activations.len(),
        };
        for leaf in leaves(path, value) {
            self.written.insert((*variable, leaf), write);
        }
    }

    pub(super) fn load(&mut self, offset: usize, pointer: &Pointer, value: &Value) {
        let Pointer::Logical { variable, path } = pointer else {
            return;
        };
        let writers: Vec<Writer> = leaves(path, value)
            .into_iter()
            .map(|leaf| self.writer(self.written.get(&(*variable, leaf))))
            .collect();
        self.loads.entry(offset).or_default().extend(writers);
    }

    /// A write as the function that is executed sees it.
    fn writer(&self, write: Option<&Write>) -> Writer {
        let (write, here) = (write?, self.activations.last()?);
        if write.time < here.start {
            return None;
        }
        if write.depth == self.activations.len() {
            return Some(write.offset);
        }
        let behind = here.calls.partition_point(|(start, _)| *start <= write.time);
        here.calls.get(behind.checked_sub(1)?).map(|(_, offset)| *offset)
    }
}

/// The indices of the scalars of a value at `path`.
fn leaves(path: &[u32], value: &Value) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut worklist = vec![(path.to_vec(), value)];
    while let Some((path, value)) = worklist.pop() {
        match value {
            Value::Composite(parts) => worklist.extend((0..).zip(parts).map(|(number, part)| {
                let mut of_part = path.clone();
                of_part.push(number);
                (of_part, part)
            })),
            _ => found.push(path),
        }
    }
    found
}
