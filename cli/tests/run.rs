//! `vkabort run`, with a shell script in the place of a Vulkan program: it does to its environment what the layer does.
//! With the real layer and a real driver the command is tested end to end.

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

/// A folder with a library that nobody loads and a program.
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

fn run(folder: &Path, options: &[&str]) -> common::Ran {
    let args = [&["run", "--layer", "."], options, &["--", "./app", "one"]].concat();
    run_in(folder, &args, b"")
}

#[test]
fn a_quiet_program_keeps_its_output_and_its_exit_code() {
    let said = |level: &str, text: &str| {
        format!(
            "echo '{{\"type\":\"log\",\"level\":\"{level}\",\"message\":\"{text}\"}}' >> $VK_VKABORT_SHADER_ABORT_LOG_FILE"
        )
    };
    let folder = with_program(
        "quiet",
        &format!("{}\necho \"$1\"; exit 7", said("info", "native: none")),
    );
    let ran = run(&folder, &[]);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (7, "one\n", ""));
    let ran = run(&folder, &["--set", "log_level=Info"]);
    assert_eq!(ran.stderr, "vkabort: info: native: none\n");
    let folder = with_program("helpless", &said("info", "cannot emulate: no addresses"));
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
fn the_program_finds_the_layer_and_its_settings() {
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
        .expect("there")
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
fn an_abort_is_shown_fails_the_run_and_is_kept() {
    let folder = with_program(
        "aborts",
        "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"; exit 0",
    );
    // What an earlier run left must not count.
    std::fs::write(folder.join("log.jsonl"), report(b"old news")).expect("written");
    let ran = run(&folder, &["--report", "log.jsonl", "--junit", "result.xml"]);
    assert_eq!(ran.code, 90);
    assert_eq!(
        ran.stderr,
        "vkabort: shader aborted: bad index
   = function `check`
   = 2 invocations aborted here
   = note: the site is not known: the types are guessed from the format
   = bytes: 62616420 696e6465 78
vkabort: ./app: 2 shader invocations aborted
"
    );
    let kept = std::fs::read_to_string(folder.join("log.jsonl")).expect("kept");
    assert_eq!(kept, report(b"bad index"));
    let junit = std::fs::read_to_string(folder.join("result.xml")).expect("written");
    assert!(junit.contains("tests=\"2\" failures=\"1\""), "{junit}");
    assert!(
        junit.contains("<failure type=\"shader-abort\" message=\"bad index\">"),
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
    // The program ends only when its report has been shown: `shown` appears when this test reads it.
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
        "the program ended well: {rest:?}"
    );
}

#[test]
fn a_program_that_dies_in_the_middle_of_a_report_still_counts() {
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
fn what_the_layer_says_besides_is_passed_on() {
    let folder = with_program(
        "says",
        "echo '{\"type\":\"log\",\"level\":\"warning\",\"message\":\"mind this\"}' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"",
    );
    let ran = run(&folder, &[]).ok();
    assert_eq!(ran.stderr, "vkabort: warning: mind this\n");
}

#[test]
fn wrong_settings_programs_and_libraries_are_named() {
    let folder = with_program("wrong", "exit 0");
    let ran = run(&folder, &["--set", "arena=1"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("no setting is called `arena`"), "{}", ran.stderr);
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

/// Starts a run, waits until the program says that it is ready, and sends `vkabort` a signal.
fn signalled(name: &str, script: &str, signal: &str) -> (i32, String) {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};
    let folder = with_program(name, script);
    // Whoever runs the tests may ignore signals, and then so does what they start.
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
fn signals_reach_the_program_whose_answer_counts() {
    let wait = "echo ready; while :; do sleep 0.02; done";
    for signal in ["TERM", "INT", "HUP", "USR1"] {
        let script = format!("trap 'echo got {signal}; exit 3' {signal}; {wait}");
        let (code, said) = signalled(&format!("signal-{signal}"), &script, signal);
        assert_eq!((code, said.as_str()), (3, format!("got {signal}\n").as_str()));
    }
    // A program that does not care is killed by it, as without the command.
    assert_eq!(signalled("signal-kills", wait, "TERM").0, 128 + 15);
}

#[test]
fn an_abort_before_the_signal_still_counts() {
    let script = "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"
         echo ready; while :; do sleep 0.02; done";
    assert_eq!(signalled("signal-aborted", script, "TERM").0, 90);
}

/// Runs `vkabort run` on a terminal of its own, on which somebody types, and returns what it shows.
fn on_terminal(folder: &Path, typed: &'static [u8], variables: &[(&str, &str)]) -> (i32, String) {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    // script(1) runs this by $SHELL. Not every shell puts its last command in its own place, and one that stays gets the
    // Ctrl-C too and dies of it.
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
fn ctrl_c_reaches_the_program_once() {
    // The program counts, and ends a while after the first.
    let script = "n=0; trap 'n=$((n+1))' INT; echo ready
         while [ $n = 0 ]; do sleep 0.02; done; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; echo $n times; exit 9";
    let folder = with_program("ctrl-c", script);
    let (code, shown) = on_terminal(&folder, b"\x03", &[]);
    assert_eq!(code, 9, "{shown}");
    assert!(shown.contains("1 times"), "{shown}");
}

#[test]
fn colours_are_for_terminals() {
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
