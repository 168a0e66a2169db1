//! Requirements and expectations of a case.

/// When a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// In every run.
    Always,
    /// On request, on hardware: the case makes the driver lose the device.
    OnRequest,
    /// In benchmarks only: the case measures.
    Benchmark,
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
    /// The validation layer alone.
    Validation,
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
