//! One case in a process of its own.

use super::process::{Ended, run_within};
use super::{DRIVER_SETTINGS, Placement, STRESS_ROUNDS, Scratch, environment};
use crate::case::{self, Case, Ends, Log};
use crate::{files, logged};
use anyhow::{Result, bail};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::{Layer, NATIVE_VARIABLES, VARIABLES};
use vkabort_test_kit::spirv_tools;
use vkabort_test_kit::vk::DEVICE_VARIABLE;

/// The signal of `std::process::abort`.
const SIGABRT: i32 = 6;

/// Where cases run.
#[derive(Clone, Debug)]
pub struct Stand {
    /// The driver, or whatever the machine has.
    pub driver: Option<Driver>,
    /// The device, by its name, where the drivers have more than one.
    pub device: Option<String>,
    /// The layer.
    pub layer: Layer,
    /// The program that runs a case in its own process, and the words before the case's name.
    pub program: (PathBuf, Vec<String>),
    /// Where processes have their folders, if not below the target directory.
    pub folder: Option<PathBuf>,
    /// Settings of the layer, by key, where a case has none of its own.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Which of how many shares of long lists of inputs is taken.
    pub share: (usize, usize),
    /// For how many seconds inputs of such lists are begun, if not all are to be.
    pub seconds: Option<u64>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held. What it wrote to stdout.
    Passed(String),
    /// It does not apply, for this reason.
    Skipped(String),
}

/// A case on a stand.
#[derive(Clone, Debug)]
pub struct Job {
    /// The case.
    pub case: Case,
    /// Where it runs.
    pub stand: Stand,
    /// With which layers.
    pub placement: Placement,
}

impl Job {
    /// Runs it, for `limit` at most.
    ///
    /// # Errors
    ///
    /// The case failed, or its process could not be started.
    pub fn run(&self, limit: Duration) -> Result<Outcome> {
        let (stand, case) = (&self.stand, &self.case);
        let scratch = match &stand.folder {
            Some(folder) => Scratch::below(folder)?,
            None => Scratch::new()?,
        };
        let (program, words) = &stand.program;
        let environment = environment(stand.driver.as_ref(), &stand.layer, self.placement, &scratch.0)?;
        let mut command = environment.command(program)?;
        let (number, shares) = stand.share;
        command
            .args(words)
            .arg(case.name)
            .env(case::SHARE, format!("{number}/{shares}"))
            .envs(case.variables.iter().copied());
        for (key, value) in stand.settings.iter().chain(case.settings) {
            command.env(format!("{VARIABLES}{}", key.to_uppercase()), value);
        }
        // What plays the driver keeps quiet.
        command.env(format!("{NATIVE_VARIABLES}LOG_LEVEL"), "off");
        let own = case.driver.map(|settings| (DRIVER_SETTINGS, settings.to_owned()));
        let device = stand.device.clone().map(|device| (DEVICE_VARIABLE, device));
        command.envs(own.into_iter().chain(device));
        if let Some(seconds) = stand.seconds {
            command.env(case::SECONDS, seconds.to_string());
        }
        for name in [STRESS_ROUNDS, files::VARIABLE, spirv_tools::VARIABLE] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // A machine's own drivers and loader may have something to say on stderr, which is none of the cases' business.
        let chosen = case.settings.iter().any(|(key, _)| *key == "log_file");
        let log = (stand.driver.is_none() && !chosen).then(|| scratch.0.join("layer.log"));
        if let Some(log) = &log {
            command.env(format!("{VARIABLES}LOG_FILE"), log);
        }
        let ended = run_within(&mut command, limit, &scratch.0)?;
        let written = log.map(|log| fs::read_to_string(log).unwrap_or_default());
        judge(case, &ended, written.as_deref().unwrap_or(&ended.stderr))
    }
}

fn judge(case: &Case, ended: &Ended, log: &str) -> Result<Outcome> {
    let ends = match ended.status.code() {
        Some(code) if code == i32::from(case::SKIPPED) => {
            let said = ended.stdout.trim();
            return Ok(Outcome::Skipped(
                said.strip_prefix("skipped: ").unwrap_or(said).to_owned(),
            ));
        }
        Some(code) => (code == i32::from(case::PASSED)).then_some(Ends::Exits),
        None => (ended.status.signal() == Some(SIGABRT)).then_some(Ends::KillsItself),
    };
    if ends != Some(case.ends) {
        bail!("the process ended with {}\n{}", ended.status, ended.said());
    }
    if let Err(error) = check_log(case, ended, log) {
        bail!("{error:#}\n{}\nlog:\n{log}", ended.said());
    }
    Ok(Outcome::Passed(ended.stdout.clone()))
}

fn check_log(case: &Case, ended: &Ended, log: &str) -> Result<()> {
    for stream in [&ended.stdout, &ended.stderr] {
        if stream.contains("Validation Error") || stream.contains("panicked at") {
            bail!("the output reports an error");
        }
    }
    match case.log {
        Log::Any => Ok(()),
        Log::Silent if log.trim().is_empty() => Ok(()),
        Log::Report(name) => logged::check(name, log),
        Log::Silent => bail!("something was logged, and nothing should be"),
        Log::Contains(texts) => match texts.iter().find(|text| !log.contains(*text)) {
            Some(text) => bail!("the log does not contain {text:?}"),
            None => Ok(()),
        },
    }
}
