//! A driver with layers, on which the processes of cases start.

use super::{DRIVER_SETTINGS, Placement, STRESS_ROUNDS, System, environment, wine};
use crate::case::{self, Case};
use crate::{files, report_files, shader_cache};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use vkabort_runner::{Launch, Schedule};
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::{Layer, NATIVE_VARIABLE_PREFIX, VARIABLE_PREFIX};
use vkabort_test_kit::wine::{DriverSystem, translated};
use vkabort_test_kit::{glslang, spirv_tools};

use crate::vk::DEVICE_VARIABLE;

/// Driver, device, layers and environment of cases.
#[derive(Clone, Debug)]
pub struct Target {
    /// The driver; None: the machine's drivers.
    pub driver: Option<Driver>,
    /// Name of the device, for drivers with several.
    pub device: Option<String>,
    /// The layer.
    pub layer: Layer,
    /// Order of the layers.
    pub placement: Placement,
    /// The program that runs a case, and its arguments before the case's name.
    pub program: (PathBuf, Vec<String>),
    /// The system that program and layer are for.
    pub system: System,
    /// Folder for the scratch folders of processes.
    pub folder: PathBuf,
    /// Folder in which processes share compiled shaders.
    pub shader_cache: Option<PathBuf>,
    /// Settings of the layer, by key. A case's own settings override them.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Share of long lists of inputs: its index, and the number of shares.
    pub share: (usize, usize),
    /// Seconds after which a case starts no further input of such a list.
    pub seconds: Option<u64>,
}

impl Launch for Target {
    fn command(&self, case: &Case, scratch: &Path) -> Result<Command> {
        let (program, arguments) = &self.program;
        let environment = environment(self.driver.as_ref(), &self.layer, self.placement, scratch)?;
        let mut command = environment.command(program)?;
        let (index, shares) = self.share;
        command
            .args(arguments)
            .env(case::SHARE, format!("{index}/{shares}"))
            .envs(case.variables.iter().copied());
        for (key, value) in self.settings.iter().chain(case.settings) {
            command.env(format!("{VARIABLE_PREFIX}{}", key.to_uppercase()), value);
        }
        // The copy of the layer that simulates a driver must not log.
        command.env(format!("{NATIVE_VARIABLE_PREFIX}LOG_LEVEL"), "off");
        command.envs(case.driver.map(|settings| (DRIVER_SETTINGS, settings)));
        command.envs(self.device.as_ref().map(|device| (DEVICE_VARIABLE, device)));
        command.envs(self.seconds.map(|seconds| (case::SECONDS, seconds.to_string())));
        let cache = self.shader_cache.as_ref();
        command.envs(cache.map(|folder| (shader_cache::VARIABLE, folder)));
        command.envs(
            self.log_file(case, scratch)
                .map(|log| (format!("{VARIABLE_PREFIX}LOG_FILE"), log)),
        );
        if case.schedule == Schedule::Benchmark && self.placement == Placement::WithoutLayer {
            // The process enables the layer by name where it measures with and without it.
            command.env("VK_LAYER_PATH", &self.layer.explicit);
        }
        let own = [
            case::RUNNER,
            STRESS_ROUNDS,
            files::VARIABLE,
            glslang::VARIABLE,
            spirv_tools::VARIABLE,
        ];
        for name in own.into_iter().chain(case::PROGRAMS) {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let driver = match case.driver {
            Some(_) => DriverSystem::Windows,
            None => DriverSystem::Linux,
        };
        Ok(match &self.system {
            System::Wine(wine) => translated(&command, wine, driver),
            System::Own | System::I686 => command,
        })
    }

    fn key(&self) -> Option<String> {
        let driver = self.driver.as_ref()?;
        Some(format!("{}, {}", driver.name, self.placement.name()))
    }

    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The machine's own drivers and loader may write to standard error, so there the layer gets a log file.
    fn log_file(&self, case: &Case, scratch: &Path) -> Option<PathBuf> {
        let has_log_file = case.settings.iter().any(|(key, _)| *key == "log_file");
        (self.driver.is_none() && !has_log_file).then(|| scratch.join("layer.log"))
    }

    fn has_aborted(&self, status: ExitStatus) -> bool {
        match self.system {
            System::Wine(_) => status.code() == Some(wine::ABORTED),
            System::Own | System::I686 => std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGABRT),
        }
    }

    fn lost_exit_code(&self) -> fn(ExitStatus) -> bool {
        match self.system {
            System::Wine(_) => wine::is_killed_by_server,
            _ => |_| false,
        }
    }

    fn check_report(&self, name: &str, log: &str) -> Result<()> {
        report_files::check(name, log)
    }
}
