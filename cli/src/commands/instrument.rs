//! `vkabort instrument`: rewrites a module.

use crate::failure::{Failure, Result};
use crate::module::Module;
use crate::{io, parse, settings};
use clap::Args;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vkabort_instrument::{Arena, Hooks, Instrumented, LoopPoll, Options, Outcome, Trap, Values, instrument_with};
use vkabort_settings::Choice as _;

/// Arguments of `vkabort instrument`.
#[derive(Args)]
#[command(after_help = "\
A module without aborts, constant data, poison and freeze is copied unchanged.

Examples:
  vkabort instrument cull.spv -o cull.out.spv --sites cull.json
  vkabort instrument - -o - --trap hang < cull.spv | spirv-dis")]
pub struct InstrumentArgs {
    /// SPIR-V module, little- or big-endian
    #[arg(value_name = "IN.spv")]
    input: PathBuf,
    /// File for the rewritten module, in the byte order of the input
    #[arg(short, long, value_name = "OUT.spv")]
    output: PathBuf,
    /// Device address of the arena, a multiple of 16
    #[arg(long, value_name = "ADDRESS", value_parser = parse::address)]
    arena_address: Option<u64>,
    /// Device address of a control block outside the arena, a multiple of 16
    #[arg(long, value_name = "ADDRESS", value_parser = parse::address)]
    control_address: Option<u64>,
    /// Size of the arena in bytes; suffixes K and M are allowed
    #[arg(long, value_name = "BYTES", default_value = settings::default("arena_size"), value_parser = parse::bytes)]
    arena_size: u32,
    /// How an aborting invocation ends
    #[arg(long, default_value = Options::default().trap.name(), value_parser = settings::choice::<Trap>())]
    trap: Trap,
    #[arg(long, help = settings::help("hang_iterations"), value_name = "N",
        default_value_t = Options::default().hang_iterations)]
    hang_iterations: u32,
    #[arg(long, help = settings::help("loop_poll"), default_value = Options::default().loop_poll.name(),
        value_parser = settings::choice::<LoopPoll>())]
    loop_poll: LoopPoll,
    /// Maximum size of a message in bytes; a module with a larger message is rejected
    #[arg(long, value_name = "BYTES", default_value = settings::default("max_message_size"), value_parser = parse::bytes)]
    max_message_size: u32,
    /// Let only the first N aborts send a message and lose the device; the others end their invocations silently (to
    /// find an abort by bisection)
    #[arg(long, value_name = "N")]
    max_sites: Option<u32>,
    /// Which values at an abort its record holds besides the message
    #[arg(long, default_value = Options::default().values.name(), value_parser = settings::choice::<Values>())]
    values: Values,
    /// Maximum size of these values in bytes
    #[arg(long, value_name = "BYTES", default_value = settings::default("values_size"), value_parser = parse::bytes)]
    values_size: u32,
    /// Data for the OpSpecConstantDataKHR with this SpecId; may be repeated
    #[arg(long, value_name = "ID=HEXBYTES", value_parser = parse::specialization)]
    specialize: Vec<(u32, Vec<u8>)>,
    /// Write the table of abort sites, for `vkabort decode --sites`
    #[arg(long, value_name = "SITES.json")]
    sites: Option<PathBuf>,
    /// Write the module after each pass to this folder, as 01-PASS.spv and so on (to debug the rewriter)
    #[arg(long, value_name = "DIR")]
    dump_passes: Option<PathBuf>,
    /// Print a summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Rewrites a module.
///
/// # Errors
///
/// An option or the module is not valid, or a file cannot be read or written.
pub fn run(args: &InstrumentArgs) -> Result<ExitCode> {
    let files = [Some(&args.output), args.sites.as_ref()].into_iter().flatten();
    if files.filter(|path| path.as_os_str() == "-").count() + usize::from(args.json) > 1 {
        return Err(Failure::input(
            "only one of the module, the sites and --json can go to standard output",
        ));
    }
    let options = options(args)?;
    let module = Module::read(&args.input)?;
    let mut after_passes = Vec::new();
    let mut after_pass = |pass, words: &[u32]| {
        if args.dump_passes.is_some() {
            after_passes.push((pass, words.to_vec()));
        }
    };
    let outcome = instrument_with(
        &module.words,
        &options,
        Hooks {
            after_pass: Some(&mut after_pass),
            place: None,
            ..Hooks::default()
        },
    );
    // Also after an error: the passes before it are of interest then.
    if let Some(folder) = &args.dump_passes {
        dump_passes(folder, &module, &after_passes)?;
    }
    let outcome = outcome.map_err(|error| Failure::input(format!("{}: {error}", module.name)))?;
    let summary = match &outcome {
        Outcome::Unchanged => copy(args, &module)?,
        Outcome::Instrumented(new) => {
            for warning in &new.sites.warnings {
                io::note(&format!("{}: warning: {}", module.name, warning));
            }
            write(args, &module, new)?
        }
    };
    if args.json {
        io::print_json(&summary)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the module after each pass to `01-poison.spv` and so on.
fn dump_passes(folder: &Path, module: &Module, after_passes: &[(&str, Vec<u32>)]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::path(folder, "created", &error))?;
    for (number, (pass, words)) in (1..).zip(after_passes) {
        let file = folder.join(format!("{number:02}-{pass}.spv"));
        io::write(&file, &module.bytes_of(words))?;
    }
    Ok(())
}

/// Writes a module that needs no rewriting. Returns the summary.
fn copy(args: &InstrumentArgs, module: &Module) -> Result<Json> {
    let name = &module.name;
    if args.sites.is_some() {
        return Err(Failure::input(format!(
            "{name}: declares none of AbortKHR, ConstantDataKHR, PoisonFreezeKHR: there are no sites to write"
        )));
    }
    io::write(&args.output, &module.bytes_of(&module.words))?;
    if !args.json {
        io::note(&format!("{name}: nothing to rewrite, copied unchanged"));
    }
    Ok(json!({"outcome": "unchanged", "words": module.words.len()}))
}

/// Writes the rewritten module and its sites. Returns the summary.
fn write(args: &InstrumentArgs, module: &Module, new: &Instrumented) -> Result<Json> {
    io::write(&args.output, &module.bytes_of(&new.words))?;
    if let Some(path) = &args.sites {
        io::write_sites(path, &new.sites)?;
    }
    let (name, words, new_words) = (&module.name, module.words.len(), new.words.len());
    let sites = new.sites.sites.len();
    if !args.json {
        let sites = io::count(sites as u64, "abort site");
        io::note(&format!("{name}: {sites}, {words} words rewritten to {new_words}"));
        if !new.data_spec_ids.is_empty() {
            io::note(&format!(
                "{name}: constant data with SpecId {:?} has its default; pass other data as --specialize",
                new.data_spec_ids
            ));
        }
    }
    Ok(json!({
        "outcome": "instrumented",
        "module_hash": new.sites.module_hash,
        "sites": sites,
        "words": words,
        "new_words": new_words,
        "data_spec_ids": new.data_spec_ids,
        "length_spec_ids": new.length_spec_ids,
        "key_spec_id": new.key_spec_id,
    }))
}

fn options(args: &InstrumentArgs) -> Result<Options> {
    let default = Options::default();
    let minimum = Arena::minimum_bytes(args.max_message_size);
    if args.arena_size < minimum {
        return Err(Failure::input(format!(
            "--arena-size {} is too small for messages of {} bytes: use at least {minimum}",
            args.arena_size, args.max_message_size
        )));
    }
    let arena = Arena::at(args.arena_address.unwrap_or(default.arena.control), args.arena_size);
    Ok(Options {
        lowers: default.lowers,
        arena: args
            .control_address
            .map_or(arena, |control| arena.with_control(control)),
        trap: args.trap,
        hang_iterations: args.hang_iterations,
        values: args.values,
        values_size: args.values_size,
        loop_poll: args.loop_poll,
        max_message_bytes: args.max_message_size,
        max_sites: args.max_sites,
        loop_exits: default.loop_exits,
        memory_barriers: default.memory_barriers,
        scalar_stores: default.scalar_stores,
        branches_at_exits: default.branches_at_exits,
        breaks_at_starts: default.breaks_at_starts,
        opaque_conditions: default.opaque_conditions,
        remembers_loop_values: default.remembers_loop_values,
        compact_records: default.compact_records,
        sanitize: default.sanitize,
        shadow_area: default.shadow_area,
        prints: default.prints,
        specialization: args.specialize.iter().cloned().collect(),
    })
}
