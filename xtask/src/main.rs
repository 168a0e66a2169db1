//! The project's commands: `cargo xtask demo | setup | generate | test | sanitize | fuzz | bench | guide | bundle | drivers`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands talk to the person who runs them"
)]

mod apps;
mod arm64;
mod bundle;
mod debian;
mod demo;
mod deny;
mod dist;
mod fuzz;
mod generate;
mod gpu_drivers;
mod guide;
mod i686;
mod last_runs;
mod manifests;
mod npm;
mod provision;
mod pypi;
mod qemu;
mod release;
mod sanitize;
mod setup;
#[cfg(test)]
mod structure;
mod test;
mod times;
mod toolchain;
mod wheel;
mod windows;
mod zig;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;
use vkabort_test_kit::cargo::Profile;
use vkabort_test_kit::environment;

/// The commands of the vkabort repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the demo under the layer: a shader aborts, and the program reads the message and recovers.
    Demo {
        /// The machine's own driver (auto), lavapipe, lavapipe-backports, swiftshader, newest, or the path of a
        /// driver manifest.
        #[arg(long, default_value = "auto")]
        driver: String,
        /// The place of the Khronos validation layer.
        #[arg(long, value_enum, default_value = "off")]
        validation: Validation,
        /// Run the same program without the layer.
        #[arg(long)]
        without_layer: bool,
    },
    /// Build the layer and the command, provide a GLSL compiler, and print the line that puts both programs on the `PATH`.
    Setup,
    /// Write the files that are derived from the Vulkan registry, and the references of the guide.
    Generate {
        /// Write nothing; fail if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Install what is missing and run every check: format, lints, unit, golden and end-to-end tests.
    Test {
        /// Instead lint the Windows code and test it in Wine, on Linux.
        #[arg(long)]
        windows: bool,
        /// The unit tests and the demo for ARM64, under qemu.
        #[arg(long, conflicts_with = "windows")]
        arm64: bool,
        /// The unit tests, the demo and the end-to-end cases as 32-bit programs for x86.
        #[arg(long, conflicts_with_all = ["windows", "arm64"])]
        i686: bool,
        /// Programs that know nothing of aborts, without the layer and with it: equal results, and no report.
        #[arg(long, conflicts_with_all = ["windows", "arm64", "i686"])]
        apps: bool,
        /// The end-to-end cases in every combination of driver and validation layer.
        #[arg(long, conflicts_with_all = ["windows", "arm64", "i686", "apps"])]
        matrix: bool,
        /// With --apps: also under the layer's sanitizer.
        #[arg(long, requires = "apps")]
        sanitize: bool,
    },
    /// Install what is missing and run the benchmarks. Each measures both sides of a comparison in one run.
    Bench {
        /// Arguments of the program: `--only PART`, `--gpu NAME`. `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the end-to-end tests and the benchmarks as one program for other machines.
    Bundle,
    /// Build Debian packages and a relocatable archive of the layer, the command and the C library into `target/packages`.
    Dist {
        /// Instead, an archive for Windows.
        #[arg(long, conflicts_with = "target")]
        windows: bool,
        /// x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu; by default this machine's.
        #[arg(long)]
        target: Option<String>,
        /// Build them a second time and compare; install, use and remove them in a fresh Debian, which needs root, or in Wine.
        #[arg(long)]
        check: bool,
    },
    /// Check licences, sources, duplicates and known vulnerabilities of the dependencies, as `test` does.
    Deny,
    /// Render the pictures of reports in README and the guide from the output of the C example.
    Picture,
    /// Check the links of the guide and build it into `target/guide/`, with mdBook, which is installed if it is missing.
    Guide,
    /// Run every fuzz target, and install cargo-fuzz into `.vkabort/` if it is missing.
    Fuzz {
        /// Minutes for each target.
        #[arg(long, default_value_t = 60)]
        minutes: u32,
    },
    /// Run the layer under sanitizers, memcheck and Miri, and install them if they are missing. Takes more than ten minutes.
    Sanitize {
        /// The tools to run; by default all.
        parts: Vec<sanitize::Part>,
    },
    /// Run every check that is too slow for each change, in turn, and fail if one has not passed with these sources. Takes hours.
    Release {
        /// Run nothing; only look at the rows of `xtask/last_runs.md`.
        #[arg(long)]
        rows: bool,
    },
    /// Install glslang into `.vkabort/`, from Debian unstable's package, and print its path. Needs Debian, and no root access.
    Glslang,
    /// Install the test drivers, GPU drivers, the compilers Slang and glslang, and SPIRV-Tools into `.vkabort/`.
    Drivers {
        /// Also Debian unstable's Mesa, loader and validation layer.
        #[arg(long)]
        newest: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Validation {
    /// Not loaded.
    Off,
    /// Between the layer and the driver: it checks what the driver gets.
    Below,
    /// Between the program and the layer: it checks what programs see.
    Above,
}

impl Validation {
    fn place(self) -> environment::Validation {
        match self {
            Self::Off => environment::Validation::Off,
            Self::Below => environment::Validation::Below,
            Self::Above => environment::Validation::Above,
        }
    }
}

fn main() -> ExitCode {
    run(Arguments::parse().task).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: Task) -> Result<ExitCode> {
    match task {
        Task::Demo {
            driver,
            validation,
            without_layer,
        } => {
            let status = demo::demo(&driver, validation.place(), without_layer)?;
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            if code.is_none() {
                eprintln!("The demo ended with {status}.");
            }
            return Ok(ExitCode::from(code.unwrap_or(1)));
        }
        Task::Setup => println!("{}", setup::path_line(&setup::setup(Profile::Release)?)?),
        Task::Generate { check } => generate::generate(check)?,
        Task::Test { windows: true, .. } => last_runs::record("cargo xtask test --windows", windows::test)?,
        Task::Test { arm64: true, .. } => last_runs::record("cargo xtask test --arm64", arm64::test)?,
        Task::Test { i686: true, .. } => last_runs::record("cargo xtask test --i686", i686::test)?,
        Task::Test {
            apps: true, sanitize, ..
        } => {
            let option = if sanitize { " --sanitize" } else { "" };
            last_runs::record(&format!("cargo xtask test --apps{option}"), || apps::test(sanitize))?;
        }
        Task::Test { matrix: true, .. } => last_runs::record("cargo xtask test --matrix", test::matrix)?,
        Task::Test { .. } => test::test()?,
        Task::Bench { arguments } => test::bench(&arguments)?,
        Task::Fuzz { minutes } => last_runs::record("cargo xtask fuzz", || fuzz::fuzz(minutes))?,
        Task::Sanitize { parts } => sanitize::sanitize(&parts)?,
        Task::Release { rows } => release::release(rows)?,
        Task::Guide => guide::guide()?,
        Task::Picture => test::picture()?,
        Task::Dist { windows, target, check } => {
            let option = match &target {
                Some(target) => format!(" --target {target}"),
                None if windows => " --windows".to_owned(),
                None => String::new(),
            };
            let build = || match windows {
                true => windows::dist::dist(check),
                false => dist::dist(target.as_deref(), check),
            };
            match check {
                true => last_runs::record(&format!("cargo xtask dist{option} --check"), build)?,
                false => build()?,
            }
        }
        Task::Deny => deny::deny()?,
        Task::Bundle => bundle::bundle()?,
        Task::Glslang => println!("{}", provision::bring_glslang(&mut None)?.display()),
        Task::Drivers { newest } => {
            provision::provision(newest)?;
            provision::report();
        }
    }
    Ok(ExitCode::SUCCESS)
}
