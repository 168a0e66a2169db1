//! The parts of the benchmark: the measurements of each, and the drivers on which they run.

use crate::rewriting::REWRITING;
use anyhow::{Error, Result};
use clap::ValueEnum;
use vkabort_runner::Case;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::gpu_drivers::Family;
use vkabort_test_kit::layer::Layer;
use vkabort_tests::gpu_matrix::DEVICES;
use vkabort_tests::harness::{Placement, System, Target};
use vkabort_tests::measure::cases::MEASUREMENTS;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// Rewrites, against SPIRV-Tools reading and writing the same modules.
    Rewrite,
    /// Calls that have nothing to do with aborts, with and without the layer.
    Calls,
    /// The start of a program, with and without the layer.
    Load,
    /// A frame of draws, recorded with and without `commands = on`.
    Commands,
    /// Kernels with an abort that is never taken, executed on CPU drivers.
    Kernel,
    /// The benchmark shaders with the default checks of the sanitizer, and under GPU-AV, executed on CPU drivers.
    Checks,
    /// Loops with an access that a check of the memory checker tests, executed on CPU drivers.
    Memory,
    /// A million invocations of which some abort, executed on CPU drivers.
    Storm,
    /// Time from a dispatch to the loss of the device, on CPU drivers.
    Loss,
    /// Pipelines of large messages on lavapipe.
    Messages,
    /// The benchmark shaders on the compilers of real GPUs.
    Compilers,
    /// Modules with 1 to 64 checks on the compilers of some GPUs.
    Sites,
    /// Loops with a check of the sanitizer on the compilers of real GPUs.
    Loops,
    /// The benchmark shaders without values at their aborts, with the condition, and with variables, on the compilers of real
    /// GPUs.
    Conditions,
    /// Messages of 32 bytes to 64 KiB on drivers with the extension.
    Native,
}

impl Part {
    /// Its name: of its data file, and for `--only`.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Rewrite => "Rewrite",
            Self::Calls => "Calls without aborts",
            Self::Load => "Start of a program",
            Self::Commands => "Recording of commands",
            Self::Kernel => "Aborts that are never taken",
            Self::Checks => "The default checks",
            Self::Memory => "The memory checker",
            Self::Storm => "Many aborting invocations",
            Self::Loss => "From the dispatch to the loss",
            Self::Messages => "Large messages",
            Self::Compilers => "GPU compilers",
            Self::Sites => "Number of checks",
            Self::Loops => "The sanitizer's checks",
            Self::Conditions => "Values at the abort",
            Self::Native => "Drivers with the extension",
        }
    }

    /// Sentence that names the measured quantity, and whether the shaders were executed.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Rewrite => {
                "Executed on the processor. SPIRV-Tools reads and writes the module without a pass, and validates it before by default; its \
                 modules have `OpUnreachable` in place of aborts."
            }
            Self::Calls => "Executed. Wall time of a call; the test driver adds almost none of its own.",
            Self::Load => {
                "Executed. Wall time of a call, with the loading of layers and driver from the page cache; memory that is not that \
                 of a file. The layer rewrites the shader module of a device that enables the extension."
            }
            Self::Commands => {
                "Executed. Wall time of `vkCmdDraw`; the test driver adds little of its own. Nothing is submitted."
            }
            Self::Kernel => "Executed. Wall time of a dispatch of 131072 invocations.",
            Self::Checks => {
                "Executed. Wall time of a dispatch of the compute shaders without aborts: without a layer, with `sanitize = default`, and \
                 under the validation layer: with its preset \"GPU-Assisted Validation\", and with its shader sanitizer only, in the safe \
                 mode that it needs. Push constants are in a buffer."
            }
            Self::Memory => {
                "Executed. Wall time of a dispatch of 32768 invocations, with one check, without a layer and, where it has that check, \
                 under the validation layer's GPU-AV with this check alone. Each loop does little more than the access that its check \
                 tests."
            }
            Self::Storm => {
                "Executed. Wall time from the submission to the end of the dispatch, or to the loss of the device. The \
                 layer keeps 16,367 messages, or at least 32,733 prints, and counts the others. debugPrintf keeps what its buffer has \
                 room for, by default 23, and counts none of the others."
            }
            Self::Loss => "Executed. Wall time from the submission to its end without and with an abort.",
            Self::Messages => {
                "Executed: pipelines are created, nothing is dispatched. Wall time of the shader module and the pipeline."
            }
            Self::Compilers => {
                "Only compiled, by real drivers without a GPU. Code is in bytes (in words on Turnip), registers are vector \
                 registers of a lane, waves are those of a SIMD or core (on Intel the lanes of a thread), compile time is processor \
                 time of the shader module and the pipeline, including the layer's rewrite."
            }
            Self::Sites => "Only compiled. A compute shader with this number of checks in a row.",
            Self::Loops => {
                "Only compiled. Loops of unknown length; the check counts the iterations of an invocation, or tests an operation in the loop."
            }
            Self::Conditions => {
                "Only compiled. The shaders of \"GPU compilers\" with `values = off`, `auto` and `on`; they have no debug information, so \
                 that `auto` is the condition."
            }
            Self::Native => {
                "Only compiled. A message of this size, by the layer, by the layer with loads by value, and by the driver itself."
            }
        }
    }

    /// The measurements of this part.
    fn cases(self) -> impl Iterator<Item = Case> {
        let prefix = format!("{}::", self.name());
        all().filter(move |case| case.name.starts_with(&prefix))
    }

    /// The drivers on which this part measures; `gpus` limits the GPUs if it is not empty.
    ///
    /// # Errors
    ///
    /// A driver is not installed.
    fn drivers(self, gpus: &[String]) -> Result<Vec<Driver>> {
        let selected = |is_included: &dyn Fn(&str, bool) -> bool| {
            let devices = DEVICES.iter().filter(|device| {
                let name = device.gpu.name();
                is_included(&name, device.native)
                    && (gpus.is_empty() || gpus.iter().any(|part| name.contains(part.as_str())))
            });
            let drivers = devices.map(|device| device.gpu.driver().map_err(Error::msg));
            drivers.collect::<Result<Vec<_>>>()
        };
        let mut cpu = TestDriver::ALL.to_vec();
        cpu.retain(|driver| self != Self::Messages || *driver != TestDriver::SwiftShader);
        let cpu = || cpu.iter().map(|driver| driver.find().map_err(Error::msg));
        match self {
            Self::Rewrite => Ok(vec![Driver {
                name: "processor".into(),
                ..Driver::default()
            }]),
            Self::Calls | Self::Load | Self::Commands => {
                cpu().chain([cargo::build_test_driver(Profile::OWN)]).collect()
            }
            Self::Kernel | Self::Checks | Self::Memory | Self::Storm | Self::Loss | Self::Messages => cpu().collect(),
            Self::Compilers | Self::Loops | Self::Conditions => selected(&|_, _| true),
            Self::Sites => selected(&|name, _| SITES_GPUS.contains(&name)),
            Self::Native => selected(&|_, native| native),
        }
    }

    /// The measurements of this part on each of its drivers.
    ///
    /// # Errors
    ///
    /// A driver is not installed, or this program's path cannot be found.
    pub fn jobs(self, gpus: &[String], layer: &Layer) -> Result<Vec<(Case, Target)>> {
        let mut jobs = Vec::new();
        for driver in self.drivers(gpus)? {
            for case in self.cases() {
                for placement in Placement::all_for(case.layers) {
                    jobs.push((case, target(&driver, *placement, layer)?));
                }
            }
        }
        Ok(jobs)
    }
}

/// Every measurement.
pub fn all() -> impl Iterator<Item = Case> {
    MEASUREMENTS.iter().copied().chain([REWRITING])
}

/// The GPUs of [`Part::Sites`].
const SITES_GPUS: [&str; 4] = ["radv navi31 newest", "anv dg2", "nvk 172", "turnip 730 newest"];

fn target(driver: &Driver, placement: Placement, layer: &Layer) -> Result<Target> {
    // Apple's vertex shaders cannot store; those of the benchmarks need not.
    let is_partial = driver.name.starts_with(Family::Honeykrisp.name());
    let emulation = if is_partial { "partial" } else { "force" };
    Ok(Target {
        driver: Some(driver.clone()),
        device: None,
        layer: layer.clone(),
        placement,
        program: (std::env::current_exe()?, Vec::new()),
        system: System::Own,
        folder: vkabort_test_kit::target().join("vkabort/bench"),
        shader_cache: None,
        settings: Vec::from_iter((placement == Placement::Alone).then_some(("emulation", emulation))),
        share: (0, 1),
        seconds: None,
    })
}
