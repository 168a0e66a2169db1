//! No input reaches a terminal as it is: control characters, bidirectional formatting and invalid UTF-8 in names, texts and files are
//! escaped on both streams, with and without colours.
#![cfg(unix)]

mod common;

use common::{ABORT, aborting_with, folder, formatted, little, run_in, run_with, with_program, without_vulkan};
use serde_json::Value as Json;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// A style of the attacker's, and a sequence of each other kind.
const HOSTILE: &str = "\u{1b}[35;5m\u{1b}]0;t\u{7}\u{1b}[2J\r\u{8}\u{7f}\u{9b}1m\u{202e}\u{2066}";
/// A style of the attacker's.
const STYLE: &[u8] = b"\x1b[35;5m";

/// Checks that a stream contains UTF-8 with no control characters but line ends, tabs and this program's styles.
fn is_safe(stream: &[u8], context: &str) {
    let shown = stream.escape_ascii().to_string();
    assert!(!stream.windows(STYLE.len()).any(|at| at == STYLE), "{context}: {shown}");
    let text = std::str::from_utf8(stream).unwrap_or_else(|error| panic!("{context}: {error}: {shown}"));
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| is_unsafe(c)) {
        let style = rest[at..].strip_prefix("\x1b[").and_then(|style| style.split_once('m'));
        let is_style = |parameters: &str| parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        match style {
            Some((parameters, after)) if is_style(parameters) => rest = after,
            _ => panic!("{context}: {:?} in {shown}", rest[at..].chars().next()),
        }
    }
}

fn is_unsafe(c: char) -> bool {
    let is_bidi = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || is_bidi
}

/// A home in the test's folder: `install` writes there, and not into that of the user who runs the tests.
fn home(folder: &Path) -> [(&'static str, OsString); 7] {
    let home = folder.join("home");
    without_vulkan(home.to_str().expect("UTF-8")).map(|(name, value)| (name, value.into()))
}

/// Runs the command with and without colours, and checks both streams. Returns the output without colours.
fn vkabort(folder: &Path, args: &[&OsStr]) -> String {
    let mut plain = String::new();
    for color in ["never", "always"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vkabort"));
        let output = command
            .args(args)
            .arg(format!("--color={color}"))
            .current_dir(folder)
            .envs(home(folder))
            .output()
            .expect("the command starts");
        let context = format!("{args:?}, {color}");
        is_safe(&output.stdout, &context);
        is_safe(&output.stderr, &context);
        assert!(
            color == "always"
                || ![&output.stdout, &output.stderr]
                    .iter()
                    .any(|stream| stream.contains(&0x1b)),
            "{context}"
        );
        plain = match plain.is_empty() {
            true => [output.stdout, output.stderr]
                .map(|stream| String::from_utf8_lossy(&stream).into_owned())
                .concat(),
            false => plain,
        };
    }
    plain
}

fn run(folder: &Path, args: &[&str]) -> String {
    vkabort(folder, &args.iter().map(OsStr::new).collect::<Vec<_>>())
}

/// Copies of a JSON document in which one value is a hostile string, one for each value, and in which one key is.
fn mutations(json: &Json) -> Vec<Json> {
    let hostile = |text: &str| Json::from(format!("{text}{HOSTILE}\0"));
    let mut all = Vec::new();
    match json {
        Json::Object(keys) => {
            let mut more = keys.clone();
            more.insert(format!("x{HOSTILE}"), Json::Null);
            all.push(Json::Object(more));
            for (key, value) in keys {
                for value in mutations(value) {
                    let mut copy = keys.clone();
                    copy.insert(key.clone(), value);
                    all.push(Json::Object(copy));
                }
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for item in mutations(item) {
                    let mut copy = items.clone();
                    copy[index] = item;
                    all.push(Json::Array(copy));
                }
            }
        }
        Json::String(text) => all.push(hostile(text)),
        _ => {}
    }
    all.push(hostile(""));
    all
}

#[test]
fn strings_of_reports_are_escaped() {
    let folder = folder("terminal_reports");
    let text = include_str!("../../report/tests/reports/1.1.0.jsonl");
    let lines: Vec<Json> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut shown = 0;
    for (index, line) in lines.iter().enumerate() {
        for mutation in mutations(line) {
            let mut lines = lines.clone();
            lines[index] = mutation;
            // `type` is first: that makes a report.
            let lines = lines
                .iter()
                .map(|line| format!("{{\"type\":\"log\",\"level\":\"info\",\"message\":\"\"}}\n{line}\n"));
            std::fs::write(folder.join("report.jsonl"), lines.collect::<String>()).expect("written");
            shown += usize::from(run(&folder, &["decode", "report.jsonl"]).contains("\\x1b[35;5m"));
            run(&folder, &["decode", "report.jsonl", "--json"]);
        }
    }
    assert!(shown > 20, "only {shown} reports show the hostile text");
    std::fs::write(
        folder.join("raw.jsonl"),
        [b"{\"type\":\"", HOSTILE.as_bytes(), b"\0\xff"].concat(),
    )
    .expect("written");
    run(&folder, &["decode", "raw.jsonl"]);
}

#[test]
fn strings_of_site_tables_are_escaped() {
    let folder = folder("terminal_sites");
    std::fs::write(folder.join("in.spv"), little(&formatted("bad %u"))).expect("written");
    let tables = run_in(&folder, &["sites", "--json", "in.spv"], b"").ok();
    let tables: Json = serde_json::from_str(tables.text()).expect("JSON");
    let payload = b"bad %u\0\0\x07\0\0\0";
    let messages = [&(payload.len() as u64).to_le_bytes()[..], payload, &[0; 4]].concat();
    std::fs::write(folder.join("messages.bin"), messages).expect("written");
    for mutation in mutations(&tables) {
        std::fs::write(folder.join("sites.json"), mutation.to_string()).expect("written");
        run(&folder, &["decode", "messages.bin", "--sites", "sites.json"]);
    }
}

#[test]
fn names_and_sources_of_modules_are_escaped() {
    let folder = folder("terminal_modules");
    // Invalid UTF-8 in each string.
    let mut bytes = little(&aborting_with(&format!("{HOSTILE}~~")));
    for at in 0..bytes.len() - 1 {
        if bytes[at..].starts_with(b"~~") {
            bytes[at..at + 2].copy_from_slice(b"\xff\xfe");
        }
    }
    std::fs::write(folder.join("in.spv"), bytes).expect("written");
    let mut format = little(&formatted(&format!("%s {HOSTILE}")));
    format.extend([0; 4]);
    std::fs::write(folder.join("malformed.spv"), format).expect("written");
    std::fs::write(folder.join("format.spv"), little(&formatted(&format!("%s {HOSTILE}")))).expect("written");
    let payload = [&8u64.to_le_bytes()[..], &7u32.to_le_bytes(), &0.5f32.to_le_bytes()].concat();
    std::fs::write(folder.join("messages.bin"), payload).expect("written");
    let inputs = ["in.spv", "format.spv", "malformed.spv"];
    assert!(run(&folder, &["sites", "in.spv"]).contains("hand.comp\\x1b[35;5m"));
    assert!(run(&folder, &["decode", "messages.bin", "--sites", "in.spv"]).contains("hand.comp\\x1b[35;5m"));
    for input in inputs {
        run(&folder, &["sites", input]);
        run(&folder, &["instrument", input, "-o", "out.spv"]);
        run(&folder, &["instrument", input, "-o", "out.spv", "--sites", "-"]);
        run(&folder, &["decode", "messages.bin", "--sites", input]);
        for format in ["text", "github", "sarif"] {
            let text = run(
                &folder,
                &["check", "--format", format, input, "--max-message-size", "4"],
            );
            assert!(
                format != "github" || input != "in.spv" || text.contains("hand.comp"),
                "{text}"
            );
        }
        let text = run_in(&folder, &["sites", "--json", input], b"").stdout;
        is_safe(&text, input);
        assert!(serde_json::from_slice::<Json>(&text).is_ok(), "{input}");
    }
}

#[test]
fn message_data_is_escaped() {
    let folder = folder("terminal_messages");
    let text = [HOSTILE.as_bytes(), b"\xff\xfe %u\0\0\0\0\x07\0\0\0"].concat();
    let messages = [&(text.len() as u64).to_le_bytes()[..], &text, &[0; 8]].concat();
    std::fs::write(folder.join("messages.bin"), messages).expect("written");
    for format in ["auto", "payload", "arena", "report"] {
        run(&folder, &["decode", "messages.bin", "--input-format", format]);
    }
}

#[test]
fn settings_are_escaped() {
    let folder = folder("terminal_settings");
    for line in ["on_abort = ", "on_abort", "dump_dir = ", "", "arena_size = 1M "] {
        let key = if line.is_empty() { "" } else { "vkabort_shader_abort." };
        let text = [key.as_bytes(), line.as_bytes(), HOSTILE.as_bytes(), b"\0\xff = 1\n"].concat();
        std::fs::write(folder.join("vk_layer_settings.txt"), text).expect("written");
        run(&folder, &["settings"]);
        let run = run_in(&folder, &["settings", "--json"], b"");
        is_safe(&run.stdout, line);
        assert!(serde_json::from_slice::<Json>(&run.stdout).is_ok(), "{line}");
    }
    for name in [
        "VK_VKABORT_SHADER_ABORT_ON_ABORT",
        "VK_VKABORT_SHADER_ABORT_DUMP_DIR",
        "VKABORT_ENABLE",
    ] {
        let run = run_with(Path::new("/"), &["settings"], b"", &[(name, HOSTILE)]);
        is_safe(&run.stdout, name);
        is_safe(run.stderr.as_bytes(), name);
    }
    let misspelt = format!("VK_VKABORT_SHADER_ABORT_X{HOSTILE}");
    let run = run_with(Path::new("/"), &["settings"], b"", &[(&misspelt, "1")]);
    is_safe(run.stderr.as_bytes(), "a name in the environment");
}

#[test]
fn arguments_and_file_names_are_escaped() {
    let folder = folder("terminal_arguments");
    let hostile = OsString::from(HOSTILE);
    let invalid = OsStr::from_bytes(b"a\xff\x1b[35;5m.spv");
    std::fs::write(folder.join(invalid), little(&aborting_with(""))).expect("written");
    std::fs::write(folder.join(HOSTILE), b"?").expect("written");
    std::fs::create_dir(folder.join("shaders")).expect("created");
    std::fs::write(folder.join("shaders").join(invalid), little(&aborting_with(""))).expect("written");
    for file in [
        hostile.as_os_str(),
        invalid,
        OsStr::new("missing\u{1b}[35;5m"),
        OsStr::new("shaders"),
    ] {
        for args in [
            &["sites"][..],
            &["check"],
            &["check", "--format=github"],
            &["check", "--format=sarif"],
            &["decode"],
            &["decode", "missing", "--sites"],
            &["instrument", "-o", "out.spv"],
            &["instrument", "missing", "-o"],
            &["doctor", "--layer"],
            &["install", "--layer"],
            &["uninstall", "--system", "--prefix"],
            &["conform", "--shaders"],
            &["run", "--layer"],
            &["run", "--layer=.", "--set"],
            &["run", "--set=on_abort=continue", "--layer=.", "--"],
            &["decode", "--samples"],
            &["decode", "x", "--filter"],
            &["check", "--max-message-size"],
            &["instrument", "x", "-o", "y", "--specialize"],
            &[],
        ] {
            let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            args.push(file);
            // The options of the command precede the program.
            if args.contains(&OsStr::new("--")) {
                args.insert(0, OsStr::new("--color=never"));
                let output = Command::new(env!("CARGO_BIN_EXE_vkabort"))
                    .args(args)
                    .current_dir(&folder)
                    .envs(home(&folder))
                    .output();
                is_safe(&output.expect("starts").stderr, "run");
                continue;
            }
            vkabort(&folder, &args);
        }
    }
    let refused = vkabort(
        &folder,
        &[OsStr::new("decode"), OsStr::new("x"), OsStr::new("--filter"), invalid],
    );
    assert_eq!(
        refused,
        "vkabort: error: the argument `a\\xff\\x1b[35;5m.spv` is not UTF-8\n"
    );
    assert!(vkabort(&folder, &[OsStr::new("sites"), invalid]).starts_with("a\\xff\\x1b[35;5m.spv: 1 abort site"));
}

#[test]
fn logs_of_programs_are_escaped() {
    let script = format!(
        "printf '%s\\n' '{{\"type\":\"log\",\"level\":\"error\",\"message\":\"{}\"}}' >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"\n{ABORT}",
        "a\\u001b[35;5m\\nb"
    );
    let folder = with_program("terminal_run", &script);
    let mut report: Json = serde_json::from_str(common::report(b"x").lines().next().expect("a line")).expect("JSON");
    report["stages"] =
        serde_json::json!([{"execution_model": 5, "stage": HOSTILE, "entry_points": [HOSTILE], "invocations": 2}]);
    report["samples"][0]["message"]["text"] = HOSTILE.into();
    std::fs::write(folder.join("abort.jsonl"), format!("{report}\n")).expect("written");
    for color in ["never", "always"] {
        let color = format!("--color={color}");
        let run = run_in(
            &folder,
            &[&color, "run", "--layer", ".", "--junit", "-", "--", "./app"],
            b"",
        );
        is_safe(run.stderr.as_bytes(), &color);
        is_safe(&run.stdout, &color);
        run.says("\\x1b[35;5m");
        run.says("vkabort: error: a\\x1b[35;5m\n  b\n");
    }
}
