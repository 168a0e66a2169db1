//! What can be asked of the command.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use vkabort_instrument::{LoopPoll, Trap};
use vkabort_record::report::Filter;

/// Makes shader aborts (VK_KHR_shader_abort, OpAbortKHR) work and readable on every Vulkan driver.
#[derive(Parser)]
#[command(name = "vkabort", version, propagate_version = true, after_help = EXIT_CODES)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  wrong usage
  3  the input is not what the command expects: a malformed module, no message data, ...
  4  a file cannot be read or written, a program cannot be started
  5  doctor: no device can do it; conform: everything was skipped
  6  conform: a check failed, crashed or hung
 90  run: a shader aborted; otherwise run ends with the program's own exit code

Files are named by path; `-` is standard input or output. Results go to standard output, everything else to
standard error.";

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Rewrite a SPIR-V module as the layer does: aborts become records in memory
    Instrument(InstrumentArgs),
    /// List the places in a SPIR-V module that may abort, with the layout of their messages
    Sites(SitesArgs),
    /// Decode abort messages: as vkGetDeviceFaultDebugInfoKHR returned them, from a dump of the layer, from its log
    Decode(DecodeArgs),
    /// Run a program under the layer, show what aborts, and fail if anything did
    Run(RunArgs),
    /// Look at the machine: drivers, what each supports, what the layer adds and why not, where it is registered
    Doctor(DoctorArgs),
    /// Check that what is installed keeps to the specifications: a driver's own aborts, or the layer's
    Conform(ConformArgs),
    /// Register the layer with the Vulkan loader: for this user, or with --system for everybody
    Install(InstallArgs),
    /// Take the registered layer away again
    Uninstall(UninstallArgs),
    /// Print the JSON Schema of reports: what `--json`, `run --report` and the layer's log consist of
    Schema,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// `vkabort instrument`
#[derive(ClapArgs)]
#[command(after_help = "\
The output of a module without aborts, constant data, poison and freeze is the module itself.

Examples:
  vkabort instrument cull.spv -o cull.out.spv --sites cull.json
  vkabort instrument - -o - --trap hang < cull.spv | spirv-dis")]
pub struct InstrumentArgs {
    /// SPIR-V module, little- or big-endian
    #[arg(value_name = "IN.spv")]
    pub input: String,
    /// Where the rewritten module goes, in the word order of the input
    #[arg(short, long, value_name = "OUT.spv")]
    pub output: String,
    /// Device address of the arena, a multiple of 16
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub arena_address: Option<u64>,
    /// Device address of a control block that is not at the arena's beginning, a multiple of 16
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub control_address: Option<u64>,
    /// Size of the arena in bytes; K and M are understood
    #[arg(long, value_name = "BYTES", default_value = "1M", value_parser = parse_bytes)]
    pub arena_size: u32,
    /// What ends an aborting invocation
    #[arg(long, value_enum, default_value_t)]
    pub trap: TrapArg,
    /// How often the loop of `--trap hang` goes round at most
    #[arg(long, value_name = "N", default_value_t = vkabort_instrument::DEFAULT_HANG_ITERATIONS)]
    pub hang_iterations: u32,
    /// Which loops watch for aborts of other invocations
    #[arg(long, value_enum, default_value_t)]
    pub loop_poll: LoopPollArg,
    /// Largest message in bytes; a module with a larger one is refused
    #[arg(long, value_name = "BYTES", default_value = "64K", value_parser = parse_bytes)]
    pub max_message_size: u32,
    /// Give messages to the first N aborts only; the others just end their invocations, without a message and without
    /// losing the device (to find a troublemaker by bisection)
    #[arg(long, value_name = "N")]
    pub max_sites: Option<u32>,
    /// Data for the OpSpecConstantDataKHR with this SpecId; may be repeated
    #[arg(long, value_name = "ID=HEXBYTES", value_parser = parse_specialization)]
    pub specialize: Vec<(u32, Vec<u8>)>,
    /// Write the table of abort sites, for `vkabort decode --sites`
    #[arg(long, value_name = "SITES.json")]
    pub sites: Option<String>,
    /// Print a summary as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `vkabort sites`
#[derive(ClapArgs)]
pub struct SitesArgs {
    /// SPIR-V modules, little- or big-endian
    #[arg(value_name = "IN.spv", required = true)]
    pub inputs: Vec<String>,
    /// Print a list of site tables, as `vkabort decode --sites` reads it
    #[arg(long)]
    pub json: bool,
}

/// `vkabort decode`
#[derive(ClapArgs)]
#[command(after_help = "\
With --sites the values are exactly typed. Without, strings and arguments are found by the conventions of GLSL and
Slang, types are guessed from the format, and the bytes are always shown.

Examples:
  vkabort decode messages.bin --sites cull.spv
  vkabort decode log.jsonl --filter 'ignore message=* nan; ignore pipeline=debug*'
  vkabort decode aborts/abort-1718000000-4711-0
  vkabort decode arena.bin --sites cull.json --sites light.json --json |
      jq -r 'select(.type == \"abort\").samples[].message.text'")]
pub struct DecodeArgs {
    /// Message data, a dump of an arena, a report in JSON lines, or a folder from the layer's dump_dir
    #[arg(value_name = "FILE")]
    pub input: String,
    /// Site table, or the module itself before it was rewritten; may be repeated
    #[arg(long, value_name = "SITES.json|IN.spv")]
    pub sites: Vec<String>,
    /// What the file is
    #[arg(long, value_enum, default_value_t)]
    pub input_format: InputFormat,
    /// Size of the arena in bytes, where the dump holds only its used part
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub arena_size: Option<u32>,
    /// Leave out what these rules ignore: `ignore function=check_*; report file=cull.comp:31`
    #[arg(long, value_name = "RULES")]
    pub filter: Option<Filter>,
    /// Messages shown of each site
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub samples: usize,
    /// Print JSON lines, as `vkabort schema` describes them
    #[arg(long)]
    pub json: bool,
}

/// `vkabort run`
#[derive(ClapArgs)]
#[command(after_help = "\
Nothing is installed: the layer is switched on for this program by environment variables. Reports go to standard error
as they come. Exit code: 90 if any shader aborted, else the program's own.

Examples:
  vkabort run -- ./app --frames 100
  vkabort run --set on_abort=continue --set dump_dir=aborts --junit result.xml -- ./tests")]
pub struct RunArgs {
    /// A setting of the layer; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub set: Vec<(String, String)>,
    /// The layer's library, or the folder that holds it
    #[arg(long, value_name = "PATH")]
    pub layer: Option<String>,
    /// Keep the layer's log with its reports: JSON lines, for `vkabort decode`
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write the outcome as JUnit XML: a failed test for every place that aborted
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Neither show nor count what these rules ignore: `ignore function=check_*; report file=cull.comp:31`
    #[arg(long, value_name = "RULES")]
    pub filter: Option<Filter>,
    /// Show reports as JSON lines
    #[arg(long)]
    pub json: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "APP")]
    pub command: Vec<std::ffi::OsString>,
}

/// `vkabort doctor`
#[derive(ClapArgs)]
pub struct DoctorArgs {
    /// The layer's library, or the folder that holds it
    #[arg(long, value_name = "PATH")]
    pub layer: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Print what this process sees of Vulkan, as JSON: how `doctor` asks its child processes
    #[arg(long, hide = true)]
    pub probe: bool,
}

/// `vkabort conform`
#[derive(ClapArgs)]
#[command(after_help = "\
Every check is a process of its own with a time limit, since a device may be lost, hang or take the process along.
pass   as the specification says
fail   not as it says; the sentence that is broken stands below
crash  the process died; hang: it did not end in time
warn   allowed and unwise: applications suffer from it
skip   not applicable, with the reason

Examples:
  vkabort conform                       the driver's own implementation
  vkabort conform --emulated            the layer's, on the same driver
  vkabort conform --filter message. --junit result.xml
  vkabort conform --list")]
pub struct ConformArgs {
    /// The device with this in its name, instead of the fastest kind of device that there is; NAME#2 for the second of
    /// that name
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Check the layer, set up as `vkabort run` does it, with `emulation = force`
    #[arg(long, conflicts_with = "as_installed")]
    pub emulated: bool,
    /// Leave the environment alone and check what an application would find; this is the default
    #[arg(long)]
    pub as_installed: bool,
    /// A setting of the layer; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_setting, requires = "emulated")]
    pub set: Vec<(String, String)>,
    /// The layer's library, or the folder that holds it
    #[arg(long, value_name = "PATH", requires = "emulated")]
    pub layer: Option<String>,
    /// Only the checks with this in their names
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// How long a check may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub limit: u64,
    /// List the checks with the sentences of the specifications that they are about
    #[arg(long)]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write the results as JUnit XML too
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Write the shaders of the checks as SPIR-V into this folder, and check nothing
    #[arg(long, value_name = "FOLDER")]
    pub shaders: Option<String>,
    /// Do one check in this process and print its verdict: how `conform` asks its child processes
    #[arg(long, value_name = "NAME", hide = true)]
    pub check: Option<String>,
}

/// `vkabort install`
#[derive(ClapArgs)]
#[command(after_help = "\
A registered layer does nothing until it is switched on for a program: VKABORT_ENABLE=1 for the implicit layer, its name
in VK_INSTANCE_LAYERS or in the Vulkan Configurator for the explicit one.")]
pub struct InstallArgs {
    /// Where to
    #[command(flatten)]
    pub place: Place,
    /// Register it to be asked for by name instead of by VKABORT_ENABLE
    #[arg(long)]
    pub explicit: bool,
    /// The layer's library, or the folder that holds it
    #[arg(long, value_name = "PATH")]
    pub layer: Option<String>,
    /// Let the manifest name the library where it is instead of copying it
    #[arg(long)]
    pub in_place: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// `vkabort uninstall`
#[derive(ClapArgs)]
pub struct UninstallArgs {
    /// Where from
    #[command(flatten)]
    pub place: Place,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// For whom the layer is registered.
#[derive(ClapArgs)]
pub struct Place {
    /// For all users of the machine
    #[arg(long)]
    pub system: bool,
    /// With --system: the folder whose share/vulkan the loader searches
    #[arg(long, value_name = "FOLDER", default_value = "/usr/local", requires = "system")]
    pub prefix: String,
}

/// `vkabort completions`
#[derive(ClapArgs)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// What a file to decode holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// A report or an arena if it starts like one, else messages
    #[default]
    Auto,
    /// Sizes and payloads, as VkDeviceFaultShaderAbortMessageInfoKHR has them, padded or not
    Messages,
    /// Control block and records
    Arena,
    /// One payload without its size
    Payload,
    /// JSON lines that the layer or this command wrote
    Report,
}

/// `--trap`
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum TrapArg {
    /// It returns; the layer reports the loss
    #[default]
    Return,
    /// It stores to an address that is never mapped
    Fault,
    /// It loops for ever
    Hang,
}

impl From<TrapArg> for Trap {
    fn from(arg: TrapArg) -> Self {
        match arg {
            TrapArg::Return => Self::Return,
            TrapArg::Fault => Self::Fault,
            TrapArg::Hang => Self::Hang,
        }
    }
}

/// `--loop-poll`
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum LoopPollArg {
    /// Those that wait for other invocations or have no exit
    #[default]
    Auto,
    /// Every loop
    All,
    /// None
    Off,
}

impl From<LoopPollArg> for LoopPoll {
    fn from(arg: LoopPollArg) -> Self {
        match arg {
            LoopPollArg::Auto => Self::Auto,
            LoopPollArg::All => Self::All,
            LoopPollArg::Off => Self::Off,
        }
    }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "expected KEY=VALUE, for example arena_size=4194304".to_owned())
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn parse_address(text: &str) -> Result<u64, String> {
    match parse_number(text) {
        Some(address) if address.is_multiple_of(16) => Ok(address),
        Some(_) => Err("the address has to be a multiple of 16".to_owned()),
        None => Err("expected a number such as 0x7f0000000000".to_owned()),
    }
}

fn parse_bytes(text: &str) -> Result<u32, String> {
    let trimmed = text.trim_end_matches("iB").trim_end_matches('B');
    let (digits, shift) = match trimmed.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 10),
        None => match trimmed.strip_suffix(['M', 'm']) {
            Some(digits) => (digits, 20),
            None => (text, 0),
        },
    };
    let number = parse_number(digits).ok_or("expected a number of bytes such as 65536, 64K or 1M")?;
    number
        .checked_shl(shift)
        .filter(|bytes| bytes >> shift == number)
        .and_then(|bytes| u32::try_from(bytes).ok())
        .ok_or_else(|| "at most 4294967295 bytes".to_owned())
}

fn parse_specialization(text: &str) -> Result<(u32, Vec<u8>), String> {
    let (id, digits) = text
        .split_once('=')
        .ok_or("expected ID=HEXBYTES, for example 7=6d736700")?;
    let id = id.parse().map_err(|_| format!("`{id}` is no SpecId"))?;
    let bytes = vkabort_record::hex::unhex(digits)
        .ok_or_else(|| format!("`{digits}` is no sequence of bytes in hexadecimal, two digits each"))?;
    Ok((id, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn sizes_and_addresses_are_read() {
        assert_eq!(parse_bytes("65536"), Ok(65536));
        assert_eq!(parse_bytes("64K"), Ok(65536));
        assert_eq!(parse_bytes("1MiB"), Ok(1 << 20));
        assert_eq!(parse_bytes("0x100"), Ok(256));
        assert!(parse_bytes("4096M").is_err());
        assert!(parse_bytes("99999999999999999999M").is_err());
        assert!(parse_bytes("big").is_err());
        assert_eq!(parse_address("0x7f00_0000").ok(), None);
        assert_eq!(parse_address("0x7f000010"), Ok(0x7f00_0010));
        assert!(parse_address("0x7f000008").is_err());
        assert_eq!(parse_specialization("7=0aFF"), Ok((7, vec![0x0a, 0xff])));
        assert!(parse_specialization("7=0").is_err());
        assert!(parse_specialization("x=00").is_err());
    }
}
