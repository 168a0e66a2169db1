//! `vkabort run` on Windows: exit codes, Ctrl-C, and the end of the program with the command. The program is a test of this
//! file, which writes the log like the layer.
#![cfg(windows)]
#![allow(clippy::print_stdout, reason = "the program tells the test that it is ready")]

mod common;

use common::{folder, report};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vkabort_windows::console::{ignore_interrupts, interrupt};

/// The exit code of a program that reads or writes where no memory is (`STATUS_ACCESS_VIOLATION`).
const ACCESS_VIOLATION: i32 = 0xC000_0005u32.cast_signed();
/// Variable with the actions of the program, separated by spaces.
const ACTIONS: &str = "VKABORT_TEST_ACTIONS";
/// Variable that makes [`console`] press Ctrl-C.
const INTERRUPTS: &str = "VKABORT_TEST_INTERRUPTS";
/// Flag of a process with a console of its own (`CREATE_NEW_CONSOLE`).
const NEW_CONSOLE: u32 = 0x10;
/// Line that the program prints before it waits.
const READY: &str = "ready";
/// Time that the program waits: longer than a test takes.
const WAIT: Duration = Duration::from_secs(40);

/// The program. As a test it does nothing.
#[test]
fn program() {
    for action in std::env::var(ACTIONS).unwrap_or_default().split_whitespace() {
        match action {
            "abort" => {
                let log = std::env::var_os("VK_VKABORT_SHADER_ABORT_LOG_FILE").expect("the command sets the log");
                std::fs::write(log, report(b"bad index")).expect("written");
            }
            "wait" => {
                println!("\n{READY}");
                std::thread::sleep(WAIT);
            }
            code => std::process::exit(code.parse().expect("an exit code")),
        }
    }
}

/// Starts the program under `vkabort run`.
fn start(name: &str, actions: &str) -> Child {
    let folder = folder(name);
    std::fs::write(folder.join("VkLayer_vkabort_shader_abort.dll"), b"").expect("written");
    Command::new(env!("CARGO_BIN_EXE_vkabort"))
        .args(["run", "--layer", ".", "--"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["program", "--exact", "--nocapture"])
        .current_dir(folder)
        .env(ACTIONS, actions)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Waits until the program is [`READY`]. Returns the rest of its output.
fn wait_for_program(child: &mut Child) -> BufReader<impl std::io::Read + use<>> {
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while line.trim_end() != READY {
        line.clear();
        let bytes = output.read_line(&mut line).expect("text");
        assert_ne!(bytes, 0, "the program ended before it was ready");
    }
    output
}

#[test]
fn exit_codes_are_passed_on() {
    for code in [0, 7, 300, ACCESS_VIOLATION] {
        let ended = start("windows-exit", &code.to_string())
            .wait_with_output()
            .expect("it ends");
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
    }
    let ended = start("windows-exit", "abort 7").wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(90), "{ended:?}");
}

#[test]
fn the_program_ends_when_the_command_is_killed() {
    let mut child = start("windows-kill", "wait");
    let mut output = wait_for_program(&mut child);
    child.kill().expect("it runs");
    let begin = Instant::now();
    // The end of the program closes the last handle of the pipe.
    output.read_to_end(&mut Vec::new()).expect("the pipe closes");
    assert!(begin.elapsed() < WAIT / 2, "the program outlived the command");
}

/// Runs the program under the command in this process's console, and presses Ctrl-C. As a test it does nothing.
#[test]
fn console() {
    if std::env::var_os(INTERRUPTS).is_none() {
        return;
    }
    ignore_interrupts().expect("a handler");
    let mut child = start("windows-interrupt", "abort wait");
    let output = wait_for_program(&mut child);
    interrupt().expect("this process has a console");
    let begin = Instant::now();
    let ended = child.wait_with_output().expect("it ends");
    drop(output);
    assert!(begin.elapsed() < WAIT / 2, "Ctrl-C did not end the program");
    let shown = String::from_utf8_lossy(&ended.stderr);
    assert!(shown.contains("bad index"), "no report:\n{shown}");
    std::process::exit(ended.status.code().expect("an exit code"));
}

/// Wine 8 has no Ctrl-Break.
#[test]
fn ctrl_c_ends_the_program_and_the_command_shows_its_reports() {
    let ended = Command::new(std::env::current_exe().expect("this program"))
        .args(["console", "--exact", "--nocapture"])
        .env(INTERRUPTS, "1")
        .creation_flags(NEW_CONSOLE)
        .output()
        .expect("it starts");
    assert_eq!(ended.status.code(), Some(90), "{ended:?}");
}
