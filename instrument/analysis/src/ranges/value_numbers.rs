//! Value numbering: a value, its copies and its loads share one number.

use crate::view::path::{Path, suffix_after};
use crate::view::{AccessKind, FunctionView, Origin};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{DefIndex, NumberIndex, Table};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Id, Inst, op};

/// The part of a value or of memory that a number stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumberedPart {
    /// A part of a value; of a variable, if its memory cannot change while the invocation runs: inputs, push constants, uniforms.
    Value(Id, Path),
    /// A part of the contents of a memory definition.
    Memory(DefIndex, Path),
}

/// The numbers of one function, each once.
#[derive(Debug, Default)]
pub(super) struct ValueNumbers {
    all: Table<NumberIndex, NumberedPart>,
    /// The numbers of values that are numbers themselves, of parts of others, and of parts of memory.
    of_values: HashMap<Id, NumberIndex>,
    of_parts: HashMap<(Id, Path), NumberIndex>,
    of_memory: HashMap<(DefIndex, Path), NumberIndex>,
}

impl ValueNumbers {
    /// The number of a part of a value. Amortised O(1) for each step: all values on the way get the number.
    pub(super) fn number(&mut self, function: &FunctionView<'_, '_>, value: Id, path: Path) -> NumberIndex {
        let mut at = (value, path);
        let mut passed: SmallVec<[(Id, Path); 2]> = SmallVec::new();
        let number = loop {
            if let Some(number) = self.found(&at) {
                break number;
            }
            match step(function, at.0, &at.1) {
                Step::Same(id, path) => passed.push(std::mem::replace(&mut at, (id, path))),
                Step::End(part) => {
                    let is_own = matches!(&part, NumberedPart::Value(id, path) if *id == at.0 && *path == at.1);
                    passed.extend((!is_own).then_some(at));
                    break self.intern(part);
                }
            }
        };
        for (value, path) in passed {
            self.set(value, path, number);
        }
        number
    }

    /// The number of a part of the contents of a memory definition.
    pub(super) fn number_in_memory(
        &mut self,
        function: &FunctionView<'_, '_>,
        definition: DefIndex,
        path: Path,
    ) -> NumberIndex {
        match stored(function, definition, &path, usize::MAX) {
            Step::Same(id, path) => self.number(function, id, path),
            Step::End(part) => self.intern(part),
        }
    }

    /// The part that a number stands for.
    pub(super) fn get(&self, number: NumberIndex) -> Option<&NumberedPart> {
        self.all.get(number)
    }

    fn found(&self, at: &(Id, Path)) -> Option<NumberIndex> {
        let found = if at.1.is_empty() {
            self.of_values.get(&at.0)
        } else {
            self.of_parts.get(at)
        };
        found.copied()
    }

    fn set(&mut self, value: Id, path: Path, number: NumberIndex) {
        if path.is_empty() {
            self.of_values.insert(value, number);
        } else {
            self.of_parts.insert((value, path), number);
        }
    }

    fn intern(&mut self, part: NumberedPart) -> NumberIndex {
        let next = self.all.next_key();
        let number = match &part {
            NumberedPart::Value(id, path) if path.is_empty() => *self.of_values.entry(*id).or_insert(next),
            NumberedPart::Value(id, path) => *self.of_parts.entry((*id, path.clone())).or_insert(next),
            NumberedPart::Memory(definition, path) => {
                *self.of_memory.entry((*definition, path.clone())).or_insert(next)
            }
        };
        if number == next {
            self.all.push(part);
        }
        number
    }
}

enum Step {
    Same(Id, Path),
    End(NumberedPart),
}

/// The source of a part of a value. Each step leads to an instruction before it.
fn step(function: &FunctionView<'_, '_>, value: Id, path: &Path) -> Step {
    let end = || Step::End(NumberedPart::Value(value, path.clone()));
    let index = function.index;
    let Some(inst) = index.def(value) else { return end() };
    let earlier = |id: Id, path: Path| match index.def(id) {
        Some(def) if def.offset < inst.offset => Step::Same(id, path),
        _ => end(),
    };
    match inst.opcode() {
        op::CopyObject | op::CopyLogical => earlier(inst.id(3), path.clone()),
        op::CompositeExtract => earlier(inst.id(3), inst.from(4).iter().chain(path).copied().collect()),
        op::CompositeConstruct | op::ConstantComposite => match constituent(index, &inst, path) {
            Some((id, path)) => earlier(id, path),
            None => end(),
        },
        op::CompositeInsert if path.starts_with(inst.from(5)) => {
            earlier(inst.id(3), suffix_after(path, inst.from(5)).unwrap_or_default())
        }
        op::CompositeInsert if suffix_after(path, inst.from(5)).is_none() => earlier(inst.id(4), path.clone()),
        op::VectorShuffle => match path.first().and_then(|at| inst.from(5).get(*at as usize)) {
            Some(from) => {
                let first = crate::effects::component_count(index, index.type_of(inst.id(3)));
                let (id, component) = if *from < first { (3, *from) } else { (4, *from - first) };
                earlier(inst.id(id), std::iter::once(component).collect())
            }
            None => end(),
        },
        op::Load => match loaded(function, &inst, path) {
            Some(Step::Same(id, path)) => earlier(id, path),
            found => found.unwrap_or_else(end),
        },
        _ => end(),
    }
}

/// The constituent that has a part of a constructed composite.
fn constituent(index: &Index<'_>, construct: &Inst<'_>, path: &Path) -> Option<(Id, Path)> {
    let (first, rest) = path.split_first()?;
    if index.opcode(construct.result_type()) != op::TypeVector {
        return Some((construct.ids(3).nth(*first as usize)?, rest.into()));
    }
    let mut before = 0;
    for id in construct.ids(3) {
        let ty = index.type_of(id);
        let count = crate::effects::component_count(index, ty);
        if *first < before + count {
            let is_vector = index.opcode(ty) == op::TypeVector;
            return Some((id, std::iter::once(*first - before).filter(|_| is_vector).collect()));
        }
        before += count;
    }
    None
}

fn loaded(function: &FunctionView<'_, '_>, load: &Inst<'_>, path: &Path) -> Option<Step> {
    if let Some((number, access)) = function.load(load.result()) {
        if !access.place.is_exact {
            return None;
        }
        let part: Path = access.place.path.iter().chain(path).copied().collect();
        let mut read = function
            .memory
            .read(number)
            .filter(|read| function.cell_has(*read, access.place.object, &part));
        let definition = read.next().filter(|_| read.next().is_none())?;
        return Some(stored(function, definition, &part, load.offset));
    }
    let (variable, part) = constant_memory(function.index, load.pointer(), path)?;
    Some(Step::End(NumberedPart::Value(variable, part)))
}

/// The value that a store before the word offset `before` has stored to a part of a definition; else the part itself.
fn stored(function: &FunctionView<'_, '_>, definition: DefIndex, part: &Path, before: usize) -> Step {
    let mut at = definition;
    // Each step leads to a definition that dominates the one before.
    loop {
        let end = || Step::End(NumberedPart::Memory(at, part.clone()));
        let Some(found) = function.memory.definitions.get(at) else {
            return end();
        };
        match found.origin {
            Origin::Access(by) => {
                let Some(access) = function
                    .accesses
                    .accesses
                    .get(by)
                    .filter(|access| access.place.is_exact)
                else {
                    return end();
                };
                match (access.kind, suffix_after(part, &access.place.path)) {
                    (AccessKind::Store(value), Some(rest))
                        if part.len() >= access.place.path.len() && access.offset < before =>
                    {
                        return Step::Same(value, rest);
                    }
                    (_, None) => match found.previous.filter(|previous| *previous < at) {
                        Some(previous) => at = previous,
                        None => return end(),
                    },
                    _ => return end(),
                }
            }
            Origin::Entry => {
                return match function.initial_value(at) {
                    Some(initial) => Step::Same(initial, part.clone()),
                    None => end(),
                };
            }
            Origin::Event(_) | Origin::Phi => return end(),
        }
    }
}

/// The variable of a pointer whose memory does not change while the invocation runs, and the part of it at `path` of the pointee.
fn constant_memory(index: &Index<'_>, pointer: Id, path: &Path) -> Option<(Id, Path)> {
    let inst = index.def(pointer)?;
    let (variable, indices) = match inst.opcode() {
        op::Variable => (inst, Path::new()),
        op::AccessChain | op::InBoundsAccessChain => {
            let indices = inst.ids(4).map(|id| {
                let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant)?;
                u32::try_from(index.literal(&constant)?).ok()
            });
            (index.def(inst.id(3))?, indices.collect::<Option<Path>>()?)
        }
        _ => return None,
    };
    let id = variable.result();
    let is_volatile = || index.decorations_of(id).any(|found| found.kind == decoration::Volatile);
    let block = || index.under_arrays(index.def(variable.result_type()).map_or(Id::NONE, |ty| ty.pointee()));
    let is_constant = variable.opcode() == op::Variable
        && match variable.storage_class() {
            storage_class::Input => !is_volatile(),
            storage_class::PushConstant => true,
            storage_class::Uniform => index.decoration(block(), decoration::BufferBlock).is_none(),
            _ => false,
        };
    is_constant.then(|| (id, indices.iter().chain(path).copied().collect()))
}
