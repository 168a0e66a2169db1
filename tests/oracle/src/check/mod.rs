//! Compares a module and its rewrite: every invocation, every byte of every buffer and every record.

mod addresses;
mod compare;
pub mod compute_run;
mod condition;
mod faults;
mod inputs;
mod loads;
mod loop_values;
mod prints;
mod records;
mod results;
mod run;
mod shapes;
mod static_checks;
mod travel;
mod values;
mod workgroup;

pub use addresses::{AddressSummary, check_addresses, check_element};
pub use compare::{Rewriter, check, check_rewriter};
pub use faults::{FaultSummary, check_faults};
pub use inputs::Subject;
pub use loads::{LoadSummary, check_loads};
pub use prints::{PrintSummary, check_prints};
pub use results::{CheckSummary, Failure};
pub use shapes::{ShapeResults, check_shape, interpret_shape};
pub use travel::{TravelSummary, check_travel};
pub use values::{ValueSummary, check_values};
pub use workgroup::{WorkgroupSummary, check_workgroup};
