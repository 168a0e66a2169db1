//! The combinations of drivers and layers that a case runs in.
//!
//! For each change, a case runs alone on every driver, with the validation layer below ours on the oldest and the newest driver, and
//! above on the newest, whose validation layer has the most rules. `cargo xtask test --matrix` runs every combination.

use super::Placement;
use vkabort_test_kit::drivers::TestDriver;

/// Environment variable that adds the other combinations.
pub const VARIABLE: &str = "VKABORT_FULL_MATRIX";

/// Whether cases run in this placement on this driver.
pub(super) fn includes(driver: &str, placement: Placement, is_full: bool) -> bool {
    let drivers: &[TestDriver] = match placement {
        Placement::ValidationBelow => &[TestDriver::Lavapipe, TestDriver::Newest],
        Placement::ValidationAbove => &[TestDriver::Newest],
        _ => return true,
    };
    // The test driver is not one of them: its cases run in every placement.
    let is_left_out = |of: TestDriver| of.name() == driver && !drivers.contains(&of);
    is_full || !TestDriver::ALL.into_iter().any(is_left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Layers;

    #[test]
    fn an_ordinary_case_runs_in_7_of_12_combinations() {
        let count = |is_full| {
            let placements = Placement::all_for(Layers::Ours);
            let runs = TestDriver::ALL
                .into_iter()
                .flat_map(|driver| placements.iter().map(move |placement| (driver.name(), *placement)));
            runs.filter(|(driver, placement)| includes(driver, *placement, is_full))
                .count()
        };
        assert_eq!([count(false), count(true)], [7, 12]);
        assert!(includes("test-driver", Placement::ValidationAbove, false));
    }
}
