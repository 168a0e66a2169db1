//! What a case is, and how the process that runs it ends.

use anyhow::Result;
use std::time::Duration;
pub use vkabort_test_kit::context::{Context, Skip};

/// One end-to-end test.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `file::what_holds`.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&Context) -> Result<()>,
    /// Which layers it runs with.
    pub layers: Layers,
    /// What the process writes to stderr.
    pub log: Log,
    /// How long it may take.
    pub limit: Duration,
    /// Settings of the layer, by key, that the environment gives it.
    pub settings: &'static [(&'static str, &'static str)],
    /// How the process ends.
    pub ends: Ends,
    /// What the tests' own driver is to do, for cases that run on it and on nothing else.
    pub driver: Option<&'static str>,
    /// Variables of its process.
    pub variables: &'static [(&'static str, &'static str)],
    /// When it runs at all.
    pub only: Only,
}

/// When a case runs at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// With all the others.
    Always,
    /// It makes the driver lose the device for good: when a person has asked for it, on hardware.
    WhenAsked,
}

/// How a process whose case holds ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It exits.
    Exits,
    /// It kills itself (`SIGABRT`), without tidying up.
    KillsItself,
}

impl Case {
    /// A case that runs with our layer, alone and with the validation layer on either side, and whose log does not
    /// matter.
    pub const fn new(name: &'static str, run: fn(&Context) -> Result<()>) -> Self {
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
            only: Only::Always,
        }
    }

    /// The same on the tests' own driver alone, which does what `settings` say (`driver/src/settings.rs` explains the
    /// words), without the validation layer: what such cases look at, or do, it has no eye for.
    pub const fn on_driver(self, settings: &'static str) -> Self {
        Self {
            layers: Layers::OursAlone,
            driver: Some(settings),
            ..self
        }
    }

    /// The same with the validation layer too, on either side of ours.
    pub const fn validated(self) -> Self {
        Self {
            layers: Layers::Ours,
            ..self
        }
    }

    /// The same with these variables.
    pub const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }

    /// The same without our layer.
    pub const fn without_layer(self) -> Self {
        Self {
            layers: Layers::None,
            ..self
        }
    }

    /// The same without the validation layer above ours: it does not survive what the case does.
    pub const fn on_top(self) -> Self {
        Self {
            layers: Layers::OursOnTop,
            ..self
        }
    }

    /// The same without the validation layer: it does not survive what the case does.
    pub const fn alone(self) -> Self {
        Self {
            layers: Layers::OursAlone,
            ..self
        }
    }

    /// The same, and each text must stand in the log.
    pub const fn logs(self, texts: &'static [&'static str]) -> Self {
        Self {
            log: Log::Contains(texts),
            ..self
        }
    }

    /// The same, and nothing may stand in the log.
    pub const fn silent(self) -> Self {
        Self {
            log: Log::Silent,
            ..self
        }
    }

    /// The same, and the log is exactly the file `reports/<name>.txt`: with `log_format = json` the lines of
    /// `reports/<name>.jsonl`, which say the same.
    pub const fn reports(self, name: &'static str) -> Self {
        Self {
            log: Log::Report(name),
            ..self
        }
    }

    /// The same with settings of the layer, by key.
    pub const fn set(self, settings: &'static [(&'static str, &'static str)]) -> Self {
        Self { settings, ..self }
    }

    /// The same on a driver that has the extensions itself: a second copy of our layer plays it.
    pub const fn on_native(self) -> Self {
        Self {
            layers: Layers::OursOnNative,
            ..self
        }
    }

    /// The same, and the process kills itself.
    pub const fn kills_itself(self) -> Self {
        Self {
            ends: Ends::KillsItself,
            ..self
        }
    }

    /// The same when a person asks for it, and not with the others.
    pub const fn when_asked(self) -> Self {
        Self {
            only: Only::WhenAsked,
            ..self
        }
    }

    /// The same with another time limit.
    pub const fn within(self, seconds: u64) -> Self {
        Self {
            limit: Duration::from_secs(seconds),
            ..self
        }
    }
}

/// Which layers a case runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// Ours: alone, with the validation layer below it, with the validation layer above it.
    Ours,
    /// Ours: alone, with the validation layer below it.
    OursOnTop,
    /// Ours alone.
    OursAlone,
    /// Ours alone, on a driver that has the extensions itself.
    OursOnNative,
    /// None.
    None,
}

/// What the process writes to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Whatever it likes.
    Any,
    /// Nothing.
    Silent,
    /// Each of these texts.
    Contains(&'static [&'static str]),
    /// Exactly the report in a file.
    Report(&'static str),
}

/// Variable that says which share of a long list of inputs a process takes: `1/3` the second third. Without it, all.
pub const SHARE: &str = "VKABORT_SHARE";
/// Variable that says for how many seconds inputs of such a list are begun. Without it, until its end.
pub const SECONDS: &str = "VKABORT_SECONDS";

/// Exit code of a process whose case held.
pub const PASSED: u8 = 0;
/// Exit code of a process whose case failed.
pub const FAILED: u8 = 1;
/// Exit code of a process whose case does not apply to the device.
pub const SKIPPED: u8 = 77;

/// Runs a case in this process. Prints why it failed or does not apply, and returns the exit code.
pub fn run_here(case: &Case) -> u8 {
    let context = Context::default();
    let result = (case.run)(&context);
    let said = context.messages.take();
    match result {
        Err(error) if error.is::<Skip>() => {
            println!("{error}");
            SKIPPED
        }
        Err(error) => {
            println!("{error:#}");
            said.iter()
                .for_each(|message| println!("the validation layer said: {message}"));
            FAILED
        }
        Ok(()) if said.is_empty() => PASSED,
        Ok(()) => {
            said.iter()
                .for_each(|message| println!("the validation layer said: {message}"));
            FAILED
        }
    }
}
