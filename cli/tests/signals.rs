//! `vkabort run` with signals and on a terminal.
// Shell scripts and the folders of Linux.
#![cfg(unix)]

mod common;

use common::{ABORT, run_program, with_program};
use std::path::Path;

/// Starts a run, waits until the program prints `ready`, and sends `vkabort` a signal. Returns its exit code, unless the signal
/// ends it, and the later output of the program.
fn signalled(name: &str, script: &str, signal: &str) -> (Option<i32>, String) {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};
    let folder = with_program(name, script);
    // The tests may run in a process that ignores signals, and child processes inherit that.
    let mut child = Command::new("env")
        .args(["--default-signal", env!("CARGO_BIN_EXE_vkabort")])
        .args(["run", "--layer", ".", "--", "./app"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("text");
    assert_eq!(line, "ready\n");
    let sent = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status();
    assert!(sent.expect("kill starts").success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    let status = child.wait().expect("it ends");
    (status.code(), rest)
}

#[test]
fn signals_are_forwarded_to_the_program() {
    let wait = "echo ready; while :; do sleep 0.02; done";
    for signal in ["TERM", "INT", "HUP", "USR1"] {
        let script = format!("trap 'echo got {signal}; exit 3' {signal}; {wait}");
        let (code, output) = signalled(&format!("signal-{signal}"), &script, signal);
        assert_eq!((code, output), (Some(3), format!("got {signal}\n")));
    }
    // A program without a handler is killed, as without the command.
    assert_eq!(signalled("signal-kills", wait, "TERM").0, Some(128 + 15));
}

#[test]
fn aborts_before_a_signal_count() {
    let script = format!("{ABORT}; echo ready; while :; do sleep 0.02; done");
    assert_eq!(signalled("signal-aborted", &script, "TERM").0, Some(90));
}

#[test]
fn the_program_ends_when_the_command_is_killed() {
    let script = "echo ready; for i in $(seq 50); do sleep 0.02; done; echo survived";
    assert_eq!(signalled("signal-kill", script, "KILL"), (None, String::new()));
}

/// Runs `vkabort run` on a new terminal, types on it, and returns its output.
fn on_terminal(folder: &Path, typed: &'static [u8], variables: &[(&str, &str)]) -> (i32, String) {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    // script(1) runs this with $SHELL. A shell that does not replace itself by its last command receives the Ctrl-C too,
    // and dies.
    let command = format!(
        "stty rows 30 cols 70; exec env --default-signal {} run --layer . -- ./app",
        env!("CARGO_BIN_EXE_vkabort")
    );
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CI")
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script(1) starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut out = child.stdout.take().expect("piped");
    let mut shown = Vec::new();
    let mut bytes = [0; 512];
    let mut typed = Some(typed);
    while let Ok(count) = out.read(&mut bytes)
        && count > 0
    {
        shown.extend(&bytes[..count]);
        if String::from_utf8_lossy(&shown).contains("ready")
            && let Some(typed) = typed.take()
        {
            stdin.write_all(typed).expect("typed");
        }
    }
    let status = child.wait().expect("it ends");
    (
        status.code().expect("an exit code"),
        String::from_utf8_lossy(&shown).into_owned(),
    )
}

#[test]
fn the_program_receives_ctrl_c_once() {
    // The program counts signals and ends 0.4 s after the first.
    let script = "n=0; trap 'n=$((n+1))' INT; echo ready
         while [ $n = 0 ]; do sleep 0.02; done; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; echo $n times; exit 9";
    let folder = with_program("ctrl-c", script);
    let (code, shown) = on_terminal(&folder, b"\x03", &[]);
    assert_eq!(code, 9, "{shown}");
    assert!(shown.contains("1 times"), "{shown}");
}

#[test]
fn source_lines_are_cut_to_the_width_of_the_terminal() {
    let folder = with_program("columns", &format!("{ABORT}; echo ready"));
    let line = common::report(b"bad index");
    let (site, summary) = line.split_once('\n').expect("two lines");
    let mut site: serde_json::Value = serde_json::from_str(site).expect("JSON");
    let source = format!("{}abortEXT();", "call(); ".repeat(20));
    site["location"] = serde_json::json!({"file": "a.comp", "line": 1, "column": 161, "source": source});
    std::fs::write(folder.join("abort.jsonl"), format!("{site}\n{summary}")).expect("written");
    let widths = |text: &str| text.lines().map(|line| line.trim_end().chars().count()).max();
    let (_, shown) = on_terminal(&folder, b"", &[("NO_COLOR", "1")]);
    assert!(shown.contains("abortEXT") && widths(&shown) <= Some(70), "{shown}");
    let piped = run_program(&folder, &[]).stderr;
    assert!(piped.contains("abortEXT") && widths(&piped) > Some(70), "{piped}");
}

#[test]
fn only_terminals_get_colours() {
    let folder = with_program("colours", &format!("{ABORT}; echo ready"));
    let (code, shown) = on_terminal(&folder, b"", &[]);
    assert_eq!(code, 90);
    assert!(
        shown.contains("\x1b[1m\x1b[91mvkabort: shader aborted\x1b[0m"),
        "{shown:?}"
    );
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        let (_, shown) = on_terminal(&folder, b"", &[variable]);
        assert!(
            shown.contains("vkabort: shader aborted: ") && !shown.contains('\x1b'),
            "{variable:?}: {shown:?}"
        );
    }
    assert!(!run_program(&folder, &[]).stderr.contains('\x1b'));
}
