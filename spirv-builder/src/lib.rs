//! Assembles a SPIR-V module section by section. Opcodes and enumerants are numbers, so that extensions without
//! declarations work too.
#![forbid(unsafe_code)]

pub mod op;

use op::capability;
use std::collections::{BTreeSet, HashMap};

/// An id of the module.
pub type Id = u32;

/// SPIR-V magic number.
pub const MAGIC: u32 = 0x0723_0203;

/// Appends an instruction.
pub fn push(words: &mut Vec<u32>, op: u16, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | u32::from(op));
    words.extend_from_slice(operands);
}

/// Encodes a string literal: its bytes, a NUL, and padding, the first byte lowest.
pub fn string(text: &str) -> Vec<u32> {
    words(text.as_bytes(), text.len() / 4 + 1)
}

/// Packs bytes into `count` words, the first byte lowest, padded with zeros.
pub fn words(bytes: &[u8], count: usize) -> Vec<u32> {
    let mut padded = bytes.to_vec();
    padded.resize(count * 4, 0);
    let (chunks, _) = padded.as_chunks::<4>();
    chunks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// A module under construction.
#[derive(Debug, Default)]
pub struct Builder {
    /// Minor number of the SPIR-V version 1.x.
    pub minor: u32,
    /// The id bound.
    pub bound: u32,
    /// Declared capabilities.
    pub capabilities: BTreeSet<u32>,
    /// Declared extensions.
    pub extensions: BTreeSet<&'static str>,
    /// Operands of `OpMemoryModel`.
    pub model: [u32; 2],
    /// `OpEntryPoint` instructions.
    pub entry_points: Vec<u32>,
    /// `OpExecutionMode` instructions.
    pub modes: Vec<u32>,
    strings: Vec<u32>,
    /// `OpName` and `OpMemberName` instructions.
    pub names: Vec<u32>,
    /// Decorations of ids and members.
    pub decorations: Vec<u32>,
    /// Types, constants and variables.
    pub globals: Vec<u32>,
    /// Function definitions in order.
    pub functions: Vec<u32>,
    cache: HashMap<(u16, Vec<u32>), Id>,
    /// Operands of types, starting with the result.
    types: HashMap<Id, Vec<u32>>,
}

impl Builder {
    /// An empty module of SPIR-V 1.`minor`.
    pub fn new(minor: u32) -> Self {
        Self {
            minor,
            bound: 1,
            model: [0, 1],
            ..Self::default()
        }
    }

    /// Allocates an id.
    pub fn fresh(&mut self) -> Id {
        self.bound += 1;
        self.bound - 1
    }

    /// Declares a capability, once.
    pub fn capability(&mut self, capability: u32) {
        self.capabilities.insert(capability);
    }

    /// Declares an extension, once.
    pub fn extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// Adds an `OpName`.
    pub fn name(&mut self, id: Id, name: &str) {
        push(&mut self.names, op::Name, &[&[id], &string(name)[..]].concat());
    }

    /// Adds an `OpString`.
    pub fn string(&mut self, text: &str) -> Id {
        let id = self.fresh();
        push(&mut self.strings, op::String, &[&[id], &string(text)[..]].concat());
        id
    }

    /// Adds an `OpDecorate`.
    pub fn decorate(&mut self, id: Id, kind: u32, operands: &[u32]) {
        push(&mut self.decorations, op::Decorate, &[&[id, kind], operands].concat());
    }

    /// Adds an `OpMemberDecorate`.
    pub fn decorate_member(&mut self, id: Id, member: u32, kind: u32, operands: &[u32]) {
        push(
            &mut self.decorations,
            op::MemberDecorate,
            &[&[id, member, kind], operands].concat(),
        );
    }

    /// Adds a type, even if an equal one exists.
    pub fn new_type(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let id = self.fresh();
        let all = [&[id], operands].concat();
        push(&mut self.globals, opcode, &all);
        self.types.insert(id, all);
        id
    }

    /// Operands of a type, starting with its id.
    pub fn operands_of(&self, ty: Id) -> Vec<u32> {
        self.types.get(&ty).cloned().unwrap_or_default()
    }

    /// Uses an existing type, or a constant with its type before its operands, instead of creating an equal one.
    pub fn reuse(&mut self, opcode: u16, operands: &[u32], id: Id) {
        self.cache.insert((opcode, operands.to_vec()), id);
    }

    /// Id of a type, which is created if missing.
    pub fn ty(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let key = (opcode, operands.to_vec());
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_type(opcode, operands);
        self.reuse(opcode, operands, id);
        id
    }

    /// Adds a constant, undefined value or variable at module scope.
    pub fn new_value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        push(&mut self.globals, opcode, &[&[ty, id], operands].concat());
        id
    }

    /// Id of a constant, which is created if missing.
    pub fn value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let key = (opcode, [&[ty], operands].concat());
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_value(opcode, ty, operands);
        self.cache.insert(key, id);
        id
    }

    /// `OpTypeVoid`
    pub fn void(&mut self) -> Id {
        self.ty(op::TypeVoid, &[])
    }

    /// `OpTypeBool`
    pub fn bool(&mut self) -> Id {
        self.ty(op::TypeBool, &[])
    }

    /// Unsigned 32-bit integer type.
    pub fn uint(&mut self) -> Id {
        self.ty(op::TypeInt, &[32, 0])
    }

    /// Integer type, with its capability.
    pub fn int(&mut self, bits: u32, signed: bool) -> Id {
        match bits {
            8 => self.capability(capability::Int8),
            16 => self.capability(capability::Int16),
            64 => self.capability(capability::Int64),
            _ => {}
        }
        self.ty(op::TypeInt, &[bits, u32::from(signed)])
    }

    /// IEEE float type, with its capability.
    pub fn float(&mut self, bits: u32) -> Id {
        match bits {
            16 => self.capability(capability::Float16),
            64 => self.capability(capability::Float64),
            _ => {}
        }
        self.ty(op::TypeFloat, &[bits])
    }

    /// Vector type.
    pub fn vector(&mut self, component: Id, count: u32) -> Id {
        self.ty(op::TypeVector, &[component, count])
    }

    /// Array type of constant length, without a layout.
    pub fn array(&mut self, element: Id, length: u32) -> Id {
        let length = self.constant(length);
        self.ty(op::TypeArray, &[element, length])
    }

    /// A new array type, with an explicit layout if `stride` (bytes) is present.
    pub fn strided_array(&mut self, element: Id, length: Id, stride: Option<u32>) -> Id {
        let id = self.new_type(op::TypeArray, &[element, length]);
        if let Some(stride) = stride {
            self.decorate(id, op::decoration::ArrayStride, &[stride]);
        }
        id
    }

    /// A new structure type with the byte offsets of its members.
    pub fn structure(&mut self, members: &[(Id, u32)]) -> Id {
        let types: Vec<Id> = members.iter().map(|(ty, _)| *ty).collect();
        let id = self.new_type(op::TypeStruct, &types);
        for (number, (_, offset)) in (0..).zip(members) {
            self.decorate_member(id, number, op::decoration::Offset, &[*offset]);
        }
        id
    }

    /// A variable of a buffer block in descriptor set 0.
    pub fn buffer(&mut self, class: u32, block: Id, binding: u32) -> Id {
        let kind = match class {
            op::storage_class::Uniform => op::decoration::BufferBlock,
            _ => op::decoration::Block,
        };
        self.decorate(block, kind, &[]);
        let pointer = self.pointer(class, block);
        let variable = self.new_value(op::Variable, pointer, &[class]);
        self.decorate(variable, op::decoration::DescriptorSet, &[0]);
        self.decorate(variable, op::decoration::Binding, &[binding]);
        variable
    }

    /// Pointer type.
    pub fn pointer(&mut self, class: u32, pointee: Id) -> Id {
        self.ty(op::TypePointer, &[class, pointee])
    }

    /// Unsigned 32-bit constant.
    pub fn constant(&mut self, value: u32) -> Id {
        let uint = self.uint();
        self.value(op::Constant, uint, &[value])
    }

    /// Whether interfaces of entry points list every global variable (SPIR-V 1.4).
    pub fn full_interfaces(&self) -> bool {
        self.minor >= 4
    }

    /// Words of the module.
    pub fn finish(self) -> Vec<u32> {
        let mut words = vec![MAGIC, 0x1_0000 | self.minor << 8, 0, self.bound, 0];
        for capability in &self.capabilities {
            push(&mut words, op::Capability, &[*capability]);
        }
        for extension in &self.extensions {
            push(&mut words, op::Extension, &string(extension));
        }
        push(&mut words, op::MemoryModel, &self.model);
        let sections = [
            self.entry_points,
            self.modes,
            self.strings,
            self.names,
            self.decorations,
            self.globals,
            self.functions,
        ];
        words.extend(sections.into_iter().flatten());
        words
    }
}

#[cfg(test)]
mod tests;
