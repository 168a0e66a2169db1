//! Insertions into a module.

use crate::module::{Id, Module};
use crate::op;
use crate::words::{HEADER_WORDS, instructions, push, string};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};
use vkabort_spirv_builder::Builder;

/// Pending insertions, by section (those of the builder) or by word offset.
pub(super) struct Edits<'m> {
    module: &'m Module,
    builder: Builder,
    /// Words to insert before the instruction at a word offset.
    insertions: BTreeMap<usize, Vec<u32>>,
    /// Maps a split block to the block that has its terminator now.
    moved: HashMap<Id, Id>,
    /// Global variables to add to the interfaces of entry points, from SPIR-V 1.4 on.
    pub(super) interface: Vec<Id>,
}

impl Deref for Edits<'_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.builder
    }
}

impl DerefMut for Edits<'_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl<'m> Edits<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut builder = Builder::new(0);
        builder.bound = module.bound();
        for inst in &module.globals {
            match inst.op {
                op::TypeVoid..=op::TypeVector | op::TypeFunction => {
                    builder.reuse(inst.op, inst.operands_from(1), inst.word(0));
                }
                op::Constant => {
                    let operands = [&[inst.word(0)], inst.operands_from(2)].concat();
                    builder.reuse(inst.op, &operands, inst.word(1));
                }
                _ => {}
            }
        }
        Self {
            module,
            builder,
            insertions: BTreeMap::new(),
            moved: HashMap::new(),
            interface: Vec::new(),
        }
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
        // Names are the last instructions before decorations, but for `OpModuleProcessed`, which no module here has.
        let is_before_names = |o| {
            matches!(
                o,
                op::Name | op::MemberName | op::String | op::ExecutionMode | op::ExecutionModeId | op::EntryPoint
            )
        };
        let names = after(&is_before_names).unwrap_or(HEADER_WORDS);
        let (mut new_capabilities, mut new_extensions) = (Vec::new(), Vec::new());
        for capability in &self.capabilities {
            if !self.module.has_capability(*capability) {
                push(&mut new_capabilities, op::Capability, &[*capability]);
            }
        }
        for name in self.extensions.iter().map(|name| string(name)) {
            if !globals.iter().any(|i| i.op == op::Extension && i.operands == name) {
                push(&mut new_extensions, op::Extension, &name);
            }
        }
        let sections = [
            (capabilities, new_capabilities),
            (extensions, new_extensions),
            (names, std::mem::take(&mut self.names)),
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
        let has_full_interfaces = words.get(1)? >= &0x1_0400;
        for mut inst in instructions(words)? {
            if let Some(code) = self.insertions.get(&inst.offset) {
                out.extend_from_slice(code);
            }
            if inst.op == op::Phi {
                for label in inst.operands.iter_mut().skip(3).step_by(2) {
                    *label = self.moved.get(label).copied().unwrap_or(*label);
                }
            }
            if inst.op == op::EntryPoint && has_full_interfaces {
                inst.operands.extend_from_slice(&self.interface);
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
