//! Message types that current compilers do not emit: every offset and stride is honoured, and gaps are zero.

use super::layout_support::{at, check, check_file, shader, word};
use super::support::MARK;
use crate::case::{Case, cases};
use crate::vk::Device;
use anyhow::Result;

pub(super) const CASES: &[Case] = cases! {
    "layout::gaps_between_members_are_zero" => check_file(device, "gaps_between_members", gaps);
    "layout::row_major_matrices_and_wide_strides" => check_file(device, "row_major", row_major);
    "layout::a_bare_scalar" => bare_scalar(device);
    "layout::member_order_differs_from_offset_order" => check_file(device, "other_order", other_order);
};

fn gaps(i: u32) -> Vec<u8> {
    at(&[(4, word(i)), (24, word((i as f32).to_bits())), (60, word(MARK))])
}

fn row_major(i: u32) -> Vec<u8> {
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
}

fn bare_scalar(device: &Device<'_>) -> Result<()> {
    let assembly = shader("bare_scalar", &[])?.replace("%type", "%uint");
    check(device, &assembly, |i| word(i + MARK))
}

fn other_order(i: u32) -> Vec<u8> {
    at(&[(0, word(MARK)), (8, word(i))])
}
