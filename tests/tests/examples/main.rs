//! The programs and shaders of `examples/` are built as their users build them, abort and recover on every driver.

mod crash_handlers;

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_instrument::DEFAULT_LOOP_BUDGET;
use vkabort_oracle::words::{from_bytes, to_bytes};
use vkabort_runner::supervise::Finished;
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::{glslang, process, root};
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};
use vkabort_tests::harness::{Placement, environment};
use vkabort_tests::slang::Slang;

/// Path of the program `glslang`.
fn installed_glslang() -> Result<PathBuf> {
    glslang::find().map_err(anyhow::Error::msg)
}

/// Runs `glslang` on a file of a folder.
fn compile(folder: &Path, arguments: &[&str], source: &str, output: &Path) -> Result<()> {
    let mut command = Command::new(installed_glslang()?);
    command
        .args(["-V", "-gVS"])
        .args(arguments)
        .arg(source)
        .arg("-o")
        .arg(output);
    process::output(command.current_dir(folder)).map(drop)
}

/// Builds the C example with CMake. Returns the build folder.
fn build(test: &CommandTest) -> Result<PathBuf> {
    let folder = test.scratch.path().join("build");
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(root().join("examples/c"))
        .arg("-B")
        .arg(&folder)
        .arg(format!("-DVKABORT={}", test.command.display()))
        .arg(format!("-DGLSLANG={}", installed_glslang()?.display()));
    process::output(&mut configure).context("`cargo xtask test` installs cmake and libvulkan-dev")?;
    process::output(Command::new("cmake").arg("--build").arg(&folder))?;
    Ok(folder)
}

/// Runs the C example with a shader under `vkabort run` on every driver.
fn on_every_driver(
    shader: impl Fn(&CommandTest, &Path) -> Result<PathBuf>,
    check: impl Fn(&Finished) -> Result<()>,
) -> Result<()> {
    let test = CommandTest::new()?;
    let folder = build(&test)?;
    let (program, shader) = (folder.join("sum"), shader(&test, &folder)?);
    let words = [&program, &shader].map(|path| path.display().to_string());
    for driver in drivers()? {
        let ended = test.finish(&mut test.run(&driver, &[], &[&words[0], &words[1]])?)?;
        let context = || format!("{}\n{}", driver.name, ended.output_tail());
        check(&ended).with_context(context)?;
        ensure!(exit_code(&ended)? == 90, "{}", context());
    }
    Ok(())
}

#[test]
fn the_c_program_reports_its_abort_and_recovers() -> Result<()> {
    on_every_driver(
        |_, folder| Ok(folder.join("sum.spv")),
        |ended| {
            ensure!(
                ended
                    .stderr
                    .starts_with("vkabort: shader aborted: index 4000000 is beyond the 64 words of the buffer\n")
            );
            ensure!(ended.stderr.contains("--> sum.comp:14"));
            ensure!(
                ended.stdout
                    == "The device is lost: 64 bytes of messages are in messages.bin\nThe shader has run: word 1 is 1\n"
            );
            Ok(())
        },
    )
}

/// The program enables no extension, and its shader does not end. lavapipe 22.3 ends every loop after 65,535 iterations, so the
/// budget is smaller there.
#[test]
fn a_c_program_without_aborts_reports_its_loop_and_ends() -> Result<()> {
    let test = CommandTest::new()?;
    let folder = build(&test)?;
    let files = ["plain", "collatz.spv"].map(|name| folder.join(name).display().to_string());
    for name in TestDriver::ALL {
        let Ok(driver) = name.find() else { continue };
        let budget = if name == TestDriver::Lavapipe {
            65_000
        } else {
            DEFAULT_LOOP_BUDGET
        };
        let mut command = match driver.interpreter {
            // The program needs the driver's C library, which the command does not know.
            Some(_) => {
                let environment = environment(&driver, &test.layer, Placement::Alone, test.scratch.path())?;
                let mut command = environment.command(Path::new(&files[0]))?;
                command
                    .arg(&files[1])
                    .env("VK_VKABORT_SHADER_ABORT_SANITIZE", "default")
                    .env("VK_VKABORT_SHADER_ABORT_LOOP_TIMEOUT_MS", "0");
                command
            }
            None => test.run(
                &driver,
                &["--sanitize", "--set", "loop_timeout_ms=0"],
                &[&files[0], &files[1]],
            )?,
        };
        let ended = test.finish(&mut command)?;
        let context = || format!("{}\n{}", driver.name, ended.output_tail());
        let first =
            format!("vkabort: shader aborted: loop budget of {budget} iterations is used up\n  --> collatz.comp:15\n");
        ensure!(ended.stderr.starts_with(&first), "{}", context());
        ensure!(ended.stderr.contains("invocation global (0, 0, 0)"), "{}", context());
        ensure!(ended.stdout == "The shader has run: word 1 is 0\n", "{}", context());
        let expected = if driver.interpreter.is_some() { 0 } else { 90 };
        ensure!(exit_code(&ended)? == expected, "{}", context());
    }
    Ok(())
}

#[test]
fn its_test_runs_under_ctest_and_its_messages_are_decoded() -> Result<()> {
    let test = CommandTest::new()?;
    let folder = build(&test)?;
    let driver = drivers()?.remove(0);
    let mut ctest = test.program(&driver, Path::new("ctest"))?;
    ctest.arg("--test-dir").arg(&folder).arg("--output-on-failure");
    let ended = test.finish(&mut ctest)?;
    ensure!(exit_code(&ended)? == 0, "{}", ended.output_tail());
    let junit = fs::read_to_string(folder.join("sum.xml"))?;
    ensure!(junit.contains("name=\"sum.comp:14\""), "{junit}");
    let mut decode = Command::new(&test.command);
    decode
        .args(["decode", "messages.bin", "--sites", "sum.spv"])
        .current_dir(&folder);
    let ended = test.finish(&mut decode)?;
    ensure!(ended.stdout.contains("--> sum.comp:14"), "{}", ended.output_tail());
    Ok(())
}

#[test]
fn the_cmake_functions_refuse_what_they_do_not_know() -> Result<()> {
    let test = CommandTest::new()?;
    let project = test.scratch.path();
    let configure = |call: &str| -> Result<(bool, String)> {
        let module = root().join("cmake/vkabort.cmake");
        let text = format!(
            "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nenable_testing()\ninclude(\"{}\")\nadd_custom_target(t)\n{call}\n",
            module.display()
        );
        fs::write(project.join("CMakeLists.txt"), text)?;
        let mut cmake = Command::new("cmake");
        cmake.args(["-S", ".", "-B", "refused", "-DVKABORT=vkabort", "-DGLSLANG=glslang"]);
        let output = cmake.current_dir(project).output()?;
        Ok((
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))
    };
    for (call, problem) in [
        (
            "vkabort_test(NAME t COMMND sh)",
            "vkabort_test: unknown arguments: COMMND;sh",
        ),
        ("vkabort_test(NAME COMMAND sh)", "vkabort_test: no value for NAME"),
        ("vkabort_test(COMMAND sh)", "vkabort_test needs NAME and COMMAND"),
        (
            "vkabort_shader(t a.comp WEROR)",
            "vkabort_shader: unknown arguments: WEROR",
        ),
    ] {
        let (is_accepted, text) = configure(call)?;
        ensure!(!is_accepted && text.contains(problem), "{call}\n{text}");
    }
    for call in [
        "vkabort_test(NAME t COMMAND sh -c true SETTINGS)",
        "vkabort_shader(t shaders/a.comp WERROR OPTIONS ALLOW overlap DENY format FORMAT github)",
    ] {
        let (is_accepted, text) = configure(call)?;
        ensure!(is_accepted, "{call}\n{text}");
    }
    Ok(())
}

/// Each assertion fails in one invocation, with its line, expression and values.
fn check_assertions(ended: &Finished, expected: [&str; 4]) -> Result<()> {
    for message in expected {
        let line = format!("vkabort: shader aborted: {message}\n");
        ensure!(ended.stderr.contains(&line), "{message} is missing");
    }
    ensure!(!ended.stderr.contains("note"), "formats and arguments do not fit");
    Ok(())
}

#[test]
fn glsl_assertions_show_expression_values_and_line() -> Result<()> {
    let shader = |test: &CommandTest, _: &Path| {
        let output = test.scratch.path().join("assert.spv");
        compile(&root().join("examples/assert"), &[], "assert.comp", &output)?;
        Ok(output)
    };
    on_every_driver(shader, |ended| {
        ensure!(
            ended.stderr.contains("--> assert.comp:20"),
            "the location is that of the assertion"
        );
        let expected = [
            "line 20: (i != 3)",
            "line 21: (i == 5 ?i + 1 :i) == (i) -> 6 == 5",
            "line 22: (i * (i == 7 ? 10 : 1)) < (LIMIT) -> 70 < 64",
            "line 23: (point) == inf",
        ];
        check_assertions(ended, expected)
    })
}

#[test]
fn slang_assertions_show_expression_values_and_line() -> Result<()> {
    let folder = root().join("examples/assert");
    let source = fs::read_to_string(folder.join("assert.slang"))?;
    let shader = |test: &CommandTest, _: &Path| {
        let arguments = ["-g2", "-I", &folder.display().to_string()];
        let words = Slang::find()?.compile("assert.slang", &source, &arguments)?;
        let output = test.scratch.path().join("assert.slang.spv");
        fs::write(&output, to_bytes(&words))?;
        Ok(output)
    };
    on_every_driver(shader, |ended| {
        let expected = [
            "assert.slang:17: i != 3",
            "assert.slang:18: i == 5 ? i + 1 : i == i -> 6 == 5",
            "assert.slang:19: i * (i == 7 ? 10 : 1) < LIMIT -> 70 < 64",
            "assert.slang:20: isfinite(point) -> inf",
        ];
        check_assertions(ended, expected)
    })
}

#[test]
fn disabled_assertions_cost_nothing() -> Result<()> {
    let test = CommandTest::new()?;
    let folder = root().join("examples/assert");
    let output = test.scratch.path().join("release.spv");
    compile(&folder, &["-DNDEBUG"], "assert.comp", &output)?;
    let arguments = ["-DNDEBUG", "-I", &folder.display().to_string()];
    let slang = Slang::find()?.compile(
        "assert.slang",
        &fs::read_to_string(folder.join("assert.slang"))?,
        &arguments,
    )?;
    let glsl = from_bytes(&fs::read(&output)?);
    for words in [glsl, slang] {
        ensure!(vkabort_instrument::scan(&words).is_empty());
    }
    Ok(())
}
