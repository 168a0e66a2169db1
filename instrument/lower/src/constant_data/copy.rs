//! Functions that copy constant data to memory of the shader.

use super::data::ConstantData;
use super::table::Table;
use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Code, Id, Inst, Words, op};

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
    pub(super) fn part(&self, out: &mut Emitter, indices: &[u32]) -> Self {
        let mut part = self.clone();
        part.path.extend(indices.iter().map(|number| out.constant(*number)));
        part
    }

    /// Appends a store of `value`, of the type `ty`, to the object.
    pub(super) fn store(&self, out: &mut Emitter, (value, ty): (Id, Id), access: &[u32]) {
        let pointer_type = out.pointer(self.class, ty);
        let pointer = out.fresh();
        out.op(
            op::AccessChain,
            (pointer_type, pointer, self.base, self.path.as_slice()),
        );
        out.op(op::Store, (pointer, value, Words(access)));
    }
}

/// Appends a function to `functions` that copies `data` to an array, and calls it.
///
/// ```text
/// for (step = 0; step < whole steps; step++)
///     target[step * n + 0] = .., target[step * n + 1] = ..   // the n elements of a word, or one of 64 bits
/// ```
///
/// Mesa 22.3 (llvmpipe) ends loops after 65,535 iterations, so an iteration handles a whole word.
pub(super) fn copy(
    index: &Index<'_>,
    out: &mut Emitter,
    functions: &mut Code,
    (data, table): (&ConstantData<'_>, &Table),
    target: &Target,
    access: &[u32],
) {
    let element = data.element.result();
    let (uint, void, bool) = (out.uint(), out.void(), out.bool());
    // Constants and module-scope variables need no parameter.
    let is_local = |id: &Id| index.def(*id).is_some_and(|inst| inst.offset >= index.sections.globals);
    let all: Vec<Id> = std::iter::once(target.base)
        .chain(target.path.iter().copied())
        .collect();
    let mut arguments: Vec<Id> = all.iter().copied().filter(is_local).collect();
    arguments.sort_unstable();
    arguments.dedup();
    let types: Vec<Id> = arguments.iter().map(|id| index.type_of(*id)).collect();
    let function = out.fresh();
    out.name(function, "vkabort_copy_constants");
    out.continue_code(functions, |out| {
        let (parameters, entry) = out.begin_function(function, (void, &types));
        for ((parameter, argument), ty) in parameters.iter().zip(&arguments).zip(&types) {
            if index.storage_class(*ty) == Some(storage_class::PhysicalStorageBuffer) {
                out.decorate(*parameter, decoration::Aliased, &[]);
            }
            out.inherit_non_uniform(index, *argument, &[*parameter]);
        }
        let parameters: HashMap<Id, Id> = arguments.iter().copied().zip(parameters).collect();
        let chain: Vec<Id> = all.iter().map(|id| *parameters.get(id).unwrap_or(id)).collect();
        let pointer_type = out.pointer(target.class, element);
        let store = |out: &mut Emitter, at: Id, value: Id| {
            let pointer = out.fresh();
            out.inherit_non_uniform(index, target.pointer, &[pointer]);
            out.op(op::AccessChain, (pointer_type, pointer, chain.as_slice(), at));
            out.op(op::Store, (pointer, value, Words(access)));
        };
        let per_step = table.elements_per_step();
        let (steps, rest) = (data.count as u32 / per_step, data.count as u32 % per_step);
        let [zero, one, per_step_id, count] = [0, 1, per_step, steps].map(|value| out.constant(value));
        let has_more = |out: &mut Emitter, [step]: [Id; 1]| (out.emit(op::ULessThan, bool, (step, count)), ());
        out.loop_(entry, [(uint, zero)], has_more, |out, [step], ()| {
            let values = table.step(out, step, per_step);
            let mut first = step;
            if per_step > 1 {
                first = out.calculate(op::IMul, (step, per_step_id));
            }
            for (number, value) in (0..).zip(values) {
                let mut at = first;
                if number > 0 {
                    let number = out.constant(number);
                    at = out.calculate(op::IAdd, (first, number));
                }
                store(out, at, value);
            }
            [out.calculate(op::IAdd, (step, one))]
        });
        if rest > 0 {
            for (number, value) in (steps * per_step..).zip(table.step(out, count, rest)) {
                let at = out.constant(number);
                store(out, at, value);
            }
        }
        out.op(op::Return, ());
        out.op(op::FunctionEnd, ());
    });
    out.emit(op::FunctionCall, void, (function, arguments.as_slice()));
}

/// The memory operands of a store of a part as large as `bytes`.
pub(super) fn access_of_part(store: &Inst<'_>, bytes: u32) -> Vec<u32> {
    use vkabort_spirv::op::memory_operands::ALIGNED;
    let mut access = store.from(3).to_vec();
    if let [mask, alignment, ..] = access.as_mut_slice()
        && *mask & ALIGNED != 0
    {
        *alignment = (*alignment).min(bytes);
    }
    access
}
