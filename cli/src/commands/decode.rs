//! `vkabort decode`

use crate::args::{DecodeArgs, InputFormat};
use crate::failure::{Failure, Result};
use crate::{io, tables};
use std::path::Path;
use std::process::ExitCode;
use vkabort_record::framing::{Framing, split};
use vkabort_record::layout::{ABORTED_OFFSET, CONTROL_BYTES, UNIT_BYTES, commit_word, header};
use vkabort_record::report::{ModuleInfo, Report, ReportOptions};
use vkabort_record::site::ModuleHash;
use vkabort_record::snapshot::Snapshot;

/// Decodes a file of messages.
pub fn run(args: &DecodeArgs) -> Result<ExitCode> {
    let modules = tables::read(&args.sites)?;
    let path = match Path::new(&args.input) {
        folder if folder.is_dir() => report_in(folder)?,
        _ => args.input.clone(),
    };
    let bytes = io::read(&path)?;
    let name = io::name(&path, "standard input");
    let options = ReportOptions {
        samples: args.samples,
        ..ReportOptions::default()
    };
    let mut reports = match args.input_format {
        InputFormat::Auto if is_report(&bytes) => read_report(&name, &bytes)?,
        InputFormat::Report => read_report(&name, &bytes)?,
        InputFormat::Auto if is_arena(&bytes) => vec![arena(&bytes, args, &modules, options)],
        InputFormat::Arena => vec![arena(&bytes, args, &modules, options)],
        InputFormat::Payload => vec![Report::from_payloads([bytes.as_slice()], &modules, &options)],
        InputFormat::Auto | InputFormat::Messages => vec![messages(&name, &bytes, &modules, &options)?],
    };
    if let Some(filter) = &args.filter {
        reports.iter_mut().for_each(|report| filter.apply(report));
    }
    let color = io::stdout_color();
    let text: Vec<String> = reports
        .iter()
        .map(|report| {
            if args.json {
                report.json_lines()
            } else {
                report.text(color)
            }
        })
        .collect();
    io::print(&text.join(if args.json { "" } else { "\n" }))?;
    Ok(ExitCode::SUCCESS)
}

/// The report in a folder that the layer's `dump_dir` has for every abort.
fn report_in(folder: &Path) -> Result<String> {
    let report = folder.join("report.jsonl");
    match report.to_str().filter(|_| report.is_file()) {
        Some(path) => Ok(path.to_owned()),
        None => Err(Failure::input(format!(
            "{}: no report.jsonl in this folder: name one of the folders that `dump_dir` has for every abort",
            folder.display()
        ))),
    }
}

/// A log of the layer, or the output of `--json`.
fn is_report(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"type\":\"")
}

fn read_report(name: &str, bytes: &[u8]) -> Result<Vec<Report>> {
    Report::read_json_lines(&String::from_utf8_lossy(bytes))
        .map_err(|error| Failure::input(format!("{name}: no report: {error}")))
}

/// An arena in which somebody aborted has a record header behind its control block, complete or with its length.
fn is_arena(bytes: &[u8]) -> bool {
    let word = |offset: u32| {
        let chunk = bytes.get(offset as usize..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*chunk))
    };
    word(CONTROL_BYTES + header::COMMIT * 4) == Some(commit_word(0)) && word(ABORTED_OFFSET) == Some(1)
}

fn arena(bytes: &[u8], args: &DecodeArgs, modules: &[ModuleInfo], options: ReportOptions) -> Report {
    let size = args
        .arena_size
        .unwrap_or(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let capacity = size.saturating_sub(CONTROL_BYTES) / UNIT_BYTES;
    let records = Snapshot::from_bytes(bytes).records(capacity);
    let known = |hash: ModuleHash| {
        let of_hash = |m: &&ModuleInfo| m.sites.as_ref().is_some_and(|t| t.module_hash == hash);
        modules.iter().find(of_hash).cloned().unwrap_or_default()
    };
    let options = ReportOptions {
        arena_bytes: Some(u64::from(size)),
        ..options
    };
    Report::build(&records, &known, &options)
}

fn messages(name: &str, bytes: &[u8], modules: &[ModuleInfo], options: &ReportOptions) -> Result<Report> {
    let found = split(bytes);
    if found.payloads.is_empty() && !bytes.is_empty() {
        return Err(Failure::input(format!(
            "{name}: no message data: the first 8 bytes are no size of a message in {} bytes; \
             use --input-format payload for a single message without its size, arena for a dump of an arena",
            bytes.len()
        )));
    }
    if !found.rest.is_empty() {
        io::note(&format!(
            "{name}: the data ends inside a message: {} bytes from offset {} on are left out",
            found.rest.len(),
            bytes.len() - found.rest.len()
        ));
    }
    if found.framing == Framing::Packed {
        io::note(&format!(
            "{name}: the messages are not padded to multiples of 8 bytes, as the specification wants"
        ));
    }
    Ok(Report::from_payloads(found.payloads, modules, options))
}
