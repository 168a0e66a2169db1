//! Chooses the device under test among those that a child process finds: a driver that crashes while loading must not crash
//! this program.

use super::PROBE;
use super::files::Bundle;
use crate::harness::{Placement, environment};
use anyhow::{Context, Result, bail};
use ash::vk::PhysicalDeviceType as Kind;
use serde_json::Value as Json;
use std::time::Duration;
use vkabort_gpu::device_choice::{Candidate, choose, kind_name, label};
use vkabort_gpu::khr::SHADER_ABORT_NAME;
use vkabort_runner::scratch::folder_in;
use vkabort_runner::supervise::run_with_limit;

/// Time limit of the search.
const LIMIT: Duration = Duration::from_secs(30);

/// The devices of the machine.
pub struct Devices {
    all: Vec<Json>,
    candidates: Vec<Candidate>,
}

/// The device under test.
pub struct Chosen {
    /// Result of the search.
    pub json: Json,
    /// Unique name: the processes of cases select it by this label.
    pub label: String,
    /// Reason for the choice.
    pub why: String,
}

impl Chosen {
    /// Whether the driver itself supports `VK_KHR_shader_abort`.
    pub fn is_native(&self) -> bool {
        let name = SHADER_ABORT_NAME.to_string_lossy();
        let mut extensions = self.json["extensions"].as_array().into_iter().flatten();
        extensions.any(|extension| *extension == *name)
    }
}

impl Devices {
    /// Searches in a child process without the layer.
    ///
    /// # Errors
    ///
    /// The loader or a driver is missing, or the child crashes or hangs.
    pub fn find(bundle: &Bundle) -> Result<Self> {
        let scratch = folder_in(&bundle.processes())?;
        let environment = environment(None, &bundle.layer, Placement::WithoutLayer, scratch.path())?;
        let mut command = environment.command(&std::env::current_exe()?)?;
        let finished = run_with_limit(command.arg(PROBE), LIMIT, scratch.path()).context("finding the devices")?;
        let found: Json = serde_json::from_str(&finished.stdout).with_context(|| {
            format!(
                "finding the devices ended with {}\n{}",
                finished.status,
                finished.output_tail()
            )
        })?;
        if let Some(error) = found["error"].as_str() {
            bail!("{error}");
        }
        let all = found["devices"].as_array().cloned().unwrap_or_default();
        let text = |device: &Json, key: &str| device[key].as_str().unwrap_or_default().to_owned();
        let kinds = [Kind::DISCRETE_GPU, Kind::INTEGRATED_GPU, Kind::VIRTUAL_GPU, Kind::CPU];
        let candidates = all.iter().map(|device| Candidate {
            name: text(device, "name"),
            kind: kinds
                .into_iter()
                .find(|kind| kind_name(*kind) == device["kind"])
                .unwrap_or(Kind::OTHER),
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
        let json = self.all.get(index).cloned().unwrap_or_default();
        let why = match (wanted, self.all.len()) {
            (Some(wanted), _) => format!("named by --device {wanted}"),
            (None, 1) => "the only device".to_owned(),
            (None, count) => format!("the first of the fastest of {count} devices; --device selects another"),
        };
        let label = label(&self.candidates, index);
        Ok(Chosen { json, label, why })
    }

    /// Describes each device in two lines.
    pub fn list(&self) -> String {
        let numbered = self.all.iter().enumerate();
        let line =
            |(index, device): (usize, &Json)| format!("{}\n    {}\n", label(&self.candidates, index), describe(device));
        numbered.map(line).collect()
    }
}

/// Type, Vulkan version and driver of a device.
pub fn describe(device: &Json) -> String {
    let text = |key: &str| device[key].as_str().unwrap_or("unknown");
    format!("{}, Vulkan {}, {}", text("kind"), text("api_version"), text("driver"))
}
