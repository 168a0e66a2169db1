//! The layer's settings. Each is read from the first source that has it: environment, `vk_layer_settings.txt`, then
//! `VK_EXT_layer_settings`, like in the Khronos settings library. Invalid values are reported and ignored. In secure
//! execution ([`crate::environment`]) only the application has a say, and the layer emulates, logs and writes nothing unless
//! the application changes that; it never writes a file.
//! `vk_layer_settings.txt` and the manifests document the names, defaults and values.

#[cfg(test)]
mod manifest_tests;
mod reader;
mod source;
#[cfg(test)]
mod tests;
mod values;

pub use source::{Sources, of_process};
pub use values::{Choice, ControlBlock, Emulation, Enable, Format, Level, Memory, MessengerSeverity, OnAbort};

use reader::Reader;
use std::path::PathBuf;
use std::time::Duration;
use vkabort_instrument::{
    Arena, Checks, DEFAULT_HANG_ITERATIONS, DEFAULT_LOOP_BUDGET, DEFAULT_VALUES_SIZE, LoopPoll, Sanitize, Trap, Values,
};
use vkabort_record::layout::{DEFAULT_MAX_MESSAGE_BYTES, MAX_VALUE_UNITS, UNIT_BYTES};
use vkabort_record::report::{Filter, SanitizeFilter};

/// Declares every setting: `documentation, key, field: type = default => how it is read`.
macro_rules! settings {
    ($($(#[$doc:meta])* $key:literal $field:ident: $type:ty = $default:expr => $read:ident($($limit:expr),*);)*) => {
        /// The settings of an instance.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings { $($(#[$doc])* pub $field: $type,)* }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// The keys of all settings, to detect misspelt ones.
        pub const KEYS: &[&str] = &[$($key),*];

        impl Settings {
            fn read(read: &mut Reader<'_>, default: &Self) -> Self {
                Self { $($field: read.$read($key, &default.$field $(, $limit)*),)* }
            }
        }
    };
}

settings! {
    /// Whether the layer enables the extensions itself.
    "enable" enable: Enable = Enable::Auto => choice();
    /// Which extensions the layer emulates.
    "emulation" emulation: Emulation = Emulation::Auto => choice();
    /// How an abort affects the device.
    "on_abort" on_abort: OnAbort = OnAbort::Lose => choice();
    /// How an aborting invocation ends.
    "trap" trap: Trap = Trap::Return => choice();
    /// Iterations of the loop of `trap = hang` at most.
    "hang_iterations" hang_iterations: u32 = DEFAULT_HANG_ITERATIONS => number(1, i32::MAX as u32);
    /// How long the driver may take to lose the device after a trap.
    "trap_timeout_ms" trap_timeout: Duration = Duration::from_secs(20) => timeout();
    /// Which loops poll for aborts of other invocations.
    "loop_poll" loop_poll: LoopPoll = LoopPoll::Auto => choice();
    /// The memory of messages.
    "memory" memory: Memory = Memory::Auto => choice();
    /// Where the control block is placed.
    "control_block" control_block: ControlBlock = ControlBlock::Auto => choice();
    /// Size of a device's arena in bytes.
    "arena_size" arena_size: u32 = 1 << 20 => bytes(1 << 16, 1 << 30);
    /// `maxShaderAbortMessageSize`, in bytes. VK_KHR_shader_abort requires at least 64 KiB; above 16 MiB a record would overflow
    /// its LENGTH.
    "max_message_size" max_message_size: u32 = DEFAULT_MAX_MESSAGE_BYTES => bytes(1 << 16, 1 << 24);
    /// How long a loss waits for the queues to become idle.
    "drain_timeout_ms" drain_timeout: Duration = Duration::from_secs(2) => timeout();
    /// Abort sites per module that write messages. Others only end the invocation. `None`: all.
    "max_sites" max_sites: Option<u32> = None => limit();
    /// Minimum severity that is logged.
    "log_level" log_level: Level = Level::Error => choice();
    /// The log file. `None`: standard error.
    "log_file" log_file: Option<PathBuf> = None => path();
    /// The log's format.
    "log_format" log_format: Format = Format::Text => choice();
    /// The severity of reports that debug-utils messengers receive.
    "messenger_severity" messenger_severity: MessengerSeverity = MessengerSeverity::Error => choice();
    /// How often a site is reported in full under `on_abort = continue`.
    "duplicate_limit" duplicate_limit: u32 = 1 => number(1, i32::MAX as u32);
    /// The folder for dumps of aborts.
    "dump_dir" dump_dir: Option<PathBuf> = None => path();
    /// Which sites are reported.
    "filter" filter: Filter = Filter::default() => parsed("no filter");
    /// The checks that the layer plants into every module.
    "sanitize" sanitize: Checks = Checks::default() => parsed("no check");
    /// Where it plants them.
    "sanitize_filter" sanitize_filter: SanitizeFilter = SanitizeFilter::default() => parsed("no filter");
    /// Loop iterations of an invocation, over all its loops, after which the check `loops` fails. `None`: as many as the driver
    /// allows.
    "loop_budget" loop_budget: Option<u32> = None => auto_number(1, i32::MAX as u32);
    /// How long the loops of an invocation may run before the check `loops` fails, in milliseconds. 0: any time.
    "loop_timeout_ms" loop_timeout_ms: u32 = 500 => number(0, 600_000);
    /// Which values at an abort are reported.
    "values" values: Values = Values::Auto => choice();
    /// Maximum bytes of them.
    "values_size" values_size: u32 = DEFAULT_VALUES_SIZE => number(4, MAX_VALUE_UNITS * UNIT_BYTES);
    /// The folder for every module as the application creates it, and as the driver gets it.
    "dump_modules" dump_modules: Option<PathBuf> = None => path();
    /// The folder of the modules that run in place of the application's.
    "replace_modules" replace_modules: Option<PathBuf> = None => path();
}

impl Settings {
    /// Reads all settings. Also returns a message for each part of the sources that has no effect, and each invalid value.
    pub fn resolve(sources: &Sources) -> (Self, Vec<String>) {
        let mut problems = sources.problems(KEYS);
        let mut read = Reader {
            sources,
            problems: &mut problems,
        };
        let default = match sources.only_application {
            true => Self {
                emulation: Emulation::Off,
                log_level: Level::Off,
                ..Self::default()
            },
            false => Self::default(),
        };
        let mut settings = Self::read(&mut read, &default);
        settings.log_file.take_if(|path| path.as_os_str() == "stderr");
        let minimum = Arena::minimum_bytes(settings.max_message_size);
        if settings.arena_size < minimum {
            problems.push(format!(
                "arena_size = {} is too small for max_message_size = {}; using {minimum}",
                settings.arena_size, settings.max_message_size
            ));
            settings.arena_size = minimum;
        }
        if sources.only_application && settings.forget_files() {
            problems.push(
                "log_file, dump_dir, dump_modules and replace_modules have no effect: the process has more privileges than its \
                 user, so the layer reads no module and writes no file"
                    .to_owned(),
            );
        }
        settings.imply(|key| sources.value(key).is_some());
        (settings, problems)
    }

    /// Removes the paths. Whether there were any.
    fn forget_files(&mut self) -> bool {
        let paths = [
            &mut self.log_file,
            &mut self.dump_dir,
            &mut self.dump_modules,
            &mut self.replace_modules,
        ];
        paths.into_iter().filter_map(Option::take).count() > 0
    }

    /// Changes the settings that others imply, unless they are set themselves. The program of planted checks knows nothing of
    /// aborts: it has enabled no extension, and does not expect a loss.
    fn imply(&mut self, is_set: impl Fn(&str) -> bool) {
        let sanitizes = !self.sanitize.is_empty();
        if sanitizes || self.replace_modules.is_some() {
            self.enable = Enable::Always;
        }
        if sanitizes && !is_set("on_abort") {
            self.on_abort = OnAbort::Continue;
        }
        if sanitizes && self.emulation == Emulation::Auto && !is_set("emulation") {
            self.emulation = Emulation::Partial;
        }
    }

    /// Makes the layer leave every device as it is.
    pub fn switch_off(&mut self) {
        self.emulation = Emulation::Off;
        self.enable = Enable::Auto;
        self.sanitize = Checks::default();
        self.replace_modules = None;
        self.dump_modules = None;
    }

    /// The options of the sanitizer.
    pub fn sanitizer(&self) -> Sanitize {
        Sanitize {
            checks: self.sanitize,
            loop_budget: self.loop_budget.unwrap_or(DEFAULT_LOOP_BUDGET),
            filter: self.sanitize_filter.clone(),
            ..Sanitize::default()
        }
    }
}
