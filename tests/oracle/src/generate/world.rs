//! What the functions of a generated module share: types, buffers, variables, the functions made so far.

use super::body::Kind;
use super::builder::Builder;
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, built_in, capability, decoration, execution_mode, execution_model, storage_class as class};
use crate::words::{push, string};

/// Binding of the buffer that invocations write their results to: [`OUT_WORDS`] words each.
pub const OUT: u32 = 0;
/// Binding of the buffer that says when each invocation is to abort: a word each, 0 for never.
pub const CONTROL: u32 = 1;
/// Binding of the buffer that messages are loaded from.
pub const DATA: u32 = 2;
/// Binding of the buffer of words that all invocations add to.
pub const COUNTERS: u32 = 3;
/// Words of results for each invocation.
pub const OUT_WORDS: u32 = 16;
/// Bytes of the buffer that messages are loaded from.
pub const DATA_BYTES: u32 = 1024;
/// `SpecId` of the length of arrays.
pub const SPEC_LENGTH_ID: u32 = 7;
/// What that length may be.
pub const SPEC_LENGTH: std::ops::RangeInclusive<u32> = 4..=40;

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Void,
    Uint,
    Uvec4,
    Pair,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Uint,
    Uvec4,
    /// A pointer to a `uint` variable of class Function.
    Local,
    /// A pointer to a `uint` variable of class Private.
    Private,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) id: Id,
    pub(super) returns: Returns,
    pub(super) parameters: Vec<Parameter>,
    /// Instructions that a call takes at most.
    pub(super) cost: u32,
}

/// A part of the data buffer that messages are loaded from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loadable {
    pub(super) member: u32,
    pub(super) ty: Id,
    pub(super) size: u32,
    /// Its length is a specialisation constant.
    pub(super) specialised: bool,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) builder: Builder,
    /// Class of buffers.
    pub(super) buffer_class: u32,
    pub(super) scope: u32,
    pub(super) out: Id,
    pub(super) control: Id,
    pub(super) data: Id,
    pub(super) counters: Id,
    /// Private: how often `due` was called.
    pub(super) ticks: Id,
    /// Private: number of the invocation.
    pub(super) invocation: Id,
    /// Private: a variable that functions write.
    pub(super) shared: Id,
    /// Private: an array whose length is a specialisation constant.
    pub(super) specialised: Id,
    pub(super) specialised_length: Id,
    pub(super) pair: Id,
    pub(super) due: Id,
    /// The name of the source file.
    pub(super) file: Id,
    pub(super) callees: Vec<Callee>,
    pub(super) loadable: Vec<Loadable>,
    pub(super) poison: bool,
    pub(super) physical: bool,
}

impl World {
    pub(super) fn new(choices: &mut Choices) -> Self {
        let minor = choices.below(7);
        let mut builder = Builder::new(minor);
        builder.capability(capability::Shader);
        for one in [capability::AbortKHR, capability::ConstantDataKHR] {
            builder.capability(one);
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
        let mut world = Self {
            builder,
            buffer_class: if new_class {
                class::StorageBuffer
            } else {
                class::Uniform
            },
            scope,
            out: 0,
            control: 0,
            data: 0,
            counters: 0,
            ticks: 0,
            invocation: 0,
            shared: 0,
            specialised: 0,
            specialised_length,
            pair,
            due: 0,
            file,
            callees: Vec::new(),
            loadable: Vec::new(),
            poison,
            physical,
        };
        world.out = world.words_buffer(OUT, "Out");
        world.control = world.words_buffer(CONTROL, "Control");
        world.counters = world.words_buffer(COUNTERS, "Counters");
        world.data_buffer();
        world.variables();
        world.make_due();
        world
    }

    /// A buffer of words of any number.
    fn words_buffer(&mut self, binding: u32, name: &str) -> Id {
        let builder = &mut self.builder;
        let uint = builder.uint();
        let words = builder.new_type(op::TypeRuntimeArray, &[uint]);
        builder.decorate(words, decoration::ArrayStride, &[4]);
        let block = builder.new_type(op::TypeStruct, &[words]);
        builder.decorate_member(block, 0, decoration::Offset, &[0]);
        self.buffer(block, binding, name)
    }

    fn buffer(&mut self, block: Id, binding: u32, name: &str) -> Id {
        let old = self.buffer_class == class::Uniform;
        let builder = &mut self.builder;
        builder.name(block, name);
        let kind = if old {
            decoration::BufferBlock
        } else {
            decoration::Block
        };
        builder.decorate(block, kind, &[]);
        let pointer = builder.pointer(self.buffer_class, block);
        let variable = builder.new_value(op::Variable, pointer, &[self.buffer_class]);
        builder.decorate(variable, decoration::DescriptorSet, &[0]);
        builder.decorate(variable, decoration::Binding, &[binding]);
        variable
    }

    /// The buffer with something of every layout.
    fn data_buffer(&mut self) {
        let builder = &mut self.builder;
        let (uint, float) = (builder.uint(), builder.float(32));
        let (uvec3, vec2, vec3, vec4) = (
            builder.vector(uint, 3),
            builder.vector(float, 2),
            builder.vector(float, 3),
            builder.vector(float, 4),
        );
        let mut array = |length: Id, stride: u32| {
            let ty = builder.new_type(op::TypeArray, &[uint, length]);
            builder.decorate(ty, decoration::ArrayStride, &[stride]);
            ty
        };
        let specialised = array(self.specialised_length, 4);
        let [three, five, forty, twenty_four] = [3, 5, 40, 24].map(|n| self.builder.constant(n));
        let builder = &mut self.builder;
        let mut array = |length: Id, stride: u32| {
            let ty = builder.new_type(op::TypeArray, &[uint, length]);
            builder.decorate(ty, decoration::ArrayStride, &[stride]);
            ty
        };
        let (tail, short, long, sparse) = (array(three, 4), array(five, 4), array(forty, 4), array(twenty_four, 16));
        let mut structure = |members: &[(Id, u32)]| {
            let types: Vec<Id> = members.iter().map(|(ty, _)| *ty).collect();
            let ty = builder.new_type(op::TypeStruct, &types);
            for (number, (_, offset)) in (0..).zip(members) {
                builder.decorate_member(ty, number, decoration::Offset, &[*offset]);
            }
            ty
        };
        let mixed = structure(&[(uint, 0), (uvec3, 16), (tail, 32)]);
        let builder = &mut self.builder;
        let [mat2x3, mat3x2, mat3, mat2x4] = [(vec3, 2), (vec2, 3), (vec3, 3), (vec4, 2)]
            .map(|(column, count)| builder.ty(op::TypeMatrix, &[column, count]));
        let matrices = builder.new_type(op::TypeStruct, &[mat3, mat2x4]);
        let members = [
            (short, 0, 20),
            (long, 32, 160),
            (sparse, 192, 372),
            (mixed, 576, 44),
            (mat2x3, 640, 0),
            (mat3x2, 672, 0),
            (matrices, 704, 112 - 8),
            (specialised, 832, 160),
        ];
        let types: Vec<Id> = members.iter().map(|(ty, ..)| *ty).collect();
        let block = builder.new_type(op::TypeStruct, &types);
        for (member, (ty, offset, size)) in (0..).zip(members) {
            builder.decorate_member(block, member, decoration::Offset, &[offset]);
            if size != 0 {
                self.loadable.push(Loadable {
                    member,
                    ty,
                    size,
                    specialised: ty == specialised,
                });
            }
        }
        let matrix = [
            (block, 4, 0, decoration::ColMajor),
            (block, 5, 0, decoration::RowMajor),
            (matrices, 0, 0, decoration::ColMajor),
            (matrices, 1, 48, decoration::RowMajor),
        ];
        for (ty, member, offset, major) in matrix {
            builder.decorate_member(ty, member, decoration::MatrixStride, &[16]);
            builder.decorate_member(ty, member, major, &[]);
            if ty == matrices {
                builder.decorate_member(ty, member, decoration::Offset, &[offset]);
            }
        }
        self.data = self.buffer(block, DATA, "Data");
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
        let nothing = builder.value(op::ConstantNull, array, &[]);
        let mut variable = |name: &str, pointer, initial| {
            let id = builder.new_value(op::Variable, pointer, &[class::Private, initial]);
            builder.name(id, name);
            id
        };
        self.ticks = variable("ticks", pointer, zero);
        self.invocation = variable("invocation", pointer, zero);
        self.shared = variable("shared", pointer, zero);
        self.specialised = variable("specialised", array_pointer, nothing);
    }

    /// `bool due() { return ++ticks == control[invocation]; }`
    fn make_due(&mut self) {
        let builder = &mut self.builder;
        let (uint, bool, one, zero) = (builder.uint(), builder.bool(), builder.constant(1), builder.constant(0));
        let ty = builder.ty(op::TypeFunction, &[bool]);
        let pointer = builder.pointer(self.buffer_class, uint);
        let [function, label, ticks, next, number, place, when, answer] = [(); 8].map(|()| builder.fresh());
        builder.name(function, "due");
        let code = &mut builder.functions;
        push(code, op::Function, &[bool, function, 0, ty]);
        push(code, op::Label, &[label]);
        push(code, op::Load, &[uint, ticks, self.ticks]);
        push(code, op::IAdd, &[uint, next, ticks, one]);
        push(code, op::Store, &[self.ticks, next]);
        push(code, op::Load, &[uint, number, self.invocation]);
        push(code, op::AccessChain, &[pointer, place, self.control, zero, number]);
        push(code, op::Load, &[uint, when, place]);
        push(code, op::IEqual, &[bool, answer, next, when]);
        push(code, op::ReturnValue, &[answer]);
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
            // Compilers differ in the signedness that they give it.
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
