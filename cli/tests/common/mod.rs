//! Runs the command, and assembles modules for it.
// Each test file uses some of these functions.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use vkabort_record::message::Message;
use vkabort_record::report::{Report, Sample, SiteReport};
use vkabort_spirv_builder::{push, string};

/// Result of a run of the command.
pub struct Run {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }

    /// Checks that standard output starts with `text`.
    pub fn begins(&self, text: &str) {
        assert!(
            self.text().starts_with(text),
            "{text:?} is not at the start of\n{}",
            self.text()
        );
    }

    /// Checks that standard output contains `text`.
    pub fn prints(&self, text: &str) {
        assert!(self.text().contains(text), "{text:?} is not in\n{}", self.text());
    }

    /// Checks that standard error contains `text`.
    pub fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text:?} is not in\n{}", self.stderr);
    }

    /// Checks the exit code, and that standard error contains `text`.
    pub fn fails(&self, code: i32, text: &str) {
        assert_eq!(self.code, code, "stderr: {}", self.stderr);
        self.says(text);
    }

    /// Returns a run that must have succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "stderr: {}", self.stderr);
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the command exits"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }
}

/// Environment variables of a machine without drivers and layers, with home folder `home`.
pub fn without_vulkan(home: &str) -> [(&'static str, &str); 7] {
    [
        ("HOME", home),
        ("XDG_DATA_HOME", home),
        ("XDG_CONFIG_HOME", home),
        ("XDG_DATA_DIRS", home),
        ("XDG_CONFIG_DIRS", home),
        ("VK_DRIVER_FILES", "/nonexistent.json"),
        ("VK_ICD_FILENAMES", "/nonexistent.json"),
    ]
}

/// Runs `vkabort` in an environment without the machine's Vulkan configuration.
pub fn vkabort(args: &[&str], input: &[u8]) -> Run {
    run_in(Path::new("."), args, input)
}

/// [`vkabort`] in a folder.
pub fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    run_with(folder, args, input, &[])
}

/// [`run_in`] with environment variables.
pub fn run_with(folder: &Path, args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkabort"));
    for name in [
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "NO_COLOR",
        "VK_INSTANCE_LAYERS",
        "VK_LAYER_PATH",
        "VK_ADD_LAYER_PATH",
        "VKABORT_ENABLE",
    ] {
        command.env_remove(name);
    }
    let mut child = command
        .args(args)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    // A command that fails early closes its input, which is not a failure of the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the input is written");
    output.into()
}

/// A new folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the old folder is removed");
    }
    std::fs::create_dir_all(&path).expect("the folder is created");
    path
}

/// The log of a program with two aborts of one site.
pub fn report(text: &[u8]) -> String {
    let mut report = Report::default();
    report.sites.push(SiteReport {
        invocations: 2,
        function: Some("check".into()),
        samples: vec![Sample {
            specialization: None,
            invocation: None,
            message: Message::untyped(text),
        }],
        ..SiteReport::default()
    });
    report.summary.invocations = 2;
    report.json_lines()
}

/// A folder with a program and an empty file as library, which nothing loads.
#[cfg(unix)]
pub fn with_program(name: &str, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(name);
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), b"").expect("written");
    std::fs::write(folder.join("abort.jsonl"), report(b"bad index")).expect("written");
    let program = folder.join("app");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    folder
}

/// A line of a program of [`with_program`] that writes a report as the layer does.
#[cfg(unix)]
pub const ABORT: &str = "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"";

/// Runs the program of [`with_program`] under `vkabort run`.
pub fn run_program(folder: &Path, options: &[&str]) -> Run {
    let args = [&["run", "--layer", "."], options, &["--", "./app", "one"]].concat();
    run_in(folder, &args, b"")
}

/// One instruction.
fn op(code: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = Vec::new();
    push(&mut words, code as u16, operands);
    words
}

fn op_text(code: u32, operands: &[u32], text: &str, more: &[u32]) -> Vec<u32> {
    op(code, &[operands, &string(text), more].concat())
}

fn module(bound: u32, instructions: &[Vec<u32>]) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, bound, 0];
    words.extend(instructions.concat());
    words
}

/// An empty compute shader.
pub fn plain() -> Vec<u32> {
    module(
        5,
        &[
            op(17, &[1]),
            op(14, &[0, 1]),
            op_text(15, &[5, 4], "main", &[]),
            op(16, &[4, 17, 1, 1, 1]),
            op(19, &[1]),
            op(33, &[2, 1]),
            op(54, &[1, 4, 0, 2]),
            op(248, &[3]),
            op(253, &[]),
            op(56, &[]),
        ],
    )
}

/// A compute shader whose `main` calls `check`, which aborts with `{code: 7, value: 0.5}` at hand.comp:12:5.
pub fn aborting() -> Vec<u32> {
    let [void, function, main, label, check, check_label, result] = [1, 2, 3, 4, 5, 6, 7];
    let [uint, float, message, seven, half, constant, file] = [8, 9, 10, 11, 12, 13, 14];
    module(
        15,
        &[
            op(17, &[1]),
            op(17, &[5120]),
            op_text(10, &[], "SPV_KHR_abort", &[]),
            op(14, &[0, 1]),
            op_text(15, &[5, main], "main", &[]),
            op(16, &[main, 17, 8, 1, 1]),
            op_text(7, &[file], "hand.comp", &[]),
            op_text(5, &[main], "main", &[]),
            op_text(5, &[check], "check", &[]),
            op_text(5, &[message], "Message", &[]),
            op_text(6, &[message, 0], "code", &[]),
            op_text(6, &[message, 1], "value", &[]),
            op(72, &[message, 0, 35, 0]),
            op(72, &[message, 1, 35, 4]),
            op(19, &[void]),
            op(33, &[function, void]),
            op(21, &[uint, 32, 0]),
            op(22, &[float, 32]),
            op(30, &[message, uint, float]),
            op(43, &[uint, seven, 7]),
            op(43, &[float, half, 0.5f32.to_bits()]),
            op(44, &[message, constant, seven, half]),
            op(54, &[void, main, 0, function]),
            op(248, &[label]),
            op(8, &[file, 30, 1]),
            op(57, &[void, result, check]),
            op(253, &[]),
            op(56, &[]),
            op(54, &[void, check, 0, function]),
            op(248, &[check_label]),
            op(8, &[file, 12, 5]),
            op(5121, &[message, constant]),
            op(56, &[]),
        ],
    )
}

/// A compute shader that aborts with `format` and the number 7 at hand.comp:12:5.
pub fn formatted(format: &str) -> Vec<u32> {
    let [void, function, main, label, uint, char, text, length] = [1, 2, 3, 4, 5, 6, 7, 8];
    let [seven, data, message, constant, file] = [9, 10, 11, 12, 13];
    let bytes = string(format);
    let size = 4 * bytes.len() as u32;
    module(
        14,
        &[
            op(17, &[1]),
            op(17, &[39]),
            op(17, &[5120]),
            op(17, &[5146]),
            op_text(10, &[], "SPV_KHR_abort", &[]),
            op_text(10, &[], "SPV_KHR_constant_data", &[]),
            op(14, &[0, 1]),
            op_text(15, &[5, main], "main", &[]),
            op(16, &[main, 17, 8, 1, 1]),
            op_text(7, &[file], "hand.comp", &[]),
            op(71, &[text, 5145]),
            op(71, &[text, 6, 1]),
            op(72, &[message, 0, 35, 0]),
            op(72, &[message, 1, 35, size]),
            op(19, &[void]),
            op(33, &[function, void]),
            op(21, &[uint, 32, 0]),
            op(21, &[char, 8, 1]),
            op(43, &[uint, length, size]),
            op(28, &[text, char, length]),
            op(30, &[message, text, uint]),
            op(43, &[uint, seven, 7]),
            op(5147, &[&[text, data], bytes.as_slice()].concat()),
            op(44, &[message, constant, data, seven]),
            op(54, &[void, main, 0, function]),
            op(248, &[label]),
            op(8, &[file, 12, 5]),
            op(5121, &[message, constant]),
            op(56, &[]),
        ],
    )
}

pub fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

pub fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_be_bytes()).collect()
}
