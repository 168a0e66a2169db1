//! `cargo xtask test --apps`: programs that know nothing of aborts run without the layer, with it, and under its sanitizer, with
//! equal results and no report; programs with endless loops or aborts are reported.

mod rows;
mod run;

use crate::debian::{self, Archive};
use crate::times::Times;
use crate::{gpu_drivers, provision, pypi};
use anyhow::{Result, ensure};
use rows::{App, Expected, Mode, Start};
use run::Runner;
use std::fs;
use vkabort_test_kit::drivers::TestDriver;

/// Runs every program in each of its modes. `sanitize` includes the layer's sanitizer.
///
/// # Errors
///
/// A program cannot be installed, or the results of one differ.
pub fn test(sanitize: bool) -> Result<()> {
    let mut times = Times::default();
    let result = run_all(sanitize, &mut times);
    println!("\nTimes:");
    times.print();
    let failed = result?;
    ensure!(failed.is_empty(), "{}", failed.join("\n\n"));
    println!("\nAll programs ran as they should.");
    Ok(())
}

/// Returns the failures.
fn run_all(sanitize: bool, times: &mut Times) -> Result<Vec<String>> {
    let runner = times.measure("set-up", || {
        let mut archive = None;
        provision::bring(rows::DRIVER, &mut archive)?;
        for app in rows::APPS {
            if let Start::Unstable(package, _) = app.command {
                provision::bring(TestDriver::Newest, &mut archive)?;
                unpack(package, &mut archive)?;
            }
        }
        debian::require(rows::PACKAGES, "running other programs under the layer")?;
        Runner::new(pypi::environment(
            "apps",
            rows::WHEELS,
            "running other programs under the layer",
        )?)
    })?;
    let mut failed = Vec::new();
    for app in rows::APPS {
        let result = times.measure(app.name, || compare(&runner, app, sanitize));
        failed.extend(result.err().map(|error| format!("{}: {error:#}", app.name)));
    }
    Ok(failed)
}

/// Unpacks a package of Debian unstable with everything that it needs, unless it is there.
fn unpack(package: &str, archive: &mut Option<Archive>) -> Result<()> {
    let folder = run::unpacked(package);
    if folder.is_dir() {
        return Ok(());
    }
    // Unpacked beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let unstable = provision::opened(archive)?.other_release(gpu_drivers::UNSTABLE)?;
    unstable.unpack_with_dependencies(&[package], &fresh)?;
    Ok(fs::rename(fresh, folder)?)
}

/// Runs a program in each of its modes and compares what it prints.
fn compare(runner: &Runner, app: &App, sanitize: bool) -> Result<()> {
    let modes: &[Mode] = match (&app.expected, sanitize) {
        (Expected::Equal, true) => &[Mode::Alone, Mode::Layer, Mode::Sanitized, Mode::EveryCheck],
        (Expected::Equal, false) => &[Mode::Alone, Mode::Layer],
        (Expected::Aborts(_), _) => &[Mode::Layer],
        (Expected::Sanitized(_), true) => &[Mode::Sanitized],
        (Expected::Sanitized(_), false) => {
            println!("needs the sanitizer");
            return Ok(());
        }
    };
    let mut first = None;
    for &mode in modes {
        let ran = runner.run(app, mode)?;
        println!("{}: {} ms", mode.name(), ran.wall.as_millis());
        match &app.expected {
            Expected::Equal => {
                ensure!(
                    ran.code == 0 && !ran.errors.contains("vkabort: "),
                    "{}: exit code {}\n{}\n{}",
                    mode.name(),
                    ran.code,
                    ran.output,
                    ran.errors
                );
                let expected = first.get_or_insert_with(|| ran.output.clone());
                ensure!(
                    !expected.trim().is_empty() && *expected == ran.output,
                    "{} prints\n{}\ninstead of\n{expected}",
                    mode.name(),
                    ran.output
                );
            }
            Expected::Aborts(texts) | Expected::Sanitized(texts) => {
                let all = ran.output + &ran.errors;
                let missing = texts.iter().find(|text| !all.contains(**text));
                ensure!(
                    ran.code == run::ABORTED && missing.is_none(),
                    "exit code {}; {missing:?} is missing in\n{all}",
                    ran.code
                );
            }
        }
    }
    Ok(())
}
