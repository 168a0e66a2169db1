//! Runs single cases on the test driver, for tests that compare processes.

use crate::glsl;
use crate::harness::{DRIVER_SETTINGS, Placement, environment};
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use vkabort_test_kit::cargo;
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_test_kit::supervise::{Finished, run_with_limit};

/// Starts cases that print the data of pipeline caches.
pub struct CaseProcess {
    program: &'static str,
    shaders: Arc<TempDir>,
}

impl CaseProcess {
    /// Starts `program`, which is `vkabort-e2e`.
    ///
    /// # Errors
    ///
    /// A folder cannot be created.
    pub fn new(program: &'static str) -> Result<Self> {
        Ok(Self {
            program,
            shaders: shader_cache()?,
        })
    }

    /// Runs a case with these settings of the test driver and this home.
    ///
    /// # Errors
    ///
    /// The case fails, prints no data or exceeds 60 s.
    pub fn run(&self, case: &str, settings: &str, home: &TempDir, more: impl FnOnce(&mut Command)) -> Result<Finished> {
        let (layer, driver) = (cargo::build_layer()?, cargo::build_test_driver()?);
        let environment = environment(&driver, &layer, Placement::Alone, home.path())?;
        let mut command = environment.command(Path::new(self.program))?;
        command
            .arg(case)
            .env(DRIVER_SETTINGS, settings)
            .env(glsl::CACHE, self.shaders.path());
        more(&mut command);
        let ended = run_with_limit(&mut command, Duration::from_secs(60), home.path())?;
        ensure!(ended.status.success(), "{}\n{}", ended.status, ended.output_tail());
        ensure!(ended.stdout.starts_with("cache "), "{}", ended.output_tail());
        Ok(ended)
    }
}

/// Folder of compiled shaders, one for all that exist at a time: glslang takes ten times as long as the rest of a process.
fn shader_cache() -> Result<Arc<TempDir>> {
    static SHARED: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = shared.upgrade() {
        return Ok(folder);
    }
    let folder = Arc::new(scratch::folder()?);
    *shared = Arc::downgrade(&folder);
    Ok(folder)
}
