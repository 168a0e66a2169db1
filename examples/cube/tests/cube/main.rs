//! The cube spins on every driver, in a window and without one. When a shader aborts, it shows the message over the cube and
//! carries on.

mod desktop;
mod picture;
mod run;
mod window;

use anyhow::{Context, Result, ensure};
use picture::{Picture, is_dark, is_red, is_white};
use run::{Setting, Test, all_drivers, has_windows};
use std::time::Duration;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::display::Display;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::root;

const WIDTH: usize = 960;
const HEIGHT: usize = 720;
/// A pixel on the cube, whatever its rotation.
const CENTER: &str = "480,360";
/// Height of a line of text.
const LINE: usize = 18;

/// Runs the cube in a window or frame of the usual size, with a screenshot of the last frame.
fn run(test: &Test, driver: &Driver, setting: &Setting<'_>, arguments: &str) -> Result<Finished> {
    let mut command = test.command(driver, setting)?;
    command
        .args(["--size", &format!("{WIDTH},{HEIGHT}"), "--screenshot"])
        .arg(test.screenshot())
        .args(arguments.split_whitespace());
    if setting.display.is_none() {
        command.arg("--headless");
    }
    let ended = run_with_limit(&mut command, Duration::from_secs(120), test.folder())?;
    run::expect_success(&ended).with_context(|| format!("{} with {arguments}", driver.name))?;
    Ok(ended)
}

/// The last frame.
fn screenshot(test: &Test) -> Result<Picture> {
    let picture = Picture::read(&test.screenshot())?;
    ensure!((picture.width, picture.height) == (WIDTH, HEIGHT));
    Ok(picture)
}

/// Checks that there is a cube between the panels, and background beside it.
fn expect_cube(picture: &Picture) -> Result<()> {
    let rows = 200..HEIGHT - 20 * LINE;
    let lit = picture.share(400..560, rows.clone(), |pixel| !is_dark(pixel));
    ensure!(lit > 0.9, "{lit} of the middle is lit");
    let colors = [
        picture.share(250..700, rows.clone(), |[r, g, b]| r > g.saturating_add(30) && g > b),
        picture.share(250..700, rows.clone(), |[r, _, b]| b > r.saturating_add(60)),
    ];
    ensure!(colors.iter().all(|share| *share > 0.05), "orange and blue: {colors:?}");
    let dark = picture.share(0..100, rows, is_dark);
    ensure!(dark == 1.0, "{dark} of the left edge is dark");
    Ok(())
}

/// Shares of red and white pixels in the lower lines, where messages are.
fn message(picture: &Picture) -> [f64; 2] {
    let rows = HEIGHT - 16 * LINE..HEIGHT;
    [
        picture.share(0..WIDTH, rows.clone(), is_red),
        picture.share(0..WIDTH, rows, is_white),
    ]
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
        let ended = run(&test, &driver, &setting, "--frames 12 --abort-vertex --abort-frame 3")?;
        ensure!(
            ended.stdout.contains("supports VK_KHR_shader_abort"),
            "{}",
            ended.output_tail()
        );
        expect_cube(&screenshot(&test)?)?;
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
            let ended = run(&test, &driver, &setting, "--frames 5")?;
            ensure!(
                !ended.stdout.contains("VK_ERROR_DEVICE_LOST"),
                "{}",
                ended.output_tail()
            );
            let before = screenshot(&test)?;
            expect_cube(&before)?;
            let arguments = format!("--frames 20 --abort-frame 5 --abort-pixel {CENTER}");
            let ended = run(&test, &driver, &setting, &arguments)?;
            let expected = "shader aborted: pixel (480, 360): position (";
            ensure!(ended.stdout.contains(expected), "{}", ended.output_tail());
            for line in [
                "--> cube.frag:",
                "= condition: pixel == abort_pixel with pixel = (480, 360)",
            ] {
                ensure!(ended.stdout.contains(line), "{}", ended.output_tail());
            }
            // The report of the layer.
            for name in ["module \"cube.frag\" (", "pipeline \"cube\"", "queue \"frames\""] {
                ensure!(ended.stderr.contains(name), "{}", ended.output_tail());
            }
            let after = screenshot(&test)?;
            expect_cube(&after)?;
            let (before, after) = (message(&before), message(&after));
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
            let ended = run(&test, &driver, &setting, &arguments)?;
            ensure!(
                ended.stdout.contains(message),
                "{}\n{}",
                driver.name,
                ended.output_tail()
            );
            expect_cube(&screenshot(&test)?)?;
        }
    }
    Ok(())
}

/// Without aborts and extensions, the loop ends by a planted check, and the cube spins on with the same device.
#[test]
fn the_endless_loop_of_plain_shaders_is_reported() -> Result<()> {
    let test = Test::new()?;
    for driver in all_drivers() {
        let setting = Setting {
            display: None,
            has_layer: true,
            validation: Validation::Below,
        };
        let mut command = test.command(&driver, &setting)?;
        command
            .args("--plain --headless --frames 8 --abort-frame 4 --abort-compute".split(' '))
            .env("VK_VKABORT_SHADER_ABORT_SANITIZE", "loops")
            .env("VK_VKABORT_SHADER_ABORT_LOOP_BUDGET", "2000");
        let ended = run_with_limit(&mut command, Duration::from_secs(120), test.folder())?;
        run::expect_success(&ended).with_context(|| driver.name.clone())?;
        let context = || format!("{}\n{}", driver.name, ended.output_tail());
        let expected = "shader aborted: loop budget of 2000 iterations is used up\n  --> pattern.comp:";
        ensure!(ended.stderr.contains(expected), "{}", context());
        ensure!(!ended.stdout.contains("VK_ERROR_DEVICE_LOST"), "{}", context());
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
        scratch: test.folder().to_path_buf(),
    };
    let mut command = environment.command(&cargo::build_command(Profile::OWN)?)?;
    command
        .args(["--color", "always", "run", "--layer"])
        .arg(&test.layer.library);
    command.arg(env!("CARGO_BIN_EXE_vkabort-cube"));
    command.args("--headless --frames 1 --abort-vertex --abort-frame 0".split(' '));
    let ended = run_with_limit(&mut command, Duration::from_secs(120), test.folder())?;
    // The cube ends well, and the command reports that a shader aborted.
    ensure!(
        ended.status.code() == Some(90),
        "{}\n{}",
        ended.status,
        ended.output_tail()
    );
    // Without the last line, which names the program by its path.
    let report = ended
        .stderr
        .trim_end()
        .rsplit_once('\n')
        .map_or("", |(report, _)| report);
    let text = format!("$ vkabort run cargo run -p vkabort-cube\n{report}");
    let picture = anstyle_svg::Term::new()
        .palette(anstyle_svg::WIN10_CONSOLE)
        .render_svg(&text);
    let path = root().join("docs/src/cube-report.svg");
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::write(&path, &picture)?;
    }
    ensure!(
        std::fs::read_to_string(&path).is_ok_and(|stored| stored == picture),
        "docs/src/cube-report.svg is out of date: run this test with VKABORT_BLESS=1\n{}",
        ended.output_tail()
    );
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
    let ended = run(&test, &driver, &setting, "--frames 3 --abort-frame 2 --abort-vertex")?;
    ensure!(
        ended.stdout.contains("VK_ERROR_DEVICE_LOST before frame 2"),
        "{}",
        ended.output_tail()
    );
    expect_cube(&screenshot(&test)?)
}
