//! The demo does what it says, on every driver, and says what is missing without the layer.

use anyhow::{Result, ensure};
use std::time::Duration;
use vkabort_test_kit::cargo;
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::scratch;
use vkabort_test_kit::supervise::{Finished, run_with_limit};
use vkabort_tests::harness::{Placement, environment};

/// Runs the demo on each driver that is there.
fn on_every_driver(placement: Placement, check: fn(&Finished) -> Result<()>) -> Result<()> {
    let layer = cargo::build_layer()?;
    let program = cargo::build_demo()?;
    for driver in TestDriver::ALL {
        let Ok(driver) = driver.find() else { continue };
        let scratch = scratch::folder()?;
        let mut command = environment(&driver, &layer, placement, scratch.path())?.command(&program)?;
        let ended = run_with_limit(&mut command, Duration::from_secs(60), scratch.path())?;
        check(&ended).map_err(|error| error.context(format!("{}\n{}", driver.name, ended.output_tail())))?;
    }
    Ok(())
}

fn tells_the_story(ended: &Finished) -> Result<()> {
    ensure!(ended.status.success(), "the demo ended with {}", ended.status);
    // A driver that is quick, or a machine that is busy, has run the shader before vkQueueSubmit returns.
    let lost = ["vkQueueSubmit ", "vkWaitForFences "].map(|call| format!("   {call:<38} VK_ERROR_DEVICE_LOST"));
    ensure!(
        lost.iter().any(|line| ended.stdout.contains(line)),
        "the demo does not see the loss"
    );
    for text in [
        "empty vkQueueSubmit after that         VK_ERROR_DEVICE_LOST",
        "1 report(s)",
        "288 bytes of messages:",
        "58 00 00 00 00 00 00 00 72 65 73 75 6c 74 73 5b",
        "results[5]: index 16 is outside a table of 16 entries starting with 100",
        "results[38]: index 4000000 is outside a table of 16 entries starting with 100",
        "results[61]: index 99 is outside a table of 16 entries starting with 100",
        "64 of 64 results are correct.",
    ] {
        ensure!(ended.stdout.contains(text), "the demo does not print {text:?}");
    }
    Ok(())
}

#[test]
fn three_invocations_abort_and_a_new_device_works() -> Result<()> {
    on_every_driver(Placement::Alone, tells_the_story)
}

#[test]
fn the_validation_layer_below_has_nothing_to_say() -> Result<()> {
    on_every_driver(Placement::ValidationBelow, |ended| {
        tells_the_story(ended)?;
        ensure!(!ended.stdout.contains("Validation"), "the validation layer spoke");
        Ok(())
    })
}

#[test]
fn the_validation_layer_above_has_nothing_to_say() -> Result<()> {
    on_every_driver(Placement::ValidationAbove, |ended| {
        tells_the_story(ended)?;
        ensure!(!ended.stdout.contains("Validation"), "the validation layer spoke");
        Ok(())
    })
}

#[test]
fn without_the_layer_it_says_what_is_missing() -> Result<()> {
    on_every_driver(Placement::WithoutLayer, |ended| {
        ensure!(ended.status.code() == Some(2), "the demo ended with {}", ended.status);
        ensure!(
            ended.stderr.contains("VK_KHR_shader_abort") && ended.stderr.contains("VKABORT_ENABLE=1"),
            "no advice"
        );
        Ok(())
    })
}
