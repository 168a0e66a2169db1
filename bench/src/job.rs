//! A process that measures on one driver, with or without layers.

use anyhow::{Result, ensure};
use std::time::Duration;
use vkabort_test_kit::drivers::{self, Driver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::gpu_drivers::Family;
use vkabort_test_kit::layer::{Layer, VARIABLE_PREFIX};
use vkabort_test_kit::scratch;
use vkabort_test_kit::supervise::run_with_limit;
use vkabort_tests::measure::measurement::Measurement;

/// Argument that makes this program measure what the next argument names.
pub const MEASURE: &str = "--measure";

/// The layers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// None.
    None,
    /// Ours, which emulates the extension also where the driver has it.
    Ours,
    /// The validation layer, which implements debugPrintf.
    Validation,
}

/// A process that measures.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its driver.
    pub driver: Driver,
    /// Its layers.
    pub layers: Layers,
    /// What it measures: the argument after [`MEASURE`].
    pub measurement: String,
    /// Its time limit.
    pub limit: Duration,
}

impl Job {
    /// Runs the process. Returns its measurements; those before an error come with the error.
    pub fn run(&self, layer: &Layer) -> (Vec<Measurement>, Result<()>) {
        let mut measurements = Vec::new();
        let result = self.collect(layer, &mut measurements);
        (measurements, result)
    }

    fn collect(&self, layer: &Layer, measurements: &mut Vec<Measurement>) -> Result<()> {
        let home = scratch::folder()?;
        let output = scratch::folder()?;
        let validation = match self.layers {
            Layers::Validation => {
                let folder = drivers::validation_layer(Some(&self.driver)).map_err(anyhow::Error::msg)?;
                Some((Validation::Below, folder))
            }
            _ => None,
        };
        let environment = Environment {
            driver: Some(self.driver.clone()),
            layer: (self.layers == Layers::Ours).then(|| layer.clone()),
            native: false,
            validation,
            scratch: home.path().to_path_buf(),
        };
        let mut command = environment.command(&std::env::current_exe()?)?;
        command
            .args([MEASURE, &self.measurement])
            .env("CARGO_TARGET_DIR", vkabort_test_kit::target())
            .env("VK_LAYER_PRINTF_ENABLE", "1")
            .env("VK_LAYER_PRINTF_ONLY_PRESET", "1");
        match self.layers {
            // The process activates the layer by name where it measures with and without it.
            Layers::None => drop(command.env("VK_LAYER_PATH", &layer.explicit)),
            Layers::Ours => {
                // Apple's vertex shaders cannot store; those of the benchmarks need not.
                let is_partial = self.driver.name.starts_with(Family::Honeykrisp.name());
                let emulation = if is_partial { "partial" } else { "force" };
                command.env(format!("{VARIABLE_PREFIX}EMULATION"), emulation);
            }
            Layers::Validation => {}
        }
        let finished = run_with_limit(&mut command, self.limit, output.path());
        let stdout = match &finished {
            Ok(finished) => finished.stdout.clone(),
            Err(_) => std::fs::read_to_string(output.path().join("stdout"))?,
        };
        for line in stdout.lines().filter(|line| line.starts_with('{')) {
            let mut measurement = Measurement::of_line(line)?;
            measurement.driver = self.driver.name.clone();
            measurements.push(measurement);
        }
        let finished = finished?;
        ensure!(
            finished.status.success(),
            "{}\n{}",
            finished.status,
            finished.output_tail()
        );
        Ok(())
    }
}
