//! What children of this program do: a part, or a single thing for one.

mod bench;
mod cases;
mod clock;
mod conform;
mod machine;
mod misbehave;
mod single;

use crate::args::Args;
use crate::carried::Carried;
use crate::parts::{self, What};
use crate::results::{Line, Results};
use anyhow::{Context, Result};
use clock::Clock;
use std::process::ExitCode;
use std::time::Duration;

/// What a part works with.
struct Inner {
    carried: Carried,
    device: String,
    /// Whether the driver has the extension itself.
    native: bool,
    /// Settings that every case on the device has.
    settings: Vec<(&'static str, &'static str)>,
    clock: Clock,
    results: Results,
    failed: bool,
}

impl Inner {
    /// Says that something begins.
    fn start(&mut self, name: &str) -> Result<()> {
        self.results.add(&Line::Started(name.to_owned()))
    }

    /// Says how it ended.
    fn end(&mut self, line: &Line) -> Result<()> {
        self.failed |= matches!(line, Line::Failed(..));
        self.results.add(line)
    }

    /// Does something that holds if it returns.
    fn check(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.start(name)?;
        let line = match check(self) {
            Ok(()) => Line::Passed(name.to_owned()),
            Err(error) => Line::Failed(name.to_owned(), format!("{error:#}")),
        };
        self.end(&line)
    }

    fn fact(&mut self, text: impl Into<String>) -> Result<()> {
        self.results.add(&Line::Fact(text.into()))
    }
}

/// Does what a child is started for.
///
/// # Errors
///
/// It cannot be done.
pub fn run(child: &str, args: &Args) -> Result<ExitCode> {
    if let Some(code) = single::run(child, args)? {
        return Ok(code);
    }
    let part = parts::find(child).with_context(|| format!("there is no part {child}"))?;
    let mut inner = Inner {
        carried: Carried::find(args.folder.as_deref().context("a part needs --folder")?)?,
        device: args.device.clone().context("a part needs --device")?,
        native: args.force,
        settings: Vec::from_iter(args.force.then_some(("emulation", "force"))),
        clock: Clock::new(Duration::from_secs(args.limit)),
        results: Results::open(args.results.as_deref().context("a part needs --results")?)?,
        failed: false,
    };
    match part.what {
        What::Facts => machine::run(&mut inner)?,
        What::Conform(group) => conform::of_the_layer(&mut inner, group)?,
        What::Native => conform::of_the_driver(&mut inner)?,
        What::Cases(family) => cases::on_the_machine(&mut inner, family)?,
        What::Own(family) => cases::on_the_own_driver(&mut inner, family)?,
        What::Trap(family) => cases::traps(&mut inner, family)?,
        What::After => cases::on_the_machine(&mut inner, "abort")?,
        What::Bench(bench) => bench::run(&mut inner, bench)?,
        What::Misbehave(how) => misbehave::run(&mut inner, how)?,
    }
    Ok(ExitCode::from(u8::from(inner.failed)))
}
