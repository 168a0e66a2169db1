//! `vkabort run` around aborting programs and `vkabort decode` of dumps, with the real layer on real drivers.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_report::Report;
use vkabort_runner::supervise::Finished;
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::root;
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};
use vkabort_tests::harness::{Placement, environment};
use vkabort_tests::report_files;

const E2E: &str = env!("CARGO_BIN_EXE_vkabort-e2e");
/// A case whose report has all that `vkabort run` switches on.
const CASE: &str = "commands::reports_one_command";

fn text_of_case() -> Result<String> {
    Ok(fs::read_to_string(report_files::file("commands", "txt"))?)
}

/// Runs a case under `vkabort run` with these options and expects this exit code.
fn run(test: &CommandTest, driver: &Driver, options: &[&str], case: &str, code: i32) -> Result<Finished> {
    let ended = test.finish(&mut test.run(driver, options, &[E2E, case])?)?;
    ensure!(exit_code(&ended)? == code, "{}\n{}", driver.name, ended.output_tail());
    Ok(ended)
}

#[test]
fn an_aborting_program_is_reported_and_fails() -> Result<()> {
    let test = CommandTest::new()?;
    for driver in drivers()? {
        let options = ["--report", "kept.jsonl", "--junit", "result.xml"];
        let ended = run(&test, &driver, &options, CASE, 90)?;
        let expected = format!("{}vkabort: {E2E}: 1 shader invocation aborted\n", text_of_case()?);
        ensure!(ended.stderr == expected, "{}\n{}", driver.name, ended.output_tail());
        // The log contains other lines before the report; the strict reader accepts them.
        let kept = fs::read_to_string(test.home().join("kept.jsonl"))?;
        let reports = Report::read_json_lines(&kept)?;
        ensure!(
            reports.len() == 1 && reports[0].text(false) == text_of_case()?,
            "{kept}"
        );
        let junit = fs::read_to_string(test.home().join("result.xml"))?;
        for part in [
            "<testsuite name=\"vkabort\" tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"1\"",
            "<testcase name=\"report/bounds.comp:13\" classname=\"vkabort.shader\">",
            "<failure message=\"index 4000 at 4000.0, 0.5 is out of bounds\" type=\"shader-abort\">",
        ] {
            ensure!(junit.contains(part), "{part}\n{junit}");
        }
    }
    Ok(())
}

#[test]
fn json_settings_and_filters_reach_the_layer() -> Result<()> {
    let test = CommandTest::new()?;
    for driver in drivers()? {
        let ended = run(&test, &driver, &["--json"], CASE, 90)?;
        let expected = report_files::json("commands")?;
        ensure!(ended.stderr.starts_with(&expected), "{}", ended.output_tail());
        // Without emulation the case fails, and the run exits with the program's own code.
        let ended = run(&test, &driver, &["--set", "emulation=off"], CASE, 1)?;
        ensure!(!ended.stderr.contains("aborted"), "{}", ended.output_tail());
        let ended = run(&test, &driver, &["--filter", "ignore file=bounds.comp:13"], CASE, 0)?;
        ensure!(
            ended.stderr == "vkabort: 1 invocation aborted at sites that the filter ignores\n",
            "{}",
            ended.output_tail()
        );
    }
    Ok(())
}

/// The program creates a module with an abort, or runs it, on a device without the extension.
#[test]
fn a_program_that_does_not_enable_the_extension() -> Result<()> {
    let test = CommandTest::new()?;
    for driver in drivers()? {
        let case = "enable::a_module_on_a_device_without_the_extension_is_reported_once";
        let ended = run(&test, &driver, &[], case, 0)?;
        for text in [
            "contains 1 abort, but this device did not enable VK_KHR_shader_abort",
            "no abort could take effect: a shader module contains aborts",
        ] {
            ensure!(
                ended.stderr.matches(text).count() == 1,
                "{text}: {}",
                ended.output_tail()
            );
        }
        let case = "enable::always_reports_the_abort_of_an_application_that_enables_nothing";
        let ended = run(&test, &driver, &["--enable"], case, 90)?;
        ensure!(
            ended.stderr.contains("shader aborted: word 3 is 7"),
            "{}",
            ended.output_tail()
        );
        let case = "enable::always_without_a_taken_abort";
        let ended = run(&test, &driver, &["--enable"], case, 0)?;
        ensure!(ended.stderr.is_empty(), "{}", ended.output_tail());
    }
    Ok(())
}

/// The sample of the repository sets nothing, and options are stronger than a file that says otherwise.
#[test]
fn options_are_stronger_than_a_settings_file() -> Result<()> {
    let test = CommandTest::new()?;
    let sample = fs::read_to_string(root().join("vk_layer_settings.txt"))?;
    let otherwise = [
        "sanitize = off",
        "enable = auto",
        "on_abort = lose",
        "emulation = off",
        "loop_budget = 10",
    ];
    let otherwise = otherwise.map(|line| format!("vkabort_shader_abort.{line}\n")).concat();
    for (driver, file) in drivers()?
        .iter()
        .flat_map(|driver| [(driver, &sample), (driver, &otherwise)])
    {
        fs::create_dir_all(test.home())?;
        fs::write(test.home().join("vk_layer_settings.txt"), file)?;
        let options = ["--sanitize=loops", "--set", "loop_budget=20000"];
        let ended = run(&test, driver, &options, "sanitize::a_while_loop", 90)?;
        let (is_reported, is_lost) = (
            ended.stderr.contains("20000 iterations"),
            ended.stderr.contains("exit status"),
        );
        ensure!(
            is_reported && !is_lost,
            "{}\n{file}\n{}",
            driver.name,
            ended.output_tail()
        );
    }
    Ok(())
}

#[test]
fn doctor_shows_what_is_planted_and_where_that_is_in_vain() -> Result<()> {
    let test = CommandTest::new()?;
    for driver in drivers()? {
        let is_limited = driver.name == TestDriver::Lavapipe.name();
        let own_budget = if is_limited { "65000" } else { "16777216" };
        for (budget, planted) in [("auto", own_budget), ("16777216", "16777216")] {
            let mut command = test.program(&driver, &test.command)?;
            command.args(["doctor", "--layer"]).arg(&test.layer.library);
            command.env("VK_VKABORT_SHADER_ABORT_SANITIZE", "loops");
            command.env("VK_VKABORT_SHADER_ABORT_LOOP_BUDGET", budget);
            let ended = test.finish(&mut command)?;
            let context = || format!("{}\n{}", driver.name, ended.output_tail());
            let row = format!(
                "  sanitizer                    plants loops into every module (loop_budget = {planted}, loop_timeout_ms = 500)\n"
            );
            ensure!(ended.stdout.contains(&row), "{}", context());
            let warning =
                "sanitizer: the driver ends every loop after 65535 iterations, so loop_budget = 16777216 finds none";
            let is_in_vain = is_limited && budget != "auto";
            ensure!(ended.stdout.contains(warning) == is_in_vain, "{}", context());
        }
    }
    Ok(())
}

#[test]
fn a_moved_dump_is_decoded() -> Result<()> {
    let test = CommandTest::new()?;
    let driver = drivers()?.remove(0);
    run(&test, &driver, &["--set", "dump_dir=dumps"], CASE, 90)?;
    let dump = fs::read_dir(test.home().join("dumps"))?
        .next()
        .context("no dump")??
        .path();
    let elsewhere = test.scratch.path().join("elsewhere");
    fs::rename(dump, &elsewhere)?;
    let decode = |words: &[&str]| -> Result<String> {
        // The empty environment excludes driver, layer and loader.
        let mut command = Command::new(&test.command);
        command.arg("decode").args(words).current_dir(&elsewhere).env_clear();
        let ended = test.finish(&mut command)?;
        ensure!(exit_code(&ended)? == 0, "{}", ended.output_tail());
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
    // The bytes do not contain the invocation and its command; the site table supplies everything else. That of a module has no values at the
    // abort, whose place depends on the layer's settings.
    for (sites, has_values) in [(name(".sites.json")?, true), (name(".original.spv")?, false)] {
        let text = decode(&["messages.bin", "--sites", &sites])?;
        for line in text_of_case()?
            .lines()
            .filter(|line| !line.contains("invocation") && !line.contains('"') && !line.contains("= labels"))
            .filter(|line| has_values || !["= condition: ", "= values: "].iter().any(|key| line.contains(key)))
        {
            ensure!(text.contains(line), "{line}\n{text}");
        }
        ensure!(
            text.contains("function `look_up` called from `sum` (report/bounds.comp:21)"),
            "{text}"
        );
    }
    let text = decode(&["messages.bin"])?;
    ensure!(text.contains("index 4000 at 4000.0, 0.5 is out of bounds"), "{text}");
    ensure!(text.contains("bytes: 696e6465"), "{text}");
    Ok(())
}

#[test]
fn a_log_on_a_terminal_has_colours() -> Result<()> {
    let test = CommandTest::new()?;
    let driver = drivers()?.remove(0);
    for (variable, coloured) in [("NONE", true), ("NO_COLOR", false)] {
        let mut command =
            environment(&driver, &test.layer, Placement::Alone, test.scratch.path())?.command(Path::new("script"))?;
        let line = format!("{E2E} {CASE}");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env(variable, "1");
        let ended = test.finish(&mut command)?;
        ensure!(exit_code(&ended)? == 0, "{}", ended.output_tail());
        let painted = "\x1b[1m\x1b[91mvkabort: shader aborted\x1b[0m";
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
