//! Moves continue constructs in which an invocation may abort into functions of their own.
//!
//! ```text
//! %continue: .. call %f .. stores .. BranchConditional %c %header %merge
//!   becomes
//! %continue: %r = call %outlined(%inputs), %c = CompositeExtract %r 0, BranchConditional %c %header %merge
//! ```
//!
//! No invocation can return from a continue construct, since its back-edge block must post-dominate it; from a function it
//! can. What is left of the construct is one call, after which `unwind` takes the back edge and leaves the loop at its
//! top. One mechanism serves calls in the condition of a do-while, in the increment of a for, and anything deeper.
//!
//! Terms. The *region* is the continue construct: entered at the continue target only, left by the back-edge block only.
//! *Inputs* are values that it uses and the rest of the function defines; *outputs* the other way round. Values that can
//! be passed are; pointers of logical addressing and opaque handles cannot, so the instructions that make them are
//! repeated on the other side.
//!
//! Outputs keep their ids outside and get new ones inside, with copies of their decorations. Debug instructions of the
//! region are dropped: their scopes belong to the function that they came from.

use super::phi::{PhiRenames, phi};
use super::plan::Plan;
use super::region;
use crate::edit::globals::Globals;
use crate::edit::{Code, Edits};
use crate::error::{Error, ErrorKind, Result};
use crate::index::function::{Block, Function};
use crate::index::{Decoration, Index};
use crate::spv::op::{decoration, storage_class};
use crate::spv::words::inst_at;
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

const PASS: &str = "outline";
/// Parameters of a function and members of a structure (SPIR-V specification, universal limits).
const MAX_PARAMETERS: usize = 255;
const MAX_MEMBERS: usize = 16_383;

/// Whether anything has to be moved.
pub(crate) fn is_needed(index: &Index<'_>, plan: &Plan) -> bool {
    let touched = plan.touched(index);
    let mut functions = touched.map(|(number, function)| regions(index, plan, number, function, &HashSet::default()));
    functions.any(|regions| !regions.is_empty())
}

/// Moves the outermost regions that need it; inner ones follow in the next round. `outlined` holds the functions made so
/// far: a region that only calls one of them stays.
pub(crate) fn outline(index: &Index<'_>, plan: &Plan, outlined: &mut HashSet<Id>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut globals: Option<Globals> = None;
    for (number, function) in plan.touched(index) {
        let regions = regions(index, plan, number, function, outlined);
        let outermost: Vec<&Region> = regions
            .iter()
            .filter(|r| !regions.iter().any(|o| o.header != r.header && o.encloses(r)))
            .collect();
        let mut renames = PhiRenames::default();
        for region in outermost {
            let globals = globals.get_or_insert_with(|| Globals::new(index));
            let id = Outliner {
                index,
                function,
                region,
                globals,
                names: HashMap::default(),
            }
            .run(&mut renames, &mut edits)?;
            outlined.insert(id);
        }
        renames.apply(index, function, &mut edits);
    }
    if let Some(globals) = globals {
        globals.finish(index, &mut edits);
    }
    Ok(edits)
}

/// The continue constructs of a function in which an invocation may abort, apart from those that can stay.
fn regions(index: &Index<'_>, plan: &Plan, number: usize, function: &Function, outlined: &HashSet<Id>) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for header in index.blocks_of(function) {
        let Some((merge, target)) = region::loop_merge(index, header) else {
            continue;
        };
        let blocks = region::continue_blocks(index, function, header.label, merge, target);
        let dirty = blocks.iter().any(|b| region::may_abort(index, plan, number, *b));
        if dirty && target != header.label && !may_stay(index, plan, number, &blocks, outlined) {
            regions.push(Region {
                header: header.label,
                merge,
                target,
                blocks,
            });
        }
    }
    regions
}

struct Region {
    header: Id,
    merge: Id,
    target: Id,
    blocks: BTreeSet<usize>,
}

impl Region {
    fn encloses(&self, other: &Region) -> bool {
        other.blocks.is_subset(&self.blocks)
    }
}

/// Whether a region can stay where it is: one block, in which an invocation that has aborted in a call can go on to the
/// back edge. What follows the call must then do nothing that anyone else sees, and nothing that is undefined for the null
/// value that the call gives back. What an outlined region leaves behind is such a block too.
fn may_stay(index: &Index<'_>, plan: &Plan, function: usize, blocks: &BTreeSet<usize>, outlined: &HashSet<Id>) -> bool {
    let mut blocks = blocks.iter();
    let (Some(number), None) = (blocks.next(), blocks.next()) else {
        return false;
    };
    let Some(block) = index.blocks.get(*number).filter(|_| !plan.polled(*number)) else {
        return false;
    };
    let checked = plan.checked_calls(index, function, *number);
    let mut calls = checked.iter().filter_map(|call| index.calls.get(*call));
    if calls.clone().all(|call| outlined.contains(&call.callee)) {
        return true;
    }
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return false;
    };
    let after = index.inst(call.offset).end();
    index
        .insts(after, block.terminator)
        .all(|inst| is_harmless(index, &inst))
}

/// Whether an instruction computes something that is defined whatever its operands are, or reads or writes a variable that
/// is the invocation's own.
fn is_harmless(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    // Left out: what divides, shifts, picks by an index or makes integers of floats, and what is decorated as not to
    // overflow. There are operands for which compilers may do anything.
    const TOTAL: [RangeInclusive<u16>; 12] = [
        op::VectorShuffle..=op::CopyObject,
        op::ConvertSToF..=op::FConvert,
        op::Bitcast..=op::Bitcast,
        op::SNegate..=op::FMul,
        op::FDiv..=op::FDiv,
        op::VectorTimesScalar..=op::SMulExtended,
        op::Any..=op::IsInf,
        op::LogicalEqual..=op::FUnordGreaterThanEqual,
        op::BitwiseOr..=op::Not,
        op::Line..=op::Line,
        op::NoLine..=op::NoLine,
        op::CopyLogical..=op::CopyLogical,
    ];
    let own = |pointer| {
        let variable = index.def(pointer).filter(|def| def.opcode() == op::Variable);
        let class = variable.map(|def| def.word(3));
        matches!(class, Some(storage_class::Function | storage_class::Private))
    };
    match inst.opcode() {
        op::Load => own(inst.word(3)),
        op::Store => own(inst.word(1)),
        opcode => {
            let total = TOTAL.iter().any(|opcodes| opcodes.contains(&opcode));
            let promised = |d: &Decoration| {
                matches!(
                    d.kind,
                    decoration::NoSignedWrap | decoration::NoUnsignedWrap | decoration::FPFastMathMode
                )
            };
            total && !index.decorations_of(inst.result()).any(promised) || index.is_debug_inst(inst)
        }
    }
}

struct Outliner<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    region: &'a Region,
    globals: &'a mut Globals,
    /// Names inside the new function of ids that have another one outside.
    names: HashMap<Id, Id>,
}

impl<'w> Outliner<'_, 'w> {
    fn run(mut self, renames: &mut PhiRenames, edits: &mut Edits) -> Result<Id> {
        let blocks: Vec<Block> = self
            .region
            .blocks
            .iter()
            .filter_map(|b| self.index.blocks.get(*b))
            .copied()
            .collect();
        let (Some(first), Some(last)) = (blocks.first().copied(), self.back_edge(&blocks)?) else {
            return Err(self.invalid("a continue target is not a block of its function"));
        };
        if first.label != self.region.target {
            return Err(self.invalid("a block of a continue construct stands before its continue target"));
        }
        let end = self.index.terminator(&last);

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
        } = self.collect_outputs(&blocks)?;
        for id in outputs
            .iter()
            .map(|(_, id)| id)
            .chain(remade.iter().map(|i| i.result()).collect::<Vec<_>>().iter())
        {
            if !self.names.contains_key(id) {
                let name = self.globals.fresh();
                self.names.insert(*id, name);
                self.copy_decorations(*id, name);
            }
        }

        if inputs.parameters.len() > MAX_PARAMETERS || outputs.len() > MAX_MEMBERS {
            let (inputs, outputs) = (inputs.parameters.len(), outputs.len());
            let offset = self.index.def(self.region.target).map(|i| i.offset as u32);
            return Err(Error::new(
                ErrorKind::Limit,
                PASS,
                offset,
                format!(
                    "a continue construct in which an invocation may abort uses {inputs} values of its function and makes \
                     {outputs} for it; a function takes {MAX_PARAMETERS} and gives back {MAX_MEMBERS}"
                ),
            ));
        }

        // The function.
        let types: Vec<Id> = outputs.iter().map(|(ty, _)| *ty).collect();
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
        for inst in &inputs.remade {
            self.copy(&mut inner, inst);
        }
        inner.branch(start);
        for block in &blocks {
            for inst in self.index.insts(block.offset, block.end) {
                if self.index.is_debug_inst(&inst) {
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
                if inst.offset == last.terminator {
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
        let result = match outputs.as_slice() {
            [(_, only)] => *only,
            _ => self.globals.fresh(),
        };
        outside.op2(op::FunctionCall, &[returned, result, function], &arguments);
        if outputs.len() > 1 {
            for (position, (ty, id)) in outputs.iter().enumerate() {
                outside.op(op::CompositeExtract, &[*ty, *id, result, position as u32]);
            }
        }
        remade.iter().for_each(|inst| outside.copy(inst));
        outside.copy(&end);

        for block in &blocks {
            edits.remove(block.offset, block.end - block.offset);
        }
        edits.insert(first.offset, &outside.words);
        edits.insert(self.index.words.len(), &inner.words);
        for target in [self.region.header, self.region.merge] {
            renames.edge(target, last.label, first.label);
        }
        Ok(function)
    }

    fn invalid(&self, what: &str) -> Error {
        let offset = self.index.def(self.region.target).map(|i| i.offset as u32);
        Error::new(ErrorKind::Invalid, PASS, offset, what)
    }

    /// The block with the back edge: the only one with an edge out of the region.
    fn back_edge(&self, blocks: &[Block]) -> Result<Option<Block>> {
        let leaves = |block: &&Block| {
            let to = self.index.successors(block);
            to.contains(&self.region.header) || to.contains(&self.region.merge)
        };
        let mut leaving = blocks.iter().filter(leaves);
        let Some(last) = leaving.next() else {
            return Err(self.invalid("a continue construct has no back edge"));
        };
        if leaving.next().is_some() {
            return Err(self.invalid("a continue construct is left from more than one block"));
        }
        Ok(Some(*last))
    }

    fn name(&self, id: Id) -> Id {
        self.names.get(&id).copied().unwrap_or(id)
    }

    fn copy(&self, code: &mut Code, inst: &Inst<'_>) {
        code.copy_mapped(inst, self.index.selector_words(inst), |id| self.name(id));
    }

    fn is_region_label(&self, label: Id) -> bool {
        self.index
            .block_of_label(self.function, label)
            .is_some_and(|b| self.region.blocks.contains(&b))
    }

    /// Whether an id is defined in the function, and if so whether in the region.
    fn defined_in_region(&self, id: Id) -> Option<bool> {
        let inst = self.index.def(id)?;
        let local = (self.function.offset..self.function.end).contains(&inst.offset);
        let within = |b: &usize| {
            self.index
                .blocks
                .get(*b)
                .is_some_and(|b| (b.offset..b.end).contains(&inst.offset))
        };
        local.then(|| self.region.blocks.iter().any(within))
    }

    fn collect_inputs(&mut self, blocks: &[Block], end: usize, inputs: &mut Inputs<'w>) -> Result<()> {
        let index = self.index;
        for block in blocks {
            for inst in index.insts(block.offset, block.end).skip(1).filter(|i| i.offset != end) {
                if index.is_debug_inst(&inst) {
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
    fn need(&mut self, id: Id, inputs: &mut Inputs<'w>, depth: u32) -> Result<()> {
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
    fn must_be_remade(&self, inst: &Inst<'_>) -> bool {
        let ty = inst.result_type();
        let made = matches!(
            inst.opcode(),
            op::AccessChain | op::InBoundsAccessChain | op::ImageTexelPointer | op::CopyObject | op::Undef
        );
        self.index.is_opaque(ty) || self.index.is_logical_pointer(ty) && made
    }

    /// Outputs to return, as (type, id), and instructions to repeat outside, in module order.
    fn collect_outputs(&self, blocks: &[Block]) -> Result<Outputs<'w>> {
        let index = self.index;
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<Id> = Vec::new();
        for block in index.blocks_of(self.function) {
            let in_region = blocks.iter().any(|b| b.label == block.label);
            for inst in index.insts(block.offset, block.end).skip(1) {
                let stays = !in_region || inst.offset == self.back_edge_terminator(blocks);
                if !stays || index.is_debug_inst(&inst) {
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

    fn back_edge_terminator(&self, blocks: &[Block]) -> usize {
        self.back_edge(blocks).ok().flatten().map_or(0, |b| b.terminator)
    }

    fn copy_decorations(&mut self, from: Id, to: Id) {
        let index = self.index;
        for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
            if inst.opcode() == op::Decorate && inst.word(1) == from {
                self.globals.decorate(to, inst.word(2), inst.from(3));
            }
        }
    }

    fn give_back(&mut self, code: &mut Code, ty: Id, outputs: &[(Id, Id)]) {
        let values: Vec<Id> = outputs.iter().map(|(_, id)| self.name(*id)).collect();
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

/// A phi of the continue target that has ways from inside the region: it stays inside, and takes what comes from outside
/// as a parameter.
struct InnerPhi<'w> {
    inst: Inst<'w>,
    parameter: Id,
    within: Vec<(Id, Id)>,
}

/// What the new function gives back.
#[derive(Default)]
struct Outputs<'w> {
    /// (type, id).
    returned: Vec<(Id, Id)>,
    /// Instructions to repeat outside, in module order.
    remade: Vec<Inst<'w>>,
}

/// What the new function takes.
#[derive(Default)]
struct Inputs<'w> {
    /// (type, argument, parameter).
    parameters: Vec<(Id, Id, Id)>,
    /// Instructions to repeat at its start, operands first.
    remade: Vec<Inst<'w>>,
}
