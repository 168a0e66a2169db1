//! Passes that lower extensions and prepare modules for drivers, a file or folder each. A pass reads an immutable index, returns edits,
//! and knows no other pass; the pipeline has their order.
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "a crate of the rewriter, which others use through vkabort-instrument"
)]

pub mod abort;
pub mod captured_values;
pub mod constant_data;
pub mod exit_loop;
pub mod join_exits;
pub mod loop_normalize;
pub mod loop_values;
pub mod opaque_conditions;
pub mod outline;
pub mod pointer_results;
pub mod poison;
pub mod prints;
pub mod reconverge;
pub mod site_numbering;
pub mod strip;
