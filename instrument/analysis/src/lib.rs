//! Facts about a module. Analyses read an immutable index; none changes a module or knows a pass.
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "a crate of the rewriter, which others use through vkabort-instrument"
)]

pub mod callgraph;
pub mod constant_exits;
pub mod deferral;
pub mod dominating_points;
pub mod dominators;
pub mod effects;
pub mod exit_plan;
pub mod expressions;
pub mod float_bounds;
pub mod frames;
pub mod graph;
pub mod logical_match;
#[cfg(test)]
mod loop_module;
pub mod loop_nest;
pub mod macro_uses;
pub mod message_layout;
pub mod message_text;
mod message_work;
pub mod nesting;
pub mod points_before;
pub mod preconditions;
pub mod ranges;
pub mod trip_count;
pub mod unstored;
pub mod view;
pub mod waiting_loops;
pub mod warnings;
