//! Runs every case on every driver.
#![allow(clippy::print_stderr, reason = "a test harness prints its errors")]

use anyhow::{Context, Result};
use libtest_mimic::Arguments;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vkabort_manifest::LIBRARY_WINDOWS;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{Driver, write_manifest};
use vkabort_test_kit::layer::{LIBRARY_FILE, Layer, write_manifests};
use vkabort_test_kit::{i686, target, wine};
use vkabort_tests::case::{RUNNER, seconds, slowdown};
use vkabort_tests::harness::{self, Placement, System, Target};
use vkabort_tests::{cases, glsl_request, shader_cache};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

/// Programs and libraries that run the cases.
struct Builds {
    program: PathBuf,
    layer: Layer,
    test_driver: Driver,
    system: System,
}

impl Builds {
    fn of_this_system() -> Result<Self> {
        Ok(Self {
            program: env!("CARGO_BIN_EXE_vkabort-e2e").into(),
            layer: cargo::build_layer(Profile::OWN)?,
            test_driver: cargo::build_test_driver(Profile::OWN)?,
            system: System::Own,
        })
    }

    fn for_windows(folder: &Path) -> Result<Self> {
        let manifest = folder.join("test-driver.json");
        Ok(Self {
            program: folder.join("vkabort-e2e.exe"),
            layer: write_manifests(&folder.join(LIBRARY_WINDOWS), folder)?,
            test_driver: write_manifest(&folder.join("vkabort_driver.dll"), &manifest)?,
            system: System::Wine(wine::program()?),
        })
    }

    fn for_i686(folder: &Path) -> Result<Self> {
        let manifest = folder.join("test-driver.json");
        Ok(Self {
            program: folder.join("vkabort-e2e"),
            layer: write_manifests(&folder.join(LIBRARY_FILE), folder)?,
            test_driver: i686::in_system(write_manifest(&folder.join("libvkabort_driver.so"), &manifest)?),
            system: System::I686,
        })
    }
}

fn run() -> Result<ExitCode> {
    let arguments = Arguments::from_args();
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let builds = match (folder(wine::PROGRAMS), folder(i686::PROGRAMS)) {
        (Some(folder), _) => Builds::for_windows(&folder)?,
        (_, Some(folder)) => Builds::for_i686(&folder)?,
        _ => Builds::of_this_system()?,
    };
    let mut cases = cases::all();
    let mut program = (builds.program, Vec::new());
    if let Ok(runner) = std::env::var(RUNNER) {
        let mut words = runner.split_whitespace().map(str::to_owned);
        let own = program.0.display().to_string();
        program = (
            words.next().context("the runner is empty")?.into(),
            words.chain([own]).collect(),
        );
        cases.iter_mut().for_each(|case| case.limit *= slowdown());
    }
    if let System::Wine(_) = builds.system {
        glsl_request::serve(shader_cache::folder()?);
    }
    let base = Target {
        driver: None,
        device: None,
        layer: builds.layer,
        placement: Placement::Alone,
        program,
        system: builds.system,
        folder: target().join("vkabort/e2e"),
        shader_cache: Some(shader_cache::folder()?),
        settings: Vec::new(),
        share: (0, 1),
        seconds: seconds(),
    };
    let trials = harness::trials(&cases, &builds.test_driver, &base);
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        harness::finish()?;
    }
    Ok(conclusion.exit_code())
}
