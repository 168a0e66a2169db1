//! Runs each case in a process of its own for every driver, with the layers that it asks for.

use crate::case::{self, Case, Ends, Layers, Log};
use crate::logged;
use anyhow::{Context, Result, bail};
use libtest_mimic::{Failed, Trial};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use xtask::drivers::{self, Driver, Known};
use xtask::environment::{Environment, Validation};
use xtask::layer::{Layer, NATIVE_VARIABLES, VARIABLES};

/// The signal of `std::process::abort`.
const SIGABRT: i32 = 6;

/// Cases that did not apply, with the reason.
static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The variable that the tests' own driver reads.
pub const DRIVER_SETTINGS: &str = "VKABORT_TEST_DRIVER";
/// The variable that says how often the stress cases do what they do.
pub const STRESS_ROUNDS: &str = "VKABORT_STRESS_ROUNDS";
/// The variable by which a process is asked to keep its device: it makes the file [`HAS_DEVICE`] in its folder, and ends when
/// [`MAY_END`] is there.
pub const HOLD: &str = "VKABORT_HOLD";
/// See [`HOLD`].
pub const HAS_DEVICE: &str = "has_device";
/// See [`HOLD`].
pub const MAY_END: &str = "may_end";
/// Numbers the scratch folders of this process.
static NEXT_SCRATCH: AtomicUsize = AtomicUsize::new(0);

/// Where the layers stand relative to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Our layer is not there.
    WithoutLayer,
    /// Ours alone.
    Alone,
    /// The validation layer below ours.
    ValidationBelow,
    /// The validation layer above ours.
    ValidationAbove,
    /// Ours alone, above a copy of it that plays a driver with the extensions.
    OnNative,
}

impl Placement {
    fn all_for(layers: Layers) -> &'static [Self] {
        match layers {
            Layers::Ours => &[Self::Alone, Self::ValidationBelow, Self::ValidationAbove],
            Layers::OursOnTop => &[Self::Alone, Self::ValidationBelow],
            Layers::OursAlone => &[Self::Alone],
            Layers::OursOnNative => &[Self::OnNative],
            Layers::None => &[Self::WithoutLayer],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::WithoutLayer => "without layer",
            Self::Alone => "alone",
            Self::ValidationBelow => "validation below",
            Self::ValidationAbove => "validation above",
            Self::OnNative => "on a native driver",
        }
    }
}

/// Whether a driver that is missing is a failure: on CI and under `cargo xtask test`.
pub fn drivers_are_required() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    set("CI") || set("VKABORT_REQUIRE_DRIVERS")
}

/// One test for each case, driver and placement. `own` is the tests' own driver, `program` is `vkabort-e2e`.
pub fn trials(cases: &[Case], layer: &Layer, own: &Driver, program: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    let required = Known::ALL.into_iter().filter(|known| known.is_required()).count();
    let add = |trials: &mut Vec<Trial>, driver: &Driver, number: usize, case: Case| {
        for &placement in Placement::all_for(case.layers) {
            let job = Job {
                case,
                driver: driver.clone(),
                layer: layer.clone(),
                placement,
                program: program.to_path_buf(),
                share: (number % required, required),
            };
            let name = format!("{} [{}, {}]", case.name, driver.name, placement.name());
            trials.push(Trial::test(name.clone(), move || {
                job.run(&name).map_err(|error| format!("{error:#}").into())
            }));
        }
    };
    for case in cases.iter().filter(|case| case.driver.is_some()) {
        add(&mut trials, own, 0, *case);
    }
    for (number, known) in (0..).zip(Known::ALL) {
        let driver = match known.find() {
            Ok(driver) => driver,
            Err(reason) if known.is_required() && drivers_are_required() => {
                trials.push(Trial::test(format!("driver {}", known.name()), move || {
                    Err(Failed::from(reason))
                }));
                continue;
            }
            Err(reason) => {
                eprintln!("skipped: every case on {}: {reason}", known.name());
                continue;
            }
        };
        for case in cases.iter().filter(|case| case.driver.is_none()) {
            add(&mut trials, &driver, number, *case);
        }
    }
    trials
}

/// Prints the cases that did not apply, each with its reason, and how many there were.
pub fn print_skipped() {
    let skipped = SKIPPED
        .lock()
        .map_or_else(|poisoned| poisoned.into_inner().clone(), |list| list.clone());
    for line in &skipped {
        println!("{line}");
    }
    println!("skipped cases: {}", skipped.len());
}

/// One test.
struct Job {
    case: Case,
    driver: Driver,
    layer: Layer,
    placement: Placement,
    program: PathBuf,
    /// Which driver this is, and how many there always are.
    share: (usize, usize),
}

impl Job {
    fn run(&self, name: &str) -> Result<()> {
        let scratch = Scratch::new()?;
        let environment = environment(&self.driver, &self.layer, self.placement, &scratch.0)?;
        let mut command = environment.command(&self.program)?;
        let (number, drivers) = self.share;
        command
            .arg(self.case.name)
            .env(case::SHARE, format!("{number}/{drivers}"))
            .envs(self.case.variables.iter().copied());
        for (key, value) in self.case.settings {
            command.env(format!("{VARIABLES}{}", key.to_uppercase()), value);
        }
        // What plays the driver keeps quiet.
        command.env(format!("{NATIVE_VARIABLES}LOG_LEVEL"), "off");
        if let Some(settings) = self.case.driver {
            command.env(DRIVER_SETTINGS, settings);
        }
        if let Some(rounds) = std::env::var_os(STRESS_ROUNDS) {
            command.env(STRESS_ROUNDS, rounds);
        }
        let ended = run_within(&mut command, self.case.limit, &scratch.0)?;
        match ended.status.code() {
            Some(code) if code == i32::from(case::PASSED) && self.case.ends == Ends::Exits => {
                check_log(&self.case, &ended).with_context(|| ended.said())
            }
            None if self.case.ends == Ends::KillsItself && ended.status.signal() == Some(SIGABRT) => {
                check_log(&self.case, &ended).with_context(|| ended.said())
            }
            Some(code) if code == i32::from(case::SKIPPED) => {
                if let Ok(mut list) = SKIPPED.lock() {
                    list.push(format!("{name}: {}", ended.stdout.trim()));
                }
                Ok(())
            }
            _ => bail!("the process ended with {}\n{}", ended.status, ended.said()),
        }
    }
}

fn check_log(case: &Case, ended: &Ended) -> Result<()> {
    for stream in [&ended.stdout, &ended.stderr] {
        if stream.contains("Validation Error") || stream.contains("panicked at") {
            bail!("the output reports an error\n{}", ended.said());
        }
    }
    match case.log {
        Log::Any => Ok(()),
        Log::Silent if ended.stderr.trim().is_empty() => Ok(()),
        Log::Report(name) => logged::check(name, &ended.stderr),
        Log::Silent => bail!("something was logged, and nothing should be\n{}", ended.said()),
        Log::Contains(texts) => match texts.iter().find(|text| !ended.stderr.contains(*text)) {
            Some(text) => bail!("the log does not contain {text:?}\n{}", ended.said()),
            None => Ok(()),
        },
    }
}

/// The environment of a driver, our layer and the validation layer, placed so.
///
/// # Errors
///
/// The validation layer is needed and not there.
pub fn environment(driver: &Driver, layer: &Layer, placement: Placement, scratch: &Path) -> Result<Environment> {
    let place = match placement {
        Placement::WithoutLayer | Placement::Alone | Placement::OnNative => None,
        Placement::ValidationBelow => Some(Validation::Below),
        Placement::ValidationAbove => Some(Validation::Above),
    };
    let validation = match place {
        Some(place) => Some((
            place,
            drivers::validation_layer(Some(driver)).map_err(anyhow::Error::msg)?,
        )),
        None => None,
    };
    Ok(Environment {
        driver: Some(driver.clone()),
        layer: (placement != Placement::WithoutLayer).then(|| layer.clone()),
        native: placement == Placement::OnNative,
        validation,
        scratch: scratch.to_path_buf(),
    })
}

/// A folder of one process, gone with it.
pub struct Scratch(
    /// Its path.
    pub PathBuf,
);

impl Scratch {
    /// A fresh folder below the target directory.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn new() -> Result<Self> {
        let number = NEXT_SCRATCH.fetch_add(1, Ordering::Relaxed);
        let path = xtask::target()
            .join("vkabort/e2e")
            .join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a process ended and what it wrote.
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// The end of both streams, for a failure's text.
    pub fn said(&self) -> String {
        format!(
            "stdout:\n{}\nstderr:\n{}",
            last_lines(&self.stdout),
            last_lines(&self.stderr)
        )
    }
}

/// At most forty lines: what went wrong stands at the end.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines
        .get(lines.len().saturating_sub(40)..)
        .unwrap_or_default()
        .join("\n")
}

/// Runs a process and kills it when its time is over.
///
/// # Errors
///
/// It could not be started, or its time was over.
pub fn run_within(command: &mut Command, limit: Duration, scratch: &Path) -> Result<Ended> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    command
        .stdin(std::process::Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let mut child = command.spawn().context("cannot start the process")?;
    let start = Instant::now();
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended {
                status,
                stdout: read(&out)?,
                stderr: read(&err)?,
            });
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            let (out, err) = (last_lines(&read(&out)?), last_lines(&read(&err)?));
            bail!("not over after {limit:?}\nstdout:\n{out}\nstderr:\n{err}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
