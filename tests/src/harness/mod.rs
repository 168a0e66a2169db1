//! Systems on which cases run: on a driver of this repository (`cargo test`) or on the machine's driver (`machine`), with the layers that
//! each case names. The processes may be programs for another system.

#[cfg(unix)]
mod failures;
#[cfg(unix)]
pub mod matrix;
#[cfg(unix)]
mod placement;
#[cfg(unix)]
mod system;
#[cfg(unix)]
mod target;
#[cfg(unix)]
mod trials;
#[cfg(unix)]
mod wine;

pub use vkabort_test_kit::drivers::are_required as drivers_are_required;
#[cfg(unix)]
pub use {
    placement::{Placement, environment},
    system::System,
    target::Target,
    trials::{finish, trials},
};

/// Environment variable with the settings of the test driver.
pub const DRIVER_SETTINGS: &str = "VKABORT_TEST_DRIVER";
/// Environment variable with the number of rounds of each stress case.
pub const STRESS_ROUNDS: &str = "VKABORT_STRESS_ROUNDS";
/// Environment variable that makes a process keep its device: it creates the file [`HAS_DEVICE`] in its working folder
/// and exits when the file [`MAY_END`] exists.
pub const HOLD: &str = "VKABORT_HOLD";
/// See [`HOLD`].
pub const HAS_DEVICE: &str = "has_device";
/// See [`HOLD`].
pub const MAY_END: &str = "may_end";
