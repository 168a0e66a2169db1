//! The code that an invocation executes in blocks that lead out of its function only.

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::words::Insts;
use vkabort_spirv::{Code, Id, Inst, Words, op, op_sets};

/// Most values of joined exits.
const MOST_VALUES: usize = 2048;

/// The words of an instruction.
type Instruction = SmallVec<[u32; 8]>;

/// The code of an exit, without positions: first the values, then the stores, then the notices.
#[derive(Clone, Debug, Default)]
pub(super) struct Exit {
    /// Computations, loads of memory that the exit does not change, and calls of planted functions without arguments.
    values: Vec<Instruction>,
    /// The results of the calls, and their functions.
    calls: SmallVec<[(Id, u32); 2]>,
    /// The results of the other values, by their words without the result.
    by_words: HashMap<Instruction, Id>,
    /// Variable and value. The last one is the key of the record.
    stores: SmallVec<[(Id, Id); 8]>,
    /// Stores of constants that all invocations may see, behind the others.
    notices: SmallVec<[Instruction; 1]>,
    /// The return.
    end: Instruction,
    /// The labels of its blocks.
    pub(super) labels: Vec<Id>,
}

impl Exit {
    /// The exit of a block that returns.
    pub(super) fn of_block(index: &Index<'_>, block: &Block, bound: Id) -> Option<Self> {
        let end = index.terminator(block);
        if !matches!(end.opcode(), op::Return | op::ReturnValue) {
            return None;
        }
        let mut exit = Self::body(index, block, bound)?;
        exit.end.extend_from_slice(end.words);
        (!exit.stores.is_empty()).then_some(exit)
    }

    /// What is in front of a branch that leads to exits, without stores.
    pub(super) fn front(index: &Index<'_>, block: &Block, bound: Id) -> Option<Self> {
        Self::body(index, block, bound).filter(|front| front.stores.is_empty() && front.notices.is_empty())
    }

    /// The instructions of a block. `None` if one of them may have another effect, or depend on the order.
    fn body(index: &Index<'_>, block: &Block, bound: Id) -> Option<Self> {
        let mut exit = Self::default();
        exit.labels.push(block.label);
        for inst in index.body(block) {
            match inst.opcode() {
                op::Line | op::NoLine => {}
                op::ExtInst if index.is_debug_inst(&inst) => {}
                op::Store if inst.words.len() == 3 && is_of_record(index, inst.id(1), bound) => {
                    exit.stores.push((inst.id(1), inst.id(2)));
                }
                op::FunctionCall if inst.words.len() == 4 && inst.callee() >= bound && exit.stores.is_empty() => {
                    exit.calls.push((inst.result(), inst.callee().word()));
                    exit.values.push(inst.words.into());
                }
                op::AtomicStore => exit.notices.push(inst.words.into()),
                // An annotation may not lose its target.
                opcode
                    if (op_sets::is_total(opcode) || is_stable_access(index, &inst))
                        && index.decorations_of(inst.result()).next().is_none() =>
                {
                    exit.by_words.insert(without_result(inst.words), inst.result());
                    exit.values.push(inst.words.into());
                }
                _ => return None,
            }
        }
        Some(exit)
    }

    /// The exit behind this code. `None` if it is too long.
    pub(super) fn followed_by(&self, mut exit: Self) -> Option<Self> {
        let mut front = self.clone();
        let renamed = front.add_values(&exit, |_| None)?;
        let map = |id: Id| renamed.get(&id).copied().unwrap_or(id);
        exit.stores.iter_mut().for_each(|(_, value)| *value = map(*value));
        let notices = exit.notices.iter().map(|notice| mapped(notice, map));
        front.labels.append(&mut exit.labels);
        Some(Self {
            notices: notices.collect(),
            end: mapped(&exit.end, map),
            stores: exit.stores,
            ..front
        })
    }

    /// The exits of both ways behind a condition, as one. `None` if they differ in more than values and stores.
    pub(super) fn joined(
        index: &Index<'_>,
        (condition, yes, no): (Id, &Self, &Self),
        out: &mut Emitter,
    ) -> Option<Self> {
        let functions = |exit: &Self| -> SmallVec<[u32; 2]> { exit.calls.iter().map(|(_, callee)| *callee).collect() };
        let key = |exit: &Self| exit.stores.last().map(|(variable, _)| *variable);
        if functions(yes) != functions(no) || key(yes) != key(no) {
            return None;
        }
        let mut exit = no.clone();
        // Both make the same calls, and one of them is made.
        let calls: SmallVec<[(Id, Id); 2]> = yes
            .calls
            .iter()
            .map(|call| call.0)
            .zip(no.calls.iter().map(|call| call.0))
            .collect();
        let renamed = exit.add_values(yes, |result| {
            calls.iter().find(|call| call.0 == result).map(|call| call.1)
        })?;
        let map = |id: Id| renamed.get(&id).copied().unwrap_or(id);
        let is_same = |(one, other): (&Instruction, &Instruction)| mapped(one, map) == *other;
        let have_same = yes.notices.len() == exit.notices.len() && yes.notices.iter().zip(&exit.notices).all(is_same);
        if !have_same || !is_same((&yes.end, &exit.end)) {
            return None;
        }
        let (variable, mut key) = exit.stores.pop()?;
        for (stored, value) in &yes.stores {
            let value = map(*value);
            let other = match *stored == variable {
                true => Some(&mut key),
                false => exit
                    .stores
                    .iter_mut()
                    .find(|store| store.0 == *stored)
                    .map(|store| &mut store.1),
            };
            match other {
                Some(other) if *other == value => {}
                Some(other) => {
                    let ty = index.def(index.type_of(*stored))?.pointee();
                    let mut code = Code::default();
                    let result = out.fresh();
                    code.op(op::Select, (ty, result, condition, value, *other));
                    exit.values.push(code.words.into());
                    *other = result;
                }
                None => exit.stores.push((*stored, value)),
            }
        }
        exit.stores.push((variable, key));
        exit.labels.extend(&yes.labels);
        Some(exit)
    }

    /// Adds the values of another exit, each once. Left out are calls in whose place another one is made: `same_call` returns its result.
    /// Returns the results that have other ids now.
    fn add_values(&mut self, other: &Self, same_call: impl Fn(Id) -> Option<Id>) -> Option<HashMap<Id, Id>> {
        if self.values.len() + other.values.len() > MOST_VALUES {
            return None;
        }
        let mut renamed: HashMap<Id, Id> = HashMap::default();
        for words in &other.values {
            let words = mapped(words, |id| renamed.get(&id).copied().unwrap_or(id));
            let result = Id::new(*words.get(2)?);
            let call = other.calls.iter().find(|call| call.0 == result);
            let key = without_result(&words);
            let earlier = match call {
                Some(_) => same_call(result),
                None => self.by_words.get(&key).copied(),
            };
            if let Some(earlier) = earlier {
                renamed.insert(result, earlier);
                continue;
            }
            match call {
                Some(call) => self.calls.push(*call),
                None => drop(self.by_words.insert(key, result)),
            }
            self.values.push(words);
        }
        Some(renamed)
    }

    /// Writes the exit.
    pub(super) fn write(&self, out: &mut Emitter) {
        for words in &self.values {
            write_words(out, words);
        }
        for (variable, value) in &self.stores {
            out.op(op::Store, (*variable, *value));
        }
        for notice in &self.notices {
            write_words(out, notice);
        }
        write_words(out, &self.end);
    }
}

/// Whether a variable holds a word of a record, or its key: the exit alone stores to it.
fn is_of_record(index: &Index<'_>, variable: Id, bound: Id) -> bool {
    let is_word = |pointer: Id| {
        let pointee = index.def(pointer).and_then(|pointer| index.def(pointer.pointee()));
        pointee.is_some_and(|ty| ty.opcode() == op::TypeInt && ty.width() == 32)
    };
    variable >= bound
        && index.opcode(variable) == op::Variable
        && index.storage_class(index.type_of(variable)) == Some(storage_class::Private)
        && is_word(index.type_of(variable))
}

/// Whether an instruction computes a pointer to a part that is there, or loads a part of a variable that no other invocation changes.
fn is_stable_access(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_constant = |id: Id| op_sets::is_type_or_constant(index.opcode(id));
    let mut pointer = match inst.opcode() {
        op::Load if inst.words.len() == 4 => inst.id(3),
        op::AccessChain => return inst.ids(4).all(is_constant),
        _ => return false,
    };
    while let Some(chain) = index.def(pointer).filter(|chain| chain.opcode() == op::AccessChain) {
        let base = index.def(chain.id(3)).filter(|base| base.offset < chain.offset);
        let Some(base) = base.filter(|_| chain.ids(4).all(is_constant)) else {
            return false;
        };
        pointer = base.result();
    }
    let class = index.storage_class(index.type_of(pointer));
    index.opcode(pointer) == op::Variable
        && class.is_some_and(|class| {
            matches!(
                class,
                storage_class::Function | storage_class::Private | storage_class::Input | storage_class::PushConstant
            )
        })
}

/// The words of an instruction whose result does not count.
fn without_result(words: &[u32]) -> Instruction {
    let mut key = Instruction::from(words);
    if let Some(result) = key.get_mut(2) {
        *result = 0;
    }
    key
}

/// An instruction with other ids.
fn mapped(words: &[u32], map: impl Fn(Id) -> Id) -> Instruction {
    let mut code = Code::default();
    if let Some(inst) = Insts::new(words, 0).next() {
        code.copy_mapped(&inst, 1, map);
    }
    code.words.into()
}

fn write_words(out: &mut Emitter, words: &[u32]) {
    if let Some(inst) = Insts::new(words, 0).next() {
        out.op(inst.opcode(), Words(words.get(1..).unwrap_or_default()));
    }
}
