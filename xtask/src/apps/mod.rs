//! `cargo xtask test --apps`: programs that know nothing of aborts run without the layer, with it, with prints added to their shaders,
//! and under its sanitizer, with equal results and no report; programs with endless loops, other faults or aborts are reported.

mod app;
mod printing;
mod rows;
mod run;

use crate::debian::{self, Archive};
use crate::times::Times;
use crate::{gpu_drivers, npm, provision, pypi};
use anyhow::{Result, ensure};
use app::{App, Expected, Mode, Start};
use printing::PrintingModules;
use run::{Ran, Runner};
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

/// Purpose of the tools that are looked up.
const PURPOSE: &str = "running other programs under the layer";

/// Returns the failures.
fn run_all(sanitize: bool, times: &mut Times) -> Result<Vec<String>> {
    let (runner, modules) = times.measure("set-up", || {
        let mut archive = None;
        provision::bring(rows::DRIVER, &mut archive)?;
        for app in rows::APPS {
            if let Start::Unstable(program, _) = &app.command {
                provision::bring(TestDriver::Newest, &mut archive)?;
                unpack(program.package, &mut archive)?;
            }
        }
        debian::require(rows::PACKAGES, PURPOSE)?;
        let python = pypi::environment("apps", rows::WHEELS, PURPOSE)?;
        let (name, version) = rows::DAWN;
        let dawn = npm::install(name, version, PURPOSE)?;
        Ok((Runner::new(&python, &dawn)?, PrintingModules::new()?))
    })?;
    let mut failed = Vec::new();
    for app in rows::APPS {
        let result = times.measure(app.name, || compare(&runner, &modules, app, sanitize));
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

/// Runs a program in each of its modes and compares its output.
fn compare(runner: &Runner, modules: &PrintingModules, app: &App, sanitize: bool) -> Result<()> {
    let modes: &[Mode] = match (&app.expected, sanitize) {
        (Expected::Equal | Expected::EqualWithFault(_), true) => &[
            Mode::Alone,
            Mode::Layer,
            Mode::Printing,
            Mode::Sanitized,
            Mode::EveryCheck,
        ],
        (Expected::Equal | Expected::EqualWithFault(_), false) => &[Mode::Alone, Mode::Layer, Mode::Printing],
        (Expected::Aborts(_), _) => &[Mode::Layer],
        (Expected::Sanitized(_), true) => &[Mode::Sanitized],
        (Expected::Sanitized(_), false) => {
            println!("needs the sanitizer");
            return Ok(());
        }
    };
    let mut first = None;
    for &mode in modes {
        let options = match mode {
            Mode::Layer => modules.dumping(),
            Mode::Printing => modules.replacing()?,
            _ => Vec::new(),
        };
        let ran = runner.run(app, mode, &options)?;
        println!("{}: {} ms", mode.name(), ran.wall.as_millis());
        match &app.expected {
            Expected::EqualWithFault(texts) if mode == Mode::EveryCheck => expect_report(&ran, texts)?,
            Expected::Equal | Expected::EqualWithFault(_) => {
                if mode == Mode::Printing {
                    println!("{} prints", modules.count(&ran)?);
                }
                let mut lines = ran.errors.lines();
                let is_silent = lines
                    .all(|line| !line.contains("vkabort: ") || rows::LIMITS.iter().any(|limit| line.contains(limit)));
                ensure!(
                    ran.code == 0 && (mode == Mode::Printing || is_silent),
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
            Expected::Aborts(texts) | Expected::Sanitized(texts) => expect_report(&ran, texts)?,
        }
    }
    Ok(())
}

/// Tests that a run had a report, and these texts in it or in its output.
fn expect_report(ran: &Ran, texts: &[&str]) -> Result<()> {
    let all = format!("{}{}", ran.output, ran.errors);
    let missing = texts.iter().find(|text| !all.contains(**text));
    ensure!(
        ran.code == run::ABORTED && missing.is_none(),
        "exit code {}; {missing:?} is missing in\n{all}",
        ran.code
    );
    Ok(())
}
