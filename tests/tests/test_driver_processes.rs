//! Several processes on the test driver: equal binaries in each run, and the output of `vkabort doctor`.

use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::scratch;
use vkabort_tests::case_process::CaseProcess;
use vkabort_tests::command_test::CommandTest;
use vkabort_tests::harness::DRIVER_SETTINGS;

const CACHE_DATA: &str = "test_driver_binaries::pipeline_cache_data";

/// Data of a pipeline cache from a new process with a new home.
fn cache_data(settings: &str) -> Result<String> {
    let process = CaseProcess {
        program: env!("CARGO_BIN_EXE_vkabort-e2e"),
    };
    Ok(process.run(CACHE_DATA, settings, &scratch::folder()?, |_| {})?.stdout)
}

#[test]
fn cpu_drivers_have_a_fixed_address() -> Result<()> {
    for settings in ["kind=cpu,import", "kind=cpu", "kind=cpu,import,refuse=import:*"] {
        let first = cache_data(settings)?;
        ensure!(cache_data(settings)? == first, "different binaries with {settings}");
    }
    Ok(())
}

/// Output of `vkabort doctor` on the test driver, with environment variables.
fn doctor(settings: &str, variables: &[(&str, &str)]) -> Result<String> {
    let test = CommandTest::new()?;
    let driver = cargo::build_test_driver(Profile::OWN)?;
    let mut command = test.program(&driver, &test.command)?;
    command.args(["doctor", "--layer"]).arg(&test.layer.library);
    command.env(DRIVER_SETTINGS, settings).envs(variables.iter().copied());
    Ok(test.finish(&mut command)?.stdout)
}

/// Checks the output of `vkabort doctor` for settings of the test driver.
fn expect_doctor(rows: &[(&str, &str)]) -> Result<()> {
    let mut outputs = BTreeMap::new();
    for (settings, expected) in rows {
        if !outputs.contains_key(settings) {
            outputs.insert(settings, doctor(settings, &[])?);
        }
        let output = &outputs[settings];
        ensure!(output.contains(expected), "with {settings}:\n{output}");
    }
    Ok(())
}

#[test]
fn doctor_names_the_memory_of_messages() -> Result<()> {
    expect_doctor(&[
        (
            "memory=vram+bar+host+cached",
            "memory type 3 (HOST_VISIBLE | HOST_COHERENT | HOST_CACHED), host memory: survives a reset of the device",
        ),
        (
            "memory=vram+bar+host+cached",
            " in memory type 1 (DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT), atomics do not cross the bus",
        ),
        (
            "device_coherent,memory=vram+host+amd",
            "host memory that the device does not cache: survives faults and resets",
        ),
        (
            "device_coherent,memory=vram+host+amd",
            "  control block                before the messages: no device memory is host-visible and coherent",
        ),
        (
            "memory=vram+bar",
            "memory type 1 (DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT), no other memory is host-visible and coherent",
        ),
        (
            "memory=vram+bar",
            "before the messages: the messages are in device memory",
        ),
        ("kind=cpu", "memory that the layer allocated"),
        ("kind=cpu", "  message address              fixed (host memory)\n"),
        ("replay", "  message address              new, saved for later runs in "),
        ("replay", "home/.cache/vkabort/arena-"),
        (
            "",
            "chosen by the driver: the driver lacks bufferDeviceAddressCaptureReplay",
        ),
    ])
}

#[test]
fn doctor_explains_why_a_device_lacks_the_extension() -> Result<()> {
    expect_doctor(&[
        ("no_addresses", "the driver lacks bufferDeviceAddress"),
        (
            "refuse=memory:*",
            "cannot emulate VK_KHR_shader_abort: vkAllocateMemory failed",
        ),
        ("native=abort+fault+data", "native"),
        (
            "no_vertex_stores",
            "vertexPipelineStoresAndAtomics (emulation = partial emulates the other shader stages)",
        ),
    ])
}

#[test]
fn doctor_names_the_stages_that_partial_emulation_refuses() -> Result<()> {
    let output = doctor("no_fragment_stores", &[("VK_SHADER_ABORT_EMULATION", "partial")])?;
    let row = "  shader stages                aborts in fragment shaders are refused: the driver lacks \
               fragmentStoresAndAtomics\n";
    for expected in [row, "  VK_KHR_shader_abort          emulated\n", "VK_SUCCESS"] {
        ensure!(output.contains(expected), "{expected}:\n{output}");
    }
    ensure!(!output.contains("cannot be emulated"), "{output}");
    Ok(())
}
