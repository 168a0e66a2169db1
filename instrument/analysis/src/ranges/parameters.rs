//! The ranges of parameters: those of the arguments of all calls.

use super::interval::Range;
use super::widths::integer_bits;
use crate::effects::component_count;
use crate::view::path::Path;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::{Id, Inst, op};

/// The ranges of parameters that are integers or vectors of integers, or that point to such, by component.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) ranges: HashMap<(Id, Path), Range>,
    /// Functions whose parameters are known.
    pub(super) found: HashSet<FunctionIndex>,
    /// Position of each function in an order with callers before callees. Functions of recursions have none.
    pub(super) order: HashMap<FunctionIndex, usize>,
}

/// A parameter of integers.
pub(super) struct Parameter {
    pub(super) id: Id,
    pub(super) position: usize,
    pub(super) is_pointer: bool,
    /// Its components, or the whole.
    pub(super) parts: Vec<Path>,
}

impl Parameters {
    /// Range of a part of a parameter, or of its pointee at function entry.
    pub(super) fn get(&self, parameter: Id, path: &Path) -> Option<Range> {
        self.ranges.get(&(parameter, path.clone())).copied()
    }
}

/// The parameters of integers of a function.
pub(super) fn integer_parameters(index: &Index<'_>, number: FunctionIndex) -> Vec<Parameter> {
    let Some(function) = index.functions.get(number) else {
        return Vec::new();
    };
    let first = index.blocks_of(function).first();
    let end = first.map_or(function.end, |block| block.offset);
    let parameters = index.insts(function.offset, end);
    let parameters = parameters.filter(|inst| inst.opcode() == op::FunctionParameter);
    let parameter = |(position, inst): (usize, Inst<'_>)| {
        let ty = index.def(inst.result_type())?;
        let is_pointer = ty.opcode() == op::TypePointer;
        let ty = if is_pointer { ty.pointee() } else { ty.result() };
        integer_bits(index, ty)?;
        let parts: Vec<Path> = match index.opcode(ty) == op::TypeVector {
            true => (0..component_count(index, ty))
                .map(|part| std::iter::once(part).collect())
                .collect(),
            false => vec![Path::new()],
        };
        Some(Parameter {
            id: inst.result(),
            position,
            is_pointer,
            parts,
        })
    };
    parameters.enumerate().filter_map(parameter).collect()
}
