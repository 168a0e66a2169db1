//! The crash handlers decode messages of a lost device: one in C with the C library, one in Rust with `vkabort-report`.

use crate::compile;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_record::framing::message_data;
use vkabort_report::Report;
use vkabort_test_kit::cargo::Profile;
use vkabort_test_kit::decoder::{self, Layout};
use vkabort_test_kit::scratch::TempDir;
use vkabort_test_kit::{cargo, process, root, scratch};
use vkabort_tests::payload::Payload;

/// First lines of the report of [`crash`].
const REPORT: &str = "vkabort: shader aborted: index 4000000 is beyond the 64 words of the buffer\n  --> sum.comp:14";

/// A folder with `sum.spv`, and in `messages.bin` the data of a device that it lost.
fn crash() -> Result<TempDir> {
    let folder = scratch::folder()?;
    let at = |name: &str| folder.path().join(name);
    compile(&root().join("examples/c"), &[], "sum.comp", &at("sum.spv"))?;
    let text = Payload::text("index %u is beyond the %d words of the buffer");
    let payload = text.scalar(4_000_000u32).scalar(64i32).bytes();
    fs::write(at("messages.bin"), message_data([payload.as_slice()]))?;
    Ok(folder)
}

/// Runs a crash handler in the folder of [`crash`]. `crash.jsonl` must have the report that it shows, which it returns.
fn handle(handler: &Path, folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(handler).current_dir(folder).args(arguments).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {error}", output.status);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &error;
    let reports = Report::read_json_lines(&fs::read_to_string(folder.join("crash.jsonl"))?)?;
    let report = reports.first().context("the crash report is empty")?;
    ensure!(shown == report.text(false), "{shown}");
    Ok(shown)
}

/// Data of another kind is an error, not a crash.
fn expect_refusal(handler: &Path, folder: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new(handler).current_dir(folder).args(arguments).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(1) && error.contains("not abort message data"),
        "{}: {error}",
        output.status
    );
    Ok(())
}

/// Installs the C library into a new prefix, as packages do. Returns the static library.
fn install_decoder(prefix: &Path) -> Result<PathBuf> {
    let shared = cargo::build_decoder()?.with_extension("so");
    let archive = shared.with_extension("a");
    decoder::install(&shared, &archive, Layout::RELOCATABLE, prefix)?;
    Ok(archive)
}

/// Builds the crash handler with the flags of pkg-config.
fn build_by_pkg_config(prefix: &Path, program: &Path) -> Result<()> {
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "vkabort-decode >= 1.0"]);
    flags.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = process::output(&mut flags).context("`cargo xtask test` installs pkg-config")?;
    let mut compile = Command::new("cc");
    compile
        .args(["main.c", "crash_handler.c"])
        .args(flags.split_whitespace());
    let path = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    compile.arg(path).arg("-o").arg(program);
    process::output(compile.current_dir(root().join("examples/crash-handler"))).map(drop)
}

#[test]
fn the_crash_handler_in_c_decodes_messages() -> Result<()> {
    let (scratch, crash) = (scratch::folder()?, crash()?);
    let (prefix, build) = (scratch.path().join("prefix"), scratch.path().join("build"));
    install_decoder(&prefix)?;
    let source = root().join("examples/crash-handler");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(source).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    process::output(&mut configure)?;
    process::output(Command::new("cmake").arg("--build").arg(&build))?;
    let by_pkg_config = scratch.path().join("by_pkg_config");
    build_by_pkg_config(&prefix, &by_pkg_config)?;
    for handler in [build.join("crash_handler"), by_pkg_config] {
        let shown = handle(&handler, crash.path(), &["messages.bin", "crash.jsonl", "sum.spv"])?;
        ensure!(shown.starts_with(REPORT), "{shown}");
        expect_refusal(&handler, crash.path(), &["sum.spv", "crash.jsonl", "sum.spv"])?;
    }
    Ok(())
}

#[test]
fn a_program_loads_the_c_library_where_cargo_built_it() -> Result<()> {
    let (scratch, crash) = (scratch::folder()?, crash()?);
    let built = cargo::build_decoder()?;
    let folder = built.parent().context("the library has no folder")?;
    let handler = scratch.path().join("handler");
    let mut compile = Command::new("cc");
    compile.args(["main.c", "crash_handler.c", "-lvkabort_decode", "-o"]);
    compile.arg(&handler).arg("-L").arg(folder);
    compile.arg("-I").arg(root().join("decode/include"));
    compile.arg(format!("-Wl,-rpath,{}", folder.display()));
    process::output(compile.current_dir(root().join("examples/crash-handler")))?;
    let shown = handle(&handler, crash.path(), &["messages.bin", "crash.jsonl", "sum.spv"])?;
    ensure!(shown.starts_with(REPORT), "{shown}");
    Ok(())
}

#[test]
fn the_crash_handler_in_rust_decodes_messages() -> Result<()> {
    let (handler, crash) = (cargo::build_crash_handler()?, crash()?);
    let mut sites = Command::new(cargo::build_command(Profile::OWN)?);
    sites.args(["sites", "--json", "sum.spv"]).current_dir(crash.path());
    fs::write(crash.path().join("sites.json"), process::output(&mut sites)?)?;
    let shown = handle(&handler, crash.path(), &["messages.bin", "sites.json"])?;
    ensure!(shown.starts_with(REPORT), "{shown}");
    // Without a site table, the format still tells the types.
    let shown = handle(&handler, crash.path(), &["messages.bin"])?;
    let first = REPORT.lines().next().context("no line")?;
    ensure!(shown.starts_with(first) && !shown.contains("sum.comp"), "{shown}");
    expect_refusal(&handler, crash.path(), &["sum.spv"])
}

#[test]
fn the_c_interface_reports_errors_and_can_be_used_by_threads() -> Result<()> {
    let scratch = scratch::folder()?;
    let archive = install_decoder(scratch.path())?;
    let (source, program) = (
        root().join("decode/tests/interface.c"),
        scratch.path().join("interface"),
    );
    let include = format!("-I{}", scratch.path().join("include").display());
    let mut compile = Command::new("cc");
    compile.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", &include]);
    compile.arg(&source).arg(archive).arg("-o").arg(&program);
    process::output(compile.args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]))?;
    process::output(&mut Command::new(&program))?;
    // Most engines are C++.
    let mut compile = Command::new("c++");
    compile.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", &include, "-x", "c++"]);
    process::output(compile.arg(scratch.path().join("include/vkabort_decode.h"))).map(drop)
}
