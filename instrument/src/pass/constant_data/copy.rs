//! Functions that copy constant data to memory of the shader.

use super::data::ConstantData;
use super::table::Table;
use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::edit::phi::phi;
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Code, Id, Inst, Literal, Words, op};
use rustc_hash::FxHashMap as HashMap;

/// An object in memory, by a pointer that other functions can make again: a logical pointer into an object cannot be passed.
#[derive(Clone)]
pub(super) struct Target {
    /// The pointer to the outermost object.
    base: Id,
    /// Indices into it.
    path: Vec<Id>,
    class: u32,
    /// A pointer with the decorations of pointers to the object.
    pointer: Id,
}

impl Target {
    /// The object that `pointer` points to.
    pub(super) fn of_pointer(index: &Index<'_>, pointer: Id) -> Self {
        let (mut base, mut path) = (pointer, Vec::new());
        while let Some(inst) = index.def(base) {
            match inst.opcode() {
                op::AccessChain | op::InBoundsAccessChain => {
                    path.splice(0..0, inst.ids(4));
                    base = inst.first_operand();
                }
                op::CopyObject => base = inst.first_operand(),
                _ => break,
            }
        }
        Self {
            base,
            path,
            class: index.storage_class(index.type_of(pointer)).unwrap_or_default(),
            pointer,
        }
    }

    /// A variable of the class `class`.
    pub(super) fn variable(variable: Id, class: u32) -> Self {
        Self {
            base: variable,
            path: Vec::new(),
            class,
            pointer: variable,
        }
    }

    /// A part of the object.
    pub(super) fn part(&self, globals: &mut Globals, indices: &[u32]) -> Self {
        let mut part = self.clone();
        part.path.extend(indices.iter().map(|number| globals.constant(*number)));
        part
    }

    /// Appends a store of `value`, of the type `ty`, to the object.
    pub(super) fn store(&self, code: &mut Code, globals: &mut Globals, (value, ty): (Id, Id), access: &[u32]) {
        let pointer_type = globals.pointer(self.class, ty);
        let pointer = globals.fresh();
        code.op(
            op::AccessChain,
            (pointer_type, pointer, self.base, self.path.as_slice()),
        );
        code.op(op::Store, (pointer, value, Words(access)));
    }
}

/// Appends a function to `functions` that copies `data` to an array. Returns a call of it.
///
/// ```text
/// for (step = 0; step < whole steps; step++)
///     target[step * n + 0] = .., target[step * n + 1] = ..   // the n elements of a word, or one of 64 bits
/// ```
///
/// Mesa 22.3 (llvmpipe) ends loops after 65,535 iterations, so an iteration handles a whole word.
pub(super) fn copy(
    index: &Index<'_>,
    globals: &mut Globals,
    functions: &mut Code,
    (data, table): (&ConstantData<'_>, &Table),
    target: &Target,
    access: &[u32],
) -> Code {
    let element = data.element.result();
    let (uint, void, bool) = (globals.uint(), globals.void(), globals.bool());
    // Constants and module-scope variables need no parameter.
    let is_local = |id: &Id| index.def(*id).is_some_and(|inst| inst.offset >= index.sections.globals);
    let all: Vec<Id> = std::iter::once(target.base)
        .chain(target.path.iter().copied())
        .collect();
    let mut arguments: Vec<Id> = all.iter().copied().filter(is_local).collect();
    arguments.sort_unstable();
    arguments.dedup();
    let types: Vec<Id> = arguments.iter().map(|id| index.type_of(*id)).collect();
    let ty = globals.function_type(void, &types);
    let [function, entry, header, test, body, next, merge] = [(); 7].map(|()| globals.fresh());
    let [step, has_more, next_step] = [(); 3].map(|()| globals.fresh());
    globals.name(function, "vkabort_copy_constants");
    let code = functions;
    code.op(op::Function, (void, function, Literal(0), ty));
    let mut parameters: HashMap<Id, Id> = HashMap::default();
    for (argument, ty) in arguments.iter().zip(&types) {
        let parameter = globals.fresh();
        code.op(op::FunctionParameter, (*ty, parameter));
        if index.storage_class(*ty) == Some(storage_class::PhysicalStorageBuffer) {
            globals.decorate(parameter, decoration::Aliased, &[]);
        }
        globals.inherit_non_uniform(index, *argument, &[parameter]);
        parameters.insert(*argument, parameter);
    }
    let chain: Vec<Id> = all.iter().map(|id| *parameters.get(id).unwrap_or(id)).collect();
    let pointer_type = globals.pointer(target.class, element);
    let store = |code: &mut Code, globals: &mut Globals, at: Id, value: Id| {
        let pointer = globals.fresh();
        globals.inherit_non_uniform(index, target.pointer, &[pointer]);
        code.op(op::AccessChain, (pointer_type, pointer, chain.as_slice(), at));
        code.op(op::Store, (pointer, value, Words(access)));
    };
    let per_step = table.elements_per_step();
    let (steps, rest) = (data.count as u32 / per_step, data.count as u32 % per_step);
    let [zero, one, per_step_id, count] = [0, 1, per_step, steps].map(|value| globals.constant(value));
    code.label(entry);
    code.branch(header);
    code.label(header);
    phi(code, uint, step, &[(zero, entry), (next_step, next)]);
    code.op(op::LoopMerge, (merge, next, Literal(0)));
    code.branch(test);
    code.label(test);
    code.op(op::ULessThan, (bool, has_more, step, count));
    code.op(op::BranchConditional, (has_more, body, merge));
    code.label(body);
    let values = table.step(code, globals, step, per_step);
    let mut first = step;
    if per_step > 1 {
        first = globals.fresh();
        code.op(op::IMul, (uint, first, step, per_step_id));
    }
    for (number, value) in (0..).zip(values) {
        let mut at = first;
        if number > 0 {
            at = globals.fresh();
            let number = globals.constant(number);
            code.op(op::IAdd, (uint, at, first, number));
        }
        store(code, globals, at, value);
    }
    code.branch(next);
    code.label(next);
    code.op(op::IAdd, (uint, next_step, step, one));
    code.branch(header);
    code.label(merge);
    if rest > 0 {
        for (number, value) in (steps * per_step..).zip(table.step(code, globals, count, rest)) {
            let at = globals.constant(number);
            store(code, globals, at, value);
        }
    }
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    let mut call = Code::default();
    let result = globals.fresh();
    call.op(op::FunctionCall, (void, result, function, arguments.as_slice()));
    call
}

/// The memory operands of a store of a part as large as `bytes`.
pub(super) fn access_of_part(store: &Inst<'_>, bytes: u32) -> Vec<u32> {
    use crate::spv::op::memory_operands::ALIGNED;
    let mut access = store.from(3).to_vec();
    if let [mask, alignment, ..] = access.as_mut_slice()
        && *mask & ALIGNED != 0
    {
        *alignment = (*alignment).min(bytes);
    }
    access
}
