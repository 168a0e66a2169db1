//! The workgroup size, which bounds built-ins.

use crate::analysis::index::Index;
use crate::spv::Inst;
use crate::spv::op::{built_in, decoration, execution_mode};

/// The workgroup size, if every entry point has the same constant one.
pub(super) fn local_size(index: &Index<'_>) -> Option<[u32; 3]> {
    let is_specialised = index
        .decorations
        .iter()
        .any(|d| d.kind == decoration::BuiltIn && d.value == built_in::WorkgroupSize);
    let mut sizes = index.execution_modes.iter().filter(|mode| {
        matches!(
            mode.execution_mode(),
            execution_mode::LocalSize | execution_mode::LocalSizeId
        )
    });
    let first = sizes.next().filter(|_| !is_specialised)?;
    let size = [3, 4, 5].map(|word| first.word(word));
    let is_same = |mode: &Inst<'_>| mode.execution_mode() == execution_mode::LocalSize && mode.from(3) == size;
    (is_same(first) && sizes.all(is_same)).then_some(size)
}
