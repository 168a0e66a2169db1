//! `vkabort instrument`

use crate::args::InstrumentArgs;
use crate::failure::{Failure, Result};
use crate::io;
use crate::module::Module;
use serde_json::json;
use std::process::ExitCode;
use vkabort_instrument::{Arena, Options, Outcome, instrument};

/// Rewrites a module.
pub fn run(args: &InstrumentArgs) -> Result<ExitCode> {
    let standard_output = [Some(&args.output), args.sites.as_ref()]
        .into_iter()
        .flatten()
        .filter(|path| *path == "-")
        .count();
    if standard_output + usize::from(args.json) > 1 {
        return Err(Failure::input(
            "standard output can take one thing: the module, the sites or --json",
        ));
    }
    let options = options(args)?;
    let module = Module::read(&args.input)?;
    let outcome =
        instrument(&module.words, &options).map_err(|error| Failure::input(format!("{}: {error}", module.name)))?;
    let summary = match &outcome {
        Outcome::Unchanged => {
            if args.sites.is_some() {
                return Err(Failure::input(format!(
                    "{}: declares none of AbortKHR, ConstantDataKHR, PoisonFreezeKHR: there are no sites to write",
                    module.name
                )));
            }
            io::write(&args.output, &module.bytes_of(&module.words))?;
            if !args.json {
                io::note(&format!("{}: nothing to rewrite, copied as it is", module.name));
            }
            json!({"outcome": "unchanged", "words": module.words.len()})
        }
        Outcome::Instrumented(new) => {
            io::write(&args.output, &module.bytes_of(&new.words))?;
            if let Some(path) = &args.sites {
                // Plain structures with string keys: serialising them cannot fail.
                let table = serde_json::to_string_pretty(&new.sites).unwrap_or_default();
                io::write(path, (table + "\n").as_bytes())?;
            }
            let count = new.sites.sites.len();
            if !args.json {
                io::note(&format!(
                    "{}: {count} abort site{}, {} words became {}",
                    module.name,
                    if count == 1 { "" } else { "s" },
                    module.words.len(),
                    new.words.len()
                ));
                if !new.data_spec_ids.is_empty() {
                    io::note(&format!(
                        "{}: specialised constant data with SpecId {:?}: rewrite again with --specialize for other data",
                        module.name, new.data_spec_ids
                    ));
                }
            }
            json!({
                "outcome": "instrumented",
                "module_hash": new.module_hash,
                "sites": count,
                "words": module.words.len(),
                "new_words": new.words.len(),
                "data_spec_ids": new.data_spec_ids,
            })
        }
    };
    if args.json {
        io::print(&format!("{summary}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &InstrumentArgs) -> Result<Options> {
    let default = Options::default();
    let needed = Arena::minimum_bytes(args.max_message_size);
    if args.arena_size < needed {
        return Err(Failure::input(format!(
            "--arena-size {} is too small for messages of {} bytes: at least {needed}",
            args.arena_size, args.max_message_size
        )));
    }
    let arena = Arena::at(args.arena_address.unwrap_or(default.arena.control), args.arena_size);
    Ok(Options {
        arena: args
            .control_address
            .map_or(arena, |control| arena.with_control(control)),
        trap: args.trap.into(),
        hang_iterations: args.hang_iterations,
        loop_poll: args.loop_poll.into(),
        max_message_bytes: args.max_message_size,
        max_sites: args.max_sites,
        memory_barriers: default.memory_barriers,
        specialization: args.specialize.iter().cloned().collect(),
    })
}
