//! The layers that a process loads, and their order.

use crate::case::Layers;
use anyhow::Result;
use std::path::Path;
use vkabort_test_kit::drivers::{self, Driver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::layer::Layer;

/// Order of the layers in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Without our layer.
    WithoutLayer,
    /// Our layer only.
    Alone,
    /// The validation layer below ours.
    ValidationBelow,
    /// The validation layer above ours.
    ValidationAbove,
    /// The validation layer only.
    ValidationAlone,
    /// Our layer above a copy of it, which simulates a driver with the extensions.
    OnNative,
}

impl Placement {
    /// Every placement that a case with these layers runs in.
    pub fn all_for(layers: Layers) -> &'static [Self] {
        match layers {
            Layers::Ours => &[Self::Alone, Self::ValidationBelow, Self::ValidationAbove],
            Layers::OursOnTop => &[Self::Alone, Self::ValidationBelow],
            Layers::OursAlone => &[Self::Alone],
            Layers::OursOnNative => &[Self::OnNative],
            Layers::Validation => &[Self::ValidationAlone],
            Layers::None => &[Self::WithoutLayer],
        }
    }

    /// The placement on machines without the validation layer.
    pub fn without_validation(layers: Layers) -> Self {
        match layers {
            Layers::Ours | Layers::OursOnTop | Layers::OursAlone => Self::Alone,
            Layers::OursOnNative => Self::OnNative,
            Layers::Validation | Layers::None => Self::WithoutLayer,
        }
    }

    /// Name for display and test names.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutLayer => "without layer",
            Self::Alone => "alone",
            Self::ValidationBelow => "validation below",
            Self::ValidationAbove => "validation above",
            Self::ValidationAlone => "validation alone",
            Self::OnNative => "on a native driver",
        }
    }
}

/// The environment of a process on `driver`, or on the machine's drivers. `scratch` becomes its home.
///
/// # Errors
///
/// The placement needs the validation layer, which is not installed.
pub fn environment<'a>(
    driver: impl Into<Option<&'a Driver>>,
    layer: &Layer,
    placement: Placement,
    scratch: &Path,
) -> Result<Environment> {
    let driver = driver.into();
    let order = match placement {
        Placement::WithoutLayer | Placement::Alone | Placement::OnNative => None,
        Placement::ValidationBelow | Placement::ValidationAlone => Some(Validation::Below),
        Placement::ValidationAbove => Some(Validation::Above),
    };
    let validation = match order {
        Some(order) => Some((order, drivers::validation_layer(driver).map_err(anyhow::Error::msg)?)),
        None => None,
    };
    Ok(Environment {
        driver: driver.cloned(),
        layer: match placement {
            Placement::WithoutLayer | Placement::ValidationAlone => None,
            _ => Some(layer.clone()),
        },
        native: placement == Placement::OnNative,
        validation,
        scratch: scratch.to_path_buf(),
    })
}
