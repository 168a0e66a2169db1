//! `vkabort run` with a shell script instead of a Vulkan program; the script writes the log like the layer.
//! The end-to-end tests run the command with the layer on real drivers.
// Shell scripts and the folders of Linux.
#![cfg(unix)]

mod common;

use common::{ABORT, prints, report, run_in, run_program, run_with, with_program, without_vulkan};

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
    let ran = run_program(&folder, &[]);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (7, "one\n", ""));
    let ran = run_program(&folder, &["--set", "log_level=Info"]);
    assert_eq!(ran.stderr, "vkabort: info: native: none\n");
    // A program with two instances.
    let helpless = log("info", "cannot emulate: no addresses");
    let folder = with_program("helpless", &format!("{helpless}\n{helpless}"));
    assert_eq!(
        run_program(&folder, &[]).ok().stderr,
        "vkabort: info: cannot emulate: no addresses\n"
    );
    let folder = with_program("without", "exit 0");
    let ran = run_program(&folder, &[]).ok();
    ran.says("the layer was not used");
    // Whether or not the machine has the loader.
    let home = folder.to_str().expect("UTF-8").to_owned();
    let args = ["run", "--layer", ".", "--", "./app"];
    let ran = run_with(&folder, &args, b"", &without_vulkan(&home)).ok();
    ran.says("vkabort: ./app: the layer was not used: ");
    assert!(!ran.stderr.contains("did not query"), "{}", ran.stderr);
    let folder = with_program("killed", "kill -9 $$");
    assert_eq!(run_program(&folder, &[]).code, 128 + 9);
}

#[test]
fn a_run_in_which_no_abort_could_take_effect_says_so() {
    let line = |module: u32| {
        format!(
            "echo '{{\"type\":\"log\",\"level\":\"error\",\"message\":\"module {module} contains 1 abort, but this device did \
             not enable VK_KHR_shader_abort\"}}' >> $VK_VKABORT_SHADER_ABORT_LOG_FILE"
        )
    };
    let folder = with_program("unused", &line(1));
    let ran = run_program(&folder, &[]).ok();
    ran.says("vkabort: error: module 1 contains 1 abort, but this device did not enable VK_KHR_shader_abort\n");
    ran.says(
        "vkabort: ./app: no abort could take effect: a shader module contains aborts, but the program's device did not",
    );
    ran.says("or use `vkabort run --enable`\n");
    let folder = with_program("unused_two", &format!("{}\n{}\nexit 5", line(1), line(2)));
    run_program(&folder, &[]).fails(5, "no abort could take effect: 2 shader modules contain aborts");
    // An abort of another device is the result.
    let folder = with_program("unused_and_aborted", &format!("{}\n{ABORT}", line(1)));
    let ran = run_program(&folder, &[]);
    assert!(
        ran.code == 90 && !ran.stderr.contains("no abort could"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_layer_enables_the_extension_on_request() {
    let folder = with_program("enable", "echo \"<$VK_VKABORT_SHADER_ABORT_ENABLE>\"");
    assert_eq!(run_program(&folder, &[]).ok().text(), "<>\n");
    assert_eq!(run_program(&folder, &["--enable"]).ok().text(), "<always>\n");
}

#[test]
fn the_program_needs_no_separator_and_keeps_its_options() {
    let folder = with_program("separator", "for word; do echo \"$word\"; done");
    let words = ["--json", "--set", "x", "--", "--color", "always"];
    for before in [&["run", "--layer", "."][..], &["run", "--layer", ".", "--"]] {
        let run = run_in(&folder, &[before, &["./app"], &words].concat(), b"").ok();
        assert_eq!(run.text(), words.join("\n") + "\n");
    }
    run_in(&folder, &["run", "--layer", ".", "--jsno", "./app"], b"").fails(2, "unexpected argument '--jsno'");
}

#[test]
fn programs_find_the_layer_and_its_settings() {
    let folder = with_program(
        "settings",
        "echo $VKABORT_ENABLE; cat ${XDG_CONFIG_DIRS%%:*}/vulkan/implicit_layer.d/*.json; env | grep VK_VKABORT_ | sort",
    );
    let ran = run_program(
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
    let folder = with_program("aborts", ABORT);
    // Aborts of an earlier run must not count.
    std::fs::write(folder.join("log.jsonl"), report(b"old report")).expect("written");
    let ran = run_program(&folder, &["--report", "log.jsonl", "--junit", "result.xml"]);
    assert_eq!(ran.code, 90);
    assert_eq!(
        ran.stderr,
        "vkabort: shader aborted: bad index
 |
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
    let ran = run_program(&folder, &["--filter", "ignore function=check"]).ok();
    assert_eq!(
        ran.stderr,
        "vkabort: 2 invocations aborted at sites that the filter ignores\n"
    );
    assert_eq!(run_program(&folder, &["--filter", "ignore function=other"]).code, 90);
    assert_eq!(run_program(&folder, &["--filter", "forget it"]).code, 2);
    let ran = run_program(&folder, &["--json"]);
    assert!(ran.stderr.starts_with(&report(b"bad index")), "{}", ran.stderr);
}

#[test]
fn reports_are_shown_while_the_program_runs() {
    // The program waits for the file `shown`, which the test creates after it has read the report.
    let wait = "for i in $(seq 500); do test -e shown && exit 0; sleep 0.02; done; exit 1";
    let folder = with_program("live", &format!("{ABORT}\n{wait}"));
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
fn prints_are_shown_and_do_not_fail_the_run() {
    let folder = with_program("prints", "cat prints.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"");
    std::fs::write(folder.join("prints.jsonl"), prints()).expect("written");
    let dropped = "vkabort: 3 prints of a.comp:9 have no room (printf_size)\n";
    let ran = run_program(&folder, &["--printf"]).ok();
    assert_eq!(ran.stderr, format!("a.comp:9: x = 5\n{dropped}"));
    for options in [&["--printf=invocations"][..], &["--set", "printf=invocations"]] {
        let ran = run_program(&folder, options).ok();
        assert_eq!(ran.stderr, format!("a.comp:9: [compute pixel (3, 4)] x = 5\n{dropped}"));
    }
    assert_eq!(run_program(&folder, &["--printf", "--json"]).ok().stderr, prints());
    run_program(&folder, &["--printf=loudly"]).fails(2, "invalid value 'loudly'");
}

#[test]
fn incomplete_reports_of_a_killed_program_count() {
    let folder = with_program(
        "dies",
        "head -n 1 abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"
         printf '{\"type\":\"summ' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"; kill -11 $$",
    );
    let ran = run_program(&folder, &[]);
    ran.fails(90, "shader aborted: bad index");
    ran.says("signal: 11");
}

#[test]
fn colours_follow_the_option_then_the_environment() {
    let folder = with_program("colour-options", ABORT);
    let red = "\x1b[1m\x1b[91mvkabort: shader aborted\x1b[0m";
    let is_red = |options: &[&str], variables: &[(&str, &str)]| {
        let args = [&["run", "--layer", "."], options, &["./app"]].concat();
        run_with(&folder, &args, b"", variables).stderr.starts_with(red)
    };
    assert!(!is_red(&[], &[]), "a pipe is not a terminal");
    assert!(is_red(&["--color", "always"], &[]));
    assert!(is_red(&["--color=always"], &[("NO_COLOR", "1")]));
    assert!(is_red(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_red(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_red(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn warnings_of_the_layer_are_shown() {
    let folder = with_program(
        "warns",
        "echo '{\"type\":\"log\",\"level\":\"warning\",\"message\":\"some warning\"}' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"",
    );
    let ran = run_program(&folder, &[]).ok();
    assert_eq!(ran.stderr, "vkabort: warning: some warning\n");
}

#[test]
fn errors_name_the_setting_program_or_library() {
    let folder = with_program("wrong", "exit 0");
    run_program(&folder, &["--set", "arena=1"])
        .fails(3, "`arena` is not a setting of the layer; did you mean `arena_size`?");
    run_program(&folder, &["--set", "trap=explode"]).fails(3, "Valid values: return, fault, hang");
    run_program(&folder, &["--set", "dump_dir="]).fails(3, "dump_dir has no value");
    for misspelt in ["arena_sise=1M", "nothing_like_it=1"] {
        let ran = run_program(&folder, &["--set", misspelt]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (3, 1), "{}", ran.stderr);
    }
    assert_eq!(run_program(&folder, &["--set", "log_level=off"]).code, 3);
    run_program(&folder, &["--set", "log_file=x"]).fails(3, "--report");
    assert_eq!(run_program(&folder, &["--set", "arena"]).code, 2);
    run_in(&folder, &["run", "--layer", ".", "--", "./no-such-program"], b"")
        .fails(4, "./no-such-program: cannot be started");
    let ran = run_in(&folder, &["run", "--layer", "no/such.so", "--", "./app"], b"");
    assert_eq!(ran.code, 4);
    assert_eq!(run_in(&folder, &["run"], b"").code, 2);
}

#[test]
fn checks_without_an_equals_sign_are_not_taken_for_the_program() {
    let folder = with_program("misplaced", "exit 0");
    for (word, expected) in [("all", "all"), ("loops,nan", "loops,nan"), ("brekas", "breaks")] {
        let ran = run_in(&folder, &["run", "--layer", ".", "--sanitize", word, "./app"], b"");
        ran.fails(
            2,
            &format!("{word}: not a program; write checks behind `=`, as in --sanitize={expected}"),
        );
    }
    run_in(&folder, &["run", "--layer", ".", "--sanitize", "no-such", "./app"], b"")
        .fails(4, "no-such: cannot be started");
}

#[test]
fn options_set_what_they_imply_unless_the_user_has() {
    let folder = with_program(
        "implied",
        "env | grep '^VK_VKABORT_SHADER_ABORT_' | sed 's/.*ABORT_//' | sort; exit 7",
    );
    let run = |options: &[&str], variables: &[(&str, &str)]| {
        let args = [&["run", "--layer", "."], options, &["./app"]].concat();
        let ran = run_with(&folder, &args, b"", variables);
        let of = |name: &str| {
            let line = ran
                .text()
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.map(str::to_owned)
        };
        ["SANITIZE", "ENABLE", "ON_ABORT", "EMULATION", "PRINTF"].map(|name| of(name).unwrap_or_default())
    };
    let checked = ["loops", "always", "continue_checks", "partial", ""];
    assert_eq!(run(&[], &[]), [""; 5]);
    assert_eq!(run(&["--printf"], &[]), ["", "always", "", "partial", "on"]);
    assert_eq!(run(&["--sanitize=loops"], &[]), checked);
    assert_eq!(run(&["--set", "sanitize=loops"], &[]), checked);
    assert_eq!(run(&["--set", "sanitize=off"], &[]), ["off", "", "", "", ""]);
    let lose = ["loops", "always", "lose", "partial", ""];
    assert_eq!(run(&["--sanitize=loops", "--set", "on_abort=lose"], &[]), lose);
    let short = [("VK_SHADER_ABORT_ON_ABORT", "lose")];
    assert_eq!(
        run(&["--sanitize=loops"], &short),
        ["loops", "always", "", "partial", ""]
    );
}

#[test]
fn commands_are_recorded_unless_the_user_has_said_otherwise() {
    let folder = with_program("commands", "echo \"commands=$VK_VKABORT_SHADER_ABORT_COMMANDS\"");
    let run = |options: &[&str], variables: &[(&str, &str)]| {
        let args = [&["run", "--layer", "."], options, &["./app"]].concat();
        run_with(&folder, &args, b"", variables).text().trim_end().to_owned()
    };
    assert_eq!(run(&[], &[]), "commands=on");
    assert_eq!(run(&["--set", "commands=off"], &[]), "commands=off");
    assert_eq!(run(&[], &[("VK_SHADER_ABORT_COMMANDS", "off")]), "commands=");
    std::fs::write(
        folder.join("vk_layer_settings.txt"),
        "vkabort_shader_abort.commands = off\n",
    )
    .expect("writes");
    assert_eq!(run(&[], &[]), "commands=", "the settings file is the user's");
}

#[test]
fn help_names_every_check_and_setting() {
    let folder = with_program("help", "exit 0");
    for command in ["run", "sanitize"] {
        let ran = run_in(&folder, &[command, "--help"], b"").ok();
        for check in vkabort_instrument::CHECKS {
            ran.prints(check.description);
        }
    }
    let ran = run_in(&folder, &["completions", "zsh"], b"").ok();
    for setting in vkabort_settings::SETTINGS {
        ran.prints(&format!("{}=", setting.key));
    }
}
