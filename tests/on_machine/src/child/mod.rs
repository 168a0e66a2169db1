//! Tasks of child processes: a part, or one case or measurement of a part.

mod bench;
mod cases;
mod conform;
mod context;
mod machine;
mod misbehave;
mod single;
mod time_budget;

use crate::args::Args;
use crate::parts::{self, PartKind};
use crate::results::Results;
use crate::unpacked::Unpacked;
use anyhow::{Context, Result};
use context::PartContext;
use std::process::ExitCode;
use std::time::Duration;
use time_budget::TimeBudget;

/// Runs the task of a child process.
///
/// # Errors
///
/// The task is unknown, an argument is missing, or the task fails.
pub fn run(child: &str, args: &Args) -> Result<ExitCode> {
    if let Some(code) = single::run(child, args)? {
        return Ok(code);
    }
    let part = parts::find(child).with_context(|| format!("unknown part {child}"))?;
    let mut context = PartContext {
        unpacked: Unpacked::find(args.folder.as_deref().context("a part needs --folder")?)?,
        device: args.device.clone().context("a part needs --device")?,
        native: args.force,
        settings: Vec::from_iter(args.force.then_some(("emulation", "force"))),
        budget: TimeBudget::new(Duration::from_secs(args.limit)),
        results: Results::open(args.results.as_deref().context("a part needs --results")?)?,
        failed: false,
    };
    match part.kind {
        PartKind::Facts => machine::run(&mut context)?,
        PartKind::Conform(group) => conform::of_the_layer(&mut context, group)?,
        PartKind::Native => conform::of_the_driver(&mut context)?,
        PartKind::Cases(family) => cases::on_the_machine(&mut context, family)?,
        PartKind::Own(family) => cases::on_the_own_driver(&mut context, family)?,
        PartKind::Trap(family) => cases::traps(&mut context, family)?,
        PartKind::After => cases::on_the_machine(&mut context, "abort")?,
        PartKind::Bench(bench) => bench::run(&mut context, bench)?,
        PartKind::Misbehave(how) => misbehave::run(&mut context, how)?,
    }
    Ok(ExitCode::from(u8::from(context.failed)))
}
