//! The devices of this machine, as a child process sees them: a driver that crashes when it is loaded must not take this
//! program along.

use anyhow::{Context, Result, bail};
use ash::vk;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use vkabort_test_kit::device_choice::{Candidate, choose, label};
use vkabort_test_kit::scratch;
use vkabort_test_kit::supervise::run_with_limit;
use vkabort_tests::harness::{Placement, environment};

use crate::unpacked::Unpacked;

/// How long it may take to find the devices.
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
    /// The version of Vulkan.
    pub api: String,
    /// Whether the driver has `VK_KHR_shader_abort` itself.
    pub native: bool,
}

impl Device {
    /// Its type in words.
    pub fn kind_name(&self) -> &'static str {
        match vk::PhysicalDeviceType::from_raw(self.kind) {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
            vk::PhysicalDeviceType::CPU => "CPU",
            _ => "other",
        }
    }
}

/// The device that everything runs on.
pub struct Chosen {
    /// The device.
    pub device: Device,
    /// What names it and no other.
    pub label: String,
    /// Why it is this one.
    pub why: String,
}

/// All of them.
pub struct Devices {
    all: Vec<Device>,
    candidates: Vec<Candidate>,
}

impl Devices {
    /// Asks a child.
    ///
    /// # Errors
    ///
    /// There is no loader or no driver, or the child does not answer.
    pub fn find(unpacked: &Unpacked) -> Result<Self> {
        let scratch = scratch::folder_in(&unpacked.processes())?;
        let environment = environment(None, &unpacked.layer, Placement::WithoutLayer, scratch.path())?;
        let mut command = environment.command(&unpacked.program)?;
        let finished = run_with_limit(command.args(["--child", "devices"]), LIMIT, scratch.path())
            .context("finding the devices")?;
        let line = finished.stdout.lines().find(|line| line.starts_with('['));
        let Some(line) = line.filter(|_| finished.status.success()) else {
            let said = finished.stderr.trim();
            if finished.status.code().is_some() && !said.is_empty() {
                bail!("{said}");
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

    /// The device that `wanted` names.
    ///
    /// # Errors
    ///
    /// None is called so, or several are.
    pub fn choose(&self, wanted: Option<&str>) -> Result<Chosen> {
        let index = choose(&self.candidates, wanted)?;
        let device = self.all.get(index).context("there is no such device")?.clone();
        let why = match (wanted, self.all.len()) {
            (Some(wanted), _) => format!("named by --device {wanted}"),
            (None, 1) => "the only one".to_owned(),
            (None, count) => format!(
                "the first {} of {count} devices; --device takes another",
                device.kind_name()
            ),
        };
        let label = label(&self.candidates, index);
        Ok(Chosen { device, label, why })
    }

    /// A line for each.
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
