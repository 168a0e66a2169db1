//! Enumerates the devices in a child process: a driver that crashes while loading must not crash this program.

use anyhow::{Context, Result, bail};
use ash::vk;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use vkabort_test_kit::device_choice::{Candidate, choose, kind_name, label};
use vkabort_tests::harness::Placement;

use crate::unpacked::Unpacked;

/// Time limit of the enumeration.
const LIMIT: Duration = Duration::from_secs(30);

/// A device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// `VkPhysicalDeviceType`.
    pub kind: i32,
    /// `driverName` and `driverInfo`.
    pub driver: String,
    /// Vulkan version.
    pub api: String,
    /// Whether the driver itself supports `VK_KHR_shader_abort`.
    pub native: bool,
}

impl Device {
    /// Device type for display.
    pub fn kind_name(&self) -> &'static str {
        kind_name(vk::PhysicalDeviceType::from_raw(self.kind))
    }
}

/// The device under test.
pub struct Chosen {
    /// The device.
    pub device: Device,
    /// Unique name: `--device` with this label selects it.
    pub label: String,
    /// Reason for the choice.
    pub why: String,
}

/// All devices of the machine.
pub struct Devices {
    all: Vec<Device>,
    candidates: Vec<Candidate>,
}

impl Devices {
    /// Enumerates the devices in a child process.
    ///
    /// # Errors
    ///
    /// The loader or a driver is missing, or the child crashes or hangs.
    pub fn find(unpacked: &Unpacked) -> Result<Self> {
        let finished = unpacked.run(&unpacked.program, Placement::WithoutLayer, LIMIT, |command| {
            command.args(["--child", "devices"]);
        });
        let finished = finished.context("finding the devices")?;
        let line = finished.stdout.lines().find(|line| line.starts_with('['));
        let Some(line) = line.filter(|_| finished.status.success()) else {
            let message = finished.stderr.trim();
            if finished.status.code().is_some() && !message.is_empty() {
                bail!("{message}");
            }
            bail!(
                "finding the devices finished with {}\n{}",
                finished.status,
                finished.output_tail()
            );
        };
        let all: Vec<Device> = serde_json::from_str(line).context("finding the devices")?;
        let candidates = all.iter().map(|device| Candidate {
            name: device.name.clone(),
            kind: vk::PhysicalDeviceType::from_raw(device.kind),
        });
        Ok(Self {
            candidates: candidates.collect(),
            all,
        })
    }

    /// Chooses the device that `wanted` names; without a name, the first of the fastest type.
    ///
    /// # Errors
    ///
    /// No device matches, or several do.
    pub fn choose(&self, wanted: Option<&str>) -> Result<Chosen> {
        let index = choose(&self.candidates, wanted)?;
        let device = self.all.get(index).context("device index out of range")?.clone();
        let why = match (wanted, self.all.len()) {
            (Some(wanted), _) => format!("named by --device {wanted}"),
            (None, 1) => "the only device".to_owned(),
            (None, count) => format!(
                "the first {} of {count} devices; --device selects another",
                device.kind_name()
            ),
        };
        let label = label(&self.candidates, index);
        Ok(Chosen { device, label, why })
    }

    /// Describes each device in two lines.
    pub fn list(&self) -> String {
        let line = |(index, device): (usize, &Device)| {
            format!(
                "{}\n    {}, Vulkan {}, {}\n",
                label(&self.candidates, index),
                device.kind_name(),
                device.api,
                device.driver
            )
        };
        self.all.iter().enumerate().map(line).collect()
    }
}
