//! The cube spins on every driver, in a window and without one. When a shader aborts, it shows the message over the cube and
//! carries on.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::display::Display;
use vkabort_test_kit::drivers::{self, Driver, TestDriver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::layer::Layer;
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_test_kit::supervise::{Finished, run_with_limit};

const WIDTH: usize = 960;
const HEIGHT: usize = 720;
/// A pixel on the cube, whatever its rotation.
const CENTER: &str = "480,360";
/// Height of a line of text.
const LINE: usize = 18;

/// A folder for the files of one run, and what the run needs.
struct Test {
    layer: Layer,
    scratch: TempDir,
}

impl Test {
    fn new() -> Result<Self> {
        Ok(Self {
            layer: cargo::build_layer(Profile::OWN)?,
            scratch: scratch::folder()?,
        })
    }

    /// Runs the cube on a driver and expects it to end well and the validation layer to be silent.
    fn run(&self, driver: &Driver, setting: &Setting<'_>, arguments: &str) -> Result<Finished> {
        let validation = match setting.validation {
            Validation::Off => None,
            place => Some((
                place,
                drivers::validation_layer(Some(driver)).map_err(anyhow::Error::msg)?,
            )),
        };
        let environment = Environment {
            driver: Some(driver.clone()),
            layer: setting.has_layer.then(|| self.layer.clone()),
            native: false,
            validation,
            scratch: self.scratch.path().to_path_buf(),
        };
        let mut command = environment.command(Path::new(env!("CARGO_BIN_EXE_vkabort-cube")))?;
        command
            .args(["--size", &format!("{WIDTH},{HEIGHT}"), "--screenshot"])
            .arg(self.screenshot())
            .args(arguments.split_whitespace());
        match setting.display {
            Some(display) => command.env("DISPLAY", display.name()),
            None => command.arg("--headless"),
        };
        let ended = run_with_limit(&mut command, Duration::from_secs(120), self.scratch.path())?;
        let context = || format!("{} with {arguments}\n{}", driver.name, ended.output_tail());
        ensure!(ended.status.success(), "{}: {}", ended.status, context());
        // The validation layer writes to standard output.
        ensure!(!ended.stdout.contains("Validation"), "{}", context());
        Ok(ended)
    }

    fn screenshot(&self) -> PathBuf {
        self.scratch.path().join("last_frame.png")
    }

    fn picture(&self) -> Result<Picture> {
        Picture::read(&self.screenshot())
    }
}

/// Where and under which layers the cube runs.
struct Setting<'a> {
    /// None: without a window.
    display: Option<&'a Display>,
    has_layer: bool,
    validation: Validation,
}

/// The pixels of a screenshot.
struct Picture(Vec<[u8; 3]>);

impl Picture {
    fn read(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).with_context(|| format!("no {}", path.display()))?;
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().context("the picture is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        ensure!(
            (info.width as usize, info.height as usize) == (WIDTH, HEIGHT),
            "{info:?}"
        );
        Ok(Self(bytes.as_chunks::<3>().0.to_vec()))
    }

    /// The share of the pixels in a rectangle that have a property.
    fn share(&self, x: std::ops::Range<usize>, y: std::ops::Range<usize>, has: impl Fn([u8; 3]) -> bool) -> f64 {
        let pixels: Vec<_> = y.flat_map(|y| x.clone().map(move |x| self.0[y * WIDTH + x])).collect();
        pixels.iter().filter(|pixel| has(**pixel)).count() as f64 / pixels.len() as f64
    }

    /// Checks that there is a cube between the panels, and background beside it.
    fn expect_cube(&self) -> Result<()> {
        let rows = 200..HEIGHT - 17 * LINE;
        let lit = self.share(400..560, rows.clone(), |pixel| !is_dark(pixel));
        ensure!(lit > 0.9, "{lit} of the middle is lit");
        let colors = [
            self.share(250..700, rows.clone(), |[r, g, b]| r > g.saturating_add(30) && g > b),
            self.share(250..700, rows.clone(), |[r, _, b]| b > r.saturating_add(60)),
        ];
        ensure!(colors.iter().all(|share| *share > 0.05), "orange and blue: {colors:?}");
        let dark = self.share(0..100, rows, is_dark);
        ensure!(dark == 1.0, "{dark} of the left edge is dark");
        Ok(())
    }

    /// Shares of red and white pixels in the lower lines, where messages are.
    fn message(&self) -> [f64; 2] {
        let rows = HEIGHT - 12 * LINE..HEIGHT;
        [
            self.share(0..WIDTH, rows.clone(), |[r, g, b]| {
                r > 230 && (60..160).contains(&g) && (60..160).contains(&b)
            }),
            self.share(0..WIDTH, rows, |pixel| pixel.iter().min() > Some(&230)),
        ]
    }
}

fn is_dark(pixel: [u8; 3]) -> bool {
    pixel.iter().max() < Some(&70)
}

/// Every installed driver that runs programs with the system's C library, and of the others those without a window.
fn all_drivers() -> Vec<Driver> {
    TestDriver::ALL
        .into_iter()
        .filter_map(|driver| driver.find().ok())
        .collect()
}

/// A driver with a C library of its own has no libraries for windows.
fn has_windows(driver: &Driver) -> bool {
    driver.interpreter.is_none()
}

#[test]
fn without_the_extension_it_names_it_and_spins_on() -> Result<()> {
    let (test, display) = (Test::new()?, Display::open()?);
    for driver in all_drivers() {
        let setting = Setting {
            display: display.as_ref().filter(|_| has_windows(&driver)),
            has_layer: false,
            validation: Validation::Above,
        };
        let ended = test.run(&driver, &setting, "--frames 12 --abort-vertex --abort-frame 3")?;
        ensure!(
            ended.stdout.contains("supports VK_KHR_shader_abort"),
            "{}",
            ended.output_tail()
        );
        test.picture()?.expect_cube()?;
    }
    Ok(())
}

#[test]
fn it_shows_the_message_of_a_pixel_in_the_same_window() -> Result<()> {
    let (test, display) = (Test::new()?, Display::open()?);
    for driver in all_drivers() {
        for validation in [Validation::Above, Validation::Below] {
            let setting = Setting {
                display: display.as_ref().filter(|_| has_windows(&driver)),
                has_layer: true,
                validation,
            };
            // The frame before the abort, and some frames after it.
            let ended = test.run(&driver, &setting, "--frames 5")?;
            ensure!(
                !ended.stdout.contains("VK_ERROR_DEVICE_LOST"),
                "{}",
                ended.output_tail()
            );
            let before = test.picture()?;
            before.expect_cube()?;
            let arguments = format!("--frames 20 --abort-frame 5 --abort-pixel {CENTER}");
            let ended = test.run(&driver, &setting, &arguments)?;
            let expected = "shader aborted: pixel (480, 360): position (";
            ensure!(ended.stdout.contains(expected), "{}", ended.output_tail());
            ensure!(ended.stdout.contains("--> cube.frag:"), "{}", ended.output_tail());
            let after = test.picture()?;
            after.expect_cube()?;
            let (before, after) = (before.message(), after.message());
            ensure!(
                before[0] < 0.001 && after[0] > before[0] + 0.003 && after[1] > before[1] + 0.01,
                "{}: before {before:?}, after {after:?}",
                driver.name
            );
        }
    }
    Ok(())
}

#[test]
fn the_vertex_and_compute_shaders_abort() -> Result<()> {
    let test = Test::new()?;
    for driver in all_drivers() {
        let setting = Setting {
            display: None,
            has_layer: true,
            validation: Validation::Below,
        };
        for (option, message) in [
            (
                "--abort-vertex",
                "shader aborted: vertex 17 is corrupt: position (nan, -1.0, 1.0)",
            ),
            ("--abort-compute", "no end after 1000 steps: change "),
        ] {
            let arguments = format!("--frames 12 --abort-frame 4 {option}");
            let ended = test.run(&driver, &setting, &arguments)?;
            ensure!(
                ended.stdout.contains(message),
                "{}\n{}",
                driver.name,
                ended.output_tail()
            );
            test.picture()?.expect_cube()?;
        }
    }
    Ok(())
}

#[test]
fn it_runs_under_vkabort_run() -> Result<()> {
    let test = Test::new()?;
    let driver = all_drivers().into_iter().next().context("no driver found")?;
    let environment = Environment {
        driver: Some(driver),
        layer: None,
        native: false,
        validation: None,
        scratch: test.scratch.path().to_path_buf(),
    };
    let mut command = environment.command(&cargo::build_command(Profile::OWN)?)?;
    command.args(["run", "--layer"]).arg(&test.layer.library);
    command.arg(env!("CARGO_BIN_EXE_vkabort-cube"));
    command.args(["--headless", "--frames", "8", "--abort-vertex", "--abort-frame", "2"]);
    let ended = run_with_limit(&mut command, Duration::from_secs(120), test.scratch.path())?;
    // The cube ends well, and the command reports that a shader aborted.
    ensure!(
        ended.status.code() == Some(90),
        "{}\n{}",
        ended.status,
        ended.output_tail()
    );
    ensure!(ended.stderr.contains("vertex 17 is corrupt"), "{}", ended.output_tail());
    Ok(())
}

#[test]
fn a_loss_in_the_last_frame_is_reported() -> Result<()> {
    let test = Test::new()?;
    let setting = Setting {
        display: None,
        has_layer: true,
        validation: Validation::Off,
    };
    let driver = all_drivers().into_iter().next().context("no driver found")?;
    let ended = test.run(&driver, &setting, "--frames 3 --abort-frame 2 --abort-vertex")?;
    ensure!(
        ended.stdout.contains("VK_ERROR_DEVICE_LOST before frame 2"),
        "{}",
        ended.output_tail()
    );
    test.picture()?.expect_cube()
}
