//! Makes planted code that reads a value of a loop behind the loop read it from memory (`Options::remembers_loop_values`).
//!
//! ```text
//! loop: %q = UDiv %a %b       becomes   loop: %q = UDiv %a %b, Store %last[%zero] %q
//! behind it: .. %q ..                   behind it: %copy = Load %last[%zero], .. %copy ..
//! ```
//!
//! In a divergent loop, drivers for CPUs execute all invocations of a subgroup until the last one leaves. SwiftShader and Mesa 22.3 mask
//! stores and phis then, but not results: behind the loop, an invocation that left earlier reads what a later iteration computed. A
//! variable alone does not help, since both turn it into such a result. So `%last` is an array of two elements, and `%zero` an index that
//! no compiler knows. Variables of faults, which are read behind loops, become such arrays, too.
//!
//! The application's own code stays as it is. Pointers are computed again from such copies; those of physical memory stay.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_analysis::loop_nest::LoopNest;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::local_variable::local_variable;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::edit::opaque_true::write_holds;
use vkabort_spirv::edit::phi::predecessor;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::edit::recompute::Recomputation;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Code, Id, Inst, Literal, op, operands};

/// A use of a value behind its loop: the word of an instruction, and where its copy is loaded.
#[derive(Clone, Copy)]
struct Use {
    block: BlockIndex,
    offset: usize,
    /// Whether uses behind it in the block may share the copy.
    is_shared: bool,
}

/// A variable for the last value of an id.
#[derive(Clone, Copy)]
struct LastValue {
    variable: Id,
    pointer: Id,
}

struct Carrier<'e, 'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    nest: LoopNest,
    out: &'e mut Emitter,
    edits: &'e mut Edits,
    /// The function that returns true.
    holds: &'e mut Option<Id>,
    zero: Option<Id>,
    fault_variables: &'e HashSet<Id>,
    variables: HashMap<Id, LastValue>,
    /// Copies by block and value.
    copies: HashMap<(BlockIndex, Id), Id>,
    /// Values and the new ids that derive from them.
    derived: Vec<(Id, Id)>,
}

/// Changes the planted code, whose ids are not below `bound`. Returns the function that is to return true, if this adds it. O(words of the
/// module).
pub fn remember(index: &Index<'_>, bound: Id, planted: &PlantedAborts) -> (Edits, Option<Id>) {
    let mut edits = Edits::default();
    let mut out = Emitter::new(index);
    let holds = planted.hooks.holds;
    let mut found = holds;
    let nests: Vec<(&Function, LoopNest)> = index
        .functions
        .values()
        .iter()
        .map(|function| (function, LoopNest::new(index, function)))
        .collect();
    if nests.iter().all(|(_, nest)| nest.loops().is_empty()) {
        return (edits, None);
    }
    for inst in index.globals().filter(|inst| inst.opcode() == op::Variable) {
        if planted.fault_variables.contains(&inst.result()) {
            let array = array_of(index, &mut out, &inst);
            let none = out.null(array);
            out.variable_as(inst.result(), inst.storage_class(), array, Some(none));
            edits.remove_inst(&inst);
        }
    }
    for (function, nest) in nests {
        let carrier = Carrier {
            index,
            function,
            nest,
            out: &mut out,
            edits: &mut edits,
            holds: &mut found,
            zero: None,
            fault_variables: &planted.fault_variables,
            variables: HashMap::default(),
            copies: HashMap::default(),
            derived: Vec::new(),
        };
        carrier.run(bound);
    }
    if !edits.is_empty() {
        out.finish(index, &mut edits);
    }
    (edits, found.filter(|_| holds.is_none()))
}

/// The type of an array of two of what a variable holds.
fn array_of(index: &Index<'_>, out: &mut Emitter, variable: &Inst<'_>) -> Id {
    let pointee = index.def(variable.result_type()).map_or(Id::NONE, |ty| ty.pointee());
    let two = out.constant(2);
    out.array(pointee, two)
}

impl Carrier<'_, '_, '_> {
    fn run(mut self, bound: Id) {
        let index = self.index;
        for (number, block) in self.function.blocks.iter().zip(index.blocks_of(self.function)) {
            for inst in index.insts(block.offset, block.end).skip(1) {
                if inst.opcode() == op::Variable && self.fault_variables.contains(&inst.result()) {
                    self.make_array(&inst);
                } else if is_planted(&inst, bound) {
                    self.repair(number, block, &inst);
                }
            }
        }
        for (from, to) in self.derived {
            self.out.inherit_non_uniform(index, from, &[to]);
        }
    }

    /// Gives a variable of the function two elements.
    fn make_array(&mut self, variable: &Inst<'_>) {
        let array = array_of(self.index, self.out, variable);
        let class = variable.storage_class();
        let (pointer, none) = (self.out.pointer(class, array), self.out.null(array));
        let operands = (pointer, variable.result(), Literal(class), none);
        self.edits.replace_by(variable, op::Variable, operands);
    }

    /// The pointer to the element of such a variable that is used, for an access at a word offset.
    fn element(&mut self, variable: Id, at: usize) -> Option<Id> {
        if !self.fault_variables.contains(&variable) {
            return None;
        }
        let zero = self.zero();
        let pointer = self.index.type_of(variable);
        let element = self.out.emit(op::AccessChain, pointer, (variable, zero));
        let edits = &mut *self.edits;
        self.out.place(|code| edits.insert(at, code));
        Some(element)
    }

    /// Replaces the operands of an instruction that are values of loops which its block is behind.
    fn repair(&mut self, number: BlockIndex, block: &Block, inst: &Inst<'_>) {
        let index = self.index;
        let mut words = Vec::new();
        operands::visit_ids(inst, index.selector_words(inst), |word| words.push(word));
        let mut new_words: Option<Vec<u32>> = None;
        for word in words {
            let at = match inst.opcode() {
                op::Phi => predecessor(inst, word).and_then(|label| {
                    let block = index.block_of_label(self.function, label)?;
                    Some(Use {
                        block,
                        offset: index.blocks.get(block)?.before_end(),
                        is_shared: false,
                    })
                }),
                _ => Some(Use {
                    block: number,
                    offset: inst.offset.min(block.before_end()),
                    is_shared: true,
                }),
            };
            let copy = self.element(inst.id(word), inst.offset);
            let copy = copy.or_else(|| at.and_then(|at| self.copy(inst.id(word), at)));
            if let Some(copy) = copy {
                let new = new_words.get_or_insert_with(|| inst.words.to_vec());
                new.get_mut(word).into_iter().for_each(|slot| *slot = copy.word());
            }
        }
        if let Some(new) = new_words {
            let mut code = Code::default();
            code.copy_words(inst, &new);
            self.edits.replace_inst(inst, &code);
        }
    }

    /// The copy of a value at a use. `None`: the value itself serves.
    fn copy(&mut self, id: Id, at: Use) -> Option<Id> {
        let index = self.index;
        let leaves = self.leaves_loop(id, at.block);
        if !leaves {
            return None;
        }
        if let Some(copy) = self.copies.get(&(at.block, id)).filter(|_| at.is_shared) {
            return Some(*copy);
        }
        let mut code = Code::default();
        let copy = if is_storable(index, index.type_of(id)) {
            self.load(id, &mut code)
        } else {
            let mut loads = Code::default();
            let available = |operand: Id| match self.leaves_loop(operand, at.block) {
                false => Some(operand),
                true if is_storable(index, index.type_of(operand)) => Some(self.load(operand, &mut loads)),
                true => None,
            };
            let recomputation = Recomputation::new(index, id, available)?;
            code.append(&loads);
            recomputation.write(self.out, &mut code, &mut self.derived)
        };
        self.edits.insert(at.offset, &code);
        if at.is_shared {
            self.copies.insert((at.block, id), copy);
        }
        Some(copy)
    }

    /// Whether a value is defined in a loop that a block is not in.
    fn leaves_loop(&self, id: Id, to: BlockIndex) -> bool {
        let Some((from, _)) = self.definition(id) else {
            return false;
        };
        self.nest.leaves_loop(from, to)
    }

    /// The block that defines a value, and the word offset behind the definition.
    fn definition(&self, id: Id) -> Option<(BlockIndex, usize)> {
        let inst = self.index.def(id).filter(|inst| inst.opcode() != op::Label)?;
        let number = self.index.block_at(self.function, inst.offset)?;
        let behind = match inst.opcode() {
            op::Phi => after_phis(self.index, self.index.blocks.get(number)?),
            _ => inst.end(),
        };
        Some((number, behind))
    }

    /// Loads the last value of an id.
    fn load(&mut self, id: Id, code: &mut Code) -> Id {
        let ty = self.index.type_of(id);
        let LastValue { variable, pointer } = self.last(id, ty);
        let zero = self.zero();
        let [element, copy] = [(); 2].map(|()| self.out.fresh());
        code.op(op::AccessChain, (pointer, element, variable, zero));
        code.op(op::Load, (ty, copy, element));
        self.derived.push((id, copy));
        copy
    }

    /// The variable that holds a value from its definition on.
    fn last(&mut self, id: Id, ty: Id) -> LastValue {
        if let Some(last) = self.variables.get(&id) {
            return *last;
        }
        let two = self.out.constant(2);
        let array = self.out.array(ty, two);
        let target = (&mut *self.out, &mut *self.edits);
        let last = LastValue {
            variable: local_variable(self.index, self.function, target, (array, None)),
            pointer: self.out.pointer(storage_class::Function, ty),
        };
        self.out.name(last.variable, "vkabort_last");
        self.variables.insert(id, last);
        let zero = self.zero();
        if let Some((_, behind)) = self.definition(id) {
            let element = self.out.emit(op::AccessChain, last.pointer, (last.variable, zero));
            self.out.op(op::Store, (element, id));
            self.out.place(|code| self.edits.insert(behind, code));
        }
        last
    }

    /// The index 0, computed at the start of the function.
    fn zero(&mut self) -> Id {
        if let Some(zero) = self.zero {
            return zero;
        }
        let index = self.index;
        let holds = *self
            .holds
            .get_or_insert_with(|| write_holds(index, self.out, self.edits));
        let out = &mut *self.out;
        let bool = out.bool();
        let [zero, one] = [0, 1].map(|value| out.constant(value));
        let holds = out.emit(op::FunctionCall, bool, holds);
        let zero = out.calculate(op::Select, (holds, zero, one));
        if let Some(start) = index.after_variables(self.function) {
            out.place(|code| self.edits.insert(start, code));
        }
        *self.zero.insert(zero)
    }
}

/// Whether an instruction is planted: it defines such an id, or has no result and reads one.
fn is_planted(inst: &Inst<'_>, bound: Id) -> bool {
    match operands::result_index(inst.opcode()) {
        Some(at) => inst.id(at) >= bound,
        None => {
            let mut reads = false;
            operands::visit_ids(inst, 1, |word| reads |= inst.id(word) >= bound);
            reads
        }
    }
}

/// Whether an array of a function can hold values of a type.
fn is_storable(index: &Index<'_>, ty: Id) -> bool {
    let is_plain = matches!(
        index.opcode(ty),
        op::TypeBool | op::TypeInt | op::TypeFloat | op::TypeVector | op::TypeMatrix
    );
    is_plain && !index.is_storage_only(ty)
}
