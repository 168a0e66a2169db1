//! The view of values: control flow, uses and memory of each function, analysed once, for every analysis that follows values.
//!
//! **How does the rewriter find the value of a load?** By `Memory::read`, which returns the definitions that reach the load.
//!
//! ```text
//! uint q = 7;              Store %q 7            d1: q
//! if (b != 0)              BranchConditional
//!     q = a / b;             Store %q %div       d2: q
//!                          phi of q              d3: q = phi(d1, d2)
//! words[0] = q;            %v = Load %q          reads d3, so 7 or %div
//! ```
//!
//! Each reader answers its own question and keeps no maps of blocks, stores or uses itself:
//!
//! | reader | question |
//! | --- | --- |
//! | `effects` | does an undefined value reach memory, control flow or a result? |
//! | `ranges` | which values can an integer have here? |
//! | `trip_count` | how often does a loop run? |
//! | `constant_exits` | can a compiler run a loop at compile time? |
//! | `waiting_loops` | may a loop wait for another invocation? |
//! | `unstored` | may a variable be read before anything is stored to it? |
//! | `captured_values` | which variables have a value at an abort, and which? |
//!
//! The parts:
//!
//! - `FunctionGraph`: blocks before and after each, dominators, reverse postorder.
//! - `ControlDependence`: the conditions that decide which blocks of a loop or a function are executed.
//! - `Uses`: the operands that use each value.
//! - `FunctionAccesses`: the accesses of each instruction to objects that only the invocation sees: variables of the storage
//!   classes Function, Private and Output, Workgroup between barriers, and pointees of parameters.
//! - `Cells`: the parts of these objects that are followed by themselves, by constant indices.
//! - `Memory`: definitions of cells in SSA form. An access whose index is not constant reads or changes some part of a cell.
//! - `Summary`: the memory that a call may read and write.
//!
//! Everything is linear in the words of the function (with the logarithms of sorting), without recursion. An object whose parts are
//! too many is one cell, and a function whose definitions are too many has no view: `ModuleView::given_up` says so.
//!
//! The decisions and their reasons: `docs/design/values.md`.

mod access;
mod accesses;
mod cells;
mod control_dependence;
mod function;
mod loads;
mod memory;
mod module;
pub mod path;
mod summaries;
#[cfg(test)]
mod tests;
mod uses;

pub use access::{Access, AccessKind, Object, ObjectClass, Place};
pub use accesses::FunctionAccesses;
pub(crate) use control_dependence::ControlDependence;
pub use function::{FunctionView, is_constant};
pub use loads::sources_of_loads;
pub use memory::{Definition, Event, EventKind, Memory, MemoryUse, Origin};
pub use module::ModuleView;
pub(crate) use uses::Use;
