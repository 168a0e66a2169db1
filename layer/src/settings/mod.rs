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
use vkabort_instrument::{Arena, DEFAULT_HANG_ITERATIONS, LoopPoll, Trap};
use vkabort_record::layout::DEFAULT_MAX_MESSAGE_BYTES;
use vkabort_record::report::Filter;

/// The settings of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether the layer enables the extensions itself.
    pub enable: Enable,
    /// Which extensions the layer emulates.
    pub emulation: Emulation,
    /// How an abort affects the device.
    pub on_abort: OnAbort,
    /// How an aborting invocation ends.
    pub trap: Trap,
    /// Iterations of the loop of `trap = hang` at most.
    pub hang_iterations: u32,
    /// How long the driver may take to lose the device after a trap.
    pub trap_timeout: Duration,
    /// Which loops poll for aborts of other invocations.
    pub loop_poll: LoopPoll,
    /// The memory of messages.
    pub memory: Memory,
    /// Where the control block is placed.
    pub control_block: ControlBlock,
    /// Size of a device's arena in bytes.
    pub arena_size: u32,
    /// `maxShaderAbortMessageSize`, in bytes.
    pub max_message_size: u32,
    /// How long a loss waits for the queues to become idle.
    pub drain_timeout: Duration,
    /// Abort sites per module that write messages. Others only end the invocation. `None`: all.
    pub max_sites: Option<u32>,
    /// Minimum severity that is logged.
    pub log_level: Level,
    /// The log file. `None`: standard error.
    pub log_file: Option<PathBuf>,
    /// The log's format.
    pub log_format: Format,
    /// The severity of reports that debug-utils messengers receive.
    pub messenger_severity: MessengerSeverity,
    /// How often a site is reported in full under `on_abort = continue`.
    pub duplicate_limit: u32,
    /// The folder for dumps of aborts.
    pub dump_dir: Option<PathBuf>,
    /// Which sites are reported.
    pub filter: Filter,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enable: Enable::Auto,
            emulation: Emulation::Auto,
            on_abort: OnAbort::Lose,
            trap: Trap::Return,
            hang_iterations: DEFAULT_HANG_ITERATIONS,
            trap_timeout: Duration::from_secs(20),
            loop_poll: LoopPoll::Auto,
            memory: Memory::Auto,
            control_block: ControlBlock::Auto,
            arena_size: 1 << 20,
            max_message_size: DEFAULT_MAX_MESSAGE_BYTES,
            drain_timeout: Duration::from_secs(2),
            max_sites: None,
            log_level: Level::Error,
            log_file: None,
            log_format: Format::Text,
            messenger_severity: MessengerSeverity::Error,
            duplicate_limit: 1,
            dump_dir: None,
            filter: Filter::default(),
        }
    }
}

/// The keys of all settings, to detect misspelt ones.
pub const KEYS: [&str; 20] = [
    "enable",
    "emulation",
    "on_abort",
    "trap",
    "hang_iterations",
    "trap_timeout_ms",
    "loop_poll",
    "memory",
    "control_block",
    "arena_size",
    "max_message_size",
    "drain_timeout_ms",
    "max_sites",
    "log_level",
    "log_file",
    "log_format",
    "messenger_severity",
    "duplicate_limit",
    "dump_dir",
    "filter",
];

impl Settings {
    /// Reads all settings. Also returns a message for each part of the sources that has no effect, and each invalid value.
    pub fn resolve(sources: &Sources) -> (Self, Vec<String>) {
        let mut problems = sources.problems(&KEYS);
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
        let mut settings = Self {
            enable: read.choice("enable", default.enable),
            emulation: read.choice("emulation", default.emulation),
            on_abort: read.choice("on_abort", default.on_abort),
            trap: read.choice("trap", default.trap),
            hang_iterations: read.number("hang_iterations", default.hang_iterations, 1, i32::MAX as u32),
            trap_timeout: read.timeout("trap_timeout_ms", default.trap_timeout),
            loop_poll: read.choice("loop_poll", default.loop_poll),
            memory: read.choice("memory", default.memory),
            control_block: read.choice("control_block", default.control_block),
            arena_size: read.bytes("arena_size", default.arena_size, 1 << 16, 1 << 30),
            // VK_KHR_shader_abort requires at least 64 KiB; above 16 MiB a record would overflow its LENGTH.
            max_message_size: read.bytes("max_message_size", default.max_message_size, 1 << 16, 1 << 24),
            drain_timeout: read.timeout("drain_timeout_ms", default.drain_timeout),
            max_sites: Some(read.number("max_sites", u32::MAX, 0, u32::MAX)).filter(|n| *n != u32::MAX),
            log_level: read.choice("log_level", default.log_level),
            log_file: read.path("log_file").filter(|p| p.as_os_str() != "stderr"),
            log_format: read.choice("log_format", default.log_format),
            messenger_severity: read.choice("messenger_severity", default.messenger_severity),
            duplicate_limit: read.number("duplicate_limit", default.duplicate_limit, 1, i32::MAX as u32),
            dump_dir: read.path("dump_dir"),
            filter: read.filter("filter"),
        };
        let minimum = Arena::minimum_bytes(settings.max_message_size);
        if settings.arena_size < minimum {
            problems.push(format!(
                "arena_size = {} is too small for max_message_size = {}; using {minimum}",
                settings.arena_size, settings.max_message_size
            ));
            settings.arena_size = minimum;
        }
        if sources.only_application && (settings.log_file.take().is_some() | settings.dump_dir.take().is_some()) {
            problems.push(
                "log_file and dump_dir have no effect: the process has more privileges than its user, so the layer writes no \
                 file"
                    .to_owned(),
            );
        }
        (settings, problems)
    }
}
