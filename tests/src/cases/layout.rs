//! Message types that current compilers do not emit: every offset and stride is honoured, and gaps are zero.

use super::layout_support::{at, on_device, shader, word};
use super::support::MARK;
use crate::case::{Case, Context};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("layout::gaps_between_members_are_zero", gaps),
    Case::new("layout::row_major_matrices_and_wide_strides", row_major),
    Case::new("layout::a_bare_scalar", bare_scalar),
    Case::new("layout::member_order_differs_from_offset_order", other_order),
];

fn gaps(context: &Context) -> Result<()> {
    on_device(context, &shader("gaps_between_members", &[])?, |i| {
        at(&[(4, word(i)), (24, word((i as f32).to_bits())), (60, word(MARK))])
    })
}

fn row_major(context: &Context) -> Result<()> {
    on_device(context, &shader("row_major", &[])?, |i| {
        let (f, one) = (word((i as f32).to_bits()), word(1f32.to_bits()));
        // Rows of 16 bytes: the first components of both columns, then the second ones.
        at(&[
            (0, f.clone()),
            (4, one.clone()),
            (16, one),
            (20, f),
            (32, word(i)),
            (44, word(MARK)),
        ])
    })
}

fn bare_scalar(context: &Context) -> Result<()> {
    on_device(context, &shader("bare_scalar", &[])?.replace("%type", "%uint"), |i| {
        (i + MARK).to_le_bytes().to_vec()
    })
}

fn other_order(context: &Context) -> Result<()> {
    on_device(context, &shader("other_order", &[])?, |i| {
        at(&[(0, word(MARK)), (8, word(i))])
    })
}
