//! The settings, one row each.

use crate::choice::{
    Commands, ControlBlock, Emulation, Enable, Format, Level, Memory, MessengerSeverity, OnAbort, Printf, checks, list,
};
use crate::declare::settings;
use crate::form::{Form, SettingValue, TIMEOUT};
use crate::setting::{Row, View};
use crate::value::nearest;
use std::path::PathBuf;
use std::time::Duration;
use vkabort_instrument::{
    Checks, DEFAULT_HANG_ITERATIONS, DEFAULT_VALUES_SIZE, LoopPoll, SanitizeFilter, Trap, Values,
};
use vkabort_record::layout::{DEFAULT_MAX_MESSAGE_BYTES, MAX_VALUE_UNITS, UNIT_BYTES};
use vkabort_report::Filter;

/// Largest value of settings that the Vulkan Configurator shows as an integer of 32 bits.
const MAX_INT: u32 = i32::MAX as u32;

settings! {
    /// Whether the layer enables the extensions itself on devices whose application does not.
    "enable" enable: Enable = Enable::Auto, Form::Choice(list::<Enable>), Standard;

    /// Extensions that the layer provides, of `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`.
    "emulation" emulation: Emulation = Emulation::Auto, Form::Choice(list::<Emulation>), Standard;

    /// Effect of an abort on the device.
    "on_abort" on_abort: OnAbort = OnAbort::Lose, Form::Choice(list::<OnAbort>), Standard;

    /// How an aborting invocation ends. CPU drivers and `on_abort = continue` allow only `return`.
    "trap" trap: Trap = Trap::Return, Form::Choice(list::<Trap>), Advanced;

    /// Maximum number of iterations of the loop of `trap = hang`. Each iteration loads from memory once.
    "hang_iterations" hang_iterations: u32 = DEFAULT_HANG_ITERATIONS, Form::Number { min: 1, max: MAX_INT }, Advanced;

    /// Time limit for the driver to lose the device with `trap = fault` or `hang`. After that the layer ends the loops and reports
    /// the loss.
    "trap_timeout_ms" trap_timeout: Duration = Duration::from_secs(20), TIMEOUT, Advanced;

    /// Loops that poll for aborts of other invocations, in shaders with aborts: a loop that waits for an aborted invocation would
    /// not end.
    "loop_poll" loop_poll: LoopPoll = LoopPoll::Auto, Form::Choice(list::<LoopPoll>), Advanced;

    /// Memory type of the messages. The layer replaces a type that the device lacks by `auto` and logs the available types.
    "memory" memory: Memory = Memory::Auto, Form::Choice(list::<Memory>), Advanced;

    /// Where the control block (abort flag and counters) is placed.
    "control_block" control_block: ControlBlock = ControlBlock::Auto, Form::Choice(list::<ControlBlock>), Advanced;

    /// Size of the message buffer of each device. The layer enlarges a buffer that is too small for a message of the maximum size.
    "arena_size" arena_size: u32 = 1 << 20, Form::Bytes { min: 1 << 16, max: 1 << 30 }, Advanced;

    // VK_KHR_shader_abort requires at least 64 KiB; above 16 MiB a record would overflow its LENGTH.
    /// Maximum size of a message, `maxShaderAbortMessageSize`.
    "max_message_size" max_message_size: u32 = DEFAULT_MAX_MESSAGE_BYTES, Form::Bytes { min: 1 << 16, max: 1 << 24 },
        Advanced;

    /// Time limit for the queues to become idle before the device is lost. After that the device's objects are kept, because the
    /// driver may still use them.
    "drain_timeout_ms" drain_timeout: Duration = Duration::from_secs(2), TIMEOUT, Advanced;

    /// Number of aborts of each module, in the order of its code, that send a message and lose the device. The others end their
    /// invocations silently. For finding an abort by bisection.
    "max_sites" max_sites: Option<u32> = None, Form::NumberOr { word: "all", min: 0, max: u32::MAX }, Debug;

    /// Minimum severity that is logged. Aborts are errors.
    "log_level" log_level: Level = Level::Error, Form::Choice(list::<Level>), Standard;

    /// File for the log; empty or `stderr` for standard error. Not a symbolic link. A new file is readable for its user only.
    "log_file" log_file: Option<PathBuf> = None, Form::File, Standard;

    /// Format of the log.
    "log_format" log_format: Format = Format::Text, Form::Choice(list::<Format>), Standard;

    /// Severity of reports that the application's debug-utils messengers receive. Test suites that fail on any error message use
    /// `info`.
    "messenger_severity" messenger_severity: MessengerSeverity = MessengerSeverity::Error,
        Form::Choice(list::<MessengerSeverity>), Standard;

    /// How often an abort in the code is reported in full under `on_abort = continue`. Further aborts there are counted, and
    /// reported by their number every 10 seconds and when the device is destroyed or the process ends.
    "duplicate_limit" duplicate_limit: u32 = 1, Form::Number { min: 1, max: MAX_INT }, Standard;

    /// Folder in which each abort creates a folder with its report, the raw messages, and the shader modules before and after
    /// rewriting; empty to disable.
    "dump_dir" dump_dir: Option<PathBuf> = None, Form::Folder, Standard;

    /// Rules that select the reported aborts, separated by semicolons. The first rule that matches decides; an abort without a
    /// matching rule is reported. A rule is `report` or `ignore`, then `file`, `function`, `message`, `module` or `pipeline`, then
    /// `=` and a pattern, in which `*` matches any text and `?` any character. For example:
    /// `ignore function=check_*; report file=cull.comp:31; ignore message=* nan`. Ignored aborts lose the device too, and the
    /// application can read every message.
    "filter" filter: Filter = Filter::default(), Form::Rules, Standard;

    /// Checks that the layer plants into every shader, for programs without aborts: a list, separated by commas, or `off`.
    "sanitize" sanitize: Checks = Checks::default(), Form::List(checks), Standard;

    /// Rules that select where checks are planted, in the language of `filter`. Subjects are `entry`, `file`, `function` and
    /// `module` (a hash). For example: `report entry=cull; ignore function=*`.
    "sanitize_filter" sanitize_filter: SanitizeFilter = SanitizeFilter::default(), Form::Rules, Standard;

    /// Loop iterations of an invocation, over all its loops, after which the check `loops` fails. `auto` is 16777216, or fewer if the
    /// driver ends loops earlier.
    "loop_budget" loop_budget: Option<u32> = None, Form::NumberOr { word: "auto", min: 1, max: MAX_INT }, Standard;

    /// How long the loops of an invocation may run before the check `loops` fails. 0: any time.
    "loop_timeout_ms" loop_timeout_ms: u32 = 500, Form::Milliseconds { min: 0, max: 600_000 }, Standard;

    /// Prints of shaders (`debugPrintfEXT`, `printf` of HLSL and Slang), which survive the loss of the device.
    "printf" printf: Printf = Printf::Off, Form::Choice(list::<Printf>), Standard;

    /// Size of the memory for prints of each device. A quarter of it holds the prints of work that is pending; further prints are
    /// counted.
    "printf_size" printf_size: u32 = 1 << 24, Form::Bytes { min: 1 << 16, max: 1 << 30 }, Advanced;

    /// Keeps what command buffers record, so that a report names the commands that can have run the invocation, and their debug
    /// labels. `vkabort run` switches it on.
    "commands" commands: Commands = Commands::Off, Form::Choice(list::<Commands>), Standard;

    /// Values at an abort that its report shows: the operands of the condition that led to it, and variables. Messages do not
    /// change.
    "values" values: Values = Values::Auto, Form::Choice(list::<Values>), Advanced;

    /// Maximum size of these values for each abort.
    "values_size" values_size: u32 = DEFAULT_VALUES_SIZE, Form::Bytes { min: 4, max: MAX_VALUE_UNITS * UNIT_BYTES }, Advanced;

    /// Folder for every shader module as the program creates it, `HASH.original.spv`, and as it runs if the layer changes it,
    /// `HASH.rewritten.spv`; empty to disable.
    "dump_modules" dump_modules: Option<PathBuf> = None, Form::Folder, Advanced;

    /// Folder of modules that run in place of the program's: `HASH.spv` replaces the module with this hash. Empty to disable.
    "replace_modules" replace_modules: Option<PathBuf> = None, Form::InputFolder, Advanced;
}

/// A setting of the layer.
pub type Setting = Row<Settings>;

/// The setting with this name.
///
/// # Errors
///
/// There is none. The error is the nearest name, if one is similar.
pub fn find(key: &str) -> Result<&'static Setting, Option<&'static str>> {
    let found = SETTINGS.iter().find(|setting| setting.key == key);
    found.ok_or_else(|| nearest(key, SETTINGS.iter().map(|setting| setting.key)))
}
