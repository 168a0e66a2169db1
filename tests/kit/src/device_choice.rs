//! Which physical device a program takes: the one that a person names, else the fastest kind that there is.

use ash::vk;
use std::fmt;

/// A physical device, as far as a choice needs it.
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
    /// There is none.
    Empty,
    /// None is called so. The labels of those that there are.
    Unknown(String, Vec<String>),
    /// More than one is called so. Their labels.
    Ambiguous(String, Vec<String>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no Vulkan device"),
            Self::Unknown(wanted, labels) => {
                write!(f, "no device is called `{wanted}`: there are {}", labels.join(", "))
            }
            Self::Ambiguous(wanted, labels) => {
                write!(
                    f,
                    "`{wanted}` is in the names of several devices: {}",
                    labels.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Rank of a kind of device; without a name, the lowest rank is chosen.
pub fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        _ => 3,
    }
}

/// What names device `index` and no other: its name, with `#2` where it is the second of that name.
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

/// The index of the device with `wanted` in its label, in capitals or not; of the whole label, if that is it. Without
/// `wanted` the first of the fastest kind.
///
/// # Errors
///
/// There is none, or more than one.
pub fn choose(devices: &[Candidate], wanted: Option<&str>) -> Result<usize, Refusal> {
    let all = 0..devices.len();
    let Some(wanted) = wanted else {
        // The first of equals.
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

    fn some() -> Vec<Candidate> {
        devices(&[
            ("llvmpipe (LLVM 15)", vk::PhysicalDeviceType::CPU),
            ("NVIDIA H200", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("NVIDIA H200", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("NVIDIA H200 NVL", vk::PhysicalDeviceType::DISCRETE_GPU),
        ])
    }

    #[test]
    fn without_a_name_the_fastest_kind_is_taken() {
        assert_eq!(choose(&some(), None), Ok(1));
        assert_eq!(choose(&some()[..1], None), Ok(0));
        assert_eq!(choose(&[], None), Err(Refusal::Empty));
    }

    #[test]
    fn a_part_of_a_name_will_do_if_it_names_one() {
        assert_eq!(choose(&some(), Some("LLVM")), Ok(0));
        assert_eq!(choose(&some(), Some("nvl")), Ok(3));
        assert_eq!(choose(&some(), Some("h200#2")), Ok(2));
        let refused = choose(&some(), Some("h200")).map_err(|refusal| refusal.to_string());
        assert_eq!(
            refused,
            Err("`h200` is in the names of several devices: NVIDIA H200#1, NVIDIA H200#2, NVIDIA H200 NVL".into())
        );
        let refused = choose(&some()[..1], Some("arc")).map_err(|refusal| refusal.to_string());
        assert_eq!(
            refused,
            Err("no device is called `arc`: there are llvmpipe (LLVM 15)".into())
        );
    }

    #[test]
    fn a_whole_name_is_no_part_of_another() {
        let both = devices(&[
            ("Arc", vk::PhysicalDeviceType::DISCRETE_GPU),
            ("Arc Pro", vk::PhysicalDeviceType::DISCRETE_GPU),
        ]);
        assert_eq!(choose(&both, Some("arc")), Ok(0));
    }

    #[test]
    fn every_label_names_its_device() {
        for index in 0..some().len() {
            assert_eq!(choose(&some(), Some(&label(&some(), index))), Ok(index));
        }
    }
}
