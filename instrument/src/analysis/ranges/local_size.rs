//! The workgroup size, which bounds built-ins.

use crate::analysis::index::Index;
use crate::analysis::index::constant::Length;
use crate::options::Options;
use crate::spv::op::{built_in, decoration, execution_mode};
use crate::spv::{Id, Inst};

/// The greatest workgroup size of the entry points in each dimension. `None` where it depends on specialisation constants.
pub(super) fn local_size(index: &Index<'_>, options: &Options) -> [Option<u32>; 3] {
    let constant = |id: Id| match index.value(id, options)? {
        Length::Fixed(value) => u32::try_from(value).ok(),
        Length::Specialised { .. } => None,
    };
    let constants = |inst: &Inst<'_>| [3, 4, 5].map(|word| constant(inst.id(word)));
    // A constant decorated WorkgroupSize overrides the execution modes.
    let mut decorations = index.decorations.iter();
    if let Some(decorated) = decorations.find(|d| d.kind == decoration::BuiltIn && d.value == built_in::WorkgroupSize) {
        return index.def(decorated.target).map_or([None; 3], |size| constants(&size));
    }
    let sizes = index
        .execution_modes
        .iter()
        .filter_map(|mode| match mode.execution_mode() {
            execution_mode::LocalSize => Some([3, 4, 5].map(|word| Some(mode.word(word)))),
            execution_mode::LocalSizeId => Some(constants(mode)),
            _ => None,
        });
    let greatest = sizes.reduce(|one, other| {
        let mut parts = one.into_iter().zip(other);
        [(); 3].map(|()| parts.next().and_then(|(one, other)| Some(one?.max(other?))))
    });
    greatest.unwrap_or([None; 3])
}
