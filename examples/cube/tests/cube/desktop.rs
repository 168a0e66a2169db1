//! The cube in a window under a window manager, as a person uses it: with pointer and keys, and eyes on the screen.

use crate::picture::{Area, Picture};
use crate::run::{Setting, Test, all_drivers, expect_success};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use vkabort_runner::supervise::{self, End, Finished};
use vkabort_test_kit::display::Display;
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::environment::Validation;
use vkabort_test_kit::process;
use vkabort_test_kit::programs::installed;

/// Time for any single effect, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// Time between two looks.
const POLL: Duration = Duration::from_millis(20);
/// Size of the cube's window at its start.
pub const SIZE: (usize, usize) = (480, 400);

/// A screen with or without a window manager.
pub struct Desktop {
    display: Display,
    manager: Option<Child>,
}

impl Desktop {
    /// Opens the screen. `None` if a program is not installed, with a note.
    pub fn open() -> Result<Option<Self>> {
        let (Some(blackbox), Some(_)) = (installed("blackbox")?, installed("xdotool")?) else {
            return Ok(None);
        };
        let Some(display) = Display::open()? else {
            return Ok(None);
        };
        let manager = Command::new(blackbox)
            // Without a configuration of the user.
            .args(["-rc", "/dev/null"])
            .env("DISPLAY", display.name())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("blackbox does not start")?;
        let desktop = Self {
            display,
            manager: Some(manager),
        };
        // The manager answers once it has announced what it supports.
        let start = Instant::now();
        while desktop.xdotool("get_num_desktops").is_err() {
            ensure!(start.elapsed() < LIMIT, "blackbox is not ready");
            sleep(POLL);
        }
        Ok(Some(desktop))
    }

    /// Opens the screen without a manager. `None` if a program is not installed, with a note.
    pub fn bare() -> Result<Option<Self>> {
        if installed("xdotool")?.is_none() {
            return Ok(None);
        }
        let display = Display::open()?;
        Ok(display.map(|display| Self { display, manager: None }))
    }

    /// Runs `xdotool`, and returns its output.
    fn xdotool(&self, words: &str) -> Result<String> {
        let mut command = Command::new("xdotool");
        command.args(words.split_whitespace());
        process::output(command.env("DISPLAY", self.display.name()))
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        if let Some(manager) = &mut self.manager {
            let _ = manager.kill();
            let _ = manager.wait();
        }
    }
}

/// A running cube, which ends on drop.
pub struct Cube<'a> {
    desktop: &'a Desktop,
    process: Child,
    folder: PathBuf,
    /// The X window.
    window: String,
}

impl<'a> Cube<'a> {
    /// Starts the cube with aborts. Waits until a manager has given its window the input focus, or moves the pointer into it.
    pub fn start(desktop: &'a Desktop, test: &Test, driver: &Driver, validation: Validation) -> Result<Self> {
        let setting = Setting {
            display: Some(&desktop.display),
            has_layer: true,
            validation,
        };
        let folder = test.folder().to_path_buf();
        let mut command = test.command(driver, &setting)?;
        command
            .args(["--size", &format!("{},{}", SIZE.0, SIZE.1)])
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("stdout"))?)
            .stderr(File::create(folder.join("stderr"))?);
        supervise::prepare(&mut command);
        let mut cube = Self {
            desktop,
            process: command.spawn().context("the cube does not start")?,
            folder,
            window: String::new(),
        };
        cube.wait_for("a window", |cube| {
            let found = desktop.xdotool("search --onlyvisible --name ^vkabort");
            cube.window = found.unwrap_or_default().trim().to_owned();
            Ok(!cube.window.is_empty())
        })?;
        match desktop.manager {
            Some(_) => cube.activate()?,
            None => cube.act("mousemove --window WINDOW 100 100")?,
        }
        Ok(cube)
    }

    /// Runs commands of `xdotool`, in which `WINDOW` stands for the window.
    pub fn act(&self, words: &str) -> Result<()> {
        self.desktop.xdotool(&words.replace("WINDOW", &self.window)).map(drop)
    }

    /// Restores the window if it is minimised, and gives it the focus.
    pub fn activate(&mut self) -> Result<()> {
        let window = self.window.clone();
        self.act("windowactivate WINDOW")?;
        self.wait_for("the focus", |cube| {
            Ok(cube
                .desktop
                .xdotool("getwindowfocus")
                .is_ok_and(|focus| focus.trim() == window))
        })
    }

    /// Waits until a condition is true.
    ///
    /// # Errors
    ///
    /// The cube ends before, or the condition stays false for a minute.
    pub fn wait_for(&mut self, expected: &str, mut is_true: impl FnMut(&mut Self) -> Result<bool>) -> Result<()> {
        let start = Instant::now();
        while !is_true(self)? {
            if let Some(status) = self.process.try_wait()? {
                bail!(
                    "the cube ended ({status}) before {expected}\n{}",
                    self.finished(status)?.output_tail()
                );
            }
            if start.elapsed() > LIMIT {
                bail!("waited {LIMIT:?} for {expected}\n{}", self.output()?);
            }
            sleep(POLL);
        }
        Ok(())
    }

    /// The output of the cube so far.
    pub fn output(&self) -> Result<String> {
        Ok(fs::read_to_string(self.folder.join("stdout"))?)
    }

    /// Waits until the cube has printed a text.
    pub fn wait_for_text(&mut self, text: &str) -> Result<()> {
        self.wait_for(text, |cube| Ok(cube.output()?.contains(text)))
    }

    /// The place of the window's contents on the screen.
    pub fn area(&self) -> Result<Area> {
        let text = self
            .desktop
            .xdotool(&format!("getwindowgeometry --shell {}", self.window))?;
        let value = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            value.context("no such value")?.parse().context("not a number")
        };
        Ok(Area {
            left: value("X=")?,
            top: value("Y=")?,
            width: value("WIDTH=")?,
            height: value("HEIGHT=")?,
        })
    }

    /// The window as it is on the screen. `None` where a part of it is outside.
    pub fn seen(&self) -> Result<Option<Picture>> {
        Picture::of_screen(&self.desktop.display.screen(), self.area()?)
    }

    /// Waits until the window shows something.
    pub fn wait_to_see(&mut self, expected: &str, is_seen: impl Fn(&Picture) -> bool) -> Result<()> {
        self.wait_for(expected, |cube| {
            Ok(cube.seen()?.is_some_and(|picture| is_seen(&picture)))
        })
    }

    /// Processor time that the cube has used.
    pub fn processor_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // proc(5): fields 14 and 15, in hundredths of a second on every Linux. The second is a name in parentheses.
        let (_, fields) = stat.rsplit_once(')').context("an unexpected /proc/PID/stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>()?;
        Ok(Duration::from_millis(10 * ticks.iter().sum::<u64>()))
    }

    /// Ends the cube with the Escape key, and checks that it ends well.
    pub fn quit(mut self) -> Result<()> {
        self.act("key Escape")?;
        let End::Exited(status) = supervise::wait(&mut self.process, LIMIT, || false)? else {
            bail!("Escape does not end the cube\n{}", self.output()?);
        };
        expect_success(&self.finished(status)?)
    }

    fn finished(&self, status: ExitStatus) -> Result<Finished> {
        Finished::read(status, &self.folder)
    }
}

impl Drop for Cube<'_> {
    fn drop(&mut self) {
        // It has ended, unless a test fails.
        let _ = supervise::kill(&mut self.process);
    }
}

/// Runs a test with a window of a new cube on lavapipe and on SwiftShader, which present in different ways.
pub fn on_drivers(validation: Validation, test: impl Fn(&mut Cube<'_>) -> Result<()>) -> Result<()> {
    on_desktop(Desktop::open()?, validation, test)
}

/// [`on_drivers`] without a window manager.
pub fn without_manager(validation: Validation, test: impl Fn(&mut Cube<'_>) -> Result<()>) -> Result<()> {
    on_desktop(Desktop::bare()?, validation, test)
}

fn on_desktop(
    desktop: Option<Desktop>,
    validation: Validation,
    test: impl Fn(&mut Cube<'_>) -> Result<()>,
) -> Result<()> {
    let Some(desktop) = desktop else {
        return Ok(());
    };
    let folder = Test::new()?;
    let names = [TestDriver::Lavapipe, TestDriver::SwiftShader].map(TestDriver::name);
    for driver in all_drivers().iter().filter(|driver| names.contains(&&*driver.name)) {
        let run = || {
            let mut cube = Cube::start(&desktop, &folder, driver, validation)?;
            test(&mut cube)?;
            cube.quit()
        };
        run().with_context(|| driver.name.clone())?;
    }
    Ok(())
}
