//! The run: chooses the device, runs the parts case by case, and prints the findings.

use super::args::Args;
use super::device::{Chosen, Devices, describe};
use super::files::Bundle;
use super::parts::{self, Extent, Part};
use crate::case::{Case, Schedule};
use crate::harness::{Placement, environment};
use crate::measure::shaders::Variant;
use anyhow::{Context, Result};
use clap::Parser as _;
use serde_json::{Value as Json, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use vkabort_runner::measurements::by_metric;
use vkabort_runner::scratch::folder_in;
use vkabort_runner::supervise::run_with_limit;
use vkabort_runner::{CaseResult, Outcome, Runner, table};

/// Exit code: nothing could run.
const CANNOT: u8 = 2;

/// Runs the parts that the command line selects, with the files in `folder`.
pub fn main(folder: PathBuf) -> ExitCode {
    run(folder, &Args::parse()).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::from(CANNOT)
    })
}

fn run(folder: PathBuf, args: &Args) -> Result<ExitCode> {
    let bundle = Bundle::open(folder, args.validation.as_deref())?;
    if args.parts {
        parts::all(Extent::ALL)
            .iter()
            .for_each(|part| println!("{}", part.name));
        return Ok(ExitCode::SUCCESS);
    }
    let devices = Devices::find(&bundle)?;
    if args.list {
        print!("{}", devices.list());
        return Ok(ExitCode::SUCCESS);
    }
    let device = devices.choose(args.device.as_deref())?;
    let extent = Extent {
        is_native: device.is_native(),
        traps: args.traps,
        validation: args.validation.is_some(),
    };
    let parts = parts::choose(&args.only, extent)?;
    let mut out = Out::new(args.out.as_deref())?;
    let about = about(&bundle, &device)?;
    out.print(&format!(
        "{}, {}\n{} ({})\n  {}\n",
        text(&about, "program"),
        text(&about, "date"),
        device.label,
        device.why,
        describe(&device.json)
    ))?;
    if device.is_native() {
        out.print("  Has VK_KHR_shader_abort itself: the parts `native` check the driver, all others the layer.\n")?;
    }
    out.print(&format!("\n{}\n", text(&about, "doctor")))?;
    let mut results: Vec<CaseResult> = Vec::new();
    let mut tables = String::new();
    for part in &parts {
        let found = run_part(&bundle, &device, part, args, &mut out)?;
        // Parts may measure one subject in different ways.
        let measurements: Vec<_> = found.iter().flat_map(|result| result.measurements.clone()).collect();
        tables += &by_metric(&measurements, &Variant::ALL.map(Variant::name));
        results.extend(found);
    }
    out.print(&tables)?;
    out.print(&format!(
        "\n{}\n{}\n",
        table::skipped(&results),
        table::summary(&results)
    ))?;
    if !args.traps {
        out.print("Real faults and hangs did not run; --traps adds them.\n")?;
    }
    out.write("results.json", &format!("{:#}\n", table::document(&about, &results)))?;
    let failed = results.iter().any(|result| result.verdict.outcome.is_failure());
    Ok(ExitCode::from(u8::from(failed)))
}

/// Runs the cases of a part and prints their counts, and those that did not pass.
fn run_part(bundle: &Bundle, device: &Chosen, part: &Part, args: &Args, out: &mut Out) -> Result<Vec<CaseResult>> {
    let settings = bundle.settings()?;
    let runner = Runner::new();
    let start = Instant::now();
    let mut results = Vec::new();
    for case in &part.cases {
        let missing = case.settings.iter().find(|(key, _)| !settings.contains(*key));
        let mut result = match missing {
            Some((key, _)) => CaseResult::skipped(*case, &format!("the layer has no setting {key}")),
            None => {
                let limit = case.limit.min(Duration::from_secs(args.limit));
                runner.run(&Case { limit, ..*case }, &parts::target(bundle, device, part, case)?)?
            }
        };
        let driver = &device.label;
        result
            .measurements
            .iter_mut()
            .for_each(|one| driver.clone_into(&mut one.driver));
        let mut json = result.json();
        json["part"] = json!(part.name);
        let is_shown = !matches!(result.verdict.outcome, Outcome::Pass | Outcome::Skip);
        if is_shown || case.schedule == Schedule::OnRequest {
            json["output"] = json!(result.output);
            out.print(&format!("{}{}\n", table::row(&result, false), result.output))?;
        }
        // At once, so that it survives whatever the next case does to the machine.
        out.append("results.jsonl", &format!("{json}\n"))?;
        results.push(result);
    }
    runner.finish()?;
    let time = start.elapsed().as_secs_f64();
    out.print(&format!(
        "{:<32} {time:>7.1} s  {}\n",
        part.name,
        table::summary(&results)
    ))?;
    Ok(results)
}

/// Facts about the program, the machine and the device.
fn about(bundle: &Bundle, device: &Chosen) -> Result<Json> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or_default();
    let date = Command::new("date").args(["--utc", "+%Y-%m-%d %H:%M UTC"]).output();
    let scratch = folder_in(&bundle.processes())?;
    let environment = environment(None, &bundle.layer, Placement::WithoutLayer, scratch.path())?;
    let mut doctor = environment.command(&bundle.command())?;
    doctor.args(["doctor", "--layer"]).arg(&bundle.layer.library);
    let doctor = run_with_limit(&mut doctor, Duration::from_secs(30), scratch.path());
    Ok(json!({
        "program": bundle.about()?,
        "date": date.map(|date| String::from_utf8_lossy(&date.stdout).trim().to_owned()).unwrap_or_default(),
        "device": device.json,
        "kernel": read("/proc/version"),
        "processor": cpu.trim_matches([' ', '\t', ':']),
        "nvidia": read("/proc/driver/nvidia/version"),
        "doctor": doctor.map_or_else(|error| format!("{error:#}"), |ended| ended.stdout),
    }))
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

/// Standard output, and the folder of `--out`, with a copy of the text in `table.txt`.
struct Out<'a> {
    folder: Option<&'a Path>,
}

impl<'a> Out<'a> {
    /// Creates the folder before any part runs, so that a path that cannot be written fails early.
    fn new(folder: Option<&'a Path>) -> Result<Self> {
        let out = Self { folder };
        if let Some(folder) = folder {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        out.write("table.txt", "")?;
        out.write("results.jsonl", "")?;
        Ok(out)
    }

    fn print(&mut self, text: &str) -> Result<()> {
        // A closed pipe must not stop the cases: the copy still goes to the folder.
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        self.append("table.txt", text)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let Some(folder) = self.folder else { return Ok(()) };
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn append(&self, name: &str, text: &str) -> Result<()> {
        let Some(folder) = self.folder else { return Ok(()) };
        let path = folder.join(name);
        let appended = File::options()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        appended.with_context(|| format!("cannot write {}", path.display()))
    }
}
