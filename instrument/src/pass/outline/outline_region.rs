//! Moves one region into a function.

use super::decorations::Annotations;
use super::inputs::{InnerPhi, Inputs, Outputs};
use super::reachability::Reached;
use super::type_limits::Types;
use super::uses::{Uses, block_that_defines};
use super::widening::Narrow;
use super::{PASS, Region};
use crate::analysis::index::Index;
use crate::analysis::index::function::{Block, Function};
use crate::edit::Edits;
use crate::edit::globals::Globals;
use crate::edit::phi::{PhiRenames, phi};
use crate::error::{Error, ErrorKind, Result};
use crate::spv::{Code, Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// Parameters of a function and members of a structure (SPIR-V specification, universal limits).
const MAX_PARAMETERS: usize = 255;
const MAX_MEMBERS: usize = 16_383;

pub(super) struct Outliner<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'a Function,
    pub(super) region: &'a Region,
    pub(super) uses: &'a Uses<'w>,
    pub(super) reached: &'a Reached,
    pub(super) types: &'a Types,
    pub(super) annotations: &'a Annotations<'w>,
    pub(super) globals: &'a mut Globals,
    /// Names inside the new function of ids that have another one outside.
    pub(super) names: HashMap<Id, Id>,
}

impl<'w> Outliner<'_, 'w> {
    pub(super) fn run(mut self, renames: &mut PhiRenames, edits: &mut Edits) -> Result<Id> {
        // The continue target dominates all that branches reach: with it first, the rest can stay in module order.
        let mut blocks: Vec<Block> = self
            .region
            .blocks
            .iter()
            .filter_map(|b| self.index.blocks.get(*b))
            .copied()
            .collect();
        blocks.sort_by_key(|b| b.label != self.region.target);
        let Some(first) = blocks.first().copied().filter(|b| b.label == self.region.target) else {
            return Err(self.invalid("a continue target is not a block of its function"));
        };
        let last = self.back_edge(&blocks)?;
        let end = self.index.terminator(&last);
        // A branch out of the loop needs no merge instruction, and the return in its place must have none.
        let stop = if last.merge == 0 { last.terminator } else { last.merge };

        if let Some(offset) = self.uses.entered {
            return Err(Error::new(
                ErrorKind::Unsupported,
                PASS,
                offset as u32,
                "a block that nothing reaches leads into a continue construct in which an invocation may abort",
            ));
        }

        // Phis of the continue target: what the ways from outside bring stays outside.
        let mut outside = Code::default();
        let mut inside_phis: Vec<InnerPhi<'w>> = Vec::new();
        let mut inputs = Inputs::default();
        outside.label(first.label);
        for inst in self.index.body(&first).filter(|i| i.opcode() == op::Phi) {
            let pairs: Vec<(Id, Id)> = inst.from(3).chunks_exact(2).map(|p| (p[0], p[1])).collect();
            let (within, without): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|(_, from)| self.is_region_label(*from));
            let merged = if within.is_empty() {
                inst.result()
            } else {
                self.globals.fresh()
            };
            phi(&mut outside, inst.result_type(), merged, &without);
            let parameter = self.globals.fresh();
            inputs.parameters.push((inst.result_type(), merged, parameter));
            self.decorate_parameter(inst.result_type(), inst.result(), parameter);
            self.globals
                .inherit_non_uniform(self.index, inst.result(), &[parameter]);
            if within.is_empty() {
                self.names.insert(merged, parameter);
            } else {
                inside_phis.push(InnerPhi {
                    inst,
                    parameter,
                    within,
                });
            }
        }

        self.collect_inputs(&blocks, last.terminator, &mut inputs)?;
        let Outputs {
            returned: outputs,
            remade,
            undefined,
            lost,
        } = self.collect_outputs()?;
        let returned = outputs.iter().map(|(_, id, _)| *id);
        let again = remade.iter().map(|inst| inst.result());
        let named_outside = returned.chain(again).chain(undefined.iter().map(|(_, id)| *id));
        for id in named_outside {
            if !self.names.contains_key(&id) {
                let name = self.globals.fresh();
                self.names.insert(id, name);
                self.copy_decorations(id, name);
            }
        }

        if inputs.parameters.len() > MAX_PARAMETERS || outputs.len() > MAX_MEMBERS {
            let (inputs, outputs) = (inputs.parameters.len(), outputs.len());
            return Err(self.error(
                ErrorKind::Limit,
                &format!(
                    "a continue construct in which an invocation may abort uses {inputs} values of its function and makes \
                     {outputs} for it; a function takes {MAX_PARAMETERS} and gives back {MAX_MEMBERS}"
                ),
            ));
        }

        // The function.
        let types = outputs.iter().map(|(ty, _, narrow)| narrow.map_or(*ty, |n| n.wide));
        let types: Vec<Id> = types.collect();
        let returned = match types.as_slice() {
            [] => self.globals.void(),
            [one] => *one,
            many => self.globals.structure(many),
        };
        let parameters: Vec<Id> = inputs.parameters.iter().map(|(ty, ..)| *ty).collect();
        let ty = self.globals.function_type(returned, &parameters);
        let (function, entry, start) = (self.globals.fresh(), self.globals.fresh(), self.globals.fresh());
        self.names.insert(first.label, start);
        self.globals.name(function, "vkabort_continue");
        let mut inner = Code::default();
        inner.op(op::Function, &[returned, function, 0, ty]);
        for (ty, _, parameter) in &inputs.parameters {
            inner.op(op::FunctionParameter, &[*ty, *parameter]);
        }
        inner.label(entry);
        for (ty, name) in &inputs.undefined {
            self.undefined(&mut inner, *ty, *name)?;
        }
        for (narrow, [.., parameter, name]) in &inputs.narrow {
            narrow.narrow(&mut inner, *parameter, *name);
        }
        for inst in &inputs.remade {
            self.copy(&mut inner, inst);
        }
        inner.branch(start);
        for block in &blocks {
            for inst in self.index.insts(block.offset, block.end) {
                if self.index.is_debug_info(&inst) {
                    continue;
                }
                if block.label == first.label && inst.opcode() == op::Phi {
                    if let Some(inner_phi) = inside_phis.iter().find(|p| p.inst.offset == inst.offset) {
                        let mut pairs = vec![(inner_phi.parameter, entry)];
                        pairs.extend(
                            inner_phi
                                .within
                                .iter()
                                .map(|(value, from)| (self.name(*value), self.name(*from))),
                        );
                        phi(&mut inner, inst.result_type(), self.name(inst.result()), &pairs);
                    }
                    continue;
                }
                if inst.offset == stop {
                    break;
                }
                self.copy(&mut inner, &inst);
            }
            if block.label == last.label {
                self.give_back(&mut inner, returned, &outputs);
            }
        }
        inner.op(op::FunctionEnd, &[]);

        // What is left.
        let arguments: Vec<Id> = inputs.parameters.iter().map(|(_, argument, _)| *argument).collect();
        for (narrow, [value, wide, ..]) in &inputs.narrow {
            narrow.widen(&mut outside, *value, *wide);
        }
        // What each output is on the way here.
        let mut ways = Vec::with_capacity(outputs.len());
        for (_, id, narrow) in &outputs {
            ways.push(narrow.map_or(*id, |_| self.globals.fresh()));
        }
        let result = match ways.as_slice() {
            [only] => *only,
            _ => self.globals.fresh(),
        };
        outside.op2(op::FunctionCall, &[returned, result, function], &arguments);
        if outputs.len() > 1 {
            for (position, (ty, way)) in types.iter().zip(&ways).enumerate() {
                outside.op(op::CompositeExtract, &[*ty, *way, result, position as u32]);
            }
        }
        for ((_, id, narrow), way) in outputs.iter().zip(&ways) {
            if let Some(narrow) = narrow {
                narrow.narrow(&mut outside, *way, *id);
            }
        }
        remade.iter().for_each(|inst| outside.copy(inst));
        for (ty, id) in &undefined {
            self.undefined(&mut outside, *ty, *id)?;
        }
        for id in outputs
            .iter()
            .map(|(_, id, _)| *id)
            .chain(undefined.iter().map(|(_, id)| *id))
        {
            self.remove_decorations(id, edits);
        }
        outside.copy(&end);

        for block in &blocks {
            edits.remove(block.offset, block.end - block.offset);
        }
        for inst in &lost {
            edits.remove(inst.offset, inst.words.len());
        }
        edits.insert(first.offset, &outside.words);
        edits.insert(self.index.words.len(), &inner.words);
        for target in [self.region.header, self.region.merge] {
            renames.edge(target, last.label, first.label);
        }
        Ok(function)
    }

    pub(super) fn invalid(&self, what: &str) -> Error {
        self.error(ErrorKind::Invalid, what)
    }

    fn error(&self, kind: ErrorKind, what: &str) -> Error {
        let offset = self.index.def(self.region.target).map(|i| i.offset as u32);
        Error::new(kind, PASS, offset, what)
    }

    /// The block with the back edge: the only one with an edge out of the region.
    fn back_edge(&self, blocks: &[Block]) -> Result<Block> {
        let mut leaving = blocks.iter().filter(|b| self.region.is_left_by(self.index, b));
        let Some(last) = leaving.next() else {
            return Err(self.invalid("a continue construct has no back edge"));
        };
        if leaving.next().is_some() {
            return Err(self.invalid("a continue construct is left from more than one block"));
        }
        Ok(*last)
    }

    fn name(&self, id: Id) -> Id {
        self.names.get(&id).copied().unwrap_or(id)
    }

    fn copy(&self, code: &mut Code, inst: &Inst<'_>) {
        code.copy_mapped(inst, self.index.selector_words(inst), |id| self.name(id));
    }

    pub(super) fn is_region_label(&self, label: Id) -> bool {
        self.index
            .block_of_label(self.function, label)
            .is_some_and(|b| self.region.blocks.contains(&b))
    }

    /// Whether an id is defined in the function, and if so whether in the region.
    pub(super) fn defined_in_region(&self, id: Id) -> Option<bool> {
        let inst = self.index.def(id)?;
        let local = (self.function.offset..self.function.end).contains(&inst.offset);
        let block = || block_that_defines(self.index, self.function, id);
        local.then(|| block().is_some_and(|b| self.region.blocks.contains(&b)))
    }

    fn give_back(&mut self, code: &mut Code, ty: Id, outputs: &[(Id, Id, Option<Narrow>)]) {
        let mut values = Vec::with_capacity(outputs.len());
        for (_, id, narrow) in outputs {
            let mut value = self.name(*id);
            if let Some(narrow) = narrow {
                let wide = self.globals.fresh();
                narrow.widen(code, value, wide);
                value = wide;
            }
            values.push(value);
        }
        match values.as_slice() {
            [] => code.op(op::Return, &[]),
            [one] => code.op(op::ReturnValue, &[*one]),
            many => {
                let all = self.globals.fresh();
                code.op2(op::CompositeConstruct, &[ty, all], many);
                code.op(op::ReturnValue, &[all]);
            }
        }
    }
}
