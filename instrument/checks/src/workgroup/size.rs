//! The workgroup size of an entry point.
//!
//! `LocalSize`, `LocalSizeId`, or the constant that is decorated with the built-in `WorkgroupSize`, which takes precedence. Each may
//! depend on specialisation constants.

use vkabort_analysis::callgraph::Reach;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::{EntryPoint, Index};
use vkabort_spirv::op::{built_in, decoration, execution_mode};
use vkabort_spirv::{Id, Literal, op};

const COMPUTE: u32 = spirv::ExecutionModel::GLCompute as u32;
/// Stages with workgroups beside compute shaders.
pub(super) const MESH_MODELS: [u32; 2] = [
    spirv::ExecutionModel::TaskEXT as u32,
    spirv::ExecutionModel::MeshEXT as u32,
];

/// The size of a workgroup in each dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WorkgroupSize {
    /// Independent of specialisation.
    Fixed([u32; 3]),
    /// Integer constants.
    Constants([Id; 3]),
    /// A vector of integers.
    Vector(Id),
}

impl WorkgroupSize {
    /// The size of an entry point. `None` if it has none.
    pub(crate) fn of(index: &Index<'_>, function: Id) -> Option<Self> {
        let is_size = |d: &&vkabort_spirv::index::Decoration| {
            d.kind == decoration::BuiltIn && d.value == built_in::WorkgroupSize && d.member.is_none()
        };
        let decorated = index.decorations.iter().find(is_size);
        let size = match decorated {
            Some(decorated) => Self::Vector(decorated.target),
            None => {
                let mut modes = index.execution_modes.iter().filter(|mode| mode.target() == function);
                modes.find_map(|mode| match mode.execution_mode() {
                    execution_mode::LocalSize => Some(Self::Fixed([3, 4, 5].map(|word| mode.word(word)))),
                    execution_mode::LocalSizeId => Some(Self::Constants([3, 4, 5].map(|word| mode.id(word)))),
                    _ => None,
                })?
            }
        };
        Some(size.fixed(index).map_or(size, Self::Fixed))
    }

    /// The size in each dimension. `None` if it depends on specialisation constants.
    pub(crate) fn fixed(self, index: &Index<'_>) -> Option<[u32; 3]> {
        let value = |id: Id| {
            let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant)?;
            u32::try_from(index.literal(&constant)?).ok()
        };
        let parts = match self {
            Self::Fixed(size) => return Some(size),
            Self::Constants(parts) => parts,
            Self::Vector(vector) => {
                let vector = index
                    .def(vector)
                    .filter(|inst| inst.opcode() == op::ConstantComposite)?;
                [3, 4, 5].map(|word| vector.id(word))
            }
        };
        let [x, y, z] = parts.map(value);
        Some([x?, y?, z?])
    }

    /// The number of invocations. `None` if it depends on specialisation constants.
    pub(crate) fn invocations(self) -> Option<u32> {
        match self {
            Self::Fixed([x, y, z]) => Some(x.saturating_mul(y).saturating_mul(z)),
            Self::Constants(_) | Self::Vector(_) => None,
        }
    }

    /// Writes the number of invocations.
    pub(crate) fn write(self, index: &Index<'_>, out: &mut Emitter) -> Id {
        if let Some(count) = self.invocations() {
            return out.constant(count);
        }
        let uint = out.uint();
        let mut part = |number: u32| {
            let (ty, id) = match self {
                Self::Fixed(size) => (uint, out.constant(size.get(number as usize).copied().unwrap_or(1))),
                Self::Constants(parts) => {
                    let id = parts.get(number as usize).copied().unwrap_or(Id::NONE);
                    (index.type_of(id), id)
                }
                Self::Vector(vector) => {
                    let ty = index.part_type(index.type_of(vector), 0);
                    (ty, out.emit(op::CompositeExtract, ty, (vector, Literal(number))))
                }
            };
            match ty == uint {
                true => id,
                false => out.emit(op::Bitcast, uint, id),
            }
        };
        let [x, y, z] = [0, 1, 2].map(&mut part);
        let plane = out.calculate(op::IMul, (x, y));
        out.calculate(op::IMul, (plane, z))
    }
}

/// Whether only stages with workgroups reach a function, each with a workgroup size.
pub(crate) fn is_in_workgroups(index: &Index<'_>, reach: &Reach) -> bool {
    let entry = |number: &u32| index.entry_points.get(*number as usize);
    let has_size = |entry: &EntryPoint<'_>| WorkgroupSize::of(index, entry.function).is_some();
    reach
        .models
        .iter()
        .all(|model| *model == COMPUTE || MESH_MODELS.contains(model))
        && reach.entry_points.iter().filter_map(entry).all(has_size)
}
