//! Declaration of a case.

use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::Result;
use std::time::Duration;
pub use vkabort_test_kit::context::{Context, Skip};

/// One end-to-end test.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `file::claim`.
    pub name: &'static str,
    /// The test.
    pub run: Run,
    /// Layers that it runs with.
    pub layers: Layers,
    /// Expected content of stderr.
    pub log: Log,
    /// Time limit.
    pub limit: Duration,
    /// Settings of the layer, by key, passed in the environment.
    pub settings: &'static [(&'static str, &'static str)],
    /// Expected end of the process.
    pub ends: Ends,
    /// Settings of the test driver, for cases that run on no other driver.
    pub driver: Option<&'static str>,
    /// Environment variables.
    pub variables: &'static [(&'static str, &'static str)],
    /// When it runs.
    pub schedule: Schedule,
    /// Whether it may share a process.
    pub process: Process,
}

/// The function of a case, by what it needs.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// It creates its own instances.
    Context(fn(&Context) -> Result<()>),
    /// An instance of Vulkan 1.3.
    Gpu(fn(&Gpu) -> Result<()>),
    /// A device with the abort extensions.
    Device(fn(&Device<'_>) -> Result<()>),
    /// Such a device, and a kernel with an abort over words that do not reach it. The test driver decides what aborts.
    Kernel(fn(&Kernel<'_>) -> Result<()>),
}

impl Run {
    pub(crate) fn call(self, context: &Context) -> Result<()> {
        match self {
            Self::Context(run) => run(context),
            Self::Gpu(run) => run(&Gpu::open(context)?),
            Self::Device(run) => run(&Device::new(&Gpu::open(context)?)?),
            Self::Kernel(run) => {
                let gpu = Gpu::open(context)?;
                let device = Device::new(&gpu)?;
                let buffer = Buffer::storage(&device, &[0; 64])?;
                run(&Kernel::new(
                    &device,
                    &glsl::compile("abort/entry_point.comp")?,
                    &[&buffer],
                )?)
            }
        }
    }
}

/// A table of cases. A row is the name, a call and options, which are methods of [`Case`]. The call's first argument,
/// `context`, `gpu`, `device` or `kernel`, selects the variant of [`Run`].
macro_rules! cases {
    ($($name:expr => $($function:ident)::+($subject:ident $(, $argument:expr)*)
        $(, $option:ident($($value:expr),*))*;)*) => {
        &[$(
            $crate::case::Case::new(
                $name,
                $crate::case::cases!(@run $subject |$subject| $($function)::+($subject $(, $argument)*)),
            )
            $(.$option($($value),*))*
        ),*]
    };
    (@run context $run:expr) => { $crate::case::Run::Context($run) };
    (@run gpu $run:expr) => { $crate::case::Run::Gpu($run) };
    (@run device $run:expr) => { $crate::case::Run::Device($run) };
    (@run kernel $run:expr) => { $crate::case::Run::Kernel($run) };
}
pub(crate) use cases;

/// When a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// In every run.
    Always,
    /// On request, on hardware: the case makes the driver lose the device.
    OnRequest,
}

/// Expected end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It exits.
    Exits,
    /// It kills itself by [`std::process::abort`].
    KillsItself,
}

/// Whether a case may run in a process with other cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// It may, unless it needs a special environment.
    Shared,
    /// It must not: it changes its environment, starts itself again, or tests the state of a fresh process.
    Own,
}

impl Case {
    /// A case that runs with our layer, alone and with the validation layer on either side. Its log is not checked.
    pub const fn new(name: &'static str, run: Run) -> Self {
        Self {
            name,
            run,
            layers: Layers::Ours,
            log: Log::Any,
            limit: Duration::from_secs(60),
            settings: &[],
            ends: Ends::Exits,
            driver: None,
            variables: &[],
            schedule: Schedule::Always,
            process: Process::Shared,
        }
    }

    /// Runs only on the test driver, configured by `settings` (see `tests/driver/src/settings.rs`), without the
    /// validation layer.
    pub const fn on_driver(self, settings: &'static str) -> Self {
        Self {
            layers: Layers::OursAlone,
            driver: Some(settings),
            ..self
        }
    }

    /// Adds the validation layer, once above and once below ours.
    pub const fn validated(self) -> Self {
        Self {
            layers: Layers::Ours,
            ..self
        }
    }

    /// Sets environment variables.
    pub const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }

    /// Removes our layer.
    pub const fn without_layer(self) -> Self {
        Self {
            layers: Layers::None,
            ..self
        }
    }

    /// Excludes the validation layer above ours, which crashes on this case.
    pub const fn on_top(self) -> Self {
        Self {
            layers: Layers::OursOnTop,
            ..self
        }
    }

    /// Excludes the validation layer, which crashes on this case.
    pub const fn alone(self) -> Self {
        Self {
            layers: Layers::OursAlone,
            ..self
        }
    }

    /// Expects each text in the log.
    pub const fn logs(self, texts: &'static [&'static str]) -> Self {
        Self {
            log: Log::Contains(texts),
            ..self
        }
    }

    /// Expects an empty log.
    pub const fn silent(self) -> Self {
        Self {
            log: Log::Silent,
            ..self
        }
    }

    /// Expects the log to equal the file `reports/<name>.txt`, or with `log_format = json` the file
    /// `reports/<name>.jsonl`.
    pub const fn reports(self, name: &'static str) -> Self {
        Self {
            log: Log::Report(name),
            ..self
        }
    }

    /// Sets settings of the layer, by key.
    pub const fn set(self, settings: &'static [(&'static str, &'static str)]) -> Self {
        Self { settings, ..self }
    }

    /// Runs on a driver with the extensions, simulated by a second copy of our layer.
    pub const fn on_native(self) -> Self {
        Self {
            layers: Layers::OursOnNative,
            ..self
        }
    }

    /// Expects the process to kill itself.
    pub const fn kills_itself(self) -> Self {
        Self {
            ends: Ends::KillsItself,
            ..self
        }
    }

    /// Runs only on request.
    pub const fn on_request(self) -> Self {
        Self {
            schedule: Schedule::OnRequest,
            ..self
        }
    }

    /// Runs in a separate process.
    pub const fn in_own_process(self) -> Self {
        Self {
            process: Process::Own,
            ..self
        }
    }

    /// Sets the time limit, in seconds.
    pub const fn within(self, seconds: u64) -> Self {
        Self {
            limit: Duration::from_secs(seconds),
            ..self
        }
    }

    /// Whether it can run in a process with other cases: everything that differs between processes has its default.
    pub fn can_share_process(&self) -> bool {
        self.process == Process::Shared
            && self.schedule == Schedule::Always
            && self.ends == Ends::Exits
            && self.settings.is_empty()
            && self.variables.is_empty()
            && self.driver.is_none()
    }
}

/// Layers that a case runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// Ours: alone, below the validation layer, and above it.
    Ours,
    /// Ours: alone, and above the validation layer.
    OursOnTop,
    /// Ours alone.
    OursAlone,
    /// Ours alone, on a driver with the extensions.
    OursOnNative,
    /// None.
    None,
}

/// Expected content of stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Not checked.
    Any,
    /// Empty.
    Silent,
    /// Contains each of these texts.
    Contains(&'static [&'static str]),
    /// Equals the report in a file.
    Report(&'static str),
}

/// Environment variable with a process's share of long lists of inputs: `1/3` is the second third. Default: all inputs.
pub const SHARE: &str = "VKABORT_SHARE";
/// Environment variable with the seconds after which no further input of such a list is started. Default: no limit.
pub const SECONDS: &str = "VKABORT_SECONDS";

/// Environment variable with a program, and its arguments, that runs the program of each case: `valgrind --quiet`.
pub const RUNNER: &str = "VKABORT_RUNNER";

/// Factor of time limits: more than 1 under a [`RUNNER`].
pub fn slowdown() -> u32 {
    match std::env::var_os(RUNNER) {
        Some(_) => 20,
        None => 1,
    }
}
