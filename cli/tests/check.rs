//! `vkabort check`.

mod common;

use common::{aborting, folder, formatted, little, plain, run_in, vkabort};
use serde_json::Value as Json;

/// Output of the check of one module.
fn check(words: &[u32]) -> String {
    let run = vkabort(&["check", "-"], &little(words)).ok();
    run.text().to_owned()
}

#[test]
fn modules_without_faults_are_silent() {
    for words in [plain(), aborting(), formatted("index %u"), formatted("100%% of %u")] {
        let run = vkabort(&["check", "--werror", "-"], &little(&words)).ok();
        assert_eq!((run.text(), run.stderr.as_str()), ("", ""));
    }
}

#[test]
fn formats_that_do_not_fit_their_arguments_are_warned_about() {
    for (format, note) in [
        (
            "%u of %u",
            "the format has more conversions than the message has arguments",
        ),
        (
            "too large",
            "the format has no conversion for argument 1 (u32), which follows in brackets: add `%u`",
        ),
        ("named %s", "the argument of `%s` is not a string (u32)"),
        ("at %f", "the argument of `%f` is not a float (u32)"),
        (
            "%u, 50% bad",
            "`% ` starts no conversion: write `%%` for a percent sign",
        ),
    ] {
        let expected = format!("hand.comp:12:5: warning: {note} [format]\n");
        assert_eq!(check(&formatted(format)), expected, "{format}");
    }
}

#[test]
fn overlaps_and_missing_debug_information_are_warned_about() {
    let mut words = aborting();
    let member_1 = words.windows(4).position(|w| w[0] == 5 << 16 | 72 && w[2] == 1);
    words[member_1.expect("a member") + 4] = 2;
    let text = check(&words);
    let expected =
        "hand.comp:12:5: warning: member 1 (`value`) at byte 2 overlaps member 0 (`code`), which ends at byte 4; ";
    assert!(text.starts_with(expected) && text.ends_with(" [overlap]\n"), "{text}");
    // OpNop instead of OpLine.
    let mut words = aborting();
    while let Some(line) = words.windows(1).position(|w| w[0] == 4 << 16 | 8) {
        words[line..line + 4].fill(1 << 16);
    }
    assert_eq!(
        check(&words),
        "standard input: warning: the source lines of 1 of 1 aborts are unknown: compile with -gVS (glslang) or -g (Slang) \
         [debug-info]\n"
    );
    let mut words = aborting();
    let extension = words.windows(1).position(|w| w[0] >> 16 == 5 && w[0] & 0xFFFF == 10);
    let at = extension.expect("an extension");
    words[at..at + 5].fill(1 << 16);
    assert!(check(&words).contains(" without OpExtension \"SPV_KHR_abort\""));
}

#[test]
fn errors_fail_and_warnings_fail_on_request() {
    let run = vkabort(&["check", "--max-message-size", "4", "-"], &little(&aborting()));
    run.fails(3, "1 error, 0 warnings in 1 module");
    run.prints("hand.comp:12:5: error: the message has 8 bytes, more than the limit of 4: send fewer or shorter arrays [size]\n");
    assert_eq!(run.text().lines().count(), 1, "{}", run.text());
    let run = vkabort(&["check", "--werror", "-"], &little(&formatted("%s")));
    run.fails(7, "0 errors, 1 warning in 1 module");
    let mut cut = aborting();
    cut.truncate(cut.len() - 2);
    let run = vkabort(&["check", "-"], &little(&cut));
    run.fails(3, "1 error");
    run.prints("standard input: error: the layer refuses the module: ");
    vkabort(&["check", "-"], b"#version 460\n").fails(3, "not a SPIR-V module");
}

#[test]
fn variants_of_a_shader_are_reported_once_in_every_format() {
    let folder = folder("check");
    std::fs::create_dir(folder.join("shaders")).expect("a folder");
    for name in ["a.spv", "b.spv", "c.module"] {
        std::fs::write(folder.join("shaders").join(name), little(&formatted("%s"))).expect("written");
    }
    let run = |format: &str| run_in(&folder, &["check", "shaders", "--format", format], b"").ok();
    let note = "the argument of `%s` is not a string (u32)";
    assert_eq!(
        run("text").text(),
        format!("hand.comp:12:5: warning: {note} [format]\n")
    );
    run("text").says("1 warning in 3 modules");
    assert_eq!(
        run("github").text(),
        format!(
            "::warning file=hand.comp,line=12,col=5,title=vkabort format::{}\n",
            note.replace('%', "%25")
        )
    );
    let sarif: Json = serde_json::from_str(run("sarif").text()).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["message"]["text"], note);
    // Without findings the log is still one, so that a host closes earlier alerts.
    let none = vkabort(&["check", "--format", "sarif", "-"], &little(&plain())).ok();
    let none: Json = serde_json::from_str(none.text()).expect("JSON");
    assert_eq!(none["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}

#[test]
fn rules_can_be_allowed_and_denied() {
    let words = little(&formatted("%s"));
    let check = |options: &[&str]| vkabort(&[&["check", "-"], options].concat(), &words);
    let run = check(&["--werror", "--allow", "format"]).ok();
    assert_eq!((run.text(), run.stderr.as_str()), ("", ""));
    check(&["--werror", "--allow", "overlap"]).fails(7, "1 warning");
    for options in [&["--deny", "format"][..], &["--deny", "format", "--allow", "format"]] {
        let run = check(options);
        run.fails(3, "1 error, 0 warnings");
        run.prints("hand.comp:12:5: error: the argument of `%s` is not a string (u32) [format]");
    }
    // Errors stay errors.
    check(&["--allow", "size"]).fails(2, "[possible values: format, overlap, debug-info, extension, data]");
}

#[test]
fn files_are_named_relative_to_the_source_root() {
    let folder = folder("source_root");
    for path in ["shaders/post", "build", ".git"] {
        std::fs::create_dir_all(folder.join(path)).expect("created");
    }
    std::fs::write(folder.join("shaders/post/hand.comp"), "").expect("written");
    std::fs::write(folder.join(".git/hand.comp"), "").expect("written");
    std::fs::write(folder.join("build/hand.spv"), little(&formatted("%s"))).expect("written");
    let name = |within: &str, args: &[&str]| {
        let run = run_in(&folder.join(within), &[&["check"], args].concat(), b"");
        run.text().split(": ").next().unwrap_or_default().to_owned()
    };
    // As the compiler was run, or from the root, as in a step of a workflow.
    assert_eq!(name("shaders/post", &["../../build/hand.spv"]), "hand.comp:12:5");
    let expected = "shaders/post/hand.comp:12:5";
    assert_eq!(
        name("shaders/post", &["--source-root", "../..", "../../build/hand.spv"]),
        expected
    );
    assert_eq!(name(".", &["--source-root", ".", "build"]), expected);
    let args = ["check", "--source-root", ".", "--format", "github", "build"];
    run_in(&folder, &args, b"").prints("::warning file=shaders/post/hand.comp,line=12,col=5,");
    let args = ["check", "--source-root", ".", "--format", "sarif", "build"];
    let sarif: Json = serde_json::from_str(run_in(&folder, &args, b"").ok().text()).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(
        *place,
        serde_json::json!({"uri": "shaders/post/hand.comp", "uriBaseId": "%SRCROOT%"})
    );
    let root = sarif["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"]
        .as_str()
        .expect("a root");
    assert!(
        root.starts_with("file:///") && root.ends_with("/source_root/"),
        "{root}"
    );
    // Two files of that name: either may be meant.
    std::fs::write(folder.join("shaders/hand.comp"), "").expect("written");
    assert_eq!(name(".", &["--source-root", ".", "build"]), "hand.comp:12:5");
    run_in(&folder, &["check", "--source-root", "none", "build"], b"").fails(4, "none: cannot be found");
}
