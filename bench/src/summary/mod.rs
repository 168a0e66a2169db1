//! The goals, each with its measurement.

mod compilers;
mod host;
mod kernels;
mod prints;
mod rewriting;
mod row;

pub use row::{ByPart, Row};

/// The rows of the table of goals.
pub fn rows(parts: &ByPart) -> Vec<Row> {
    [
        rewriting::rows,
        compilers::rows,
        kernels::rows,
        prints::rows,
        host::rows,
    ]
    .iter()
    .flat_map(|of| of(parts))
    .collect()
}
