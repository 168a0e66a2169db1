//! `vkabort conform`: does what is installed keep to the specifications?

use crate::args::ConformArgs;
use crate::failure::{Failure, Result, code};
use crate::launch::Stage;
use crate::manifest::variable;
use crate::{io, locate};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::time::Duration;
use vkabort_conform::checks::{self, Check};
use vkabort_conform::{runner, show, verdict::Outcome};

/// Does the checks.
pub fn run(args: &ConformArgs) -> Result<ExitCode> {
    if let Some(name) = &args.check {
        let line = vkabort_conform::line_of(name, args.device.as_deref())
            .ok_or_else(|| Failure::input(format!("no check is called `{name}`")))?;
        io::print(&format!("{line}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(args.filter.as_deref())?;
    if args.list {
        list(&chosen, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &args.shaders {
        write_shaders(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let setup = Setup::new(args)?;
    let failed = |error: std::io::Error| Failure::file("vkabort conform", "started", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let command = |check: &Check| {
        let mut command = Command::new(&program);
        command.args(["conform", "--check", check.name]);
        if let Some(device) = &args.device {
            command.args(["--device", device]);
        }
        setup.prepare(&mut command);
        command
    };
    let color = io::stdout_color();
    let mut all = Vec::new();
    let mut announced = false;
    let mut loses = true;
    for check in chosen {
        let done = if check.after_loss && !loses {
            runner::skipped(check, &format!("{} failed: nothing would be seen", checks::LOSES))
        } else {
            runner::run(check, Duration::from_secs(args.limit), &command).map_err(failed)?
        };
        loses &= check.name != checks::LOSES || !done.verdict.outcome.is_failure();
        if !args.json {
            if let Some(device) = done.device.as_ref().filter(|_| !announced) {
                io::print(&format!("{} ({})\n\n", show::device(device), setup.mode()))?;
                announced = true;
            }
            io::print(&show::row(&done, color))?;
        }
        all.push(done);
    }
    if args.json {
        io::print(&format!("{}\n", show::document(setup.mode(), &all)))?;
    } else {
        io::print(&format!("\n{}\n", show::summary(&all)))?;
    }
    if let Some(path) = &args.junit {
        io::write(path, show::junit(&all).as_bytes())?;
    }
    let outcomes = all.iter().map(|done| done.verdict.outcome);
    if outcomes.clone().all(|outcome| outcome == Outcome::Skip) {
        let how = if args.emulated {
            ""
        } else {
            "; with --emulated the layer is checked"
        };
        io::note(&format!(
            "nothing was checked: `vkabort doctor` says what is missing{how}"
        ));
    }
    Ok(exit_code(outcomes))
}

/// The checks whose names contain the text.
fn choose(filter: Option<&str>) -> Result<Vec<&'static Check>> {
    let text = filter.unwrap_or_default().to_lowercase();
    let chosen: Vec<_> = checks::all()
        .filter(|check| check.name.to_lowercase().contains(&text))
        .collect();
    if chosen.is_empty() {
        return Err(Failure::input(format!(
            "no check has `{text}` in its name: `vkabort conform --list` shows them"
        )));
    }
    Ok(chosen)
}

fn list(chosen: &[&Check], json: bool) -> Result<()> {
    if json {
        let all: Vec<_> = chosen.iter().map(|check| show::check(check)).collect();
        return io::print(&format!("{}\n", serde_json::Value::from(all)));
    }
    let lines = chosen.iter().map(|check| {
        format!(
            "{}\n    {}\n    \"{}\"\n",
            check.name, check.rule.section, check.rule.sentence
        )
    });
    io::print(&lines.collect::<String>())
}

/// The shaders as files, for compilers that are tried out without a device.
fn write_shaders(folder: &str) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "made", &error))?;
    for (name, words) in vkabort_conform::shaders::all() {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let path = format!("{folder}/{name}.spv");
        io::write(&path, &bytes)?;
        io::print(&format!("{path}\n"))?;
    }
    Ok(())
}

/// The environment of the checks.
struct Setup {
    /// The layer, if it is to be there.
    stage: Option<Stage>,
    variables: Vec<(String, String)>,
}

impl Setup {
    fn new(args: &ConformArgs) -> Result<Self> {
        if !args.emulated {
            return Ok(Self {
                stage: None,
                variables: Vec::new(),
            });
        }
        // Whatever a settings file says, the specification's behaviour is wanted, and ours. The reports of all the aborts
        // interest nobody here.
        let mut settings = BTreeMap::from([("emulation", "force"), ("on_abort", "lose"), ("log_level", "off")]);
        for (key, value) in &args.set {
            settings.insert(key, value);
        }
        let variables = settings
            .into_iter()
            .map(|(key, value)| Ok((variable(key, value)?, value.to_owned())));
        Ok(Self {
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

    fn prepare(&self, command: &mut Command) {
        if let Some(stage) = &self.stage {
            stage.prepare(command);
            command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        }
    }
}

/// 0 if everything that was done conforms, with or without warnings.
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
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_shown_nothing_is_no_success() {
        let code = |outcomes: &[Outcome]| format!("{:?}", exit_code(outcomes.iter().copied()));
        let of = |code: u8| format!("{:?}", ExitCode::from(code));
        assert_eq!(code(&[Outcome::Pass, Outcome::Warn, Outcome::Skip]), of(0));
        assert_eq!(code(&[Outcome::Skip, Outcome::Skip]), of(code::UNSUPPORTED));
        for bad in [Outcome::Fail, Outcome::Crash, Outcome::Hang] {
            assert_eq!(code(&[Outcome::Pass, bad]), of(code::NONCONFORMANT));
        }
    }

    #[test]
    fn checks_are_chosen_by_a_part_of_their_names() {
        let all = choose(None).map(|chosen| chosen.len()).unwrap_or_default();
        let some = choose(Some("VKWAIT")).map(|chosen| chosen.len()).unwrap_or_default();
        assert_eq!(some, 2);
        assert!(all > some);
        assert!(choose(Some("no such thing")).is_err());
    }
}
