//! Chooses a physical device: the one with a given name, else the first of the fastest type.

use ash::vk;
use std::fmt;

/// Name and type of a physical device.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// `deviceName`.
    pub name: String,
    /// `deviceType`.
    pub kind: vk::PhysicalDeviceType,
}

/// Why no device was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The system has no Vulkan device.
    Empty,
    /// No device matches the name. Labels of all devices.
    Unknown(String, Vec<String>),
    /// Several devices match the name. Their labels.
    Ambiguous(String, Vec<String>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no Vulkan device found"),
            Self::Unknown(wanted, labels) => {
                write!(f, "no device name contains `{wanted}`; devices: {}", labels.join(", "))
            }
            Self::Ambiguous(wanted, labels) => {
                write!(f, "several device names contain `{wanted}`: {}", labels.join(", "))
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Rank of a device type; 0 is the fastest.
pub fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        _ => 3,
    }
}

/// Device type for display.
pub fn kind_name(kind: vk::PhysicalDeviceType) -> &'static str {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
        vk::PhysicalDeviceType::CPU => "CPU",
        _ => "device",
    }
}

/// Unique label of device `index`: its name, with `#1`, `#2`, .. if several devices have it.
pub fn label(devices: &[Candidate], index: usize) -> String {
    let Some(device) = devices.get(index) else {
        return String::new();
    };
    let same = |part: &[Candidate]| part.iter().filter(|other| other.name == device.name).count();
    match (same(devices), devices.get(..=index).map_or(0, same)) {
        (0 | 1, _) => device.name.clone(),
        (_, number) => format!("{}#{number}", device.name),
    }
}

/// Index of the device whose label equals or contains `wanted`, ignoring case. Without `wanted`, the first device of the
/// fastest type.
///
/// # Errors
///
/// No device matches, or several do.
pub fn choose(devices: &[Candidate], wanted: Option<&str>) -> Result<usize, Refusal> {
    let all = 0..devices.len();
    let Some(wanted) = wanted else {
        // `min_by_key` returns the first minimum.
        let fastest = all.min_by_key(|&index| devices.get(index).map(|device| rank(device.kind)));
        return fastest.ok_or(Refusal::Empty);
    };
    let labels: Vec<String> = all.map(|index| label(devices, index)).collect();
    let lower = wanted.to_lowercase();
    if let Some(exact) = labels.iter().position(|label| label.to_lowercase() == lower) {
        return Ok(exact);
    }
    let fitting: Vec<usize> = (0..labels.len())
        .filter(|&index| {
            labels
                .get(index)
                .is_some_and(|label| label.to_lowercase().contains(&lower))
        })
        .collect();
    match fitting.as_slice() {
        [one] => Ok(*one),
        [] if labels.is_empty() => Err(Refusal::Empty),
        [] => Err(Refusal::Unknown(wanted.to_owned(), labels)),
        several => {
            let labels = several.iter().filter_map(|&index| labels.get(index).cloned());
            Err(Refusal::Ambiguous(wanted.to_owned(), labels.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(all: &[(&str, vk::PhysicalDeviceType)]) -> Vec<Candidate> {
        let candidates = all.iter().map(|(name, kind)| Candidate {
            name: (*name).to_owned(),
            kind: *kind,
        });
        candidates.collect()
    }

    fn example() -> Vec<Candidate> {
        devices(&[
            ("llvmpipe (LLVM 15)", vk::PhysicalDeviceType::CPU),
            ("NVIDIA H200", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("NVIDIA H200", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("NVIDIA H200 NVL", vk::PhysicalDeviceType::DISCRETE_GPU),
        ])
    }

    #[test]
    fn without_a_name_the_fastest_type_is_chosen() {
        assert_eq!(choose(&example(), None), Ok(1));
        assert_eq!(choose(&example()[..1], None), Ok(0));
        assert_eq!(choose(&[], None), Err(Refusal::Empty));
    }

    #[test]
    fn a_unique_substring_of_a_name_suffices() {
        assert_eq!(choose(&example(), Some("LLVM")), Ok(0));
        assert_eq!(choose(&example(), Some("nvl")), Ok(3));
        assert_eq!(choose(&example(), Some("h200#2")), Ok(2));
        let error = choose(&example(), Some("h200")).map_err(|refusal| refusal.to_string());
        assert_eq!(
            error,
            Err("several device names contain `h200`: NVIDIA H200#1, NVIDIA H200#2, NVIDIA H200 NVL".into())
        );
        let error = choose(&example()[..1], Some("arc")).map_err(|refusal| refusal.to_string());
        assert_eq!(
            error,
            Err("no device name contains `arc`; devices: llvmpipe (LLVM 15)".into())
        );
    }

    #[test]
    fn an_exact_name_precedes_a_longer_one() {
        let both = devices(&[
            ("Arc", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("Arc Pro", vk::PhysicalDeviceType::DISCRETE_GPU),
        ]);
        assert_eq!(choose(&both, Some("arc")), Ok(0));
    }

    #[test]
    fn every_label_selects_its_device() {
        for index in 0..example().len() {
            assert_eq!(choose(&example(), Some(&label(&example(), index))), Ok(index));
        }
    }
}
