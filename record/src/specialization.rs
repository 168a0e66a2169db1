//! Specialisation constants: those of a module, and the values that a pipeline gives them.
//!
//! A record carries a key instead of the values. The layer computes it when a pipeline is created, passes it to the shader as an
//! additional specialisation constant, and looks the values up by it when it builds a report.

use crate::scalar::Scalar;
use serde::{Deserialize, Serialize};

/// A scalar constant of a module that pipelines can specialise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpecConstant {
    /// Its `SpecId`.
    pub id: u32,
    /// Its debug name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its value without specialisation.
    pub default: Scalar,
}

/// One dimension of a workgroup size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LocalSize {
    /// A constant of the module.
    Fixed(u32),
    /// Depends on specialisation constants.
    Specialized {
        /// `SpecId` of the constant; `None` for an expression.
        spec_id: Option<u32>,
        /// Value without specialisation.
        default: u32,
    },
}

impl LocalSize {
    /// The size without specialisation.
    pub fn default_value(self) -> u32 {
        match self {
            Self::Fixed(value) | Self::Specialized { default: value, .. } => value,
        }
    }

    /// The size in a pipeline. `None` if it is not known.
    pub fn value(self, constants: &[SpecConstant], specialization: &Specialization) -> Option<u32> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Specialized { default, .. } if specialization.key == 0 => Some(default),
            Self::Specialized { spec_id, .. } => {
                let position = constants.iter().position(|constant| Some(constant.id) == spec_id)?;
                u32::try_from(specialization.values.get(position)?.pattern()?).ok()
            }
        }
    }
}

/// The values that a pipeline gives the constants of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specialization {
    /// Identifies the values among those of the module's pipelines; 0 for the defaults.
    pub key: u32,
    /// The values of all constants, in the order of the module's table. Empty if `key` is 0, or if they are not known.
    pub values: Vec<Scalar>,
}

/// A shader stage of a pipeline or shader object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineStage {
    /// Distinguishes the objects of a report. `None`: binaries of the stage exist, from which objects can be created without the
    /// layer's knowledge.
    pub object: Option<u64>,
    /// The object's debug-utils name; empty if it has none.
    pub name: String,
    /// SPIR-V execution model.
    pub execution_model: u32,
    /// Name of the entry point.
    pub entry_point: String,
    /// The values of the module's constants.
    pub specialization: Specialization,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar_type::ScalarType;

    #[test]
    fn a_workgroup_size_follows_from_the_constants() {
        let uint = |value| Scalar::from_bits(ScalarType::U32, value);
        let constant = |id, default| SpecConstant {
            id,
            name: None,
            default: uint(default),
        };
        let constants = [constant(3, 64), constant(4, 2)];
        let side = |spec_id| LocalSize::Specialized { spec_id, default: 64 };
        let defaults = Specialization::default();
        let specialized = Specialization {
            key: 7,
            values: vec![uint(32), uint(2)],
        };
        let unknown = Specialization { key: 8, values: vec![] };
        let value = |side: LocalSize, specialization| side.value(&constants, specialization);
        assert_eq!(value(LocalSize::Fixed(5), &unknown), Some(5));
        assert_eq!(value(side(Some(3)), &defaults), Some(64));
        assert_eq!(value(side(Some(3)), &specialized), Some(32));
        assert_eq!(value(side(Some(9)), &specialized), None);
        assert_eq!(value(side(None), &defaults), Some(64));
        assert_eq!(value(side(None), &specialized), None);
        assert_eq!(value(side(Some(3)), &unknown), None);
    }
}
