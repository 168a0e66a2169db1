//! Globals of a generated module: types, buffers, variables, and the functions generated so far.

use super::signature::{Callee, Kind};
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, built_in, capability, decoration, execution_mode, execution_model, storage_class as class};
use crate::words::{push, string};
use vkabort_spirv_builder::Builder;

/// Binding of the result buffer, with [`OUT_WORDS`] words per invocation.
pub const OUT: u32 = 0;
/// Binding of the buffer with the call of `due` at which each invocation aborts: one word each, 0 for never.
pub const CONTROL: u32 = 1;
/// Binding of the buffer that messages are loaded from.
pub const DATA: u32 = 2;
/// Binding of the buffer of counters that all invocations add to.
pub const COUNTERS: u32 = 3;
/// Binding of the buffer that planted faults store to.
pub const FAULTS: u32 = 4;
/// Its size in words.
pub const FAULTS_WORDS: u32 = 12;
/// Result words per invocation.
pub const OUT_WORDS: u32 = 16;
/// Size of the data buffer in bytes.
pub const DATA_BYTES: u32 = 1024;
/// `SpecId` of the array length.
pub const SPEC_LENGTH_ID: u32 = 7;
/// Range of that length.
pub const SPEC_LENGTH: std::ops::RangeInclusive<u32> = 4..=40;

/// A member of the data buffer that messages can load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loadable {
    pub(super) member: u32,
    pub(super) ty: Id,
    pub(super) size: u32,
    /// Its length is a specialisation constant.
    pub(super) specialised: bool,
}

/// Ids shared by the functions of a module.
#[derive(Debug, Default)]
pub(super) struct Globals {
    pub(super) builder: Builder,
    /// Storage class of buffers.
    pub(super) buffer_class: u32,
    pub(super) scope: u32,
    pub(super) out: Id,
    pub(super) control: Id,
    pub(super) data: Id,
    pub(super) counters: Id,
    /// Private variable: number of calls of `due`.
    pub(super) ticks: Id,
    /// Private variable: number of the invocation.
    pub(super) invocation: Id,
    /// Private variable that functions write.
    pub(super) shared: Id,
    /// Private array whose length is a specialisation constant.
    pub(super) specialised: Id,
    pub(super) specialised_length: Id,
    pub(super) pair: Id,
    pub(super) due: Id,
    /// `OpString` with the name of the source file.
    pub(super) file: Id,
    pub(super) callees: Vec<Callee>,
    pub(super) loadable: Vec<Loadable>,
    pub(super) poison: bool,
    pub(super) physical: bool,
}

impl Globals {
    pub(super) fn new(choices: &mut Choices) -> Self {
        let minor = choices.below(7);
        let mut builder = Builder::new(minor);
        builder.capability(capability::Shader);
        for capability in [capability::AbortKHR, capability::ConstantDataKHR] {
            builder.capability(capability);
        }
        builder.extension("SPV_KHR_abort");
        builder.extension("SPV_KHR_constant_data");
        let poison = choices.chance(20);
        if poison {
            builder.capability(capability::PoisonFreezeKHR);
            builder.extension("SPV_KHR_poison_freeze");
        }
        let mut scope = 1;
        if minor >= 3 && choices.chance(30) {
            builder.model[1] = 3;
            builder.capability(capability::VulkanMemoryModel);
            if minor < 5 {
                builder.extension("SPV_KHR_vulkan_memory_model");
            }
            if choices.chance(50) {
                builder.capability(capability::VulkanMemoryModelDeviceScope);
            } else {
                scope = 5;
            }
        }
        let physical = minor >= 3 && choices.chance(30);
        if physical {
            builder.capability(capability::PhysicalStorageBufferAddresses);
            builder.model[0] = 5348;
            if minor < 5 {
                builder.extension("SPV_KHR_physical_storage_buffer");
            }
        }
        let new_class = minor >= 3 || choices.chance(30);
        if new_class && minor < 3 {
            builder.extension("SPV_KHR_storage_buffer_storage_class");
        }
        let uint = builder.uint();
        let uvec2 = builder.vector(uint, 2);
        let pair = builder.new_type(op::TypeStruct, &[uint, uvec2]);
        builder.name(pair, "Pair");
        let specialised_length = builder.new_value(op::SpecConstant, uint, &[20]);
        builder.decorate(specialised_length, decoration::SpecId, &[SPEC_LENGTH_ID]);
        let file = builder.string("generated.comp");
        let mut globals = Self {
            builder,
            buffer_class: if new_class {
                class::StorageBuffer
            } else {
                class::Uniform
            },
            scope,
            specialised_length,
            pair,
            file,
            poison,
            physical,
            ..Self::default()
        };
        globals.out = globals.words_buffer(OUT, "Out");
        globals.control = globals.words_buffer(CONTROL, "Control");
        globals.counters = globals.words_buffer(COUNTERS, "Counters");
        globals.data_buffer();
        globals.variables();
        globals.add_due();
        globals
    }

    /// Adds a buffer with a runtime array of words.
    fn words_buffer(&mut self, binding: u32, name: &str) -> Id {
        let builder = &mut self.builder;
        let uint = builder.uint();
        let words = builder.new_type(op::TypeRuntimeArray, &[uint]);
        builder.decorate(words, decoration::ArrayStride, &[4]);
        let block = builder.structure(&[(words, 0)]);
        self.buffer(block, binding, name)
    }

    pub(super) fn buffer(&mut self, block: Id, binding: u32, name: &str) -> Id {
        self.builder.name(block, name);
        self.builder.buffer(self.buffer_class, block, binding)
    }

    fn variables(&mut self) {
        let length = self.specialised_length;
        let builder = &mut self.builder;
        let uint = builder.uint();
        let array = builder.ty(op::TypeArray, &[uint, length]);
        let (pointer, array_pointer) = (
            builder.pointer(class::Private, uint),
            builder.pointer(class::Private, array),
        );
        let zero = builder.constant(0);
        let null = builder.value(op::ConstantNull, array, &[]);
        let mut variable = |name: &str, pointer, initial| {
            let id = builder.new_value(op::Variable, pointer, &[class::Private, initial]);
            builder.name(id, name);
            id
        };
        self.ticks = variable("ticks", pointer, zero);
        self.invocation = variable("invocation", pointer, zero);
        self.shared = variable("shared", pointer, zero);
        self.specialised = variable("specialised", array_pointer, null);
    }

    /// Adds `bool due() { return ++ticks == control[invocation]; }`.
    fn add_due(&mut self) {
        let builder = &mut self.builder;
        let (uint, bool, one, zero) = (builder.uint(), builder.bool(), builder.constant(1), builder.constant(0));
        let ty = builder.ty(op::TypeFunction, &[bool]);
        let pointer = builder.pointer(self.buffer_class, uint);
        let [function, label, ticks, next, number, pointer_to_due, due, result] = [(); 8].map(|()| builder.fresh());
        builder.name(function, "due");
        let code = &mut builder.functions;
        push(code, op::Function, &[bool, function, 0, ty]);
        push(code, op::Label, &[label]);
        push(code, op::Load, &[uint, ticks, self.ticks]);
        push(code, op::IAdd, &[uint, next, ticks, one]);
        push(code, op::Store, &[self.ticks, next]);
        push(code, op::Load, &[uint, number, self.invocation]);
        push(
            code,
            op::AccessChain,
            &[pointer, pointer_to_due, self.control, zero, number],
        );
        push(code, op::Load, &[uint, due, pointer_to_due]);
        push(code, op::IEqual, &[bool, result, next, due]);
        push(code, op::ReturnValue, &[result]);
        push(code, op::FunctionEnd, &[]);
        self.due = function;
    }

    /// Declares an entry point.
    pub(super) fn entry_point(&mut self, choices: &mut Choices, number: u32, workgroup: u32) -> Kind {
        let model = match choices.below(4) {
            0 | 1 => execution_model::GLCompute,
            2 => execution_model::Fragment,
            _ => execution_model::Vertex,
        };
        let builder = &mut self.builder;
        let (uint, int, float) = (builder.uint(), builder.int(32, true), builder.float(32));
        let function = builder.fresh();
        let input_type = match model {
            execution_model::GLCompute => builder.vector(uint, 3),
            execution_model::Fragment => builder.vector(float, 4),
            // Compilers differ in the signedness of this built-in.
            _ => choices.pick(&[int, uint]).unwrap_or(int),
        };
        let built_in = match model {
            execution_model::GLCompute => built_in::GlobalInvocationId,
            execution_model::Fragment => built_in::FragCoord,
            _ => built_in::VertexIndex,
        };
        let pointer = builder.pointer(class::Input, input_type);
        let input = builder.new_value(op::Variable, pointer, &[class::Input]);
        builder.decorate(input, decoration::BuiltIn, &[built_in]);
        let output = (model != execution_model::GLCompute).then(|| {
            let uvec4 = builder.vector(uint, 4);
            let pointer = builder.pointer(class::Output, uvec4);
            let output = builder.new_value(op::Variable, pointer, &[class::Output]);
            builder.decorate(output, decoration::Location, &[0]);
            output
        });
        let name = format!("main{number}");
        builder.name(function, &name);
        let mut operands = vec![model, function];
        operands.extend(string(&name));
        operands.push(input);
        operands.extend(output);
        if builder.full_interfaces() {
            operands.extend([self.out, self.control, self.data, self.counters]);
            operands.extend([self.ticks, self.invocation, self.shared, self.specialised]);
        }
        push(&mut builder.entry_points, op::EntryPoint, &operands);
        let modes = &mut builder.modes;
        match model {
            execution_model::GLCompute => {
                push(
                    modes,
                    op::ExecutionMode,
                    &[function, execution_mode::LocalSize, workgroup, 1, 1],
                );
            }
            execution_model::Fragment => push(modes, op::ExecutionMode, &[function, execution_mode::OriginUpperLeft]),
            _ => {}
        }
        if self.poison {
            push(
                modes,
                op::ExecutionMode,
                &[function, execution_mode::ArithmeticPoisonKHR],
            );
        }
        Kind::Entry {
            function,
            input,
            input_type,
            output,
            model,
        }
    }
}
