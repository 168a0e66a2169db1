//! The variables of a function that have values at an abort: those to which a store that every path to it executes has
//! written.

use super::function::{FunctionFlow, is_constant};
use crate::analysis::index::typed::Node;
use crate::analysis::index::{Function, Index};
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// Most calls of a function whose arguments are looked at.
const MAX_CALLS: usize = 64;
/// Most functions that pass a parameter on.
const MAX_PASSED: u32 = 4;
/// Most parts of a variable that are looked at.
const MAX_PARTS: u32 = 32;

/// A store to a part of a variable.
#[derive(Clone, Debug)]
struct Store {
    node: Node,
    offset: usize,
    /// Constant indices to the part.
    path: Vec<u32>,
}

/// A variable of a function, or a parameter that points to one of its callers.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// The pointer.
    pub(super) id: Id,
    /// Its pointee.
    pub(super) ty: Id,
    /// Whether it has a value wherever it is used.
    is_initialized: bool,
    stores: Vec<Store>,
}

/// What of a variable has a value at an abort.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    /// Word offset of the last store, also of one in a later iteration of a loop.
    pub(super) offset: usize,
    paths: Vec<Vec<u32>>,
}

/// The variables of a function.
#[derive(Debug, Default)]
pub(super) struct Memories {
    pub(super) all: Vec<Memory>,
}

impl Memories {
    /// O(words of the function).
    pub(super) fn new(flow: &FunctionFlow<'_, '_>) -> Self {
        let (index, function) = (flow.index, flow.function);
        let mut all: Vec<Memory> = Vec::new();
        let blocks = index.blocks_of(function);
        let Some(first) = blocks.first() else {
            return Self::default();
        };
        let pointee = |inst: &Inst<'_>| {
            let ty = index.def(inst.result_type())?;
            let is_function = ty.opcode() == op::TypePointer && ty.storage_class() == storage_class::Function;
            is_function.then(|| ty.pointee())
        };
        let mut add = |inst: &Inst<'_>, is_initialized| {
            all.extend(pointee(inst).map(|ty| Memory {
                id: inst.result(),
                ty,
                is_initialized,
                stores: Vec::new(),
            }));
        };
        let parameters = index.insts(function.offset, first.offset);
        let parameters = parameters.filter(|inst| inst.opcode() == op::FunctionParameter);
        for (position, parameter) in parameters.enumerate() {
            if pointee(&parameter).is_some() {
                add(&parameter, is_passed_initialized(index, function, position, MAX_PASSED));
            }
        }
        for variable in index.body(first).filter(|inst| inst.opcode() == op::Variable) {
            add(&variable, variable.words.len() > 4);
        }
        let positions: HashMap<Id, usize> = all.iter().enumerate().map(|(at, memory)| (memory.id, at)).collect();
        for (number, block) in blocks.iter().enumerate() {
            for inst in index.body(block) {
                let pointer = match inst.opcode() {
                    op::Store | op::CopyMemory => inst.id(1),
                    _ => continue,
                };
                if let Some((root, path)) = place(index, pointer)
                    && let Some(memory) = positions.get(&root).and_then(|at| all.get_mut(*at))
                {
                    memory.stores.push(Store {
                        node: Node::from_usize(number),
                        offset: inst.offset,
                        path,
                    });
                }
            }
        }
        Self { all }
    }
}

impl Memory {
    /// What has a value at the end of the block `node`.
    pub(super) fn stored(&self, flow: &FunctionFlow<'_, '_>, node: Node) -> Stored {
        let mut stored = Stored::default();
        if self.is_initialized {
            stored.paths.push(Vec::new());
        }
        for store in &self.stores {
            let dominates = flow.dominators.dominates(store.node, node);
            // What a loop changes comes before what it finds.
            if dominates || flow.shares_loop(store.node, node) {
                stored.offset = stored.offset.max(store.offset);
            }
            if dominates {
                stored.paths.push(store.path.clone());
            }
        }
        stored
    }
}

impl Stored {
    /// Whether every part of the part at `path`, of type `ty`, has a value.
    pub(super) fn covers(&self, index: &Index<'_>, ty: Id, path: &[u32]) -> bool {
        let mut steps = 0;
        self.covers_part(index, ty, &mut path.to_vec(), &mut steps)
    }

    fn covers_part(&self, index: &Index<'_>, ty: Id, path: &mut Vec<u32>, steps: &mut u32) -> bool {
        *steps += 1;
        if self.paths.iter().any(|stored| path.starts_with(stored)) {
            return true;
        }
        if *steps > MAX_PARTS || !self.paths.iter().any(|stored| stored.starts_with(path)) {
            return false;
        }
        let Some(inst) = index.def(ty) else { return false };
        let count = match inst.opcode() {
            op::TypeStruct => inst.words.len() as u32 - 2,
            op::TypeVector | op::TypeMatrix => inst.component_count(),
            op::TypeArray => match index.def(inst.array_length()).and_then(|length| index.literal(&length)) {
                Some(count @ 1..=16) => count as u32,
                _ => return false,
            },
            _ => return false,
        };
        (0..count).all(|number| {
            path.push(number);
            let covers = self.covers_part(index, index.part_type(ty, number), path, steps);
            path.pop();
            covers
        })
    }
}

/// The variable and the constant indices of a pointer. `None` if it is indexed by other values, or is not of a variable.
fn place(index: &Index<'_>, pointer: Id) -> Option<(Id, Vec<u32>)> {
    let inst = index.def(pointer)?;
    match inst.opcode() {
        op::Variable | op::FunctionParameter => Some((pointer, Vec::new())),
        op::AccessChain | op::InBoundsAccessChain => {
            index.def(inst.id(3)).filter(|base| base.offset < inst.offset)?;
            let (root, mut path) = place(index, inst.id(3))?;
            for id in inst.ids(4) {
                let constant = index
                    .def(id)
                    .filter(|inst| is_constant(inst) && inst.opcode() == op::Constant)?;
                path.push(u32::try_from(index.literal(&constant)?).ok()?);
            }
            Some((root, path))
        }
        _ => None,
    }
}

/// Whether every caller has stored a value where the parameter at a position points to.
fn is_passed_initialized(index: &Index<'_>, function: &Function, position: usize, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let calls: Vec<_> = index
        .calls
        .values()
        .iter()
        .filter(|call| call.callee == function.id)
        .take(MAX_CALLS + 1)
        .collect();
    let stores = |call: &&crate::analysis::index::Call| {
        let argument = index.inst(call.offset).id(4 + position);
        let (Some(block), Some(caller)) = (index.blocks.get(call.block), index.functions.get(call.caller)) else {
            return false;
        };
        let is_store = |inst: Inst<'_>| inst.opcode() == op::Store && inst.pointer() == argument;
        if index.insts(block.offset, call.offset).any(is_store) {
            return true;
        }
        let Some(argument) = index.def(argument) else {
            return false;
        };
        match argument.opcode() {
            op::Variable => argument.words.len() > 4,
            op::FunctionParameter => {
                let first = index
                    .blocks_of(caller)
                    .first()
                    .map_or(caller.offset, |block| block.offset);
                let parameters = index.insts(caller.offset, first);
                let mut parameters = parameters.filter(|inst| inst.opcode() == op::FunctionParameter);
                let position = parameters.position(|inst| inst.offset == argument.offset);
                position.is_some_and(|position| is_passed_initialized(index, caller, position, depth))
            }
            _ => false,
        }
    };
    !calls.is_empty() && calls.len() <= MAX_CALLS && calls.iter().all(stores)
}
