//! `vkabort decode`: decodes abort messages.

use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::{io, parse, site_tables};
use clap::{Args, ValueEnum};
use console::Term;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vkabort_instrument::Values;
use vkabort_record::compact::{Origin, Tag};
use vkabort_record::framing::{Framing, Messages, split};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES, commit_word, header};
use vkabort_record::site::CodeHash;
use vkabort_record::snapshot::Snapshot;
use vkabort_report::json::{Entry, read_log};
use vkabort_report::{Filter, ModuleInfo, Report, ReportOptions, SiteReport};

/// Larger than any `maxShaderAbortMessageSize`: the largest arena of the layer is not larger.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// Arguments of `vkabort decode`.
#[derive(Args)]
#[command(after_help = "\
With --sites the values have their exact types. Without it, strings and arguments are found by the conventions of GLSL
and Slang, types are guessed from the format string, and the bytes are always shown.

Examples:
  vkabort decode messages.bin --sites cull.spv
  vkabort decode log.jsonl --filter 'ignore message=* nan; ignore pipeline=debug*'
  vkabort decode aborts                              the newest report below this folder
  vkabort decode arena.bin --sites cull.json --sites light.json --json |
      jq -r 'select(.type == \"abort\").samples[].message.text'")]
pub struct DecodeArgs {
    /// Message data, a dump of an arena, a report in JSON lines, or a folder: the layer's dump_dir, of which the newest
    /// report is shown, or one dump in it
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Site table, or the module before it was rewritten; may be repeated. A report in JSON lines has its sites already
    #[arg(long, value_name = "SITES.json|IN.spv")]
    sites: Vec<PathBuf>,
    /// Format of the file
    #[arg(long, value_enum, default_value_t)]
    input_format: InputFormat,
    /// Size of the arena in bytes, if the dump holds only the used part
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    arena_size: Option<u32>,
    /// Leave out the aborts that these rules ignore: `ignore function=check_*; report file=cull.comp:31`
    #[arg(long, value_name = "RULES")]
    filter: Option<Filter>,
    /// Maximum number of messages shown per site: by default 4, or as many as a report in JSON lines has
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Print JSON lines, as `vkabort schema` describes them
    #[arg(long)]
    json: bool,
}

/// Value of `--input-format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// A report or an arena if the file starts like one, else messages
    #[default]
    Auto,
    /// Sizes and payloads in the framing of VkDeviceFaultShaderAbortMessageInfoKHR, padded or not
    Messages,
    /// A control block and records
    Arena,
    /// One payload without its size
    Payload,
    /// JSON lines from the layer or from this command
    Report,
}

/// Decodes a file and prints its reports.
///
/// # Errors
///
/// A file cannot be read, or does not have the expected format.
pub fn run(args: &DecodeArgs) -> Result<ExitCode> {
    let path = match args.input.is_dir() {
        true => report_in(&args.input)?,
        false => args.input.clone(),
    };
    let bytes = io::read(&path)?;
    let name = io::input_name(&path);
    let default = ReportOptions::default();
    let options = ReportOptions {
        samples: args.samples.unwrap_or(default.samples),
        ..default
    };
    let format = match args.input_format {
        InputFormat::Auto if is_report(&bytes) => InputFormat::Report,
        InputFormat::Auto if is_arena(&bytes) => InputFormat::Arena,
        InputFormat::Auto => InputFormat::Messages,
        named => named,
    };
    refuse_unused(&name, format, args)?;
    let modules = match format {
        // Records say whether values follow their messages: by default they do.
        InputFormat::Arena => site_tables::read(&args.sites, &[Values::Auto, Values::Off])?,
        _ => site_tables::read(&args.sites, &[Values::Auto])?,
    };
    let of_report = |report| vec![Entry::Report(report)];
    let mut entries = match format {
        InputFormat::Report => read_entries(&name, &bytes, args.samples)?,
        InputFormat::Arena => of_report(arena(&bytes, args, &modules, options)),
        InputFormat::Payload => of_report(Report::from_payloads([bytes.as_slice()], &modules, &options)),
        InputFormat::Auto | InputFormat::Messages => {
            let messages = split(&bytes);
            check(&name, &bytes, &messages)?;
            of_report(Report::from_payloads(messages.payloads, &modules, &options))
        }
    };
    warn_if_unmatched(&name, args, &modules, &entries);
    if let Some(filter) = &args.filter {
        reports_of(&mut entries).for_each(|report| filter.apply(report));
    }
    let color = io::has_color(&std::io::stdout());
    let columns = io::columns(&Term::stdout());
    for (index, entry) in entries.iter().enumerate() {
        if args.json {
            io::print(&entry.json_lines())?;
            continue;
        }
        if index > 0 && matches!(entry, Entry::Report(_)) {
            io::print("\n")?;
        }
        io::print_styled(&entry.styled(color, columns, true))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn reports_of(entries: &mut [Entry]) -> impl Iterator<Item = &mut Report> {
    entries.iter_mut().filter_map(|entry| match entry {
        Entry::Report(report) => Some(report),
        Entry::Print(_) | Entry::DroppedPrints(_) => None,
    })
}

/// Path of the newest report in a folder: in the folder itself, else in one of the dumps below it.
fn report_in(folder: &Path) -> Result<PathBuf> {
    let report = |folder: &Path| {
        let path = folder.join("report.jsonl");
        Some((path.metadata().ok()?.modified().ok()?, path))
    };
    let newest = report(folder).or_else(|| {
        let dumps = std::fs::read_dir(folder).ok()?.flatten();
        dumps.filter_map(|dump| report(&dump.path())).max()
    });
    newest.map(|(_, path)| path).ok_or_else(|| {
        Failure::input(format!(
            "{}: no report.jsonl in this folder or in a folder below it: pass the `dump_dir` of the layer, or one dump in it",
            io::input_name(folder)
        ))
    })
}

/// Whether the bytes are a log of the layer or the output of `--json`.
fn is_report(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"type\":\"")
}

/// Refuses options that have no effect on the format.
fn refuse_unused(name: &str, format: InputFormat, args: &DecodeArgs) -> Result<()> {
    let refused = |option, why| Err(Failure::usage(format!("{option} has no effect on {name}, {why}")));
    if format == InputFormat::Report && !args.sites.is_empty() {
        return refused("--sites", "a report in JSON lines, which has its sites already");
    }
    if format != InputFormat::Arena && args.arena_size.is_some() {
        return refused("--arena-size", "which is not a dump of an arena");
    }
    Ok(())
}

/// Warns if no message is of a site of `--sites`: the values are then guesses.
fn warn_if_unmatched(name: &str, args: &DecodeArgs, modules: &[ModuleInfo], entries: &[Entry]) {
    let sites = entries.iter().flat_map(|entry| match entry {
        Entry::Report(report) => report.sites.as_slice(),
        Entry::Print(_) | Entry::DroppedPrints(_) => &[],
    });
    let mut sites = sites.peekable();
    let is_known = |site: &SiteReport| site.function.is_some() || !site.also_possible.is_empty();
    if args.sites.is_empty() || sites.peek().is_none() || sites.any(is_known) {
        return;
    }
    let files: Vec<String> = args.sites.iter().map(|path| io::input_name(path)).collect();
    let problem = match modules
        .iter()
        .flat_map(|module| &module.sites)
        .any(|table| !table.sites.is_empty())
    {
        true => "has the site of a message: are they of the same build?",
        false => "has an abort",
    };
    io::note(&format!(
        "{name}: warning: nothing in --sites ({}) {problem}",
        files.join(", ")
    ));
}

/// Reads reports, with at most `samples` messages of each site, and prints.
fn read_entries(name: &str, bytes: &[u8], samples: Option<usize>) -> Result<Vec<Entry>> {
    let mut entries = read_log(&String::from_utf8_lossy(bytes))
        .map_err(|error| Failure::input(format!("{name}: not a report: {error}")))?;
    let samples = samples.map_or(usize::MAX, |samples| samples.max(1));
    for site in reports_of(&mut entries).flat_map(|report| &mut report.sites) {
        site.samples.truncate(samples);
    }
    Ok(entries)
}

/// Whether the bytes are an arena after an abort: CURSOR counts records, and the first one is complete.
fn is_arena(bytes: &[u8]) -> bool {
    let word = |offset: u32| {
        let chunk = bytes.get(offset as usize..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*chunk))
    };
    let first = |index| word(CONTROL_BYTES + index * 4);
    let origin = first(header::LENGTH).and_then(Origin::read);
    let is_complete = match origin {
        Some(origin) => first(origin.tag_word()).and_then(Tag::read).is_some(),
        None => first(header::COMMIT) == Some(commit_word(0)),
    };
    is_complete && word(CURSOR_OFFSET).is_some_and(|cursor| cursor != 0 && cursor != u32::MAX)
}

fn arena(bytes: &[u8], args: &DecodeArgs, modules: &[ModuleInfo], options: ReportOptions) -> Report {
    let size = args
        .arena_size
        .unwrap_or(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let capacity = size.saturating_sub(CONTROL_BYTES) / UNIT_BYTES;
    let module = |code: CodeHash| {
        let of_hash = |m: &&ModuleInfo| m.sites.as_ref().is_some_and(|t| t.code() == code);
        modules.iter().find(of_hash).cloned().unwrap_or_default()
    };
    let find_sites = |hash| {
        let sites = modules.iter().filter_map(|module| module.sites.as_ref());
        let mut compact = sites.filter(|table| table.has_compact_records() && hash == table.code().into());
        compact.next().cloned()
    };
    let records = Snapshot::from_bytes(bytes).records_of(capacity, &find_sites);
    let options = ReportOptions {
        arena_bytes: Some(u64::from(size)),
        ..options
    };
    Report::build(&records, &module, &options)
}

/// Checks that the bytes are message data. Reports data that is cut short or not padded.
///
/// # Errors
///
/// The data is of another kind, or has bytes that no message explains.
fn check(name: &str, bytes: &[u8], messages: &Messages<'_>) -> Result<()> {
    let refused = |problem: &str| Err(Failure::input(format!("{name}: not abort message data: {problem}")));
    if Module::has_magic(bytes) {
        return refused(&format!(
            "it is a SPIR-V module; `vkabort sites {name}` lists its aborts, and `--sites {name}` decodes its messages"
        ));
    }
    if bytes.starts_with(b"vkabort: ") {
        return refused(
            "it is a log in text form; decode one in JSON lines (`vkabort run --report`, log_format = json)",
        );
    }
    if !bytes.is_empty() && bytes.iter().all(|&byte| byte == 0) {
        return refused("every byte is 0, so nothing was written to it");
    }
    if messages.payloads.is_empty() && !bytes.is_empty() {
        return refused(
            "the first 8 bytes are not a message size; pass --input-format payload for one message without its size, or \
             arena for a dump of an arena",
        );
    }
    let at = bytes.len() - messages.rest.len();
    if let Some(size) = messages.rest.first_chunk::<8>().map(|size| u64::from_le_bytes(*size))
        && size > MAX_MESSAGE_BYTES
    {
        return refused(&format!("the 8 bytes at offset {at} are not a message size ({size})"));
    }
    if !messages.rest.is_empty() {
        io::note(&format!(
            "{name}: the data ends inside a message: {} bytes from offset {at} are left out",
            messages.rest.len(),
        ));
    }
    if messages.framing == Framing::Packed {
        io::note(&format!(
            "{name}: the messages are not padded to multiples of 8 bytes, as the specification requires"
        ));
    }
    Ok(())
}
