//! `vkabort run`: runs a program under the layer and fails if a shader aborts.
//!
//! The layer writes its log as JSON lines into a file, which [`LogFollower`] reads while the program runs.

use crate::commands::doctor::why_no_device;
use crate::commands::settings::sources;
use crate::failure::{Failure, Result, code};
use crate::log_follower::LogFollower;
use crate::module::Module;
use crate::stage::Stage;
use crate::system::{self, Supervisor};
use crate::{io, junit, locate, parse, settings};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use vkabort_instrument::Checks;
use vkabort_record::site::ModuleHash;
use vkabort_report::{Filter, Totals};
use vkabort_settings::IMPLICATIONS;

/// Interval at which the log is read.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Arguments of `vkabort run`.
#[derive(Args)]
#[command(after_help = "\
Nothing is installed: environment variables switch the layer on for this program. Reports appear on standard error
while the program runs. The exit code is 90 if a shader aborted, else the program's.

Examples:
  vkabort run ./app --frames 100
  vkabort run --enable ./app-that-does-not-enable-the-extension
  vkabort run --sanitize ./app-whose-shaders-have-no-aborts
  vkabort run --sanitize=loops --set loop_budget=100000 ./app
  vkabort run --printf ./app-whose-shaders-print
  vkabort run --dump-modules modules ./app
  vkabort run --replace 6c0f1cf89350bb7a=fixed.spv ./app
  vkabort run --set on_abort=continue --set dump_dir=aborts --junit result.xml ./tests
  vkabort run --set messenger_severity=info ./conformance-tests")]
pub struct RunArgs {
    /// Enable shader aborts on every device, for programs that do not enable them themselves (enable=always)
    #[arg(long)]
    enable: bool,
    /// Plant checks into every shader, for programs without aborts: `default`, or names separated by commas
    #[arg(long, value_name = "CHECKS", num_args = 0..=1, require_equals = true, default_missing_value = "default",
        value_parser = settings::CheckList)]
    sanitize: Option<Checks>,
    /// Show the prints of shaders (debugPrintfEXT, printf): `on`, or `invocations` to show who prints, too
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "on",
        value_parser = ["on", "invocations"])]
    printf: Option<String>,
    /// Write every shader module of the program to DIR: HASH.original.spv, and HASH.rewritten.spv if the layer changes it
    #[arg(long, value_name = "DIR")]
    dump_modules: Option<PathBuf>,
    /// Run the module in FILE in place of the program's module with this hash; may be repeated
    #[arg(long, value_name = "HASH=FILE", value_parser = parse::replacement)]
    replace: Vec<(ModuleHash, String)>,
    /// Set a setting of the layer; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::Assignment, hide_possible_values = true)]
    set: Vec<(String, String)>,
    /// The layer's library, or the folder that contains it
    #[arg(long, value_name = "PATH")]
    layer: Option<PathBuf>,
    /// Write the log and reports to FILE as JSON lines, for `vkabort decode`
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the outcome as JUnit XML, with a failed test for every site that aborted
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Neither show nor count the aborts that these rules ignore: `ignore function=check_*; report file=cull.comp:31`
    #[arg(long, value_name = "RULES")]
    filter: Option<Filter>,
    /// Show reports as JSON lines
    #[arg(long)]
    json: bool,
    /// The program and its arguments; options of this command precede the program
    #[arg(trailing_var_arg = true, required = true, value_name = "APP")]
    command: Vec<OsString>,
}

/// Runs a program under the layer.
///
/// # Errors
///
/// The layer is not found, a setting is not valid, a file cannot be written, or the program cannot be started.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::input("no program to run: pass it after the options"));
    };
    let name = io::input_name(program.as_ref());
    let stage = Stage::new(&locate::library(args.layer.as_deref())?)?;
    let log = match &args.report {
        Some(path) => std::path::absolute(path).map_err(|error| Failure::path(path, "found", &error))?,
        None => stage.file("report.jsonl"),
    };
    // Aborts of an earlier run in the same file must not count.
    std::fs::write(&log, b"").map_err(|error| Failure::path(&log, "written", &error))?;
    let mut command = Command::new(program);
    command.args(arguments);
    stage.prepare(&mut command);
    let level = set_settings(args, &mut command)?;
    set_module_files(args, &stage, &mut command)?;
    command.env(settings::variable("log_file")?, &log);
    let started = Instant::now();
    let mut supervisor = Supervisor::new().map_err(|error| Failure::file("signals", "caught", &error))?;
    let mut child = supervisor
        .start(&mut command)
        .map_err(|error| not_started(args, &name, &error))?;
    let set = args.set.iter().rev().find(|(key, _)| key == "printf");
    let printf = set.map(|(_, value)| value).or(args.printf.as_ref());
    let with_invocation = printf.is_some_and(|mode| mode.eq_ignore_ascii_case("invocations"));
    let mut follower = LogFollower::new(
        &log,
        args.filter.as_ref(),
        (args.json, with_invocation),
        level.as_deref(),
    );
    let mut followed = Ok(());
    let status = loop {
        // An unreadable log does not end the program.
        if followed.is_ok() {
            followed = follower.follow();
        }
        supervisor.forward(&child);
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(Failure::file(&name, "waited for", &error)),
        }
    };
    supervisor.finish();
    followed?;
    let log = follower.finish()?;
    if let Some(path) = &args.junit {
        let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
        let exit = (!status.success()).then(|| status.to_string());
        let document = junit::document(&words.join(" "), exit.as_deref(), started.elapsed(), &log.reports);
        io::write_text(path, &document)?;
    }
    if log.reports.iter().any(|report| !report.is_empty()) {
        let aborted: u64 = log.reports.iter().map(|report| report.summary.invocations).sum();
        let totals = Totals::of(&log.reports);
        if !args.json && totals.is_worth_a_table() {
            io::print_error(&totals.table(io::has_color(&std::io::stderr())));
        }
        if !status.success() {
            io::note(&format!("{name}: {status}"));
        }
        io::note(&format!("{name}: {} aborted", io::count(aborted, "shader invocation")));
        return Ok(ExitCode::from(code::ABORTED));
    }
    if log.is_empty {
        let reason = system::elevation_problem().map(str::to_owned).or_else(why_no_device);
        let reason = reason.unwrap_or_else(|| not_queried(std::env::var_os("VK_ICD_FILENAMES").is_some()).to_owned());
        io::note(&format!("{name}: the layer was not used: {reason}"));
    }
    if log.unused_modules > 0 {
        let (subject, verb) = match log.unused_modules {
            1 => ("a shader module".to_owned(), "contains"),
            count => (format!("{count} shader modules"), "contain"),
        };
        io::note(&format!(
            "{name}: no abort could take effect: {subject} {verb} aborts, but the program's device did not enable \
             VK_KHR_shader_abort with the feature shaderAbort. Enable them in the program, or use `vkabort run --enable`"
        ));
    }
    // Before a call that may not return.
    drop(stage);
    Ok(system::exit_code(status))
}

/// Why the layer may not have been used where the loader works. `names_driver`: whether `VK_ICD_FILENAMES` is set.
fn not_queried(names_driver: bool) -> &'static str {
    match names_driver {
        false => "the program did not query a Vulkan device",
        true => {
            "the program did not query a Vulkan device of the Vulkan loader. Some programs, such as those with ncnn, load the \
             driver that VK_ICD_FILENAMES names themselves, without layers: name it by VK_DRIVER_FILES instead"
        }
    }
}

/// Sets the environment variables of the layer's settings. Returns the log level that `--set` requests, in lower case.
fn set_settings(args: &RunArgs, command: &mut Command) -> Result<Option<String>> {
    let mut level = None;
    if args.enable {
        command.env(settings::variable_for("enable", "always")?, "always");
    }
    if let Some(checks) = args.sanitize {
        command.env(settings::variable("sanitize")?, checks.to_string());
    }
    if let Some(mode) = &args.printf {
        command.env(settings::variable("printf")?, mode);
    }
    for (key, value) in &args.set {
        if key == "log_file" || key == "log_format" {
            return Err(Failure::input(format!(
                "`vkabort run` sets {key} itself: write the log to a file with --report FILE"
            )));
        }
        if key == "log_level" {
            if value.eq_ignore_ascii_case("off") {
                return Err(Failure::input(
                    "log_level = off would hide the aborts from `vkabort run`: use error",
                ));
            }
            level = Some(value.to_ascii_lowercase());
        }
        command.env(settings::variable_for(key, value)?, value);
    }
    imply(args, command)?;
    // Lines of level info show whether the program uses the layer at all.
    let logged = level.as_deref().filter(|level| *level == "debug").unwrap_or("info");
    command
        .env(settings::variable("log_format")?, "json")
        .env(settings::variable("log_level")?, logged);
    Ok(level)
}

/// Sets the settings that the options imply, so that a settings file does not change the meaning of these.
/// Other options and variables that the user has set take precedence.
fn imply(args: &RunArgs, command: &mut Command) -> Result<()> {
    let sources = sources();
    let text = |key: &str| {
        let set = args.set.iter().rev().find(|(other, _)| other == key);
        let option = match key {
            "sanitize" => args.sanitize.map(|checks| checks.to_string()),
            "printf" => args.printf.clone(),
            _ => None,
        };
        set.map(|(_, value)| value.clone()).or(option).unwrap_or_default()
    };
    let is_set = |key: &str| !text(key).is_empty() || sources.variable_of(key).is_some();
    for implication in IMPLICATIONS {
        if implication.applies(text, is_set) {
            command.env(settings::variable(implication.key)?, implication.value);
        }
    }
    // Reports of a program that runs under this command name the commands that they are of.
    if text("commands").is_empty() && sources.value("commands").is_none() {
        command.env(settings::variable("commands")?, "on");
    }
    Ok(())
}

/// The program cannot be started. `--sanitize all ./app` has the checks in the place of the program.
fn not_started(args: &RunArgs, name: &str, error: &std::io::Error) -> Failure {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound && args.sanitize.is_some();
    match settings::find_misplaced_checks(name).filter(|_| is_missing) {
        Some(checks) => Failure::usage(format!(
            "{name}: not a program; write checks behind `=`, as in --sanitize={checks}"
        )),
        None => Failure::file(name, "started", error),
    }
}

/// Sets the folders of the settings `dump_modules` and `replace_modules`. The latter is in the stage, with a copy of each file.
fn set_module_files(args: &RunArgs, stage: &Stage, command: &mut Command) -> Result<()> {
    if let Some(folder) = &args.dump_modules {
        std::fs::create_dir_all(folder).map_err(|error| Failure::path(folder, "created", &error))?;
        // The program may change its working directory.
        let folder = std::path::absolute(folder).map_err(|error| Failure::path(folder, "found", &error))?;
        command.env(settings::variable("dump_modules")?, folder);
    }
    if args.replace.is_empty() {
        return Ok(());
    }
    if args.set.iter().any(|(key, _)| key == "replace_modules") {
        return Err(Failure::usage("--replace and --set replace_modules exclude each other"));
    }
    let folder = stage.file("modules");
    std::fs::create_dir_all(&folder).map_err(|error| Failure::path(&folder, "created", &error))?;
    for (hash, file) in &args.replace {
        let module = Module::read(Path::new(file))?;
        let copy = folder.join(format!("{hash}.spv"));
        if copy.exists() {
            return Err(Failure::usage(format!("--replace {hash}: given twice")));
        }
        std::fs::write(&copy, module.bytes_of(&module.words))
            .map_err(|error| Failure::path(&copy, "written", &error))?;
    }
    command.env(settings::variable("replace_modules")?, folder);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_loads_its_driver_itself_is_told_how_to_use_the_loader() {
        assert!(!not_queried(false).contains("VK_ICD_FILENAMES"));
        assert!(not_queried(true).ends_with("name it by VK_DRIVER_FILES instead"));
    }
}
