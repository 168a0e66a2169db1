//! The cube's window under a window manager: clicks, keys, changes of its size, and minimising.

use crate::desktop::{Cube, SIZE, on_drivers, without_manager};
use crate::picture::{Picture, is_background, is_dark, is_red, is_white};
use anyhow::{Context, Result, ensure};
use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};
use vkabort_test_kit::environment::Validation;

/// Text that every loss prints.
const LOSS: &str = "VK_ERROR_DEVICE_LOST before frame";

/// Rows in which there is the cube, and no text but that of messages.
fn rows(picture: &Picture) -> Range<usize> {
    picture.height * 3 / 10..picture.height * 4 / 10
}

/// Whether frames have the window's size: there is background at its right edge, beside the panels of text.
fn fits(picture: &Picture) -> bool {
    is_background(picture.at(picture.width - 1, picture.height / 2))
}

/// Whether the window shows the cube, without a message.
fn is_cube(picture: &Picture) -> bool {
    let middle = picture.width * 2 / 5..picture.width * 3 / 5;
    fits(picture) && picture.share(middle, rows(picture), |pixel| !is_dark(pixel)) > 0.8
}

/// Whether there is a message below the heading.
fn has_message(picture: &Picture) -> bool {
    let share = |is_text| picture.share(0..picture.width, picture.height / 5..picture.height, is_text);
    share(is_red as fn(_) -> _) > 0.002 && share(is_white) > 0.01
}

/// Waits until the cube has turned. It is seen through the panels, too.
fn expect_spinning(cube: &mut Cube<'_>) -> Result<()> {
    let column = |picture: &Picture| -> Vec<_> { rows(picture).map(|y| picture.at(picture.width / 2, y)).collect() };
    cube.wait_to_see("a frame", fits)?;
    let before = cube.seen()?.context("the window is not on the screen")?;
    cube.wait_to_see("a turned cube", |picture| {
        fits(picture) && column(picture) != column(&before)
    })
}

#[test]
fn a_click_aborts_at_that_pixel() -> Result<()> {
    on_drivers(Validation::Below, |cube| {
        cube.wait_to_see("a cube", is_cube)?;
        expect_spinning(cube)?;
        // Beside the cube, no fragment shader runs.
        cube.act("mousemove --window WINDOW 5 200 click 1")?;
        cube.wait_to_see("a note", |picture| {
            let (width, height) = (picture.width, picture.height);
            picture.share(0..width, height - 45..height, is_white) > 0.01
        })?;
        ensure!(!cube.output()?.contains(LOSS));
        let (x, y) = (SIZE.0 / 2 + 20, SIZE.1 / 2 - 30);
        cube.act(&format!("mousemove --window WINDOW {x} {y} click 1"))?;
        cube.wait_for_text(&format!("shader aborted: pixel ({x}, {y}): position ("))?;
        cube.wait_for_text("--> cube.frag:")?;
        cube.wait_to_see("a message", has_message)?;
        expect_spinning(cube)
    })
}

#[test]
fn keys_abort_in_the_vertex_and_the_compute_shader() -> Result<()> {
    on_drivers(Validation::Below, |cube| {
        for (key, message) in [
            ("v", "shader aborted: vertex 17 is corrupt: position (nan, -1.0, 1.0)"),
            ("C", "no end after 1000 steps: change "),
        ] {
            expect_spinning(cube)?;
            cube.act(&format!("key {key}"))?;
            cube.wait_for_text(message)?;
            cube.wait_to_see("a message", has_message)?;
        }
        ensure!(cube.output()?.matches(LOSS).count() == 2);
        expect_spinning(cube)
    })
}

#[test]
fn keys_work_without_a_window_manager() -> Result<()> {
    without_manager(Validation::Off, |cube| {
        cube.wait_to_see("a cube", is_cube)?;
        cube.act("key c")?;
        cube.wait_for_text("no end after 1000 steps: change ")
    })
}

#[test]
fn frames_follow_the_size_of_the_window() -> Result<()> {
    on_drivers(Validation::Above, |cube| {
        for (width, height) in [(700, 500), (300, 450), SIZE] {
            cube.act(&format!("windowsize WINDOW {width} {height}"))?;
            cube.wait_to_see("a cube in the new size", |picture| {
                (picture.width, picture.height) == (width, height) && is_cube(picture)
            })?;
        }
        // Smaller than a character, so that there is no text.
        for (width, height) in [(7, 5), (1, 1)] {
            cube.act(&format!("windowsize WINDOW {width} {height}"))?;
            cube.wait_to_see("a frame in the new size", |picture| {
                let black = picture.share(0..picture.width, 0..picture.height, |pixel| pixel == [0; 3]);
                (picture.width, picture.height) == (width, height) && black == 0.0
            })?;
        }
        // The size changes while the device is lost and replaced.
        cube.act("windowsize WINDOW 640 480")?;
        cube.wait_to_see("a cube in the new size", |picture| {
            picture.width == 640 && is_cube(picture)
        })?;
        cube.act("mousemove --window WINDOW 320 200 click 1 windowsize WINDOW 560 440 windowsize WINDOW 480 420")?;
        cube.wait_for_text("shader aborted: pixel (320, 200)")?;
        cube.wait_to_see("a message in the new size", |picture| {
            (picture.width, picture.height) == (480, 420) && has_message(picture)
        })?;
        expect_spinning(cube)
    })
}

/// Share of the processors' time that the cube takes: 1 is one of them.
fn load(cube: &Cube<'_>) -> Result<f64> {
    let (start, before) = (Instant::now(), cube.processor_time()?);
    sleep(Duration::from_millis(500));
    let used = cube.processor_time()? - before;
    Ok(used.as_secs_f64() / start.elapsed().as_secs_f64())
}

#[test]
fn a_window_that_is_not_visible_rests() -> Result<()> {
    on_drivers(Validation::Off, |cube| {
        // Minimised, or outside the screen.
        for [hide, show] in [
            ["windowminimize WINDOW", "windowactivate WINDOW"],
            ["windowmove WINDOW 3000 100", "windowmove WINDOW 10 30"],
        ] {
            cube.wait_to_see("a cube", is_cube)?;
            expect_spinning(cube)?;
            cube.act(hide)?;
            cube.wait_for("rest of the processor", |cube| Ok(load(cube)? < 0.05))?;
            cube.act(show)?;
        }
        expect_spinning(cube)?;
        // Minimised at once, before or after the loss is noticed.
        cube.act("key v windowminimize WINDOW")?;
        cube.wait_for("rest of the processor", |cube| Ok(load(cube)? < 0.05))?;
        cube.activate()?;
        cube.wait_to_see("a message", has_message)?;
        expect_spinning(cube)
    })
}
