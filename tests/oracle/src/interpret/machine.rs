//! State of a running module.

use super::error::{Result, undefined, unsupported};
use super::loop_budget::LoopBudget;
use super::memory::{Physical, Region};
use super::reconvergence::Rewritten;
use super::types::{Type, Types};
use super::value::{BytePointer, Pointer, Scalar, Space, Value};
use super::workgroup::Member;
use super::writers::{Writer, Writers};
use crate::module::{Id, Module};
use crate::op::{self, built_in, decoration, storage_class};
use crate::words::{Inst, read_string};
use std::collections::{BTreeSet, HashMap};

/// Inputs of a run.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Contents of the buffers in set 0, by binding.
    pub buffers: HashMap<u32, Region>,
    /// Values of specialisation constants by `SpecId`.
    pub specialization: HashMap<u32, u32>,
    /// Physically addressed memory. No other addresses are mapped.
    pub physical: Vec<Physical>,
    /// Step limit of one invocation.
    pub steps: u64,
}

/// The values of an invocation that has ended.
#[derive(Clone, Debug)]
pub struct Frame {
    values: Vec<Option<Value>>,
    variables: Vec<Option<Value>>,
}

impl Frame {
    /// The value with an id, or the value of the variable with that id, if it has no layout.
    pub fn value(&self, id: Id) -> Option<&Value> {
        let at = id as usize;
        let variable = self.variables.get(at).and_then(Option::as_ref);
        variable.or_else(|| self.values.get(at).and_then(Option::as_ref))
    }
}

/// A module being run.
#[derive(Debug)]
pub struct Machine<'m> {
    pub(crate) module: &'m Module,
    pub(crate) types: Types,
    /// Constants and pointers to global variables, by id.
    constants: Vec<Option<Value>>,
    /// Values of the current invocation, by id. Functions do not recurse, so an id has one value at a time.
    pub(super) values: Vec<Option<Value>>,
    /// Result types by id.
    pub(super) result_types: Vec<Id>,
    /// Contents of variables without layout, by id.
    pub(super) variables: Vec<Option<Value>>,
    /// Block indices by label, within the label's function.
    pub(super) blocks: Vec<u32>,
    /// Buffers by variable.
    pub(super) buffers: HashMap<Id, Region>,
    pub(super) physical: Vec<Physical>,
    /// Abort indices by word offset.
    pub(super) sites: HashMap<usize, u32>,
    /// Non-semantic instruction set imports.
    pub(super) nonsemantic: Vec<Id>,
    /// Undefined arithmetic is poison instead of undefined behaviour.
    pub(super) poison: bool,
    pub(super) undefined: UndefinedValues,
    pub(super) steps: u64,
    pub(super) steps_left: u64,
    pub(super) depth: u32,
    pub(super) rewritten: Rewritten,
    pub(super) budget: Option<LoopBudget>,
    /// Address of a word that advances whenever it is loaded.
    clock: Option<u64>,
    pub(super) iterations_left: u32,
    /// The address of a rewrite's CURSOR, and its value before this invocation.
    pub(super) earlier_aborts: Option<(u64, u32)>,
    pub(super) writers: Option<Writers>,
    /// The workgroup that the invocation runs with, if it does not run alone.
    pub(super) member: Option<Member>,
    /// Whether instructions 1 of non-semantic sets are prints, to keep.
    pub(super) keeps_prints: bool,
    /// The prints of the current invocation.
    pub(super) prints: Vec<PrintCall>,
}

/// Results of undefined arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndefinedValues {
    /// They are errors, unless the module has `ArithmeticPoisonKHR`.
    Refused,
    /// They are undefined, and so is all that is computed of them. Their effects are errors.
    Followed,
    /// They are some numbers.
    Arbitrary,
}

/// A print of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintCall {
    /// Word offset of the instruction.
    pub offset: usize,
    /// The scalars of its arguments.
    pub scalars: Vec<Scalar>,
}

/// Sets the element of an id, unless the id exceeds the module's bound.
pub(super) fn put<T>(by_id: &mut [T], id: Id, value: T) {
    if let Some(slot) = by_id.get_mut(id as usize) {
        *slot = value;
    }
}

/// Result types of a module, by id.
fn result_types(module: &Module) -> Vec<Id> {
    let mut types = vec![0; module.bound() as usize];
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|b| &b.insts).filter(|i| op::has_result(i.op));
    let globals = module.globals.iter().filter(|i| {
        let constant = op::ConstantTrue..=op::SpecConstantOp;
        let data = matches!(i.op, op::ConstantDataKHR | op::SpecConstantDataKHR | op::PoisonKHR);
        constant.contains(&i.op) || data || matches!(i.op, op::Variable | op::Undef)
    });
    for inst in globals.chain(insts) {
        put(&mut types, inst.word(1), inst.word(0));
    }
    for (parameter, ty) in module
        .functions
        .iter()
        .flat_map(|f| f.parameters.iter().zip(&f.parameter_types))
    {
        put(&mut types, *parameter, *ty);
    }
    types
}

impl<'m> Machine<'m> {
    /// Prepares a run of a module.
    pub fn new(module: &'m Module, setup: Setup) -> Result<Self> {
        let bound = module.bound() as usize;
        let mut blocks = vec![u32::MAX; bound];
        let mut sites = HashMap::new();
        for function in &module.functions {
            for (number, block) in (0..).zip(&function.blocks) {
                put(&mut blocks, block.label, number);
                let aborts = block.insts.iter().filter(|i| i.op == op::AbortKHR);
                for inst in aborts {
                    sites.insert(inst.offset, sites.len() as u32);
                }
            }
        }
        let poison = module
            .globals
            .iter()
            .any(|i| i.op == op::ExecutionMode && i.word(1) == op::execution_mode::ArithmeticPoisonKHR);
        let mut machine = Self {
            module,
            types: Types::new(module),
            constants: vec![None; bound],
            values: vec![None; bound],
            variables: vec![None; bound],
            result_types: result_types(module),
            blocks,
            buffers: HashMap::new(),
            physical: setup.physical,
            sites,
            nonsemantic: module
                .globals
                .iter()
                .filter(|i| i.op == op::ExtInstImport && read_string(i.operands_from(1)).starts_with("NonSemantic."))
                .map(|i| i.word(0))
                .collect(),
            poison,
            undefined: UndefinedValues::Refused,
            steps: setup.steps,
            steps_left: 0,
            depth: 0,
            rewritten: Rewritten::new(module),
            budget: None,
            clock: None,
            iterations_left: 0,
            earlier_aborts: None,
            writers: None,
            member: None,
            keeps_prints: false,
            prints: Vec::new(),
        };
        let mut buffers = setup.buffers;
        for inst in &module.globals {
            if let Some(value) = machine.constant(inst, &setup.specialization)? {
                if let (Some(scalar), Type::Int { .. }) = (value.scalar(), machine.types.get(inst.word(0))) {
                    machine.types.lengths.insert(inst.word(1), scalar.bits as u32);
                }
                put(&mut machine.constants, inst.word(1), Some(value));
            } else if inst.op == op::Variable {
                machine.global(inst.word(1), inst.word(2), &mut buffers);
            }
        }
        Ok(machine)
    }

    /// Keeps prints from now on.
    pub fn keep_prints(&mut self) {
        self.keeps_prints = true;
    }

    /// Removes and returns the prints of the last invocation, in their order.
    pub fn take_prints(&mut self) -> Vec<PrintCall> {
        std::mem::take(&mut self.prints)
    }

    /// Keeps a non-semantic instruction that is a print with arguments.
    pub(super) fn print(&mut self, inst: &Inst) -> Result<()> {
        let mut scalars = Vec::new();
        for id in inst.operands_from(5) {
            let mut parts = vec![self.value(*id)?];
            while let Some(part) = parts.pop() {
                scalars.extend(part.scalar());
                parts.extend(part.parts().unwrap_or_default().iter().rev());
            }
        }
        self.prints.push(PrintCall {
            offset: inst.offset,
            scalars,
        });
        Ok(())
    }

    /// Records the writers of loaded scalars, from now on.
    pub fn record_writers(&mut self) {
        self.writers = Some(Writers::default());
    }

    /// The recorded writers of each load, by its word offset.
    pub fn writers(&self) -> impl Iterator<Item = (&usize, &BTreeSet<Writer>)> {
        self.writers.iter().flat_map(Writers::loads)
    }

    /// Lets loops use up a budget, and numbers the aborts of the module as its sites do.
    pub fn set_loop_budget(&mut self, budget: LoopBudget) {
        self.sites.clone_from(&budget.sites);
        self.budget = Some(budget);
    }

    /// Sets what becomes of the results of undefined arithmetic from now on.
    pub fn set_undefined_values(&mut self, undefined: UndefinedValues) {
        self.undefined = undefined;
    }

    /// Advances the word at a physical address whenever it is loaded.
    pub fn set_clock(&mut self, address: u64) {
        self.clock = Some(address);
        self.advance_word(address);
    }

    /// Advances the clock if the pointer is to it.
    pub(super) fn advance_clock(&mut self, pointer: &Pointer) {
        let Pointer::Bytes(BytePointer {
            space: Space::Physical,
            at,
            ..
        }) = pointer
        else {
            return;
        };
        if self.clock == Some(*at) {
            self.advance_word(*at);
        }
    }

    fn advance_word(&mut self, address: u64) {
        for memory in &mut self.physical {
            let offset = address.wrapping_sub(memory.address);
            if offset < memory.region.bytes().len() as u64 {
                let word = memory.word(offset as u32);
                memory.region.set_word(offset, word.wrapping_add(1));
            }
        }
    }

    /// Sets the pointer of a global variable.
    fn global(&mut self, id: Id, class: u32, buffers: &mut HashMap<u32, Region>) {
        let pointer = if matches!(class, storage_class::StorageBuffer | storage_class::Uniform) {
            let binding = self.types.decoration(id, decoration::Binding).unwrap_or(0);
            self.buffers.insert(id, buffers.remove(&binding).unwrap_or_default());
            Pointer::Bytes(BytePointer::new(Space::Buffer(id), 0))
        } else {
            Pointer::Logical {
                variable: id,
                path: Vec::new(),
            }
        };
        put(&mut self.constants, id, Some(Value::Pointer(pointer)));
    }

    /// Value of an input: built-ins from the identity, other inputs small numbers.
    pub(super) fn input(&self, id: Id, ty: Id, identity: [u32; 4]) -> Value {
        let words = match self.types.decoration(id, decoration::BuiltIn) {
            Some(built_in::GlobalInvocationId) => [identity[0], identity[1], identity[2], 0],
            // Workgroups are rows.
            Some(built_in::LocalInvocationId) => [identity[3], 0, 0, 0],
            Some(built_in::LocalInvocationIndex) => [identity[3]; 4],
            Some(built_in::VertexIndex) => [identity[0]; 4],
            Some(built_in::InstanceIndex) => [identity[1]; 4],
            Some(built_in::FragCoord) => {
                let center = |pixel: u32| (pixel as f32 + 0.5).to_bits();
                [center(identity[0]), center(identity[1]), 0, 1f32.to_bits()]
            }
            _ => [3, 1, 4, 1],
        };
        match self.types.get(ty) {
            Type::Vector { count, .. } => Value::Composite(
                words
                    .iter()
                    .take(*count as usize)
                    .map(|w| Value::number(u64::from(*w)))
                    .collect(),
            ),
            _ => Value::number(u64::from(words[0])),
        }
    }

    /// Value of an id.
    pub(crate) fn value(&self, id: Id) -> Result<&Value> {
        let at = id as usize;
        let local = self.values.get(at).and_then(Option::as_ref);
        match local.or_else(|| self.constants.get(at).and_then(Option::as_ref)) {
            Some(value) => Ok(value),
            None => undefined(format!("%{id} is used before its definition")),
        }
    }

    /// Whether an id is a constant.
    pub(super) fn is_constant(&self, id: Id) -> bool {
        self.constants.get(id as usize).is_some_and(Option::is_some)
    }

    pub(crate) fn scalar(&self, id: Id) -> Result<Scalar> {
        match self.value(id)? {
            Value::Scalar(scalar) => Ok(*scalar),
            other => unsupported(format!("%{id} is not a scalar: {other:?}")),
        }
    }

    /// A scalar that must be defined, because `use_of_it` depends on it.
    pub(crate) fn defined_scalar(&self, id: Id, use_of_it: &str) -> Result<u64> {
        match self.scalar(id)?.defined() {
            Some(bits) => Ok(bits),
            None => undefined(format!("{use_of_it} depends on %{id}, which is undefined")),
        }
    }

    /// Buffer at a binding.
    pub fn buffer(&self, binding: u32) -> Option<&Region> {
        self.buffers
            .iter()
            .find(|(id, _)| self.types.decoration(**id, decoration::Binding) == Some(binding))
            .map(|(_, region)| region)
    }

    /// Physically addressed memory.
    pub fn physical(&self) -> &[Physical] {
        &self.physical
    }

    /// Physically addressed memory, to modify between invocations.
    pub fn physical_mut(&mut self) -> &mut [Physical] {
        &mut self.physical
    }

    /// Hides the aborts so far from polls. `cursor`: the address of CURSOR, where its memory begins.
    pub fn hide_aborts(&mut self, cursor: u64) {
        let memory = self.physical.iter().find(|memory| memory.address == cursor);
        self.earlier_aborts = memory.map(|memory| (cursor, memory.word(0)));
    }

    /// The values after an invocation.
    pub fn frame(&self) -> Frame {
        Frame {
            values: self.values.clone(),
            variables: self.variables.clone(),
        }
    }

    /// Value of a one-word variable without layout after an invocation.
    pub fn word(&self, variable: Id) -> Option<u32> {
        let value = self.variables.get(variable as usize)?.as_ref()?;
        Some(value.scalar()?.defined()? as u32)
    }

    /// Values of `Output` variables after an invocation, by location.
    pub fn outputs(&self) -> Vec<(u32, Value)> {
        let outputs = self
            .module
            .globals
            .iter()
            .filter(|i| i.op == op::Variable && i.word(2) == storage_class::Output);
        let mut found: Vec<(u32, Value)> = outputs
            .filter_map(|inst| {
                let location = self.types.decoration(inst.word(1), decoration::Location)?;
                Some((location, self.variables.get(inst.word(1) as usize)?.clone()?))
            })
            .collect();
        found.sort_by_key(|(location, _)| *location);
        found
    }
}
