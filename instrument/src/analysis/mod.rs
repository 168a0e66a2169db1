//! Facts about a module. Analyses read an immutable index; none changes a module or imports a pass.

pub(crate) mod callgraph;
mod cfg;
pub(crate) mod constant_exits;
pub(crate) mod deferral;
pub(crate) mod dominating_points;
pub(crate) mod dominators;
pub(crate) mod effects;
pub(crate) mod exit_plan;
pub(crate) mod expressions;
pub(crate) mod frames;
pub(crate) mod graph;
pub(crate) mod index;
pub(crate) mod logical_match;
#[cfg(test)]
mod loop_module;
pub(crate) mod loop_nest;
pub(crate) mod macro_uses;
pub(crate) mod message_layout;
pub(crate) mod message_text;
mod message_work;
pub(crate) mod nesting;
pub(crate) mod preconditions;
pub(crate) mod ranges;
pub(crate) mod spec_constants;
pub(crate) mod trip_count;
pub(crate) mod unstored;
pub(crate) mod view;
pub(crate) mod waiting_loops;
pub(crate) mod warnings;
