//! The command `vkabort` with the real layer on real drivers: around programs that abort and programs that are not ours,
//! and with what the layer leaves behind.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use vkabort_record::report::Report;
use vkabort_tests::harness::{Ended, Placement, Scratch, drivers_are_required, environment, run_within};
use vkabort_tests::logged;
use xtask::drivers::{Driver, Known};
use xtask::layer::Layer;

const E2E: &str = env!("CARGO_BIN_EXE_vkabort-e2e");
const CASE: &str = "report::of_glsl_with_lines";

/// What every test here needs.
struct Stand {
    layer: Layer,
    command: PathBuf,
    scratch: Scratch,
}

impl Stand {
    fn new() -> Result<Self> {
        Ok(Self {
            layer: xtask::layer::build()?,
            command: xtask::layer::build_command()?,
            scratch: Scratch::new()?,
        })
    }

    /// A program that sees this driver and no layer of ours.
    fn program(&self, driver: &Driver, program: &Path) -> Result<Command> {
        environment(driver, &self.layer, Placement::WithoutLayer, &self.scratch.0)?.command(program)
    }

    /// `vkabort run` with these options around a program and its arguments.
    fn run(&self, driver: &Driver, options: &[&str], program: &[&str]) -> Result<Command> {
        let mut command = self.program(driver, &self.command)?;
        command.args(["run", "--layer"]).arg(&self.layer.library).args(options);
        command.arg("--").args(program);
        Ok(command)
    }

    fn end(&self, command: &mut Command) -> Result<Ended> {
        run_within(command, Duration::from_secs(60), &self.scratch.0)
    }

    /// The program's working directory.
    fn home(&self) -> PathBuf {
        self.scratch.0.join("home")
    }
}

/// The drivers whose programs are started as they are.
fn drivers() -> Vec<Driver> {
    let all = Known::ALL.into_iter().filter_map(|known| known.find().ok());
    all.filter(|driver| driver.interpreter.is_none()).collect()
}

fn text_of_case() -> Result<String> {
    Ok(fs::read_to_string(logged::file("glsl_lines", "txt"))?)
}

fn code(ended: &Ended) -> Result<i32> {
    ended.status.code().with_context(|| ended.said())
}

#[test]
fn a_program_that_aborts_is_reported_and_fails() -> Result<()> {
    let stand = Stand::new()?;
    for driver in drivers() {
        let mut command = stand.run(
            &driver,
            &["--report", "kept.jsonl", "--junit", "result.xml"],
            &[E2E, CASE],
        )?;
        let ended = stand.end(&mut command)?;
        ensure!(code(&ended)? == 90, "{}\n{}", driver.name, ended.said());
        let expected = format!("{}vkabort: {E2E}: 1 shader invocation aborted\n", text_of_case()?);
        ensure!(ended.stderr == expected, "{}\n{}", driver.name, ended.said());
        // The log has lines of what the layer decided before the report: the strict reader knows them too.
        let kept = fs::read_to_string(stand.home().join("kept.jsonl"))?;
        let reports = Report::read_json_lines(&kept)?;
        ensure!(
            reports.len() == 1 && reports[0].text(false) == text_of_case()?,
            "{kept}"
        );
        let junit = fs::read_to_string(stand.home().join("result.xml"))?;
        for part in [
            "<testsuite name=\"vkabort\" tests=\"2\" failures=\"1\" errors=\"0\"",
            "<testcase classname=\"vkabort.shader\" name=\"report/bounds.comp:13\">",
            "<failure type=\"shader-abort\" message=\"index 4000 at 4000.000000, 0.500000 is out of bounds\">",
        ] {
            ensure!(junit.contains(part), "{part}\n{junit}");
        }
    }
    Ok(())
}

#[test]
fn reports_as_json_settings_and_filters_reach_the_layer() -> Result<()> {
    let stand = Stand::new()?;
    for driver in drivers() {
        let ended = stand.end(&mut stand.run(&driver, &["--json"], &[E2E, CASE])?)?;
        ensure!(code(&ended)? == 90, "{}", ended.said());
        let expected = fs::read_to_string(logged::file("glsl_lines", "jsonl"))?;
        ensure!(ended.stderr.starts_with(&expected), "{}", ended.said());
        // The case fails if the device lives: so does the run, with the program's own code.
        let options = ["--set", "emulation=off"];
        let ended = stand.end(&mut stand.run(&driver, &options, &[E2E, CASE])?)?;
        ensure!(code(&ended)? == 1, "{}", ended.said());
        ensure!(!ended.stderr.contains("aborted"), "{}", ended.said());
        let options = ["--filter", "ignore file=bounds.comp:13"];
        let ended = stand.end(&mut stand.run(&driver, &options, &[E2E, CASE])?)?;
        ensure!(code(&ended)? == 0, "{}", ended.said());
        ensure!(
            ended.stderr == "vkabort: 1 invocation aborted at sites that the filter ignores\n",
            "{}",
            ended.said()
        );
    }
    Ok(())
}

#[test]
fn a_dump_is_decoded_anywhere_later() -> Result<()> {
    let stand = Stand::new()?;
    let driver = drivers().into_iter().next().context("there is no driver")?;
    let ended = stand.end(&mut stand.run(&driver, &["--set", "dump_dir=dumps"], &[E2E, CASE])?)?;
    ensure!(code(&ended)? == 90, "{}", ended.said());
    let dump = fs::read_dir(stand.home().join("dumps"))?
        .next()
        .context("no dump")??
        .path();
    let elsewhere = stand.scratch.0.join("elsewhere");
    fs::rename(dump, &elsewhere)?;
    let decode = |words: &[&str]| -> Result<String> {
        // Without any driver, layer or loader.
        let mut command = Command::new(&stand.command);
        command.arg("decode").args(words).current_dir(&elsewhere).env_clear();
        let ended = stand.end(&mut command)?;
        ensure!(code(&ended)? == 0, "{}", ended.said());
        Ok(ended.stdout)
    };
    ensure!(decode(&["."])? == text_of_case()?);
    ensure!(decode(&[".", "--json"])? == fs::read_to_string(elsewhere.join("report.jsonl"))?);
    let name = |end: &str| -> Result<String> {
        let names = fs::read_dir(&elsewhere)?.flatten().map(|entry| entry.file_name());
        let mut names = names.map(|name| name.to_string_lossy().into_owned());
        names
            .find(|name| name.ends_with(end))
            .with_context(|| format!("no {end}"))
    };
    // The bytes alone do not say who sent them; with the sites they say all but that.
    for sites in [name(".sites.json")?, name(".original.spv")?] {
        let text = decode(&["messages.bin", "--sites", &sites])?;
        for line in text_of_case()?
            .lines()
            .filter(|line| !line.contains("invocation") && !line.contains('"'))
        {
            ensure!(text.contains(line), "{line}\n{text}");
        }
        ensure!(
            text.contains("function `look_up` called from `sum` (report/bounds.comp:21)"),
            "{text}"
        );
    }
    let text = decode(&["messages.bin"])?;
    ensure!(
        text.contains("index 4000 at 4000.000000, 0.500000 is out of bounds"),
        "{text}"
    );
    ensure!(text.contains("bytes: 696e6465"), "{text}");
    Ok(())
}

#[test]
fn a_log_on_a_terminal_has_colours() -> Result<()> {
    let stand = Stand::new()?;
    let driver = drivers().into_iter().next().context("there is no driver")?;
    for (variable, coloured) in [("NONE", true), ("NO_COLOR", false)] {
        let mut command =
            environment(&driver, &stand.layer, Placement::Alone, &stand.scratch.0)?.command(Path::new("script"))?;
        let line = format!("{E2E} {CASE}");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env(variable, "1");
        let ended = stand.end(&mut command)?;
        ensure!(code(&ended)? == 0, "{}", ended.said());
        let painted = "\x1b[1;31mvkabort: shader aborted\x1b[0m";
        let plain = "vkabort: shader aborted: index 4000";
        let expected = if coloured { painted } else { plain };
        ensure!(ended.stdout.contains(expected), "{variable}: {:?}", ended.stdout);
        ensure!(
            ended.stdout.contains('\x1b') == coloured,
            "{variable}: {:?}",
            ended.stdout
        );
    }
    Ok(())
}

/// A program of a package, or none with the reason said.
fn installed(name: &str) -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        if drivers_are_required() {
            bail!("{name} is not installed: `cargo xtask test` installs it");
        }
        println!("skipped: {name} is not installed");
    }
    Ok(found)
}

/// The lines of `vulkaninfo` that say something else in every run, or that say that the layer is there.
fn comparable(text: &str) -> Vec<&str> {
    let ours = [
        "VK_KHR_shader_abort",
        "VK_KHR_device_fault",
        "VK_KHR_shader_constant_data",
        "vkabort",
    ];
    let mut lines: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in text.lines() {
        // How many extensions there are; the layers, ours among them, stand in a part of their own.
        if line.starts_with("Layers:") || line.starts_with("VK_LAYER_") {
            skipping = true;
        } else if !line.starts_with(['\t', ' ', '=']) && !line.is_empty() {
            skipping = false;
        }
        let varies = ["Device Extensions: count", "usage ", "budget "]
            .iter()
            .any(|start| line.trim_start().starts_with(start));
        if !skipping && !varies && !ours.iter().any(|name| line.contains(name)) {
            lines.push(line);
        }
    }
    lines
}

/// What a program has said, without what `vkabort run` says beside it.
fn without_notes(stderr: &str) -> String {
    stderr
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("vkabort: "))
        .collect()
}

#[test]
fn vulkaninfo_says_the_same_and_the_extensions_besides() -> Result<()> {
    let Some(program) = installed("vulkaninfo")? else {
        return Ok(());
    };
    let program = program.to_string_lossy();
    let stand = Stand::new()?;
    for driver in drivers() {
        let without = stand.end(&mut stand.program(&driver, Path::new(&*program))?)?;
        let with = stand.end(&mut stand.run(&driver, &[], &[&program])?)?;
        ensure!(code(&with)? == code(&without)?, "{}\n{}", driver.name, with.said());
        ensure!(
            without_notes(&with.stderr) == without.stderr,
            "{}\n{}\n{}",
            driver.name,
            without.stderr,
            with.stderr
        );
        if code(&without)? != 0 {
            println!("skipped: {} does not run vulkaninfo: {}", driver.name, without.stderr);
            continue;
        }
        ensure!(without.stdout.lines().count() > 500, "{}", without.said());
        ensure!(
            with.stdout.contains("VK_KHR_shader_abort") && !without.stdout.contains("VK_KHR_shader_abort"),
            "{}: the layer is not there, or its extension without it",
            driver.name
        );
        let (with, without) = (comparable(&with.stdout), comparable(&without.stdout));
        let differing = with.iter().zip(&without).find(|(a, b)| a != b);
        ensure!(with == without, "{}: {differing:?}", driver.name);
    }
    Ok(())
}

/// A display that nobody sees.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn open(program: &Path) -> Result<Self> {
        // It chooses a free number itself and writes it to this descriptor, its standard output, when it is ready.
        let mut server = Command::new(program)
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start")?;
        let mut number = String::new();
        let out = server.stdout.take().context("it was piped")?;
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut number)?;
        Ok(Self {
            server,
            name: format!(":{}", number.trim()),
        })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn vkcube_draws_its_frames() -> Result<()> {
    let (Some(program), Some(server)) = (installed("vkcube")?, installed("Xvfb")?) else {
        return Ok(());
    };
    let program = program.to_string_lossy();
    let stand = Stand::new()?;
    let display = Display::open(&server)?;
    let arguments = ["--c", "5", "--suppress_popups"];
    for driver in drivers() {
        let mut command = stand.program(&driver, Path::new(&*program))?;
        let without = stand.end(command.args(arguments).env("DISPLAY", &display.name))?;
        ensure!(code(&without)? == 0, "{}: {}", driver.name, without.said());
        let around = [&[&*program], &arguments[..]].concat();
        let mut command = stand.run(&driver, &[], &around)?;
        let with = stand.end(command.env("DISPLAY", &display.name))?;
        ensure!(code(&with)? == 0, "{}: {}", driver.name, with.said());
        // It asks for Vulkan 1.0, for which the layer can do nothing: `vkabort run` says so beside what the program says.
        ensure!(
            with.stdout == without.stdout && without_notes(&with.stderr) == without.stderr,
            "{}\n{}",
            with.said(),
            without.said()
        );
    }
    Ok(())
}
