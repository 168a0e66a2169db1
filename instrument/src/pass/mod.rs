//! One file or folder per pass. A pass reads an immutable index and returns edits; `pipeline.rs` has the order.

pub(crate) mod abort;
pub(crate) mod constant_data;
pub(crate) mod exit_loop;
pub(crate) mod loop_normalize;
pub(crate) mod loop_values;
pub(crate) mod opaque_conditions;
pub(crate) mod outline;
pub(crate) mod pointer_results;
pub(crate) mod poison;
pub(crate) mod prints;
pub(crate) mod reconverge;
pub(crate) mod sanitize;
pub(crate) mod site_numbering;
pub(crate) mod strip;
pub(crate) mod values;
