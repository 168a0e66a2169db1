//! Results of a check.

/// Statistics of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Invocations; original and rewrite count once.
    pub invocations: u32,
    /// Aborted invocations.
    pub aborts: u32,
    /// Total size of their messages in bytes.
    pub message_bytes: u64,
    /// Aborts for which the arena had no room.
    pub dropped: u32,
    /// Runs that exceeded the step limit.
    pub too_long: u32,
    /// Modules that the rewriter rejects for the one permitted reason.
    pub refused: u32,
}

impl CheckSummary {
    /// Adds the statistics of another check.
    pub fn add(&mut self, other: Self) {
        self.invocations += other.invocations;
        self.aborts += other.aborts;
        self.message_bytes += other.message_bytes;
        self.dropped += other.dropped;
        self.too_long += other.too_long;
        self.refused += other.refused;
    }
}

/// A difference between a module and its rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Description.
    pub difference: String,
    /// The rewrite, if there is one.
    pub rewrite: Option<Vec<u32>>,
}

impl From<String> for Failure {
    fn from(difference: String) -> Self {
        Self {
            difference,
            rewrite: None,
        }
    }
}

impl From<&str> for Failure {
    fn from(difference: &str) -> Self {
        difference.to_owned().into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.difference)
    }
}
