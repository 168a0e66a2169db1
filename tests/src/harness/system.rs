//! The system that the processes of cases are programs for: this one, Windows in Wine, or Linux on 32-bit x86.

use super::{Placement, matrix, wine};
use crate::case::Case;
use std::path::PathBuf;
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::i686;

/// A system.
#[derive(Clone, Debug)]
pub enum System {
    /// The system of the harness.
    Own,
    /// Windows; the program of Wine.
    Wine(PathBuf),
    /// Linux on 32-bit x86.
    I686,
}

/// A driver that cases run on.
pub struct CaseDriver {
    /// Its name in test names.
    pub name: &'static str,
    /// Whether its absence is a failure if drivers are required.
    pub is_required: bool,
    /// The driver, or the reason for its absence.
    pub found: Result<Driver, String>,
}

/// Beginnings of the names of cases that cannot run in a 32-bit process, and the reasons.
const EXCLUDED_I686: &[(&str, &str)] = &[
    (
        "poison::division_of_64_bits",
        "the code that lavapipe 22.3 compiles for i386 divides by instructions that do not exist",
    ),
    (
        "programs::",
        "random programs test the rewriter, which is the same on every system",
    ),
    (
        "test_driver_commands::",
        "passes every argument of a command as a word of 64 bits",
    ),
    (
        "test_driver_memory::a_separate_control_block_on_a_cpu_driver",
        NO_HIGH_HALF,
    ),
    ("test_driver_stress::on_a_cpu_driver", NO_HIGH_HALF),
];

/// Of host addresses, which those of a CPU are.
const NO_HIGH_HALF: &str =
    "the test driver knows the layer's memory by the high half of its address, which is 0 in a 32-bit process";

impl System {
    /// The drivers, in the order of reports.
    pub fn drivers(&self) -> Vec<CaseDriver> {
        let of = |drivers: &[TestDriver]| {
            let drivers = drivers.iter().map(|driver| CaseDriver {
                name: driver.name(),
                is_required: driver.is_required(),
                found: driver.find(),
            });
            drivers.collect()
        };
        match self {
            Self::Own => of(&TestDriver::ALL),
            Self::Wine(_) => of(&wine::DRIVERS),
            Self::I686 => vec![CaseDriver {
                name: i686::DRIVER,
                is_required: true,
                found: i686::lavapipe(),
            }],
        }
    }

    /// The placements of a case on a driver. Only this system has the validation layer.
    pub fn placements(&self, case: &Case, driver: &str) -> Vec<Placement> {
        let is_full = std::env::var_os(matrix::VARIABLE).is_some();
        match self {
            Self::Own => {
                let all = Placement::all_for(case.layers).iter().copied();
                all.filter(|placement| matrix::includes(driver, *placement, is_full))
                    .collect()
            }
            Self::Wine(_) | Self::I686 => vec![Placement::without_validation(case.layers)],
        }
    }

    /// Factor of time limits.
    pub fn slowdown(&self) -> u32 {
        match self {
            Self::Wine(_) => wine::SLOWDOWN,
            Self::Own | Self::I686 => 1,
        }
    }

    /// Why a case does not run on a driver.
    pub fn exclusion(&self, case: &Case, driver: &str) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Wine(_) => wine::exclusion(case, driver),
            Self::I686 => {
                let mut excluded = EXCLUDED_I686.iter();
                let excluded = excluded.find(|(prefix, _)| case.name.starts_with(prefix));
                excluded.map(|(_, reason)| *reason)
            }
        }
    }
}
