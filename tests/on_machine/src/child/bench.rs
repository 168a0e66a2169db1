//! Benchmarks that need a device. Each measurement has its own process; both sides of a comparison run close together.

use super::context::PartContext;
use super::time_budget::OUT_OF_TIME;
use crate::parts::Bench;
use crate::results::{Comparison, Goal, Line, Time};
use anyhow::{Context, Result, bail, ensure};
use std::time::Duration;
use vkabort_test_kit::layer::VARIABLE_PREFIX;
use vkabort_test_kit::vk::DEVICE_VARIABLE;
use vkabort_tests::harness::Placement;
use vkabort_tests::measure::calls::{self, SETUPS};
use vkabort_tests::measure::kernel::{self, Place};
use vkabort_tests::measure::large_message;
use vkabort_tests::measure::loss::{self, Dispatch};

/// Time limit of a measurement.
const LIMIT: Duration = Duration::from_secs(25);
/// Time limit of a message passed by value; some drivers need minutes.
const PATIENCE: Duration = Duration::from_secs(15);
/// Runs per device setup. The fastest counts, since interference only slows a run down.
const ROUNDS: usize = 4;

/// Seconds by name, in order of measurement.
type Times = Vec<(String, f64)>;

pub(super) fn run(context: &mut PartContext, bench: Bench) -> Result<()> {
    match bench {
        Bench::Calls => all_calls(context),
        Bench::Kernel => {
            let title = |place| format!("kernel with an abort check {place} its loop");
            pair(context, "kernel:loop", &title("in"), Goal::Ratio(1.02))?;
            pair(context, "kernel:after", &title("after"), Goal::Ratio(1.02))
        }
        Bench::Loss => {
            let waiting = "the same, other invocations wait in a loop";
            pair(
                context,
                "loss:one",
                "dispatch to VK_ERROR_DEVICE_LOST",
                Goal::Plus(1e-3),
            )?;
            pair(context, "loss:waiting", waiting, Goal::AtMost(50e-3))
        }
        Bench::Storm => pair(context, "loss:million", "1M aborting invocations", Goal::Ratio(1.5)),
        Bench::Message => {
            message(context, 8, Goal::None)?;
            message(context, 64, Goal::AtMost(50e-3))
        }
    }
}

/// Measures in this process and prints a line per time.
pub(super) fn measure(name: &str) -> Result<()> {
    let print = |name: &str, time: Duration| println!("time {} {name}", time.as_secs_f64());
    let both = |(without, with): (Duration, Duration)| {
        print("without", without);
        print("with", with);
    };
    let (kind, which) = name.split_once(':').context("unknown measurement")?;
    match (kind, which) {
        ("calls", number) => {
            let setup = SETUPS.get(number.parse::<usize>()?).context("unknown device setup")?;
            for (name, time) in calls::measure_all(*setup)? {
                print(&name, time);
            }
        }
        ("kernel", "loop") => both(kernel::never_taken(Place::InALoop)?),
        ("kernel", "after") => both(kernel::never_taken(Place::AfterALoop)?),
        ("loss", "one") => both(loss::to_loss(Dispatch::One)?),
        ("loss", "waiting") => both(loss::to_loss(Dispatch::Waiting)?),
        ("loss", "million") => both(loss::to_loss(Dispatch::Million)?),
        ("value", kib) => {
            let words = large_message::shader(kib.parse()?)?;
            let words = large_message::by_value(&words).context("the module has no load of the array")?;
            print("value", large_message::create(&words)?);
        }
        ("place", kib) => print("place", large_message::create(&large_message::shader(kib.parse()?)?)?),
        _ => bail!("unknown measurement {name}"),
    }
    Ok(())
}

/// Measures in a child process.
fn child_times(context: &PartContext, name: &str, placement: Placement, limit: Duration) -> Result<Times> {
    let unpacked = &context.unpacked;
    let settings = context.settings.iter();
    let settings = settings.map(|(key, value)| (format!("{VARIABLE_PREFIX}{}", key.to_uppercase()), value));
    let finished = unpacked.run(&unpacked.program, placement, limit, |command| {
        command
            .args(["--child", "measure", name])
            .env(DEVICE_VARIABLE, &context.device)
            .envs(unpacked.variables())
            .envs(settings)
            // Processes that enable the layer by name find it here.
            .env("VK_LAYER_PATH", &unpacked.layer.explicit);
    })?;
    ensure!(
        finished.status.success(),
        "the measurement ended with {}\n{}",
        finished.status,
        finished.output_tail()
    );
    let mut times = Times::new();
    for line in finished.stdout.lines() {
        let words = line.strip_prefix("time ").and_then(|rest| rest.split_once(' '));
        if let Some((seconds, name)) = words {
            times.push((name.to_owned(), seconds.parse()?));
        }
    }
    Ok(times)
}

fn time_of(times: &Times, name: &str) -> Time {
    let found = times.iter().find(|(other, _)| other == name);
    found.map_or(Time::None, |(_, seconds)| Time::Seconds(*seconds))
}

/// Runs a measurement that prints the times without and with.
fn pair(context: &mut PartContext, name: &str, title: &str, goal: Goal) -> Result<()> {
    compare(context, title, |context, limit| {
        let times = child_times(context, name, Placement::Alone, limit)?;
        ensure!(times.len() == 2, "expected 2 times, found {}", times.len());
        Ok(vec![Comparison {
            name: title.to_owned(),
            without: time_of(&times, "without"),
            with: time_of(&times, "with"),
            goal,
        }])
    })
}

/// Measures if the part has time left; else records a skip.
fn compare(
    context: &mut PartContext,
    title: &str,
    measure: impl FnOnce(&PartContext, Duration) -> Result<Vec<Comparison>>,
) -> Result<()> {
    let Some(limit) = context.budget.share(LIMIT) else {
        return context.end(&Line::Skipped(title.to_owned(), OUT_OF_TIME.to_owned()));
    };
    context.start(title)?;
    match measure(context, limit) {
        Ok(all) => all
            .into_iter()
            .try_for_each(|compared| context.end(&Line::Compared(compared))),
        Err(error) => context.end(&Line::Failed(title.to_owned(), format!("{error:#}"))),
    }
}

/// Measures the calls without the layer, with it idle, and with the extension enabled.
fn all_calls(context: &mut PartContext) -> Result<()> {
    compare(context, "calls", |context, _| {
        let mut best: [Times; SETUPS.len()] = Default::default();
        for _ in 0..ROUNDS {
            for (number, best) in best.iter_mut().enumerate() {
                let limit = context.budget.share(LIMIT).context(OUT_OF_TIME)?;
                for (name, time) in child_times(context, &format!("calls:{number}"), Placement::WithoutLayer, limit)? {
                    match best.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, fastest)) => *fastest = fastest.min(time),
                        None => best.push((name, time)),
                    }
                }
            }
        }
        let [without, idle, enabled] = &best;
        let mut compared = Vec::new();
        for (times, how) in [(idle, "not enabled"), (enabled, "enabled")] {
            for (name, _) in times {
                compared.push(Comparison {
                    name: format!("{name}, {how}"),
                    without: time_of(without, name),
                    with: time_of(times, name),
                    goal: match (name.as_str(), how) {
                        ("vkQueueSubmit", "enabled") => Goal::Plus(50e-9),
                        _ => Goal::None,
                    },
                });
            }
        }
        Ok(compared)
    })
}

/// Compares pipeline creation for a large message read in place and for one that the module loads by value.
fn message(context: &mut PartContext, kib: u32, goal: Goal) -> Result<()> {
    let title = format!("{kib} KiB message: by value, in place");
    compare(context, &title, |context, limit| {
        let place = child_times(context, &format!("place:{kib}"), Placement::Alone, limit)?;
        let patience = context.budget.share(PATIENCE).context(OUT_OF_TIME)?;
        let value = match child_times(context, &format!("value:{kib}"), Placement::Alone, patience) {
            Ok(times) => time_of(&times, "value"),
            Err(error) if error.to_string().starts_with("killed after") => Time::MoreThan(patience.as_secs_f64()),
            Err(error) => return Err(error),
        };
        Ok(vec![Comparison {
            name: title.clone(),
            without: value,
            with: time_of(&place, "place"),
            goal,
        }])
    })
}
