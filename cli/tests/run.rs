//! `vkabort run` with a shell script instead of a Vulkan program; the script writes the log like the layer.
//! The end-to-end tests run the command with the layer on real drivers.

mod common;

use common::{folder, run_in};
use std::path::{Path, PathBuf};
use vkabort_record::message::Message;
use vkabort_record::report::{Report, Sample, SiteReport};

fn report(text: &[u8]) -> String {
    let mut report = Report::default();
    report.sites.push(SiteReport {
        invocations: 2,
        function: Some("check".into()),
        samples: vec![Sample {
            invocation: None,
            message: Message::untyped(text),
        }],
        ..SiteReport::default()
    });
    report.summary.invocations = 2;
    report.json_lines()
}

/// A folder with a program and an empty file as library, which nothing loads.
fn with_program(name: &str, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(name);
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), b"").expect("written");
    std::fs::write(folder.join("abort.jsonl"), report(b"bad index")).expect("written");
    let program = folder.join("app");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    folder
}

fn run(folder: &Path, options: &[&str]) -> common::Run {
    let args = [&["run", "--layer", "."], options, &["--", "./app", "one"]].concat();
    run_in(folder, &args, b"")
}

#[test]
fn programs_without_aborts_keep_their_output_and_exit_code() {
    let log = |level: &str, text: &str| {
        format!(
            "echo '{{\"type\":\"log\",\"level\":\"{level}\",\"message\":\"{text}\"}}' >> $VK_VKABORT_SHADER_ABORT_LOG_FILE"
        )
    };
    let folder = with_program(
        "quiet",
        &format!("{}\necho \"$1\"; exit 7", log("info", "native: none")),
    );
    let ran = run(&folder, &[]);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (7, "one\n", ""));
    let ran = run(&folder, &["--set", "log_level=Info"]);
    assert_eq!(ran.stderr, "vkabort: info: native: none\n");
    let folder = with_program("helpless", &log("info", "cannot emulate: no addresses"));
    assert_eq!(
        run(&folder, &[]).ok().stderr,
        "vkabort: info: cannot emulate: no addresses\n"
    );
    let folder = with_program("without", "exit 0");
    let ran = run(&folder, &[]).ok();
    assert!(ran.stderr.contains("the layer was not used"), "{}", ran.stderr);
    let folder = with_program("killed", "kill -9 $$");
    assert_eq!(run(&folder, &[]).code, 128 + 9);
}

#[test]
fn programs_find_the_layer_and_its_settings() {
    let folder = with_program(
        "settings",
        "echo $VKABORT_ENABLE; cat ${XDG_CONFIG_DIRS%%:*}/vulkan/implicit_layer.d/*.json; env | grep VK_VKABORT_ | sort",
    );
    let ran = run(
        &folder,
        &[
            "--set",
            "arena_size=4194304",
            "--set",
            "on_abort = continue",
            "--report",
            "log.jsonl",
        ],
    )
    .ok();
    let text = ran.text();
    assert!(text.starts_with("1\n"), "{text}");
    let library = folder
        .canonicalize()
        .expect("the folder exists")
        .join("libVkLayer_vkabort_shader_abort.so");
    assert!(
        text.contains(&format!("\"library_path\": \"{}\"", library.display())),
        "{text}"
    );
    for line in [
        "VK_VKABORT_SHADER_ABORT_ARENA_SIZE=4194304",
        "VK_VKABORT_SHADER_ABORT_ON_ABORT=continue",
        "VK_VKABORT_SHADER_ABORT_LOG_FORMAT=json",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("/log.jsonl\n"), "{text}");
}

#[test]
fn aborts_are_shown_fail_the_run_and_are_recorded() {
    let folder = with_program(
        "aborts",
        "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"; exit 0",
    );
    // Aborts of an earlier run must not count.
    std::fs::write(folder.join("log.jsonl"), report(b"old report")).expect("written");
    let ran = run(&folder, &["--report", "log.jsonl", "--junit", "result.xml"]);
    assert_eq!(ran.code, 90);
    assert_eq!(
        ran.stderr,
        "vkabort: shader aborted: bad index
   = function `check`
   = 2 invocations aborted here
   = note: unknown site: the types are guessed from the format
   = bytes: 62616420 696e6465 78
vkabort: ./app: 2 shader invocations aborted
"
    );
    let kept = std::fs::read_to_string(folder.join("log.jsonl")).expect("kept");
    assert_eq!(kept, report(b"bad index"));
    let junit = std::fs::read_to_string(folder.join("result.xml")).expect("written");
    assert!(
        junit.contains("tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"1\""),
        "{junit}"
    );
    assert!(
        junit.contains("<failure message=\"bad index\" type=\"shader-abort\">"),
        "{junit}"
    );
    let ran = run(&folder, &["--filter", "ignore function=check"]).ok();
    assert_eq!(
        ran.stderr,
        "vkabort: 2 invocations aborted at sites that the filter ignores\n"
    );
    assert_eq!(run(&folder, &["--filter", "ignore function=other"]).code, 90);
    assert_eq!(run(&folder, &["--filter", "forget it"]).code, 2);
    let ran = run(&folder, &["--json"]);
    assert!(ran.stderr.starts_with(&report(b"bad index")), "{}", ran.stderr);
}

#[test]
fn reports_are_shown_while_the_program_runs() {
    // The program waits for the file `shown`, which the test creates after it has read the report.
    let folder = with_program(
        "live",
        "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"
         for i in $(seq 500); do test -e shown && exit 0; sleep 0.02; done; exit 1",
    );
    use std::io::{BufRead, BufReader};
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_vkabort"))
        .args(["run", "--layer", ".", "--", "./app"])
        .current_dir(&folder)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    stderr.read_line(&mut line).expect("a line");
    assert_eq!(line, "vkabort: shader aborted: bad index\n");
    std::fs::write(folder.join("shown"), b"").expect("written");
    let rest: Vec<String> = stderr.lines().map(|line| line.expect("text")).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(90));
    assert!(
        !rest.iter().any(|line| line.contains("exit status")),
        "the program succeeded: {rest:?}"
    );
}

#[test]
fn incomplete_reports_of_a_killed_program_count() {
    let folder = with_program(
        "dies",
        "head -n 1 abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"
         printf '{\"type\":\"summ' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"; kill -11 $$",
    );
    let ran = run(&folder, &[]);
    assert_eq!(ran.code, 90);
    assert!(ran.stderr.contains("shader aborted: bad index"), "{}", ran.stderr);
    assert!(ran.stderr.contains("signal: 11"), "{}", ran.stderr);
}

#[test]
fn warnings_of_the_layer_are_shown() {
    let folder = with_program(
        "warns",
        "echo '{\"type\":\"log\",\"level\":\"warning\",\"message\":\"some warning\"}' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"",
    );
    let ran = run(&folder, &[]).ok();
    assert_eq!(ran.stderr, "vkabort: warning: some warning\n");
}

#[test]
fn errors_name_the_setting_program_or_library() {
    let folder = with_program("wrong", "exit 0");
    let ran = run(&folder, &["--set", "arena=1"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr
            .contains("`arena` is not a setting of the layer; did you mean `arena_size`?"),
        "{}",
        ran.stderr
    );
    let ran = run(&folder, &["--set", "trap=explode"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("trap = return, fault, hang"), "{}", ran.stderr);
    assert_eq!(run(&folder, &["--set", "log_level=off"]).code, 3);
    let ran = run(&folder, &["--set", "log_file=x"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("--report"), "{}", ran.stderr);
    assert_eq!(run(&folder, &["--set", "arena"]).code, 2);
    let ran = run_in(&folder, &["run", "--layer", ".", "--", "./no-such-program"], b"");
    assert_eq!(ran.code, 4);
    assert!(
        ran.stderr.contains("./no-such-program: cannot be started"),
        "{}",
        ran.stderr
    );
    let ran = run_in(&folder, &["run", "--layer", "no/such.so", "--", "./app"], b"");
    assert_eq!(ran.code, 4);
    assert_eq!(run_in(&folder, &["run"], b"").code, 2);
}

/// Starts a run, waits until the program prints `ready`, and sends `vkabort` a signal.
fn signalled(name: &str, script: &str, signal: &str) -> (i32, String) {
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
    (status.code().expect("it ends by itself"), rest)
}

#[test]
fn signals_are_forwarded_to_the_program() {
    let wait = "echo ready; while :; do sleep 0.02; done";
    for signal in ["TERM", "INT", "HUP", "USR1"] {
        let script = format!("trap 'echo got {signal}; exit 3' {signal}; {wait}");
        let (code, output) = signalled(&format!("signal-{signal}"), &script, signal);
        assert_eq!((code, output.as_str()), (3, format!("got {signal}\n").as_str()));
    }
    // A program without a handler is killed, as without the command.
    assert_eq!(signalled("signal-kills", wait, "TERM").0, 128 + 15);
}

#[test]
fn aborts_before_a_signal_count() {
    let script = "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"
         echo ready; while :; do sleep 0.02; done";
    assert_eq!(signalled("signal-aborted", script, "TERM").0, 90);
}

/// Runs `vkabort run` on a new terminal, types on it, and returns its output.
fn on_terminal(folder: &Path, typed: &'static [u8], variables: &[(&str, &str)]) -> (i32, String) {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    // script(1) runs this with $SHELL. A shell that does not replace itself by its last command receives the Ctrl-C too,
    // and dies.
    let command = format!(
        "exec env --default-signal {} run --layer . -- ./app",
        env!("CARGO_BIN_EXE_vkabort")
    );
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(folder)
        .env_remove("NO_COLOR")
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
fn only_terminals_get_colours() {
    let folder = with_program(
        "colours",
        "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"; echo ready",
    );
    let (code, shown) = on_terminal(&folder, b"", &[]);
    assert_eq!(code, 90);
    assert!(shown.contains("\x1b[1;31mvkabort: shader aborted\x1b[0m"), "{shown:?}");
    let (_, shown) = on_terminal(&folder, b"", &[("NO_COLOR", "1")]);
    assert!(
        shown.contains("vkabort: shader aborted: ") && !shown.contains('\x1b'),
        "{shown:?}"
    );
    assert!(!run(&folder, &[]).stderr.contains('\x1b'));
}
