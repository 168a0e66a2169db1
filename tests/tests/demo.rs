//! The demo works on every driver, and without the layer it names the missing extension.

use anyhow::{Result, ensure};
use std::time::Duration;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::scratch;
use vkabort_tests::harness::{Placement, environment};

/// Runs the demo on each installed driver.
fn on_every_driver(placement: Placement, check: fn(&Finished) -> Result<()>) -> Result<()> {
    let layer = cargo::build_layer(Profile::OWN)?;
    let program = cargo::build_demo(Profile::OWN)?;
    for driver in TestDriver::ALL {
        let Ok(driver) = driver.find() else { continue };
        let scratch = scratch::folder()?;
        let mut command = environment(&driver, &layer, placement, scratch.path())?.command(&program)?;
        let ended = run_with_limit(&mut command, Duration::from_secs(60), scratch.path())?;
        check(&ended).map_err(|error| error.context(format!("{}\n{}", driver.name, ended.output_tail())))?;
    }
    Ok(())
}

fn check_output(ended: &Finished) -> Result<()> {
    ensure!(ended.status.success(), "the demo ended with {}", ended.status);
    // On a fast driver or a busy machine, the shader may end before vkQueueSubmit returns.
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
        "results[5]: index 16 is outside a table of 16 entries starting with 100.0",
        "results[38]: index 4000000 is outside a table of 16 entries starting with 100.0",
        "results[61]: index 99 is outside a table of 16 entries starting with 100.0",
        "64 of 64 results are correct.",
    ] {
        ensure!(ended.stdout.contains(text), "the demo does not print {text:?}");
    }
    Ok(())
}

fn check_validated(ended: &Finished) -> Result<()> {
    ensure!(!ended.stdout.contains("Validation"), "validation message");
    check_output(ended)
}

#[test]
fn three_invocations_abort_and_a_new_device_works() -> Result<()> {
    on_every_driver(Placement::Alone, check_output)
}

#[test]
fn the_validation_layer_below_reports_nothing() -> Result<()> {
    on_every_driver(Placement::ValidationBelow, check_validated)
}

#[test]
fn the_validation_layer_above_reports_nothing() -> Result<()> {
    on_every_driver(Placement::ValidationAbove, check_validated)
}

#[test]
fn without_the_layer_it_names_the_missing_extension() -> Result<()> {
    on_every_driver(Placement::WithoutLayer, |ended| {
        ensure!(ended.status.code() == Some(2), "the demo ended with {}", ended.status);
        ensure!(
            ended.stderr.contains("VK_KHR_shader_abort") && ended.stderr.contains("VKABORT_ENABLE=1"),
            "no advice"
        );
        Ok(())
    })
}
