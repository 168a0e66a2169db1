//! The parts of the benchmark: which processes each runs, and what those processes measure.

use crate::job::{Job, Layers};
use crate::rewriting;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::time::Duration;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_tests::gpu_matrix::DEVICES;
use vkabort_tests::measure::calls::{self, SETUPS};
use vkabort_tests::measure::kernel::{self, Place};
use vkabort_tests::measure::loss::{self, Dispatch};
use vkabort_tests::measure::measurement::Measurement;
use vkabort_tests::measure::shaders::{Shader, Variant};
use vkabort_tests::measure::{compilers, large_message, storm};

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// Rewrites, against SPIRV-Tools reading and writing the same modules.
    Rewrite,
    /// Calls that have nothing to do with aborts, with and without the layer.
    Calls,
    /// Kernels with an abort that is never taken, executed on CPU drivers.
    Kernel,
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
            Self::Kernel => "Aborts that are never taken",
            Self::Storm => "Many aborting invocations",
            Self::Loss => "From the dispatch to the loss",
            Self::Messages => "Large messages",
            Self::Compilers => "GPU compilers",
            Self::Sites => "Number of checks",
            Self::Native => "Drivers with the extension",
        }
    }

    /// What was measured, and whether the shaders were executed.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Rewrite => {
                "Executed on the processor. SPIRV-Tools reads and writes the module without a pass, and validates it before by default; its \
                 modules have `OpUnreachable` in place of aborts."
            }
            Self::Calls => "Executed. Wall time of a call; the test driver adds almost none of its own.",
            Self::Kernel => "Executed. Wall time of a dispatch of 131072 invocations.",
            Self::Storm => {
                "Executed. Wall time from the submission to the end of the dispatch, or to the loss of the device. debugPrintf \
                 keeps no more messages than its buffer has room for."
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
            Self::Native => {
                "Only compiled. A message of this size, by the layer, by the layer with loads by value, and by the driver itself."
            }
        }
    }

    /// The processes of this part; `gpus` limits the GPUs if it is not empty.
    ///
    /// # Errors
    ///
    /// A driver is not installed.
    pub fn jobs(self, gpus: &[String]) -> Result<Vec<Job>> {
        let cpu = || {
            let found = TestDriver::ALL.into_iter().map(TestDriver::find);
            found
                .map(|driver| driver.map_err(anyhow::Error::msg))
                .collect::<Result<Vec<_>>>()
        };
        let selected = |is_included: &dyn Fn(&str, bool) -> bool| {
            let devices = DEVICES.iter().filter(|device| {
                let name = device.gpu.name();
                is_included(&name, device.native)
                    && (gpus.is_empty() || gpus.iter().any(|part| name.contains(part.as_str())))
            });
            let drivers = devices.map(|device| device.gpu.driver().map_err(anyhow::Error::msg));
            drivers.collect::<Result<Vec<_>>>()
        };
        let job = |driver: &Driver, layers, argument: &str, seconds| Job {
            driver: driver.clone(),
            layers,
            measurement: format!("{} {argument}", self.name()),
            limit: Duration::from_secs(seconds),
        };
        let mut jobs = Vec::new();
        match self {
            Self::Rewrite => {
                let driver = Driver {
                    name: "processor".into(),
                    ..Driver::default()
                };
                jobs.push(job(&driver, Layers::None, "all", 90));
            }
            Self::Calls => {
                let test_driver = cargo::build_test_driver(Profile::OWN)?;
                for driver in cpu()?.iter().chain([&test_driver]) {
                    for setup in 0..SETUPS.len() {
                        jobs.push(job(driver, Layers::None, &setup.to_string(), 30));
                    }
                }
            }
            Self::Kernel => {
                for driver in cpu()? {
                    jobs.push(job(&driver, Layers::Ours, "in", 60));
                    jobs.push(job(&driver, Layers::Ours, "after", 60));
                }
            }
            Self::Storm => {
                for driver in cpu()? {
                    jobs.push(job(&driver, Layers::None, "return", 45));
                    jobs.push(job(&driver, Layers::Ours, "layer", 45));
                    jobs.push(job(&driver, Layers::Validation, "debugPrintf", 45));
                }
            }
            Self::Loss => {
                for driver in cpu()? {
                    jobs.push(job(&driver, Layers::Ours, "one", 30));
                    jobs.push(job(&driver, Layers::Ours, "waiting", 30));
                }
            }
            Self::Messages => {
                for driver in cpu()?
                    .iter()
                    .filter(|driver| driver.name != TestDriver::SwiftShader.name())
                {
                    jobs.push(job(driver, Layers::Ours, "reference", 30));
                    jobs.push(job(driver, Layers::Ours, "value", 60));
                }
            }
            Self::Compilers | Self::Sites => {
                let is_all = self == Self::Compilers;
                let some = |name: &str, _| is_all || SITES_GPUS.contains(&name);
                for driver in selected(&some)? {
                    jobs.push(job(&driver, Layers::None, "None", 60));
                    jobs.push(job(&driver, Layers::Ours, "Ours", 60));
                    jobs.push(job(&driver, Layers::Validation, "Validation", 60));
                }
            }
            Self::Native => {
                for driver in selected(&|_, native| native)? {
                    jobs.push(job(&driver, Layers::Ours, "layer", 30));
                    jobs.push(job(&driver, Layers::Ours, "by value", 30));
                    jobs.push(job(&driver, Layers::None, "native", 70));
                }
            }
        }
        Ok(jobs)
    }
}

/// The GPUs of [`Part::Sites`].
const SITES_GPUS: [&str; 4] = ["radv navi31 newest", "anv dg2", "nvk 172", "turnip 730 newest"];

/// Measures in this process, and prints a line of JSON for each number.
///
/// # Errors
///
/// The name is unknown, or a call fails.
pub fn measure(name: &str) -> Result<()> {
    let (part, argument) = name.split_once(' ').context("a measurement has two words")?;
    let part = Part::from_str(part, false).map_err(anyhow::Error::msg)?;
    let print = |measurement: &Measurement| println!("{}", measurement.to_line());
    let time_in = |unit: &str, per_second: f64, subject: &str, variant: &str, time: Duration| {
        print(&Measurement::new(
            subject,
            variant,
            unit,
            time.as_secs_f64() * per_second,
        ));
    };
    let milliseconds = |subject: &str, variant: &str, time: Duration| time_in("ms", 1e3, subject, variant, time);
    let variant = || Variant::ALL.into_iter().find(|variant| variant.name() == argument);
    let variant = || variant().with_context(|| format!("unknown variant {argument}"));
    match part {
        Part::Rewrite => rewriting::measure(print)?,
        Part::Calls => {
            let setup = SETUPS.get(argument.parse::<usize>()?).context("unknown setup")?;
            for (call, time) in calls::measure_all(*setup)? {
                time_in("us", 1e6, &call, setup.name, time);
            }
        }
        Part::Kernel => {
            let (place, subject) = match argument {
                "in" => (Place::InALoop, "check in a loop"),
                _ => (Place::AfterALoop, "check after a loop"),
            };
            let variants = [Variant::Unchecked, Variant::Return, Variant::Layer];
            for (variant, time) in variants.iter().zip(kernel::compare(place, variants)?) {
                milliseconds(subject, variant.name(), time);
            }
        }
        Part::Storm => storm::measure(variant()?, print)?,
        Part::Loss => {
            let (dispatch, subject) = match argument {
                "one" => (Dispatch::One, "one of 64 invocations aborts"),
                _ => (Dispatch::Waiting, "others wait for the one that aborts"),
            };
            let (without, with) = loss::to_loss(dispatch)?;
            milliseconds(subject, "no abort", without);
            milliseconds(subject, "abort", with);
        }
        Part::Messages => {
            for kib in [1, 2, 4, 8, 16, 32, 64] {
                let words = large_message::shader(kib)?;
                let subject = format!("{kib} KiB");
                if argument == "value" {
                    let words = large_message::by_value(&words).context("the module has no load of the array")?;
                    milliseconds(&subject, "by value", large_message::create(&words)?);
                } else {
                    milliseconds(&subject, "layer", large_message::create(&words)?);
                }
            }
        }
        Part::Compilers => compilers::measure(&Shader::set(), of_layers(argument)?, print)?,
        Part::Sites => {
            let shaders = [1, 2, 4, 8, 16, 32, 64].map(Shader::Sites);
            compilers::measure(&shaders, of_layers(argument)?, print)?;
        }
        Part::Native => {
            let shaders = [32, 128, 512, 2048, 8192, 16384, 65536].map(Shader::Message);
            compilers::measure(&shaders, &[variant()?], print)?;
        }
    }
    Ok(())
}

/// The variants that processes with these layers measure.
fn of_layers(layers: &str) -> Result<&'static [Variant]> {
    Ok(match layers {
        "None" => &[Variant::Unchecked, Variant::Return, Variant::Native],
        "Ours" => &[Variant::Layer],
        "Validation" => &[Variant::Printf],
        _ => bail!("unknown layers {layers}"),
    })
}
