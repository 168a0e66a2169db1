//! Runs single cases on the test driver, for tests that compare processes.

use crate::harness::{DRIVER_SETTINGS, Placement, environment};
use crate::shader_cache;
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::scratch::TempDir;

/// Starts cases that print the data of pipeline caches.
pub struct CaseProcess {
    /// The program `vkabort-e2e`.
    pub program: &'static str,
}

impl CaseProcess {
    /// Runs a case with these settings of the test driver and this home.
    ///
    /// # Errors
    ///
    /// The case fails, prints no data or exceeds 60 s.
    pub fn run(&self, case: &str, settings: &str, home: &TempDir, more: impl FnOnce(&mut Command)) -> Result<Finished> {
        let (layer, driver) = (
            cargo::build_layer(Profile::OWN)?,
            cargo::build_test_driver(Profile::OWN)?,
        );
        let environment = environment(&driver, &layer, Placement::Alone, home.path())?;
        let mut command = environment.command(Path::new(self.program))?;
        command
            .arg(case)
            .env(DRIVER_SETTINGS, settings)
            .env(shader_cache::VARIABLE, shader_cache::folder()?);
        more(&mut command);
        let ended = run_with_limit(&mut command, Duration::from_secs(60), home.path())?;
        ensure!(ended.status.success(), "{}\n{}", ended.status, ended.output_tail());
        ensure!(ended.stdout.starts_with("cache "), "{}", ended.output_tail());
        Ok(ended)
    }
}
