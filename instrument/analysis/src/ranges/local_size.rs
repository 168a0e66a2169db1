//! Numbers of invocations that bound built-ins: the workgroup size, and those of a patch or primitive.

use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::op::{built_in, decoration, execution_mode};
use vkabort_spirv::{Id, Inst, op};

/// The workgroup size of the entry points.
pub(super) struct LocalSize {
    /// The greatest in each dimension. `None` where it depends on specialisation constants.
    pub(super) greatest: [Option<u32>; 3],
    /// The constants of the size, if all entry points have the same.
    parts: Option<[Id; 3]>,
    /// The most invocations of a tessellation control shader for a patch, or of a geometry shader for a primitive.
    pub(super) invocations: Option<u32>,
}

impl LocalSize {
    pub(super) fn new(index: &Index<'_>, options: &Options) -> Self {
        let constant = |id: Id| match index.value(id, &options.specialization)? {
            Length::Fixed(value) => u32::try_from(value).ok(),
            Length::Specialised { .. } => None,
        };
        let ids = |inst: &Inst<'_>| [3, 4, 5].map(|word| inst.id(word));
        let counts = index
            .execution_modes
            .iter()
            .filter_map(|mode| match mode.execution_mode() {
                execution_mode::OutputVertices | execution_mode::Invocations => Some(mode.word(3)),
                _ => None,
            });
        let invocations = counts.max();
        // A constant decorated WorkgroupSize overrides the execution modes.
        let mut decorations = index.decorations.iter();
        let is_size = |kind, value| kind == decoration::BuiltIn && value == built_in::WorkgroupSize;
        if let Some(decorated) = decorations.find(|d| is_size(d.kind, d.value)) {
            let parts = index.def(decorated.target).map(|size| ids(&size));
            return Self {
                greatest: parts.map_or([None; 3], |parts| parts.map(constant)),
                parts,
                invocations,
            };
        }
        let modes = index.execution_modes.iter();
        let sizes = modes.filter_map(|mode| match mode.execution_mode() {
            execution_mode::LocalSize => Some(([3, 4, 5].map(|word| Some(mode.word(word))), None)),
            execution_mode::LocalSizeId => Some((ids(mode).map(constant), Some(ids(mode)))),
            _ => None,
        });
        let greatest = sizes.reduce(|(one, parts), (other, other_parts)| {
            let mut both = one.into_iter().zip(other);
            let greatest = [(); 3].map(|()| both.next().and_then(|(one, other)| Some(one?.max(other?))));
            (greatest, parts.filter(|_| parts == other_parts))
        });
        let (greatest, parts) = greatest.unwrap_or_default();
        Self {
            greatest,
            parts,
            invocations,
        }
    }

    /// Whether a part of a variable is an invocation's id that is below a constant, since that is the workgroup size.
    pub(super) fn bounds(&self, index: &Index<'_>, variable: Id, path: &[u32], constant: Id) -> bool {
        let is_id = index.decoration(variable, decoration::BuiltIn) == Some(built_in::LocalInvocationId);
        let part = match path {
            [dimension] => self.parts.and_then(|parts| parts.get(*dimension as usize).copied()),
            _ => None,
        };
        is_id && part == Some(constant)
    }
}

/// The constant that a constant is by extractions from composites.
pub(super) fn constituent(index: &Index<'_>, constant: Id) -> Id {
    let part = |id: Id| {
        let inst = index.def(id)?;
        let is_extract = inst.opcode() == op::SpecConstantOp && inst.spec_opcode() == op::CompositeExtract;
        let &[composite, number] = inst.words.get(4..).filter(|_| is_extract)? else {
            return None;
        };
        let composite = index.def(Id::new(composite))?;
        let is_composite = matches!(composite.opcode(), op::ConstantComposite | op::SpecConstantComposite);
        let part = composite.ids(3).nth(number as usize).filter(|_| is_composite)?;
        // In a valid module, a constituent is defined before.
        index.def(part).filter(|def| def.offset < inst.offset).map(|_| part)
    };
    std::iter::successors(Some(constant), |id| part(*id))
        .last()
        .unwrap_or(constant)
}
