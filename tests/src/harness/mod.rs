//! Runs each case in a process of its own, with the layers that it asks for, on a driver of this repository's (`cargo
//! test`) or on the machine's (the bundle).

mod job;
mod process;
mod scratch;
mod trials;

pub use job::{Job, Outcome, Stand};
pub use process::{Ended, die_with_parent, run_within};
pub use scratch::Scratch;
pub use trials::{drivers_are_required, print_skipped, trials};

use crate::case::Layers;
use anyhow::Result;
use std::path::Path;
use vkabort_test_kit::drivers::{self, Driver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::layer::Layer;

/// The variable that the tests' own driver reads.
pub const DRIVER_SETTINGS: &str = "VKABORT_TEST_DRIVER";
/// The variable that says how often the stress cases do what they do.
pub const STRESS_ROUNDS: &str = "VKABORT_STRESS_ROUNDS";
/// The variable by which a process is asked to keep its device: it makes the file [`HAS_DEVICE`] in its folder, and ends when
/// [`MAY_END`] is there.
pub const HOLD: &str = "VKABORT_HOLD";
/// See [`HOLD`].
pub const HAS_DEVICE: &str = "has_device";
/// See [`HOLD`].
pub const MAY_END: &str = "may_end";

/// Where the layers stand relative to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Our layer is not there.
    WithoutLayer,
    /// Ours alone.
    Alone,
    /// The validation layer below ours.
    ValidationBelow,
    /// The validation layer above ours.
    ValidationAbove,
    /// Ours alone, above a copy of it that plays a driver with the extensions.
    OnNative,
}

impl Placement {
    /// All that a case with these layers runs with.
    pub fn all_for(layers: Layers) -> &'static [Self] {
        match layers {
            Layers::Ours => &[Self::Alone, Self::ValidationBelow, Self::ValidationAbove],
            Layers::OursOnTop => &[Self::Alone, Self::ValidationBelow],
            Layers::OursAlone => &[Self::Alone],
            Layers::OursOnNative => &[Self::OnNative],
            Layers::None => &[Self::WithoutLayer],
        }
    }

    /// The same where there is no validation layer.
    pub fn without_validation(layers: Layers) -> Self {
        match layers {
            Layers::Ours | Layers::OursOnTop | Layers::OursAlone => Self::Alone,
            Layers::OursOnNative => Self::OnNative,
            Layers::None => Self::WithoutLayer,
        }
    }

    /// Its name in those of tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutLayer => "without layer",
            Self::Alone => "alone",
            Self::ValidationBelow => "validation below",
            Self::ValidationAbove => "validation above",
            Self::OnNative => "on a native driver",
        }
    }
}

/// The environment of a driver, or of those that the machine has, with our layer and the validation layer placed so.
///
/// # Errors
///
/// The validation layer is needed and not there.
pub fn environment<'a>(
    driver: impl Into<Option<&'a Driver>>,
    layer: &Layer,
    placement: Placement,
    scratch: &Path,
) -> Result<Environment> {
    let driver = driver.into();
    let place = match placement {
        Placement::WithoutLayer | Placement::Alone | Placement::OnNative => None,
        Placement::ValidationBelow => Some(Validation::Below),
        Placement::ValidationAbove => Some(Validation::Above),
    };
    let validation = match place {
        Some(place) => Some((place, drivers::validation_layer(driver).map_err(anyhow::Error::msg)?)),
        None => None,
    };
    Ok(Environment {
        driver: driver.cloned(),
        layer: (placement != Placement::WithoutLayer).then(|| layer.clone()),
        native: placement == Placement::OnNative,
        validation,
        scratch: scratch.to_path_buf(),
    })
}
