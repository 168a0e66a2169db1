//! A case: a row of a table.

use crate::Finding;
use crate::needs::{Ends, Layers, Log, Process, Schedule};
use anyhow::Result;
use std::time::Duration;
use vkabort_gpu::Context;

/// Settings of the layer that name a file or a folder, which it writes.
const FILES: [&str; 3] = ["log_file", "dump_dir", "dump_modules"];

/// A sentence of a specification.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The document and its section or command.
    pub section: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}

/// A test, check or measurement.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `file::claim`, or `part.requirement` for a conformance check.
    pub name: &'static str,
    /// The function that it runs.
    pub run: fn(&Context) -> Result<Finding>,
    /// The sentence that requires the tested property: the case is a conformance check.
    pub rule: Option<Rule>,
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
    /// It violates valid usage, so that the specification allows any behaviour: a failure is only a warning.
    pub outside_valid_usage: bool,
    /// Two processes run it and must find the same.
    pub twice: bool,
    /// It needs a device that an abort loses.
    pub after_loss: bool,
}

/// A table of cases. A row is the name, a call and options, which are methods of [`Case`]. The call's first argument is a
/// function of the calling crate's module `open`, which opens the object that it is named for and passes it to the call.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "each crate opens what its cases run on")]
macro_rules! cases {
    ($($name:expr => $($function:ident)::+($subject:ident $(, $argument:expr)* $(,)?)
        $(, $option:ident($($value:expr),*))*;)*) => {
        &[$(
            $crate::Case::new($name, |context| {
                crate::open::$subject(context, |$subject| Ok($($function)::+($subject $(, $argument)*)?.into()))
            })
            $(.$option($($value),*))*
        ),*]
    };
}

impl Case {
    /// A case that runs with our layer, alone and with the validation layer on either side. Its log is not checked.
    pub const fn new(name: &'static str, run: fn(&Context) -> Result<Finding>) -> Self {
        Self {
            name,
            run,
            rule: None,
            layers: Layers::Ours,
            log: Log::Any,
            limit: Duration::from_secs(60),
            settings: &[],
            ends: Ends::Exits,
            driver: None,
            variables: &[],
            schedule: Schedule::Always,
            process: Process::Shared,
            outside_valid_usage: false,
            twice: false,
            after_loss: false,
        }
    }

    /// Makes it a conformance check of this sentence.
    pub const fn rule(self, rule: Rule) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    /// Needs a device that an abort loses.
    pub const fn after_loss(self) -> Self {
        Self {
            after_loss: true,
            ..self
        }
    }

    /// Violates valid usage, which the validation layer would report.
    pub const fn outside_valid_usage(self) -> Self {
        Self {
            outside_valid_usage: true,
            layers: Layers::OursAlone,
            ..self
        }
    }

    /// Compares the findings of two processes.
    pub const fn twice(self) -> Self {
        Self {
            twice: true,
            process: Process::Own,
            ..self
        }
    }

    /// Measures: runs in benchmarks only.
    pub const fn measures(self) -> Self {
        Self {
            schedule: Schedule::Benchmark,
            process: Process::Own,
            ..self
        }
    }

    /// Runs only on the test driver, configured by `settings` (see its documentation), without the
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

    /// Replaces our layer by the validation layer.
    pub const fn validation_alone(self) -> Self {
        Self {
            layers: Layers::Validation,
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

    /// Whether it can run in a process with other cases of its settings: everything else that differs between processes has its
    /// default, and the layer writes no file into the process's folder.
    pub fn can_share_process(&self) -> bool {
        self.process == Process::Shared
            && self.schedule == Schedule::Always
            && self.ends == Ends::Exits
            && self.variables.is_empty()
            && self.driver.is_none()
            && !self.settings.iter().any(|(key, _)| FILES.contains(key))
    }
}
