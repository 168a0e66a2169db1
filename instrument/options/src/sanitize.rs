//! The checks that the sanitizer plants, and its options.

use crate::sanitize_filter::SanitizeFilter;
use std::fmt;
use std::str::FromStr;

/// Loop iterations of an invocation after which `loops` fails.
pub const DEFAULT_LOOP_BUDGET: u32 = 1 << 24;

/// Bytes of shared memory of a workgroup if the device is not known: all but the smallest devices have as much.
pub const DEFAULT_SHARED_MEMORY: u32 = 32 << 10;

/// The checks, a row each: variant; name, which is that of its module in `vkabort_checks`, too; whether `default` selects it; and when it
/// fails, for people. Passes the rows to the macro `$with`. What needs shared memory prepares it in the order of the rows, so `races`,
/// which takes what is left, is behind the others.
#[doc(hidden)]
#[macro_export]
macro_rules! checks {
    ($with:ident) => {
        $with! {
            Loops loops true "the loops of an invocation have used up their budget of iterations, or have run too long";
            Breaks breaks true "the shader reaches a debug break, a false assumption or a panic of its author";
            Divide divide true "an integer is divided by zero, or the least one by -1";
            Shift shift true "a value is shifted by its width in bits or more, or a bit field reaches beyond its value";
            Bounds bounds true "an element is accessed that its array, vector or matrix of fixed size does not have";
            Buffers buffers false
                "an element beyond a buffer is stored, or a descriptor beyond its array is used, without robust buffer access";
            Convert convert false "a float is converted to an integer type that cannot hold it";
            Domain domain false "a built-in function has an argument for which its result is undefined";
            Nan nan false "NaN or an infinity is stored to a buffer, an image or an output";
            Unreachable unreachable false "code is reached that was declared unreachable";
            Addresses addresses false
                "memory is accessed through an address that is in no buffer, or less aligned than the access declares";
            Barriers barriers false "a barrier is not reached by all invocations of the workgroup";
            Initialized initialized false "a value is used that was read from a variable before anything was stored there";
            Invalid invalid false "an operation on finite floats makes NaN or an infinity that is stored";
            Races races false
                "two invocations of a workgroup access shared memory without a barrier between them, and one of them stores to it";
        }
    };
}

/// A row of [`CHECKS`].
#[derive(Clone, Copy, Debug)]
pub struct CheckRow {
    /// The check.
    pub check: Check,
    /// Its name in settings, options and reports.
    pub name: &'static str,
    /// Whether `default` selects it.
    pub is_default: bool,
    /// When it fails, for people.
    pub description: &'static str,
}

macro_rules! declare {
    ($($variant:ident $name:ident $is_default:literal $description:literal;)*) => {
        /// A check that the sanitizer can plant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Check {
            $(
                #[doc = concat!("Fails when ", $description, ".")]
                $variant,
            )*
        }

        /// The checks.
        pub const CHECKS: &[CheckRow] = &[$(CheckRow {
            check: Check::$variant,
            name: stringify!($name),
            is_default: $is_default,
            description: $description,
        }),*];
    };
}
checks!(declare);

impl Check {
    /// Its name in settings, options and reports.
    pub fn name(self) -> &'static str {
        let row = CHECKS.iter().find(|row| row.check == self);
        row.map_or("", |row| row.name)
    }
}

/// A set of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// One bit per check.
    bits: u32,
}

impl Checks {
    /// The checks that `default` selects.
    pub fn defaults() -> Self {
        Self::of(CHECKS.iter().filter(|row| row.is_default).map(|row| row.check))
    }

    /// Every check.
    pub fn all() -> Self {
        Self::of(CHECKS.iter().map(|row| row.check))
    }

    /// A set of these checks.
    pub fn of(checks: impl IntoIterator<Item = Check>) -> Self {
        let bits = checks.into_iter().fold(0, |bits, check| bits | bit(check));
        Self { bits }
    }

    /// These checks but one.
    #[must_use]
    pub fn without(self, check: Check) -> Self {
        let bits = self.bits & !bit(check);
        Self { bits }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The checks, in the order of [`CHECKS`].
    pub fn iter(self) -> impl Iterator<Item = Check> {
        let all = CHECKS.iter().map(|row| row.check);
        all.filter(move |check| self.contains(*check))
    }

    /// Whether the check is one of them.
    pub fn contains(self, check: Check) -> bool {
        self.bits & bit(check) != 0
    }
}

fn bit(check: Check) -> u32 {
    1 << check as u32
}

/// Names separated by commas: of checks, `default` or `all`. An empty text and `off` select none.
impl FromStr for Checks {
    type Err = String;

    /// # Errors
    ///
    /// The first name that is not one of a check.
    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.into_iter().try_fold(Self::default(), |checks, name| {
            let more = match name.to_ascii_lowercase().as_str() {
                "off" => Self::default(),
                "default" => Self::defaults(),
                "all" => Self::all(),
                lower => {
                    let row = CHECKS.iter().find(|row| row.name == lower);
                    let names = || CHECKS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
                    let row = row.ok_or_else(|| {
                        format!(
                            "`{name}` is not a check. Valid values: default, all, {}; or off",
                            names()
                        )
                    })?;
                    Self::of([row.check])
                }
            };
            Ok(Self {
                bits: checks.bits | more.bits,
            })
        })
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = CHECKS.iter().filter(|row| self.contains(row.check)).map(|row| row.name);
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

/// How long the loops of an invocation may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopTimeout {
    /// The time in milliseconds that messages state: the host advances TICKS [`vkabort_record::layout::TIMEOUT_TICKS`] times in it.
    pub milliseconds: u32,
    /// Iterations after which an invocation looks at TICKS, a power of two.
    pub interval: u32,
}

/// Options of the sanitizer. The default plants nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sanitize {
    /// The checks to plant.
    pub checks: Checks,
    /// Loop iterations of an invocation, over all its loops, after which [`Check::Loops`] fails. At least 1.
    pub loop_budget: u32,
    /// Counts the loops too that end soon: for drivers that end loops by such a count.
    pub counts_all_loops: bool,
    /// Lets tests that nothing separates share a branch. Without it, those of the faults of a value do.
    pub joins_tests: bool,
    /// Counts an invocation that ends in front of the branch by which it leaves: for drivers that execute the code behind that branch after
    /// that of the other invocations.
    pub counts_ends_early: bool,
    /// Lets the message of an abort name one of many faults by its number, which the site table knows. Without it, each has an abort of its
    /// own: for messages that are to be read as they are.
    pub numbers_faults: bool,
    /// Most accesses to shared memory that [`Check::Races`] records by one loop. Each takes two words of a private array.
    pub recorded_together: u32,
    /// How long the loops of an invocation may run. `None`: as long as their budget lasts. Without effect where the layer does not
    /// lower aborts.
    pub loop_timeout: Option<LoopTimeout>,
    /// Selection of the places at which checks are planted.
    pub filter: SanitizeFilter,
    /// SPIR-V execution models without checks: functions that an entry point of one of them reaches have none. For devices that
    /// cannot write a record in such a stage.
    pub skipped_models: Vec<u32>,
    /// The program may rely on robust buffer access: [`Check::Buffers`] is not planted.
    pub robust_buffers: bool,
    /// Device address of the area of the table of buffers ([`vkabort_record::buffer_table`]), a multiple of 16. `None`: there is
    /// no buffer table; [`Check::Addresses`] is not planted.
    pub buffer_table: Option<u64>,
    /// A pipeline that specialises the size of shared memory or the iterations of a loop gets another rewrite ([`length_spec_ids`]). Without,
    /// such memory is left alone, and such a loop is counted.
    pub rewrites_specialised: bool,
    /// Bytes of shared memory that a workgroup may have (`maxComputeSharedMemorySize`).
    pub shared_memory: u32,
}

impl Sanitize {
    /// The options that decide which checks are planted and what they send: without those that none of the checks depends on, and
    /// without addresses.
    pub fn identity(&self) -> Self {
        let uses_shared_memory = [Check::Initialized, Check::Races, Check::Barriers]
            .into_iter()
            .any(|check| self.checks.contains(check));
        Self {
            buffer_table: self
                .buffer_table
                .filter(|_| self.checks.contains(Check::Addresses))
                .map(|_| 0),
            rewrites_specialised: self.rewrites_specialised
                && (uses_shared_memory || self.checks.contains(Check::Loops)),
            shared_memory: if uses_shared_memory { self.shared_memory } else { 0 },
            ..self.clone()
        }
    }
}

/// GPUs keep arrays of some 30 words in registers.
const DEFAULT_RECORDED_TOGETHER: u32 = 12;

/// An address that no driver returns: to inspect output, not to execute it.
const DEFAULT_BUFFER_TABLE: u64 = 0x4142_5446_4200;

impl Default for Sanitize {
    fn default() -> Self {
        Self {
            checks: Checks::default(),
            loop_budget: DEFAULT_LOOP_BUDGET,
            counts_all_loops: false,
            joins_tests: true,
            counts_ends_early: false,
            numbers_faults: true,
            recorded_together: DEFAULT_RECORDED_TOGETHER,
            loop_timeout: None,
            filter: SanitizeFilter::default(),
            skipped_models: Vec::new(),
            robust_buffers: false,
            buffer_table: Some(DEFAULT_BUFFER_TABLE),
            rewrites_specialised: false,
            shared_memory: DEFAULT_SHARED_MEMORY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select_checks() {
        assert_eq!("".parse(), Ok(Checks::default()));
        assert_eq!("all".parse(), Ok(Checks::all()));
        assert_eq!(
            "loops, breaks".parse::<Checks>().map(|c| c.to_string()),
            Ok("loops,breaks".into())
        );
        let loops: Checks = "loops".parse().expect("a check");
        assert!(loops.contains(Check::Loops) && !loops.contains(Check::Breaks));
        assert_eq!("Default".parse(), Ok(Checks::defaults()));
        let error = "loops,loop".parse::<Checks>().expect_err("not a check");
        assert!(
            error.starts_with("`loop` is not a check. Valid values: default, all, loops, "),
            "{error}"
        );
    }

    #[test]
    fn every_check_has_one_row() {
        for row in CHECKS {
            assert_eq!(row.check.name(), row.name);
            assert_eq!(CHECKS.iter().filter(|other| other.check == row.check).count(), 1);
        }
    }
}
