//! What runs when the cases are a program for Windows in Wine.

use super::Placement;
use crate::case::Case;
use vkabort_test_kit::drivers::TestDriver;

/// The drivers below Wine's own. The others are newer builds of the first.
pub const DRIVERS: [TestDriver; 2] = [TestDriver::Lavapipe, TestDriver::SwiftShader];

/// Factor of time limits: a process takes seconds to start.
pub const SLOWDOWN: u32 = 5;

/// Beginnings of the names of cases that cannot run, and the reasons.
const EXCLUDED: &[(&str, &str)] = &[(
    "test_driver_secure_execution::",
    "needs a setuid program and the access rights of Unix",
)];

/// The placement of a case: there is no validation layer for Windows.
pub fn placement(case: &Case) -> Placement {
    Placement::without_validation(case.layers)
}

/// Why a case cannot run.
pub fn exclusion(case: &Case) -> Option<&'static str> {
    let found = EXCLUDED.iter().find(|(prefix, _)| case.name.starts_with(prefix));
    found.map(|(_, reason)| *reason)
}
