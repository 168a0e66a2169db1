//! What a user can set, and where from: environment, then `vk_layer_settings.txt`, then `VK_EXT_layer_settings`, each
//! setting by itself, as the Khronos settings library does it. A wrong value is reported with the allowed ones and
//! ignored. Names, defaults and descriptions stand in `vk_layer_settings.txt` and in the manifests.

#[cfg(test)]
mod manifest_tests;
mod reader;
mod source;

pub use source::Sources;

use crate::report::log::{Format, Level};
use reader::Reader;
use std::path::PathBuf;
use std::time::Duration;
use vkabort_instrument::{Arena, DEFAULT_HANG_ITERATIONS, LoopPoll, Trap};
use vkabort_record::layout::DEFAULT_MAX_MESSAGE_BYTES;
use vkabort_record::report::Filter;

/// Which extensions the layer provides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emulation {
    /// Those that the driver lacks.
    #[default]
    Auto,
    /// All three, whatever the driver has.
    Force,
    /// None.
    Off,
}

/// What an abort does to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAbort {
    /// The device is lost, as the specification has it.
    #[default]
    Lose,
    /// The abort is reported and the device goes on.
    Continue,
}

/// What memory records are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The best that there is.
    #[default]
    Auto,
    /// The host's, which the host caches.
    Cached,
    /// The host's, which the host does not cache.
    Uncached,
    /// Memory that the device does not cache (`VK_AMD_device_coherent_memory`).
    DeviceCoherent,
    /// The device's own.
    Device,
}

impl Memory {
    const NAMES: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("cached", Self::Cached),
        ("uncached", Self::Uncached),
        ("device_coherent", Self::DeviceCoherent),
        ("device", Self::Device),
    ];

    /// As the setting has it.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, memory)| *memory == self);
        named.map_or("", |(name, _)| name)
    }
}

/// Where the control block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlBlock {
    /// In the memory of a GPU with a bus between, if the host sees it; else before the records.
    #[default]
    Auto,
    /// In the device's memory.
    Device,
    /// Before the records.
    Host,
}

/// All settings of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which extensions the layer provides.
    pub emulation: Emulation,
    /// What an abort does to the device.
    pub on_abort: OnAbort,
    /// What ends an aborting invocation.
    pub trap: Trap,
    /// How often the loop of `trap = hang` goes round at most.
    pub hang_iterations: u32,
    /// How long the driver may take to lose the device by a trap.
    pub trap_timeout: Duration,
    /// Which loops watch for aborts of other invocations.
    pub loop_poll: LoopPoll,
    /// What memory records are in.
    pub memory: Memory,
    /// Where the control block is.
    pub control_block: ControlBlock,
    /// Bytes of a device's arena.
    pub arena_size: u32,
    /// `maxShaderAbortMessageSize`.
    pub max_message_size: u32,
    /// How long losing a device may wait for its queues.
    pub drain_timeout: Duration,
    /// Only so many aborts of each module write messages; one beyond them ends its invocation and nothing else.
    pub max_sites: Option<u32>,
    /// Least important messages that are logged.
    pub log_level: Level,
    /// Where the log goes; none for standard error.
    pub log_file: Option<PathBuf>,
    /// Text or JSON lines.
    pub log_format: Format,
    /// Where the modules and messages of aborts are kept.
    pub dump_dir: Option<PathBuf>,
    /// Which sites are reported.
    pub filter: Filter,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
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
            drain_timeout: Duration::from_millis(2000),
            max_sites: None,
            log_level: Level::Error,
            log_file: None,
            log_format: Format::Text,
            dump_dir: None,
            filter: Filter::default(),
        }
    }
}

/// Keys of all settings, for finding misspelt ones.
pub const KEYS: [&str; 17] = [
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
    "dump_dir",
    "filter",
];

impl Settings {
    /// Reads every setting from `sources`. The second part says what was wrong and therefore ignored.
    pub fn resolve(sources: &Sources) -> (Self, Vec<String>) {
        let mut problems = sources.unknown_keys(&KEYS);
        let mut read = Reader {
            sources,
            problems: &mut problems,
        };
        let default = Self::default();
        let mut settings = Self {
            emulation: read.choice(
                "emulation",
                default.emulation,
                &[
                    ("auto", Emulation::Auto),
                    ("force", Emulation::Force),
                    ("off", Emulation::Off),
                ],
            ),
            on_abort: read.choice(
                "on_abort",
                default.on_abort,
                &[("lose", OnAbort::Lose), ("continue", OnAbort::Continue)],
            ),
            trap: read.choice(
                "trap",
                default.trap,
                &[("return", Trap::Return), ("fault", Trap::Fault), ("hang", Trap::Hang)],
            ),
            hang_iterations: read.number("hang_iterations", default.hang_iterations, 1, i32::MAX as u32),
            trap_timeout: Duration::from_millis(u64::from(read.number("trap_timeout_ms", 20_000, 1, 600_000))),
            memory: read.choice("memory", default.memory, &Memory::NAMES),
            control_block: read.choice(
                "control_block",
                default.control_block,
                &[
                    ("auto", ControlBlock::Auto),
                    ("device", ControlBlock::Device),
                    ("host", ControlBlock::Host),
                ],
            ),
            loop_poll: read.choice(
                "loop_poll",
                default.loop_poll,
                &[("auto", LoopPoll::Auto), ("all", LoopPoll::All), ("off", LoopPoll::Off)],
            ),
            // VK_KHR_shader_abort allows no limit below 64 KiB; above 16 MiB a record would outgrow its LENGTH.
            max_message_size: read.number("max_message_size", default.max_message_size, 65536, 1 << 24),
            arena_size: read.number("arena_size", default.arena_size, 1 << 16, 1 << 30),
            drain_timeout: Duration::from_millis(u64::from(read.number("drain_timeout_ms", 2000, 1, 600_000))),
            max_sites: Some(read.number("max_sites", u32::MAX, 0, u32::MAX)).filter(|n| *n != u32::MAX),
            log_level: read.choice("log_level", default.log_level, &Level::NAMES),
            log_file: read.path("log_file").filter(|p| p.as_os_str() != "stderr"),
            log_format: read.choice(
                "log_format",
                default.log_format,
                &[("text", Format::Text), ("json", Format::Json)],
            ),
            dump_dir: read.path("dump_dir"),
            filter: read.filter("filter"),
        };
        let needed = Arena::minimum_bytes(settings.max_message_size);
        if settings.arena_size < needed {
            problems.push(format!(
                "arena_size = {} is too small for max_message_size = {}: using {needed}",
                settings.arena_size, settings.max_message_size
            ));
            settings.arena_size = needed;
        }
        (settings, problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(env: &[(&str, &str)], file: &str, api: &[(&str, &str)]) -> Sources {
        let env: Vec<(String, String)> = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        Sources::from_parts(
            move |name| env.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()),
            file,
            api.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        )
    }

    #[test]
    fn without_any_source_everything_has_its_default() {
        let (settings, problems) = Settings::resolve(&sources(&[], "", &[]));
        assert_eq!(settings, Settings::default());
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn the_environment_hides_the_file_and_the_file_hides_the_application() {
        let file = "vkabort_shader_abort.trap = hang # comment\nvkabort_shader_abort.on_abort=continue\n";
        let api = [("trap", "fault"), ("on_abort", "lose"), ("loop_poll", "all")];
        let (settings, problems) = Settings::resolve(&sources(&[("VK_SHADER_ABORT_TRAP", "return")], file, &api));
        assert_eq!(settings.trap, Trap::Return);
        assert_eq!(settings.on_abort, OnAbort::Continue);
        assert_eq!(settings.loop_poll, LoopPoll::All);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn the_longest_environment_name_wins_and_an_empty_one_counts_as_unset() {
        let env = [
            ("VK_VKABORT_SHADER_ABORT_EMULATION", ""),
            ("VK_SHADER_ABORT_EMULATION", "FORCE"),
            ("VK_EMULATION", "off"),
        ];
        let (settings, _) = Settings::resolve(&sources(&env, "", &[]));
        assert_eq!(settings.emulation, Emulation::Force);
    }

    #[test]
    fn a_wrong_value_is_ignored_and_the_allowed_ones_are_named() {
        let env = [
            ("VK_TRAP", "explode"),
            ("VK_ARENA_SIZE", "12"),
            ("VK_FILTER", "sometimes"),
        ];
        let (settings, problems) = Settings::resolve(&sources(&env, "", &[("no_such_key", "1")]));
        assert_eq!(settings, Settings::default());
        assert_eq!(problems.len(), 4);
        assert!(problems.iter().any(|p| p.contains("no_such_key")));
        assert!(
            problems
                .iter()
                .any(|p| p.contains("ignore function=check_*") && p.contains("VK_FILTER"))
        );
        assert!(
            problems
                .iter()
                .any(|p| p.contains("return, fault, hang") && p.contains("VK_TRAP"))
        );
        assert!(problems.iter().any(|p| p.contains("65536 to 1073741824")));
    }

    #[test]
    fn an_arena_grows_until_the_largest_message_fits() {
        let env = [("VK_MAX_MESSAGE_SIZE", "0x200000"), ("VK_ARENA_SIZE", "1048576")];
        let (settings, problems) = Settings::resolve(&sources(&env, "", &[]));
        assert_eq!(settings.arena_size, Arena::minimum_bytes(0x20_0000));
        assert_eq!(problems.len(), 1);
    }
}
