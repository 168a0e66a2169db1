//! `vkabort instrument`, `vkabort sites`, `vkabort schema`, `vkabort completions` and wrong usage.

mod common;

use common::{aborting, big, folder, little, plain, run_in, vkabort};
use serde_json::Value as Json;

#[test]
fn modules_without_aborts_are_copied() {
    let run = vkabort(&["instrument", "-", "-o", "-"], &little(&plain())).ok();
    assert_eq!(run.stdout, little(&plain()));
    run.says("nothing to rewrite");
    let run = vkabort(&["instrument", "-", "-o", "-"], &big(&plain())).ok();
    assert_eq!(run.stdout, big(&plain()), "the byte order of the input");
}

#[test]
fn modules_are_rewritten_in_their_byte_order_with_their_sites() {
    let folder = folder("rewritten");
    std::fs::write(folder.join("in.spv"), little(&aborting())).expect("written");
    std::fs::write(folder.join("big.spv"), big(&aborting())).expect("written");
    let run = run_in(
        &folder,
        &[
            "instrument",
            "in.spv",
            "-o",
            "out.spv",
            "--sites",
            "sites.json",
            "--json",
        ],
        b"",
    )
    .ok();
    let summary: Json = serde_json::from_str(run.text()).expect("JSON");
    assert_eq!(summary["outcome"], "instrumented");
    assert_eq!(summary["sites"], 1);
    let new = std::fs::read(folder.join("out.spv")).expect("the new module");
    assert_ne!(new, little(&aborting()));
    let words: Vec<u32> = new
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    assert!(!words.contains(&(3 << 16 | 5121)), "no OpAbortKHR is left");
    assert!(!words.contains(&5120), "nor its capability");
    run_in(&folder, &["instrument", "big.spv", "-o", "big.out.spv"], b"").ok();
    assert_eq!(std::fs::read(folder.join("big.out.spv")).expect("written"), big(&words));
    let table: Json =
        serde_json::from_slice(&std::fs::read(folder.join("sites.json")).expect("the sites")).expect("JSON");
    assert_eq!(table["module_hash"], summary["module_hash"]);
    assert_eq!(table["sites"][0]["function"], "check");
}

#[test]
fn options_change_the_output() {
    let out = |options: &[&str]| {
        let args = [&["instrument", "-", "-o", "-"], options].concat();
        vkabort(&args, &little(&aborting())).ok().stdout
    };
    let default = out(&[]);
    assert!(out(&[]) == default, "the same words and options give the same output");
    for options in [
        ["--arena-address", "0x100000"],
        ["--arena-size", "2M"],
        ["--control-address", "0x200000"],
        ["--trap", "hang"],
        ["--trap", "fault"],
        ["--trap=hang", "--hang-iterations=9"],
        ["--max-sites", "0"],
    ] {
        assert!(out(&options) != default, "{options:?}");
    }
}

#[test]
fn the_module_after_each_pass_is_dumped() {
    let folder = folder("passes");
    std::fs::write(folder.join("in.spv"), little(&aborting())).expect("written");
    let args = ["instrument", "in.spv", "-o", "out.spv", "--dump-passes", "dump"];
    run_in(&folder, &args, b"").ok();
    let mut names: Vec<String> = std::fs::read_dir(folder.join("dump"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["01-abort.spv"]);
    let last = std::fs::read(folder.join("dump").join("01-abort.spv")).expect("the last pass");
    assert_eq!(last, std::fs::read(folder.join("out.spv")).expect("the output"));
}

#[test]
fn sites_are_listed_as_text_and_as_json() {
    let folder = folder("sites");
    std::fs::write(folder.join("in.spv"), little(&aborting())).expect("written");
    std::fs::write(folder.join("plain.spv"), little(&plain())).expect("written");
    let run = run_in(&folder, &["sites", "in.spv", "plain.spv"], b"").ok();
    let text = run.text();
    let hash = text.split("module ").nth(1).and_then(|t| t.get(..16)).expect("a hash");
    assert_eq!(
        text,
        format!(
            "in.spv: 1 abort site, module {hash}
  entry points: compute `main` (8 x 1 x 1)

  #0  hand.comp:12:5  in `check`, word {}
      called from  `main` (hand.comp:30:1)
      reached by   compute `main`
      message      8 bytes
              0  u32  code
              4  f32  value
plain.spv: no abort sites
",
            aborting().len() - 4
        )
    );
    let run = run_in(&folder, &["sites", "--json", "in.spv"], b"").ok();
    let tables: Json = serde_json::from_str(run.text()).expect("JSON");
    assert_eq!(tables[0]["module_hash"], hash);
    assert_eq!(tables[0]["sites"][0]["message"]["members"][1]["name"], "value");
}

#[test]
fn folders_are_searched_and_bad_files_do_not_hide_others() {
    let folder = folder("sites-of-folders");
    std::fs::create_dir_all(folder.join("shaders/deep")).expect("folders");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join("shaders").join(name), bytes).expect("written");
    write("b.spv", &little(&aborting()));
    write("deep/a.comp.module", &big(&aborting()));
    write("deep/notes.txt", b"not a module, and not named like one");
    let good = run_in(&folder, &["sites", "shaders"], b"").ok();
    let native = |name: &str| name.replace('/', std::path::MAIN_SEPARATOR_STR);
    let at = |name: &str| {
        good.text()
            .find(&format!("{}: 1 abort site", native(name)))
            .expect(name)
    };
    assert!(at("shaders/b.spv") < at("shaders/deep/a.comp.module"));
    assert!(!good.text().contains("notes"), "{}", good.text());
    // Empty, as a compiler that fails leaves it.
    write("a.spv", b"");
    let run = run_in(&folder, &["sites", "none.spv", "shaders"], b"");
    run.fails(4, "none.spv: cannot be read");
    run.says(&native("shaders/a.spv: not a SPIR-V module"));
    assert_eq!(run.text(), good.text());
    assert_eq!(run_in(&folder, &["sites", "shaders"], b"").code, 3);
    std::fs::create_dir(folder.join("empty")).expect("a folder");
    run_in(&folder, &["sites", "empty"], b"").fails(3, "empty: no SPIR-V module in this folder");
}

#[test]
fn overlapping_members_are_warned_about_with_their_compiler() {
    let mut words = aborting();
    words[2] = 13 << 16 | 11;
    let member_1 = words
        .windows(4)
        .position(|w| w[0] == 5 << 16 | 72 && w[2] == 1)
        .expect("a member");
    words[member_1 + 4] = 2;
    let warning = "warning: messages of 1 of 1 abort sites have parts that overlap, so that values are lost: at hand.comp:12, \
                   member 1 (`value`) at byte 2 overlaps member 0 (`code`), which ends at byte 4; the module is from glslc \
                   (shaderc over glslang), generator version 11;";
    let run = vkabort(&["sites", "-"], &little(&words)).ok();
    assert!(run.text().contains(warning), "{}", run.text());
    let run = vkabort(&["instrument", "-", "-o", "-"], &little(&words)).ok();
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    for command in [&["sites", "-"][..], &["instrument", "-", "-o", "-"]] {
        let run = vkabort(command, &little(&aborting())).ok();
        assert!(!run.stderr.contains("warning") && !String::from_utf8_lossy(&run.stdout).contains("warning"));
    }
}

#[test]
fn errors_name_the_file_the_word_and_the_remedy() {
    let cases: [(&[u8], &str); 4] = [
        (b"", "standard input: not a SPIR-V module: 0 bytes are too few"),
        (b"#version 460\n", "this looks like text: compile or assemble it first"),
        (
            &[0x7f, b'E', b'L', b'F', 0xff],
            "word 0 is 0x464c457f, not the magic number",
        ),
        (&little(&plain())[..42], "the file ends inside word 10"),
    ];
    for (input, expected) in cases {
        for command in [&["sites", "-"][..], &["instrument", "-", "-o", "-"]] {
            let run = vkabort(command, input);
            run.fails(3, expected);
            assert!(run.stderr.starts_with("vkabort: error: "), "{}", run.stderr);
            assert!(run.stdout.is_empty());
        }
    }
    let mut cut = aborting();
    cut.truncate(cut.len() - 2);
    vkabort(&["sites", "-"], &little(&cut)).fails(3, "at word ");
}

#[test]
fn missing_files_and_wrong_usage_have_distinct_exit_codes() {
    vkabort(&["sites", "no/such/file.spv"], b"").fails(4, "no/such/file.spv: cannot be read");
    let run = vkabort(&["instrument", "-", "-o", "no/such/folder/x.spv"], &little(&plain()));
    assert_eq!(run.code, 4);
    assert_eq!(vkabort(&["instrument", "-"], b"").code, 2);
    assert_eq!(vkabort(&["no-such-command"], b"").code, 2);
    assert_eq!(
        vkabort(&["instrument", "-", "-o", "-", "--arena-address", "0x8"], b"").code,
        2
    );
    assert_eq!(
        vkabort(&["instrument", "-", "-o", "-", "--specialize", "7=0"], b"").code,
        2
    );
    let run = vkabort(&["instrument", "-", "-o", "-", "--json"], &little(&plain()));
    assert_eq!((run.code, run.stdout.len()), (3, 0));
    vkabort(&["instrument", "-", "-o", "-", "--arena-size", "4K"], &little(&plain()))
        .fails(3, "too small for messages of 65536 bytes");
}

#[test]
fn help_schema_and_completions_are_printed() {
    let help = vkabort(&["--help"], b"").ok();
    assert!(help.text().contains("Exit codes:"));
    let schema: Json = serde_json::from_str(vkabort(&["schema"], b"").ok().text()).expect("JSON");
    assert!(schema["$defs"]["abort"]["properties"]["samples"].is_object());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = vkabort(&["completions", shell], b"").ok();
        for command in ["instrument", "sites", "decode"] {
            assert!(script.text().contains(command), "{shell} {command}");
        }
    }
}

#[test]
fn a_manual_page_is_written_for_each_command() {
    let folder = folder("man");
    run_in(&folder, &["man", "new/man1"], b"").ok();
    let page = |name: &str| std::fs::read_to_string(folder.join("new/man1").join(name)).expect(name);
    assert!(page("vkabort.1").contains(".TH vkabort 1"));
    assert!(page("vkabort-run.1").contains("The program and its arguments"));
    assert!(
        page("vkabort-decode.1").contains("input\\-format"),
        "{}",
        page("vkabort-decode.1")
    );
}

#[cfg(unix)]
#[test]
fn bash_completes_settings() {
    let folder = folder("completions");
    let script = vkabort(&["completions", "bash"], b"").ok();
    std::fs::write(folder.join("vkabort.bash"), script.stdout).expect("written");
    let complete = |word: &str| {
        let test = format!(
            "source ./vkabort.bash; COMP_WORDS=(vkabort run --set {word}); COMP_CWORD=3
             _vkabort vkabort {word:?} --set; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &test])
            .current_dir(&folder)
            .output();
        String::from_utf8(output.expect("bash starts").stdout).expect("text")
    };
    assert_eq!(
        complete("on_ab"),
        "on_abort=lose\non_abort=continue\non_abort=continue_checks\n"
    );
    assert_eq!(complete("arena_s"), "arena_size=\n");
}
