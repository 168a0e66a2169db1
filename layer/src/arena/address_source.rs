//! How an arena got its address.

use std::fmt;

/// How an arena got its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// Imported host memory at a fixed address.
    Import,
    /// Host memory at a fixed address, on a driver whose shaders use host addresses.
    Host,
    /// The address of an earlier run, saved in this file.
    Replay(String),
    /// A new address, saved in this file for later runs.
    Capture(String),
    /// An address of the driver's choice, for this reason. It may differ between runs.
    Driver(String),
}

impl fmt::Display for AddressSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Import => f.write_str("fixed (imported host memory)"),
            Self::Host => f.write_str("fixed (host memory)"),
            Self::Replay(file) => write!(f, "same as in an earlier run, from {file}"),
            Self::Capture(file) => write!(f, "new, saved for later runs in {file}"),
            Self::Driver(reason) => write!(f, "chosen by the driver: {reason}"),
        }
    }
}
