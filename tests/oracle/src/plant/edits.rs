//! Insertions into a module.

use crate::module::{Id, Module};
use crate::op;
use crate::words::{HEADER_WORDS, instructions, push, string};
use std::collections::{BTreeMap, HashMap};

/// Pending insertions, by section or by word offset.
pub(super) struct Edits<'m> {
    module: &'m Module,
    bound: u32,
    capabilities: Vec<u32>,
    extensions: Vec<u32>,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    pub(super) functions: Vec<u32>,
    /// Words to insert before the instruction at a word offset.
    insertions: BTreeMap<usize, Vec<u32>>,
    /// Maps a split block to the block that has its terminator now.
    moved: HashMap<Id, Id>,
    /// Existing types and constants, by opcode and operands without the result.
    cache: HashMap<(u16, Vec<u32>), Id>,
}

impl<'m> Edits<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut cache = HashMap::new();
        for inst in &module.globals {
            match inst.op {
                op::TypeVoid..=op::TypeVector | op::TypeFunction => {
                    cache.insert((inst.op, inst.operands_from(1).to_vec()), inst.word(0));
                }
                op::Constant => {
                    let operands = [inst.word(0)]
                        .into_iter()
                        .chain(inst.operands_from(2).iter().copied())
                        .collect();
                    cache.insert((inst.op, operands), inst.word(1));
                }
                _ => {}
            }
        }
        Self {
            module,
            bound: module.bound(),
            capabilities: Vec::new(),
            extensions: Vec::new(),
            decorations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            insertions: BTreeMap::new(),
            moved: HashMap::new(),
            cache,
        }
    }

    pub(super) fn fresh(&mut self) -> Id {
        self.bound += 1;
        self.bound - 1
    }

    /// Declares a capability once.
    pub(super) fn capability(&mut self, capability: u32) {
        if !self.module.has_capability(capability) && !self.capabilities.contains(&capability) {
            push(&mut self.capabilities, op::Capability, &[capability]);
        }
    }

    pub(super) fn extension(&mut self, name: &str) {
        let name = string(name);
        let is_declared = |i: &crate::words::Inst| i.op == op::Extension && i.operands == name;
        if !self.module.globals.iter().any(is_declared) {
            push(&mut self.extensions, op::Extension, &name);
        }
    }

    pub(super) fn decorate(&mut self, id: Id, kind: u32, operands: &[u32]) {
        let all: Vec<u32> = [id, kind].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.decorations, op::Decorate, &all);
    }

    pub(super) fn decorate_member(&mut self, id: Id, member: u32, kind: u32, operands: &[u32]) {
        let all: Vec<u32> = [id, member, kind].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.decorations, op::MemberDecorate, &all);
    }

    /// Id of a scalar, vector or function type, which is created if missing.
    pub(super) fn ty(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let key = (opcode, operands.to_vec());
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_type(opcode, operands);
        self.cache.insert(key, id);
        id
    }

    pub(super) fn new_type(&mut self, opcode: u16, operands: &[u32]) -> Id {
        let id = self.fresh();
        let all: Vec<u32> = [id].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, opcode, &all);
        id
    }

    pub(super) fn new_value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, opcode, &all);
        id
    }

    pub(super) fn constant(&mut self, value: u32) -> Id {
        let uint = self.ty(op::TypeInt, &[32, 0]);
        let key = (op::Constant, vec![uint, value]);
        if let Some(id) = self.cache.get(&key) {
            return *id;
        }
        let id = self.new_value(op::Constant, uint, &[value]);
        self.cache.insert(key, id);
        id
    }

    /// Inserts instructions before the instruction at a word offset.
    pub(super) fn insert(&mut self, offset: usize, code: &[u32]) {
        self.insertions.entry(offset).or_default().extend_from_slice(code);
    }

    /// Records that the terminator of block `from` has moved to block `to`.
    pub(super) fn moved(&mut self, from: Id, to: Id) {
        self.moved.insert(from, to);
    }

    /// Applies all insertions.
    pub(super) fn apply(mut self, words: &[u32]) -> Option<Vec<u32>> {
        let globals = &self.module.globals;
        let after = |last: &dyn Fn(u16) -> bool| {
            let inst = globals.iter().rev().find(|i| last(i.op))?;
            Some(inst.offset + inst.operands.len() + 1)
        };
        let capabilities = after(&|o| o == op::Capability).unwrap_or(HEADER_WORDS);
        let extensions = after(&|o| matches!(o, op::Capability | op::Extension)).unwrap_or(HEADER_WORDS);
        // The first core type, constant or variable. Those of extensions come later.
        let types = globals
            .iter()
            .find(|i| (op::TypeVoid..=op::SpecConstantOp).contains(&i.op));
        let end = globals.last().map_or(HEADER_WORDS, |i| i.offset + i.operands.len() + 1);
        let types = types.map_or(end, |i| i.offset);
        let sections = [
            (capabilities, std::mem::take(&mut self.capabilities)),
            (extensions, std::mem::take(&mut self.extensions)),
            (types, std::mem::take(&mut self.decorations)),
            (end, std::mem::take(&mut self.globals)),
        ];
        for (offset, code) in sections {
            self.insert(offset, &code);
        }
        let mut out = words.get(..HEADER_WORDS)?.to_vec();
        if let Some(bound) = out.get_mut(3) {
            *bound = self.bound;
        }
        for mut inst in instructions(words)? {
            if let Some(code) = self.insertions.get(&inst.offset) {
                out.extend_from_slice(code);
            }
            if inst.op == op::Phi {
                for label in inst.operands.iter_mut().skip(3).step_by(2) {
                    *label = self.moved.get(label).copied().unwrap_or(*label);
                }
            }
            push(&mut out, inst.op, &inst.operands);
        }
        if let Some(code) = self.insertions.get(&words.len()) {
            out.extend_from_slice(code);
        }
        out.extend_from_slice(&self.functions);
        Some(out)
    }
}
