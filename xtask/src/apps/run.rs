//! Runs a program without the layer, with it, or under its sanitizer.

use super::app::{App, Mode, Start};
use super::rows::{DRIVER, VARIES};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::display::Display;
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::environment::Environment;
use vkabort_test_kit::{process, root, store, target};

/// Exit code of `vkabort run` if a shader aborted.
pub const ABORTED: i32 = 90;

/// Longest time of a program, in seconds.
const LIMIT: &str = "300";

/// Tools and folders with which programs run.
pub struct Runner {
    python: PathBuf,
    dawn: PathBuf,
    driver: Driver,
    display: Display,
    command: PathBuf,
    layer: PathBuf,
}

/// A run of a program.
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub errors: String,
    /// How long it took.
    pub wall: Duration,
}

impl Runner {
    /// Builds the layer and the command in release, and starts a display. `python`: a virtual environment; `dawn`: the
    /// folder of its package.
    ///
    /// # Errors
    ///
    /// A build fails, or the driver or the display is missing.
    pub fn new(python: &Path, dawn: &Path) -> Result<Self> {
        Ok(Self {
            python: python.join("bin/python"),
            dawn: dawn.join("index.js"),
            driver: DRIVER.find().map_err(anyhow::Error::msg)?,
            display: Display::open()?.context("Xvfb is not installed")?,
            command: cargo::build_command(Profile::OWN)?,
            layer: cargo::build_layer(Profile::OWN)?.library,
        })
    }

    /// Runs a program to its end. `options`: further ones of `vkabort run`.
    ///
    /// # Errors
    ///
    /// It cannot be started, or a signal ends it, as after [`LIMIT`].
    pub fn run(&self, app: &App, mode: Mode, options: &[OsString]) -> Result<Ran> {
        let has_window = app.command.has_window();
        let mut driver = self.driver.clone();
        let mut starts_in = None;
        let (program, arguments) = match &app.command {
            Start::Python(script) | Start::PythonWindow(script) => (self.python.clone(), vec![path_of(script)]),
            Start::Node(script) => {
                let dawn = self.dawn.display().to_string();
                ("node".into(), vec![path_of(script), dawn])
            }
            Start::Program(program, arguments) | Start::Window(program, arguments) => {
                (program.into(), owned(arguments))
            }
            Start::Unstable(program, arguments) => {
                let files = unpacked(program.package).join("usr");
                starts_in = Some(files.join(program.starts_in));
                driver = TestDriver::Newest.find().map_err(anyhow::Error::msg)?;
                driver
                    .libraries
                    .extend(program.libraries.iter().map(|folder| files.join(folder)));
                let (usr, apps) = (files.display().to_string(), path_of(""));
                let filled = |word: &&str| word.replace("{usr}", &usr).replace("{apps}/", &apps);
                (files.join(program.program), arguments.iter().map(filled).collect())
            }
        };
        let environment = Environment {
            driver: Some(driver),
            layer: None,
            native: false,
            validation: None,
            scratch: target().join("vkabort/apps"),
        };
        let inner = environment.command(&program)?;
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", LIMIT]);
        if mode != Mode::Alone {
            command.arg(&self.command).args(["run", "--layer"]).arg(&self.layer);
            command.args(mode.options()).args(options).arg("--");
        }
        let mut command = process::wrap(command, &inner);
        command.args(arguments).env("WGPU_BACKEND_TYPE", "Vulkan");
        command.env("GGML_VK_VISIBLE_DEVICES", "0");
        if let Some(folder) = &starts_in {
            command.current_dir(folder);
        }
        match has_window {
            true => command.env("DISPLAY", self.display.name()),
            false => command.env_remove("DISPLAY"),
        };
        let mut ran = finish(&mut command)?;
        ran.output = ran.output.lines().map(|line| stable(line).to_owned() + "\n").collect();
        if matches!(app.command, Start::Window(..)) {
            // vkcube prints nothing else, and this there.
            ran.output
                .extend(ran.errors.lines().filter(|line| line.starts_with("Selected GPU")));
        }
        Ok(ran)
    }
}

/// Folder of an unpacked package of Debian unstable.
pub fn unpacked(package: &str) -> PathBuf {
    store().join(package)
}

/// The path of a script.
fn path_of(script: &str) -> String {
    root().join("tests/apps").join(script).display().to_string()
}

/// The part of a line of output that is the same in every run.
fn stable(line: &str) -> &str {
    let mut ends = VARIES.iter().filter_map(|text| Some(line.find(text)? + text.len()));
    ends.next().map_or(line, |end| &line[..end])
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(str::to_owned).collect()
}

fn finish(command: &mut Command) -> Result<Ran> {
    let line = process::command_line(command);
    let start = Instant::now();
    let ended = command.output().with_context(|| format!("cannot start `{line}`"))?;
    let wall = start.elapsed();
    let [output, errors] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let Some(code) = ended.status.code() else {
        bail!("`{line}`: {}\n{output}\n{errors}", ended.status);
    };
    Ok(Ran {
        code,
        output,
        errors,
        wall,
    })
}
