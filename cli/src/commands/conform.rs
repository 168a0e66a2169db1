//! `vkabort conform`: checks an implementation of shader aborts against the specifications.

use crate::failure::{Failure, Result, code};
use crate::stage::Stage;
use crate::{io, locate, settings};
use clap::Args;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use vkabort_conform::{LOSES, OPEN, checks, find, shaders};
use vkabort_gpu::DEVICE_VARIABLE;
use vkabort_runner::{Case, CaseResult, Context, Launch, Outcome, Runner, in_process, junit, table};

/// Arguments of `vkabort conform`.
#[derive(Args)]
#[command(after_help = "\
Every check is a separate process with a time limit, because a device may be lost, hang or crash its process.
pass   conforms to the specification
fail   does not conform; the violated sentence follows
crash  the process died
hang   the process did not end in time
warn   allowed, but applications suffer from it
skip   not applicable, with the reason, listed at the end

Examples:
  vkabort conform                       the driver's own implementation
  vkabort conform --emulated            the layer's, on the same driver
  vkabort conform --filter message. --junit result.xml
  vkabort conform --list")]
pub struct ConformArgs {
    /// Check the device whose name contains NAME, by default a device of the fastest kind; NAME#2 is the second device
    /// of that name
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Check the layer, set up as by `vkabort run`, with `emulation = force`
    #[arg(long, conflicts_with = "as_installed")]
    emulated: bool,
    /// Check what an application finds in this environment (default)
    #[arg(long)]
    as_installed: bool,
    /// Set a setting of the layer; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::Assignment, hide_possible_values = true, requires = "emulated")]
    set: Vec<(String, String)>,
    /// The layer's library, or the folder that contains it
    #[arg(long, value_name = "PATH", requires = "emulated")]
    layer: Option<PathBuf>,
    /// Run only the checks whose names contain TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Time limit of a check
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    limit: u64,
    /// List the checks with the sentences of the specifications that they test
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the shaders of the checks as SPIR-V into this folder, without running the checks
    #[arg(long, value_name = "FOLDER")]
    shaders: Option<PathBuf>,
    /// Run one check in this process and print its verdict (internal: for the child processes of `conform`)
    #[arg(long, value_name = "NAME", hide = true)]
    run: Option<String>,
}

/// Runs, lists or exports the checks.
///
/// # Errors
///
/// No check has the requested name, the layer is not found, or a file or process cannot be handled.
pub fn run(args: &ConformArgs) -> Result<ExitCode> {
    if let Some(name) = &args.run {
        let case = find(name).map_err(|error| Failure::input(error.to_string()))?;
        let verdict = in_process::run(&case, &Context::default());
        io::print_json(&verdict.line())?;
        return Ok(ExitCode::SUCCESS);
    }
    let selected = select(args.filter.as_deref())?;
    if args.list {
        list(&selected, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &args.shaders {
        write_shaders(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let setup = Setup::new(args)?;
    let (device, results) = setup.run_checks(selected)?;
    if args.json {
        let about = json!({"mode": setup.mode(), "device": device});
        io::print_json(&table::document(&about, &results))?;
    } else {
        let skipped = table::skipped(&results);
        io::print(&format!("{skipped}\n{}\n", table::summary(&results)))?;
    }
    if let Some(path) = &args.junit {
        io::write_text(path, &junit::document("vkabort conform", &results))?;
    }
    let outcomes = results.iter().map(|result| result.verdict.outcome);
    if outcomes.clone().all(|outcome| outcome == Outcome::Skip) {
        let advice = if args.emulated {
            ""
        } else {
            "; --emulated checks the layer"
        };
        io::note(&format!(
            "every check was skipped: `vkabort doctor` shows what is missing{advice}"
        ));
    }
    Ok(exit_code(outcomes))
}

/// The checks whose names contain `filter`, in upper or lower case.
fn select(filter: Option<&str>) -> Result<Vec<Case>> {
    let text = filter.unwrap_or_default().to_lowercase();
    let selected: Vec<_> = checks::all()
        .filter(|check| check.name.to_lowercase().contains(&text))
        .collect();
    if selected.is_empty() {
        return Err(Failure::input(format!(
            "no check has `{text}` in its name: `vkabort conform --list` shows all names"
        )));
    }
    Ok(selected)
}

fn list(selected: &[Case], json: bool) -> Result<()> {
    if json {
        let all: Vec<_> = selected.iter().map(table::case).collect();
        return io::print_json(&Json::from(all));
    }
    let lines = selected.iter().filter_map(|check| {
        let rule = check.rule?;
        Some(format!(
            "{}\n    {}\n    \"{}\"\n",
            check.name, rule.section, rule.sentence
        ))
    });
    io::print(&lines.collect::<String>())
}

/// Writes the shaders as files, to test compilers without a device.
fn write_shaders(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::path(folder, "created", &error))?;
    for (name, words) in shaders::all() {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let path = folder.join(format!("{name}.spv"));
        io::write(&path, &bytes)?;
        io::print(&format!("{}\n", io::input_name(&path)))?;
    }
    Ok(())
}

/// The environment of the checks.
struct Setup<'a> {
    args: &'a ConformArgs,
    /// This program.
    program: PathBuf,
    /// The layer, with `--emulated`.
    stage: Option<Stage>,
    /// Environment variables of the layer's settings.
    variables: Vec<(String, String)>,
}

impl<'a> Setup<'a> {
    fn new(args: &'a ConformArgs) -> Result<Self> {
        let program = std::env::current_exe().map_err(not_started)?;
        if !args.emulated {
            return Ok(Self {
                args,
                program,
                stage: None,
                variables: Vec::new(),
            });
        }
        // The layer must behave as the specification requires, whatever a settings file says. Reports of the aborts would
        // only hide the results.
        let mut values = BTreeMap::from([("emulation", "force"), ("on_abort", "lose"), ("log_level", "off")]);
        for (key, value) in &args.set {
            values.insert(key, value);
        }
        let variables = values
            .into_iter()
            .map(|(key, value)| Ok((settings::variable_for(key, value)?, value.to_owned())));
        Ok(Self {
            args,
            program,
            variables: variables.collect::<Result<_>>()?,
            stage: Some(Stage::new(&locate::library(args.layer.as_deref())?)?),
        })
    }

    fn mode(&self) -> &'static str {
        if self.stage.is_some() {
            "emulated"
        } else {
            "as installed"
        }
    }

    /// Runs the checks, each in a child process, and prints every result at once, except those that were skipped. Returns the
    /// description of the device, if it could be opened, and the results.
    fn run_checks(&self, selected: Vec<Case>) -> Result<(Option<Json>, Vec<CaseResult>)> {
        let opened = self.run_check(OPEN)?.verdict;
        match opened.outcome {
            Outcome::Fail => return Err(Failure::usage(format!("--device: {}", opened.detail))),
            Outcome::Skip => {
                let skipped = selected
                    .into_iter()
                    .map(|check| CaseResult::skipped(check, &opened.detail));
                return Ok((None, skipped.collect()));
            }
            // A driver that crashes here may work for some checks.
            _ => {}
        }
        let device: Option<Json> = serde_json::from_str(&opened.detail).ok();
        if let Some(device) = device.as_ref().filter(|_| !self.args.json) {
            io::print(&format!("{} ({})\n\n", describe(device), self.mode()))?;
        }
        let color = io::has_color(&std::io::stdout());
        let progress = io::progress(selected.len());
        let mut results = Vec::new();
        let mut loses = true;
        for check in selected {
            progress.set_message(check.name);
            let result = if check.after_loss && !loses {
                CaseResult::skipped(check, &format!("{LOSES} failed: there is no lost device to check"))
            } else {
                self.run_check(check)?
            };
            loses &= check.name != LOSES || !result.verdict.outcome.is_failure();
            if !self.args.json && result.verdict.outcome != Outcome::Skip {
                progress.suspend(|| io::print_styled(&table::row(&result, color)))?;
            }
            results.push(result);
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok((device, results))
    }

    fn run_check(&self, check: Case) -> Result<CaseResult> {
        let limit = Duration::from_secs(self.args.limit);
        let result = Runner::new().run(&Case { limit, ..check }, self);
        result.map_err(|error| not_started(std::io::Error::other(format!("{error:#}"))))
    }
}

impl Launch for Setup<'_> {
    fn command(&self, _: &Case, _: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(&self.program);
        if let Some(device) = &self.args.device {
            command.env(DEVICE_VARIABLE, device);
        }
        if let Some(stage) = &self.stage {
            stage.prepare(&mut command);
            command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        }
        command.arg("conform");
        Ok(command)
    }

    fn must_exit(&self) -> bool {
        false
    }
}

/// The device as text.
fn describe(json: &Json) -> String {
    let text = |key: &str| json[key].as_str().unwrap_or("unknown").to_owned();
    format!("{}, Vulkan {}, {}", text("name"), text("api_version"), text("driver"))
}

fn not_started(error: std::io::Error) -> Failure {
    Failure::file("vkabort conform", "started", &error)
}

/// 0 if every check that ran conforms, with or without warnings.
fn exit_code(outcomes: impl Iterator<Item = Outcome> + Clone) -> ExitCode {
    if outcomes.clone().any(Outcome::is_failure) {
        ExitCode::from(code::NONCONFORMANT)
    } else if outcomes.clone().all(|outcome| outcome == Outcome::Skip) {
        ExitCode::from(code::UNSUPPORTED)
    } else {
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
#[path = "conform_tests.rs"]
mod tests;
