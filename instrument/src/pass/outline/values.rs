//! Which values a region takes and gives back, and which are made again on the other side.

use super::PASS;
use super::outliner::Outliner;
use crate::error::{Error, ErrorKind, Result};
use crate::index::function::Block;
use crate::spv::words::inst_at;
use crate::spv::{Id, Inst, op, operands};
use std::collections::BTreeSet;

/// A phi of the continue target that has ways from inside the region: it stays inside, and takes what comes from outside
/// as a parameter.
pub(super) struct InnerPhi<'w> {
    pub(super) inst: Inst<'w>,
    pub(super) parameter: Id,
    pub(super) within: Vec<(Id, Id)>,
}

/// What the new function gives back.
#[derive(Default)]
pub(super) struct Outputs<'w> {
    /// (type, id).
    pub(super) returned: Vec<(Id, Id)>,
    /// Instructions to repeat outside, in module order.
    pub(super) remade: Vec<Inst<'w>>,
}

/// What the new function takes.
#[derive(Default)]
pub(super) struct Inputs<'w> {
    /// (type, argument, parameter).
    pub(super) parameters: Vec<(Id, Id, Id)>,
    /// Instructions to repeat at its start, operands first.
    pub(super) remade: Vec<Inst<'w>>,
}

impl<'w> Outliner<'_, 'w> {
    pub(super) fn collect_inputs(&mut self, blocks: &[Block], end: usize, inputs: &mut Inputs<'w>) -> Result<()> {
        let index = self.index;
        for block in blocks {
            for inst in index.insts(block.offset, block.end).skip(1).filter(|i| i.offset != end) {
                if index.is_debug_info(&inst) {
                    continue;
                }
                if block.label == self.region.target && inst.opcode() == op::Phi {
                    // What comes from outside is merged outside.
                    let pairs = inst.from(3).chunks_exact(2).filter(|p| self.is_region_label(p[1]));
                    for value in pairs.map(|p| p[0]).collect::<Vec<_>>() {
                        self.need(value, inputs, 16)?;
                    }
                    continue;
                }
                let mut used = Vec::new();
                if !operands::visit_ids(&inst, index.selector_words(&inst), |i| used.push(inst.word(i))) {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        PASS,
                        inst.offset as u32,
                        format!(
                            "opcode {} is unknown and stands in a continue construct in which an invocation may abort",
                            inst.opcode()
                        ),
                    ));
                }
                for id in used {
                    self.need(id, inputs, 16)?;
                }
            }
        }
        Ok(())
    }

    /// Makes an id available inside.
    pub(super) fn need(&mut self, id: Id, inputs: &mut Inputs<'w>, depth: u32) -> Result<()> {
        let known = self.names.contains_key(&id) || self.defined_in_region(id) != Some(false);
        let Some(inst) = self.index.def(id).filter(|i| !known && i.opcode() != op::Label) else {
            return Ok(());
        };
        let ty = inst.result_type();
        let name = self.globals.fresh();
        let passed = !self.must_be_remade(&inst);
        if passed {
            inputs.parameters.push((ty, id, name));
        } else {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(self.invalid("a pointer is made by a chain of too many instructions"));
            };
            let mut used = Vec::new();
            operands::visit_ids(&inst, 1, |i| used.push(inst.word(i)));
            for operand in used {
                self.need(operand, inputs, depth)?;
            }
            inputs.remade.push(inst);
        }
        self.names.insert(id, name);
        Ok(())
    }

    /// Whether a value cannot be passed to a function and is made anew there.
    pub(super) fn must_be_remade(&self, inst: &Inst<'_>) -> bool {
        let ty = inst.result_type();
        let made = matches!(
            inst.opcode(),
            op::AccessChain | op::InBoundsAccessChain | op::ImageTexelPointer | op::CopyObject | op::Undef
        );
        self.index.is_opaque(ty) || self.index.is_logical_pointer(ty) && made
    }

    /// Outputs to return, as (type, id), and instructions to repeat outside, in module order.
    pub(super) fn collect_outputs(&self, blocks: &[Block]) -> Result<Outputs<'w>> {
        let index = self.index;
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<Id> = Vec::new();
        for block in index.blocks_of(self.function) {
            let in_region = blocks.iter().any(|b| b.label == block.label);
            for inst in index.insts(block.offset, block.end).skip(1) {
                let stays = !in_region || inst.offset == self.back_edge_terminator(blocks);
                if !stays || index.is_debug_info(&inst) {
                    continue;
                }
                operands::visit_ids(&inst, index.selector_words(&inst), |i| open.push(inst.word(i)));
            }
        }
        while let Some(id) = open.pop() {
            let Some(inst) = index.def(id).filter(|i| i.opcode() != op::Label) else {
                continue;
            };
            if self.defined_in_region(id) != Some(true) || self.is_outer_phi(&inst) || !wanted.insert(inst.offset) {
                continue;
            }
            if self.must_be_remade(&inst) {
                operands::visit_ids(&inst, 1, |i| open.push(inst.word(i)));
            } else if index.is_logical_pointer(inst.result_type()) {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    inst.offset as u32,
                    "a pointer chosen in a continue construct in which an invocation may abort is used outside it",
                ));
            }
        }
        let mut outputs = Outputs::default();
        for inst in wanted.into_iter().filter_map(|offset| inst_at(index.words, offset)) {
            if self.must_be_remade(&inst) {
                outputs.remade.push(inst);
            } else {
                outputs.returned.push((inst.result_type(), inst.result()));
            }
        }
        Ok(outputs)
    }

    /// A phi of the continue target that stays outside whole.
    fn is_outer_phi(&self, inst: &Inst<'_>) -> bool {
        let first = self.index.def(self.region.target).map_or(0, |i| i.offset);
        let in_target = self
            .index
            .block_of_label(self.function, self.region.target)
            .and_then(|b| self.index.blocks.get(b))
            .is_some_and(|b| (first..b.end).contains(&inst.offset));
        inst.opcode() == op::Phi && in_target && !inst.from(3).chunks_exact(2).any(|p| self.is_region_label(p[1]))
    }
}
