//! Execution of functions: blocks, phis, calls, memory, atomics and terminators.

use super::arithmetic::{Kind, binary};
use super::error::{InterpretError, Result, undefined, unsupported};
use super::machine::{Machine, UndefinedValues, put};
use super::memory::Region;
use super::outcome::InvocationEnd;
use super::reconvergence::OpenConstructs;
use super::types::Type;
use super::value::{Layout, MatrixLayout, Pointer, Scalar, Value};
use super::workgroup::{AccessKind, Stage};
use crate::module::{Block, Entry, Function, Id};
use crate::op::{self, storage_class};
use crate::words::Inst;

/// Maximum call depth. Test modules stay far below it.
const MAX_DEPTH: u32 = 200;

/// Exit of a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flow {
    /// It returned.
    Returned(Option<Value>),
    /// The invocation ended.
    End(InvocationEnd),
}

impl Machine<'_> {
    /// Runs one invocation of an entry point. `identity` are the identity words of its record.
    pub fn run(&mut self, entry: &Entry, identity: [u32; 4]) -> Result<InvocationEnd> {
        self.steps_left = self.steps;
        self.iterations_left = self.budget.as_ref().map_or(0, |budget| budget.iterations);
        self.depth = 0;
        self.values.fill(None);
        let is_shared = |id: Id| self.member.as_ref().is_some_and(|member| member.shares(id));
        for (_, variable) in (0..).zip(&mut self.variables).filter(|(id, _)| !is_shared(*id)) {
            *variable = None;
        }
        if let Some(writers) = &mut self.writers {
            writers.begin();
        }
        let module = self.module;
        for inst in module.globals.iter().filter(|i| i.op == op::Variable) {
            let (pointer, id, class) = (inst.word(0), inst.word(1), inst.word(2));
            let Type::Pointer { pointee, .. } = *self.types.get(pointer) else {
                continue;
            };
            let value = match class {
                storage_class::Input => self.input(id, pointee, identity),
                storage_class::StorageBuffer | storage_class::Uniform => continue,
                _ if is_shared(id) => continue,
                // An output that nothing stores is no effect.
                storage_class::Output if self.undefined == UndefinedValues::Followed => {
                    self.types.filled(pointee, false)
                }
                _ => self.initial(inst, pointee)?,
            };
            put(&mut self.variables, id, Some(value));
        }
        let Some(function) = module.function(entry.function) else {
            return unsupported("an entry point without a function");
        };
        self.call(function, Vec::new(), None).map(|flow| match flow {
            Flow::Returned(_) => InvocationEnd::Returned,
            Flow::End(end) => end,
        })
    }

    /// Initial value of a variable.
    pub(super) fn initial(&self, variable: &Inst, pointee: Id) -> Result<Value> {
        match variable.operands.get(3) {
            Some(initial) => self.value(*initial).cloned(),
            None => Ok(self.types.filled(pointee, true)),
        }
    }

    /// Calls the function that polls for aborts, which sees those of this invocation only.
    fn poll(&mut self, function: &Function) -> Result<Flow> {
        let earlier = self.earlier_aborts;
        self.add_to_cursor(earlier.map(|(cursor, count)| (cursor, count.wrapping_neg())));
        let flow = self.call(function, Vec::new(), None);
        self.add_to_cursor(earlier);
        flow
    }

    fn add_to_cursor(&mut self, change: Option<(u64, u32)>) {
        let Some((cursor, count)) = change else { return };
        let of_cursor = self.physical.iter_mut().find(|memory| memory.address == cursor);
        if let Some(memory) = of_cursor {
            let value = memory.word(0).wrapping_add(count);
            memory.region.set_word(0, value);
        }
    }

    /// `call`: the word offset of the instruction that calls the function.
    pub(super) fn call(&mut self, function: &Function, arguments: Vec<Value>, call: Option<usize>) -> Result<Flow> {
        self.depth += 1;
        if let Some(writers) = &mut self.writers {
            writers.enter(call);
        }
        if self.depth > MAX_DEPTH {
            return unsupported("calls that are nested too deeply");
        }
        for (parameter, value) in function.parameters.iter().zip(arguments) {
            put(&mut self.values, *parameter, Some(value));
        }
        let (mut number, mut from): (usize, Id) = (0, 0);
        let mut open = OpenConstructs::default();
        loop {
            let Some(block) = function.blocks.get(number) else {
                return unsupported("a branch to a missing block");
            };
            open.reach(block.label);
            self.phis(&block.insts, from)?;
            if let Some(end) = self.count_iteration(block) {
                return Ok(Flow::End(end));
            }
            let mut next = None;
            for inst in &block.insts {
                self.steps_left = self
                    .steps_left
                    .checked_sub(1)
                    .ok_or(InterpretError::StepLimit(block.label))?;
                match inst.op {
                    op::Phi | op::Line | op::NoLine | op::Nop => {}
                    op::LoopMerge | op::SelectionMerge => self.rewritten.enter(block, inst, &mut open),
                    op::ExtInst if self.nonsemantic.contains(&inst.word(2)) => {
                        if self.keeps_prints && inst.word(3) == 1 {
                            self.print(inst)?;
                        }
                    }
                    op::FunctionCall => {
                        let module = self.module;
                        let Some(callee) = module.function(inst.word(2)) else {
                            return unsupported("a call of a missing function");
                        };
                        let arguments = inst
                            .operands_from(3)
                            .iter()
                            .map(|id| self.value(*id).cloned())
                            .collect::<Result<_>>()?;
                        let flow = match Some(callee.id) == self.rewritten.poll {
                            true => self.poll(callee)?,
                            false => self.call(callee, arguments, Some(inst.offset))?,
                        };
                        match flow {
                            Flow::Returned(Some(value)) => put(&mut self.values, inst.word(1), Some(value)),
                            Flow::Returned(None) => {}
                            end @ Flow::End(_) => return Ok(end),
                        }
                    }
                    opcode if op::is_terminator(opcode) => match self.terminator(inst)? {
                        Next::Block(label) => next = Some(label),
                        Next::Leave(flow) => {
                            if self.is_flag_set() {
                                self.rewritten.leave(function, &open)?;
                            }
                            self.depth -= 1;
                            if let Some(writers) = &mut self.writers {
                                writers.leave();
                            }
                            return Ok(flow);
                        }
                    },
                    _ => self.step(inst)?,
                }
            }
            let Some(label) = next else {
                return unsupported("a block without a terminator");
            };
            from = block.label;
            number = self.blocks.get(label as usize).copied().unwrap_or(u32::MAX) as usize;
        }
    }

    /// Counts the iteration that begins with a block, if a loop does. Returns the end of an invocation that has used up its
    /// budget.
    pub(super) fn count_iteration(&mut self, block: &Block) -> Option<InvocationEnd> {
        let budget = self.budget.as_ref()?;
        let merge = block.insts.iter().find(|inst| inst.op == op::LoopMerge)?;
        let site = *budget.sites.get(&merge.offset)?;
        match self.iterations_left.checked_sub(1) {
            Some(left) => {
                self.iterations_left = left;
                None
            }
            None => Some(InvocationEnd::Aborted {
                site,
                message: budget.messages.get(&site).cloned().unwrap_or_default(),
            }),
        }
    }

    /// Whether the flag of an aborted invocation is set.
    fn is_flag_set(&self) -> bool {
        let flag = self
            .rewritten
            .flag
            .and_then(|id| self.variables.get(id as usize)?.as_ref());
        flag.and_then(|value| value.scalar()).is_some_and(|flag| flag.bits != 0)
    }

    /// Evaluates all phis of a block simultaneously.
    fn phis(&mut self, insts: &[Inst], from: Id) -> Result<()> {
        let mut values = Vec::new();
        for inst in insts
            .iter()
            .take_while(|i| matches!(i.op, op::Phi | op::Line | op::NoLine | op::ExtInst))
        {
            if inst.op != op::Phi {
                continue;
            }
            let pairs = inst.operands_from(2).chunks_exact(2);
            let Some(value) = pairs.filter(|p| p[1] == from).map(|p| p[0]).next() else {
                return unsupported(format!("phi %{} has no operand for block %{from}", inst.word(1)));
            };
            values.push((inst.word(1), self.value(value)?.clone()));
        }
        for (id, value) in values {
            put(&mut self.values, id, Some(value));
        }
        Ok(())
    }

    fn terminator(&mut self, inst: &Inst) -> Result<Next> {
        Ok(match inst.op {
            op::Branch => Next::Block(inst.word(0)),
            op::BranchConditional => {
                let is_false = self.defined_scalar(inst.word(0), "a branch")? == 0;
                Next::Block(inst.word(1 + usize::from(is_false)))
            }
            op::Switch => {
                let selector = self.defined_scalar(inst.word(0), "a switch")?;
                let case = inst
                    .operands_from(2)
                    .chunks_exact(2)
                    .find(|c| u64::from(c[0]) == selector);
                Next::Block(case.map_or(inst.word(1), |c| c[1]))
            }
            op::Return => Next::Leave(Flow::Returned(None)),
            op::ReturnValue => Next::Leave(Flow::Returned(Some(self.value(inst.word(0))?.clone()))),
            op::Kill | op::TerminateInvocation => Next::Leave(Flow::End(InvocationEnd::Killed)),
            op::AbortKHR => Next::Leave(Flow::End(self.abort(inst)?)),
            op::Unreachable => return undefined("OpUnreachable is reached"),
            other => return unsupported(format!("terminator {other}")),
        })
    }

    /// Lays out the message of an abort.
    fn abort(&mut self, inst: &Inst) -> Result<InvocationEnd> {
        let (ty, value) = (inst.word(0), self.value(inst.word(1))?);
        let size = self.types.size(ty, MatrixLayout::default()) as usize;
        let mut message = Region::new(vec![0; size]);
        self.types
            .leaves(ty, value, 0, Layout::default(), &mut |at, size, leaf| {
                let written = message.write(at, size, leaf);
                written.map_or_else(|| unsupported("a message that exceeds its type"), Ok)
            })?;
        match self.sites.get(&inst.offset) {
            Some(site) => Ok(InvocationEnd::Aborted { site: *site, message }),
            None => unsupported("an abort outside the module"),
        }
    }

    fn step(&mut self, inst: &Inst) -> Result<()> {
        let (ty, id) = (inst.word(0), inst.word(1));
        let value = match inst.op {
            op::Variable => {
                let Type::Pointer { pointee, .. } = *self.types.get(ty) else {
                    return unsupported("a variable without a pointer type");
                };
                let value = self.initial(inst, pointee)?;
                put(&mut self.variables, id, Some(value));
                Value::Pointer(Pointer::Logical {
                    variable: id,
                    path: Vec::new(),
                })
            }
            op::AccessChain | op::InBoundsAccessChain => {
                Value::Pointer(self.chain(inst.word(2), self.type_of(inst.word(2)), inst.operands_from(3))?)
            }
            op::Load => {
                let pointer = self.pointer(inst.word(2))?;
                self.share(inst.offset, &pointer, AccessKind::Load, None)?;
                let value = self.load(ty, &pointer, inst.operands_from(3))?;
                if let Some(writers) = &mut self.writers {
                    writers.load(inst.offset, &pointer, &value);
                }
                value
            }
            op::Store => {
                let (pointer, value) = (self.pointer(ty)?, self.value(id)?.clone());
                let constant = self.is_constant(id).then_some(id);
                self.share(inst.offset, &pointer, AccessKind::Store, constant)?;
                if let Some(writers) = &mut self.writers {
                    writers.store(inst.offset, &pointer, &value);
                }
                return self.store(self.type_of(id), &pointer, value, inst.operands_from(2));
            }
            op::CopyMemory => {
                let (target, source) = (self.pointer(ty)?, self.pointer(id)?);
                let Type::Pointer { pointee, .. } = *self.types.get(self.type_of(id)) else {
                    return unsupported("a copy from a value that is not a pointer");
                };
                self.share(inst.offset, &source, AccessKind::Load, None)?;
                let value = self.load(pointee, &source, inst.operands_from(2))?;
                self.share(inst.offset, &target, AccessKind::Store, None)?;
                return self.store(pointee, &target, value, inst.operands_from(2));
            }
            op::MemoryBarrier => return Ok(()),
            op::ControlBarrier if self.member.is_some() => return self.pass_turn(Stage::AtBarrier(inst.offset)),
            op::AtomicStore => {
                let (pointer, value) = (self.pointer(ty)?, self.value(inst.word(3))?.clone());
                self.share(inst.offset, &pointer, AccessKind::Atomic, None)?;
                return self.store(self.type_of(inst.word(3)), &pointer, value, &ATOMIC);
            }
            op::AtomicLoad => {
                let pointer = self.pointer(inst.word(2))?;
                self.share(inst.offset, &pointer, AccessKind::Atomic, None)?;
                let value = self.load(ty, &pointer, &ATOMIC)?;
                self.advance_clock(&pointer);
                value
            }
            op::AtomicIAdd | op::AtomicOr | op::AtomicExchange | op::AtomicUMax => {
                let pointer = self.pointer(inst.word(2))?;
                self.share(inst.offset, &pointer, AccessKind::Atomic, None)?;
                let old = self.load(ty, &pointer, &ATOMIC)?;
                let operand = self.scalar(inst.word(5))?;
                let new = self.atomic(inst.op, &old, operand)?;
                self.store(ty, &pointer, Value::Scalar(new), &ATOMIC)?;
                old
            }
            _ => self.compute(inst)?,
        };
        put(&mut self.values, id, Some(value));
        Ok(())
    }

    fn atomic(&self, opcode: u16, old: &Value, operand: Scalar) -> Result<Scalar> {
        let Some(old) = old.scalar() else {
            return unsupported("an atomic on a value that is not an integer");
        };
        let kind = Kind {
            width: 32,
            signed: false,
            float: false,
        };
        let result = match opcode {
            op::AtomicIAdd => binary(op::IAdd, old, operand, kind),
            op::AtomicOr => binary(op::BitwiseOr, old, operand, kind),
            op::AtomicUMax => match binary(op::UGreaterThan, old, operand, kind) {
                Ok(Scalar { bits: 1, undef: 0 }) => Ok(old),
                Ok(Scalar { undef: 0, .. }) => Ok(operand),
                Ok(_) => Ok(Scalar::undefined(32)),
                Err(fault) => Err(fault),
            },
            _ => Ok(operand),
        };
        result.or_else(|_| unsupported("an atomic operation"))
    }
}

/// Successor of a block.
enum Next {
    Block(Id),
    Leave(Flow),
}

/// Memory operands of atomics: aligned to four bytes.
const ATOMIC: [u32; 2] = [2, 4];
