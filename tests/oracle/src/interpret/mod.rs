//! A small interpreter for SPIR-V: what the generator and the planter make, and what the rewriter makes of it.
//!
//! It runs one invocation after another. `OpAbortKHR` is native to it: the message is laid out by [`types`], which is
//! written from the specification and shares nothing with the rewriter. Undefined behaviour is an error.

pub mod arithmetic;
mod compute;
mod execute;
mod memory;
mod pointer;
pub mod types;
pub mod value;

pub use memory::Region;

use crate::module::{Entry, Id, Module};
use crate::op::{self, built_in, decoration, storage_class};
use crate::words::read_string;
use std::collections::HashMap;
use std::fmt;
use types::{Type, Types};
use value::{MatrixLayout, Pointer, Scalar, Space, Value};

/// Why a module could not be run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It does what has no defined behaviour.
    Undefined(String),
    /// It uses what this interpreter does not know, or is malformed.
    Unsupported(String),
    /// It took more steps than allowed; the last was in this block.
    Steps(Id),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined(what) => write!(f, "undefined behaviour: {what}"),
            Self::Unsupported(what) => write!(f, "not supported here: {what}"),
            Self::Steps(block) => write!(f, "too many steps, the last in block %{block}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// Result of this module's functions.
pub type Result<T> = std::result::Result<T, Trouble>;

pub(crate) fn undefined<T>(what: impl Into<String>) -> Result<T> {
    Err(Trouble::Undefined(what.into()))
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(Trouble::Unsupported(what.into()))
}

/// A message as an abort lays it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its bytes, padding zero.
    pub bytes: Vec<u8>,
    /// Bits that may have any value.
    pub undef: Vec<u8>,
}

/// How an invocation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Its entry point returned.
    Returned,
    /// `OpKill` or `OpTerminateInvocation`.
    Killed,
    /// `OpAbortKHR`.
    Aborted {
        /// Which of the module's, in module order.
        site: u32,
        /// What it says.
        message: Message,
    },
}

/// A stretch of bytes that physical addresses lead to.
#[derive(Clone, Debug)]
pub struct Physical {
    /// Address of the first byte.
    pub address: u64,
    /// The bytes.
    pub region: Region,
}

/// What a module is run with.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Contents of the buffers by binding (of set 0).
    pub buffers: HashMap<u32, Region>,
    /// Values of specialisation constants by `SpecId`.
    pub specialization: HashMap<u32, u32>,
    /// Physically addressed memory: nothing else is mapped.
    pub physical: Vec<Physical>,
    /// Steps that one invocation may take.
    pub steps: u64,
}

/// A module being run.
#[derive(Debug)]
pub struct Machine<'m> {
    pub(crate) module: &'m Module,
    pub(crate) types: Types,
    /// Constants and pointers to global variables, by id.
    constants: Vec<Option<Value>>,
    /// Values of the running invocation, by id. Functions do not recurse, so every id has one value at a time.
    values: Vec<Option<Value>>,
    /// Types of results, by id.
    result_types: Vec<Id>,
    /// Variables without a layout, by id.
    variables: Vec<Option<Value>>,
    /// Which block of its function a label names.
    blocks: Vec<u32>,
    /// Buffers by variable.
    buffers: HashMap<Id, Region>,
    physical: Vec<Physical>,
    /// Numbers of the aborts by word offset.
    sites: HashMap<usize, u32>,
    /// Imported instruction sets that say nothing of what a module does.
    nonsemantic: Vec<Id>,
    /// Undefined arithmetic is poison, not undefined behaviour.
    poison: bool,
    steps: u64,
    left: u64,
    depth: u32,
}

/// Types of the results in a module, by id.
fn result_types(module: &Module) -> Vec<Id> {
    let mut types = vec![0; module.bound() as usize];
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|b| &b.insts).filter(|i| execute::has_result(i.op));
    let globals = module.globals.iter().filter(|i| {
        let constant = op::ConstantTrue..=op::SpecConstantOp;
        let data = matches!(i.op, op::ConstantDataKHR | op::SpecConstantDataKHR | op::PoisonKHR);
        constant.contains(&i.op) || data || matches!(i.op, op::Variable | op::Undef)
    });
    for inst in globals.chain(insts) {
        if let Some(slot) = types.get_mut(inst.word(1) as usize) {
            *slot = inst.word(0);
        }
    }
    for (parameter, ty) in module
        .functions
        .iter()
        .flat_map(|f| f.parameters.iter().zip(&f.parameter_types))
    {
        if let Some(slot) = types.get_mut(*parameter as usize) {
            *slot = *ty;
        }
    }
    types
}

impl<'m> Machine<'m> {
    /// Prepares to run a module.
    pub fn new(module: &'m Module, setup: Setup) -> Result<Self> {
        let bound = module.bound() as usize;
        let mut blocks = vec![u32::MAX; bound];
        let mut sites = HashMap::new();
        for function in &module.functions {
            for (number, block) in (0..).zip(&function.blocks) {
                if let Some(slot) = blocks.get_mut(block.label as usize) {
                    *slot = number;
                }
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
                .filter(|i| i.op == op::ExtInstImport && read_string(i.from(1)).0.starts_with("NonSemantic."))
                .map(|i| i.word(0))
                .collect(),
            poison,
            steps: setup.steps,
            left: 0,
            depth: 0,
        };
        let mut buffers = setup.buffers;
        for inst in &module.globals {
            if let Some(value) = machine.constant(inst, &setup.specialization)? {
                if let (Some(scalar), Type::Int { .. }) = (value.scalar(), machine.types.get(inst.word(0))) {
                    machine.types.lengths.insert(inst.word(1), scalar.bits as u32);
                }
                machine.set_constant(inst.word(1), value);
            } else if inst.op == op::Variable {
                machine.global(inst.word(1), inst.word(2), &mut buffers);
            }
        }
        Ok(machine)
    }

    fn set_constant(&mut self, id: Id, value: Value) {
        if let Some(slot) = self.constants.get_mut(id as usize) {
            *slot = Some(value);
        }
    }

    /// Makes the pointer that a global variable's id stands for.
    fn global(&mut self, id: Id, class: u32, buffers: &mut HashMap<u32, Region>) {
        let pointer = if matches!(class, storage_class::StorageBuffer | storage_class::Uniform) {
            let binding = self.types.decoration(id, decoration::Binding).unwrap_or(0);
            self.buffers.insert(id, buffers.remove(&binding).unwrap_or_default());
            Pointer::Bytes {
                space: Space::Buffer(id),
                at: 0,
                matrix: MatrixLayout::default(),
                step: None,
            }
        } else {
            Pointer::Logical {
                variable: id,
                path: Vec::new(),
            }
        };
        self.set_constant(id, Value::Pointer(pointer));
    }

    /// Runs one invocation of an entry point. `identity` has the words that a record of it has.
    pub fn run(&mut self, entry: &Entry, identity: [u32; 4]) -> Result<Ended> {
        self.left = self.steps;
        self.depth = 0;
        self.values.fill(None);
        self.variables.fill(None);
        let module = self.module;
        for inst in module.globals.iter().filter(|i| i.op == op::Variable) {
            let (pointer, id, class) = (inst.word(0), inst.word(1), inst.word(2));
            let Type::Pointer { pointee, .. } = *self.types.get(pointer) else {
                continue;
            };
            let value = match class {
                storage_class::Input => self.input(id, pointee, identity),
                storage_class::StorageBuffer | storage_class::Uniform => continue,
                _ => match inst.operands.get(3) {
                    Some(initial) => self.value(*initial)?.clone(),
                    None => self.types.filled(pointee, true),
                },
            };
            self.set_variable(id, value);
        }
        let Some(function) = module.function(entry.function) else {
            return unsupported("an entry point without a function");
        };
        self.call(function, Vec::new()).map(|flow| match flow {
            execute::Flow::Returned(_) => Ended::Returned,
            execute::Flow::Ended(ended) => ended,
        })
    }

    fn set_variable(&mut self, id: Id, value: Value) {
        if let Some(slot) = self.variables.get_mut(id as usize) {
            *slot = Some(value);
        }
    }

    /// What an input holds: built-ins by the identity, other inputs small numbers.
    fn input(&self, id: Id, ty: Id, identity: [u32; 4]) -> Value {
        let words = match self.types.decoration(id, decoration::BuiltIn) {
            Some(built_in::GlobalInvocationId) => [identity[0], identity[1], identity[2], 0],
            Some(built_in::LocalInvocationIndex) => [identity[3]; 4],
            Some(built_in::VertexIndex) => [identity[0]; 4],
            Some(built_in::InstanceIndex) => [identity[1]; 4],
            Some(built_in::FragCoord) => {
                let middle = |pixel: u32| (pixel as f32 + 0.5).to_bits();
                [middle(identity[0]), middle(identity[1]), 0, 1f32.to_bits()]
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

    /// The value of an id.
    pub(crate) fn value(&self, id: Id) -> Result<&Value> {
        let at = id as usize;
        let local = self.values.get(at).and_then(Option::as_ref);
        match local.or_else(|| self.constants.get(at).and_then(Option::as_ref)) {
            Some(value) => Ok(value),
            None => undefined(format!("%{id} is used before it has a value")),
        }
    }

    pub(crate) fn scalar(&self, id: Id) -> Result<Scalar> {
        match self.value(id)? {
            Value::Scalar(scalar) => Ok(*scalar),
            other => unsupported(format!("%{id} is no scalar: {other:?}")),
        }
    }

    /// A scalar that has to be defined, since what happens next depends on it.
    pub(crate) fn decided(&self, id: Id, what: &str) -> Result<u64> {
        match self.scalar(id)?.defined() {
            Some(bits) => Ok(bits),
            None => undefined(format!("{what} depends on %{id}, which is undefined")),
        }
    }

    /// The buffer of a binding.
    pub fn buffer(&self, binding: u32) -> Option<&Region> {
        self.buffers
            .iter()
            .find(|(id, _)| self.types.decoration(**id, decoration::Binding) == Some(binding))
            .map(|(_, region)| region)
    }

    /// The physically addressed memory.
    pub fn physical(&self) -> &[Physical] {
        &self.physical
    }

    /// The same, to change it between invocations.
    pub fn physical_mut(&mut self) -> &mut [Physical] {
        &mut self.physical
    }

    /// What a variable without a layout holds after an invocation, where it is one word.
    pub fn word(&self, variable: Id) -> Option<u32> {
        let value = self.variables.get(variable as usize)?.as_ref()?;
        Some(value.scalar()?.defined()? as u32)
    }

    /// Values of the `Output` variables after an invocation, by location.
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
