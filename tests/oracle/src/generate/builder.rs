//! Assembles a module section by section.

use crate::module::Id;
use crate::op;
use crate::words::{MAGIC, push, string};
use std::collections::{BTreeSet, HashMap};

/// A module under construction.
#[derive(Debug)]
pub(crate) struct Builder {
    /// Minor number of the SPIR-V version 1.x.
    pub(crate) minor: u32,
    bound: u32,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    /// Operands of `OpMemoryModel`.
    pub(crate) model: [u32; 2],
    pub(crate) entry_points: Vec<u32>,
    pub(crate) modes: Vec<u32>,
    strings: Vec<u32>,
    names: Vec<u32>,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    /// Function definitions in order.
    pub(crate) functions: Vec<u32>,
    cache: HashMap<(u16, Vec<u32>), Id>,
    /// Operands of types, starting with the result.
    types: HashMap<Id, Vec<u32>>,
}

impl Builder {
    pub(crate) fn new(minor: u32) -> Self {
        Self {
            minor,
            bound: 1,
            capabilities: BTreeSet::new(),
            extensions: BTreeSet::new(),
            model: [0, 1],
            entry_points: Vec::new(),
            modes: Vec::new(),
            strings: Vec::new(),
            names: Vec::new(),
            decorations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            cache: HashMap::new(),
            types: HashMap::new(),
        }
    }

    pub(crate) fn fresh(&mut self) -> Id {
        self.bound += 1;
        self.bound - 1
    }

    pub(crate) fn capability(&mut self, capability: u32) {
        self.capabilities.insert(capability);
    }

    pub(crate) fn extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    pub(crate) fn name(&mut self, id: Id, name: &str) {
        let operands: Vec<u32> = [id].into_iter().chain(string(name)).collect();
        push(&mut self.names, op::Name, &operands);
    }

    /// Adds an `OpString`.
    pub(crate) fn string(&mut self, text: &str) -> Id {
        let id = self.fresh();
        let operands: Vec<u32> = [id].into_iter().chain(string(text)).collect();
        push(&mut self.strings, op::String, &operands);
        id
    }

    pub(crate) fn decorate(&mut self, id: Id, kind: u32, operands: &[u32]) {
        let all: Vec<u32> = [id, kind].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.decorations, op::Decorate, &all);
    }

    pub(crate) fn decorate_member(&mut self, id: Id, member: u32, kind: u32, operands: &[u32]) {
        let all: Vec<u32> = [id, member, kind].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.decorations, op::MemberDecorate, &all);
    }

    /// Adds a type, even if an equal one exists.
    pub(crate) fn new_type(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let id = self.fresh();
        let all: Vec<u32> = [id].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, opcode, &all);
        self.types.insert(id, all);
        id
    }

    /// Operands of a type, starting with its id.
    pub(crate) fn operands_of(&self, ty: Id) -> Vec<u32> {
        self.types.get(&ty).cloned().unwrap_or_default()
    }

    /// Id of a type, which is created if missing.
    pub(crate) fn ty(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let key = (opcode, operands.to_vec());
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_type(opcode, operands);
        self.cache.insert(key, id);
        id
    }

    /// Adds a constant, undefined value or variable at module scope.
    pub(crate) fn new_value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, opcode, &all);
        id
    }

    /// Id of a constant, which is created if missing.
    pub(crate) fn value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let key = (opcode, [ty].into_iter().chain(operands.iter().copied()).collect());
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_value(opcode, ty, operands);
        self.cache.insert(key, id);
        id
    }

    pub(crate) fn void(&mut self) -> Id {
        self.ty(op::TypeVoid, &[])
    }

    pub(crate) fn bool(&mut self) -> Id {
        self.ty(op::TypeBool, &[])
    }

    pub(crate) fn uint(&mut self) -> Id {
        self.ty(op::TypeInt, &[32, 0])
    }

    /// Integer type, with its capability.
    pub(crate) fn int(&mut self, bits: u32, signed: bool) -> Id {
        match bits {
            8 => self.capability(op::capability::Int8),
            16 => self.capability(op::capability::Int16),
            64 => self.capability(op::capability::Int64),
            _ => {}
        }
        self.ty(op::TypeInt, &[bits, u32::from(signed)])
    }

    /// IEEE float type, with its capability.
    pub(crate) fn float(&mut self, bits: u32) -> Id {
        match bits {
            16 => self.capability(op::capability::Float16),
            64 => self.capability(op::capability::Float64),
            _ => {}
        }
        self.ty(op::TypeFloat, &[bits])
    }

    pub(crate) fn vector(&mut self, component: Id, count: u32) -> Id {
        self.ty(op::TypeVector, &[component, count])
    }

    pub(crate) fn array(&mut self, element: Id, length: u32) -> Id {
        let length = self.constant(length);
        self.ty(op::TypeArray, &[element, length])
    }

    pub(crate) fn pointer(&mut self, class: u32, pointee: Id) -> Id {
        self.ty(op::TypePointer, &[class, pointee])
    }

    pub(crate) fn constant(&mut self, value: u32) -> Id {
        let uint = self.uint();
        self.value(op::Constant, uint, &[value])
    }

    /// Whether interfaces of entry points list every global variable (SPIR-V 1.4).
    pub(crate) fn full_interfaces(&self) -> bool {
        self.minor >= 4
    }

    /// Words of the module.
    pub(crate) fn finish(self) -> Vec<u32> {
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
