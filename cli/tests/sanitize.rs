//! `vkabort sanitize`, and the options of `vkabort run` for programs without aborts.

mod common;

use common::{aborting, big, endless, folder, little, plain, run_in, unstored, vkabort};
use serde_json::Value as Json;

#[test]
fn checks_are_planted_as_ordinary_aborts() {
    let folder = folder("sanitized");
    std::fs::write(folder.join("in.spv"), little(&endless())).expect("written");
    let args = ["sanitize", "in.spv", "-o", "out.spv", "--sites", "sites.json"];
    let run = run_in(&folder, &args, b"").ok();
    run.says("in.spv: 1 check planted, ");
    let table: Json =
        serde_json::from_slice(&std::fs::read(folder.join("sites.json")).expect("the sites")).expect("JSON");
    assert_eq!(table["sites"][0]["check"], "loops");
    // The result is a module with an abort, which the layer and a native driver run.
    let run = run_in(&folder, &["sites", "out.spv"], b"").ok();
    run.prints("loop budget of %u iterations is used up");
    run_in(&folder, &["instrument", "out.spv", "-o", "lowered.spv"], b"")
        .ok()
        .says("1 abort site");
}

#[test]
fn modules_keep_their_byte_order() {
    let words = |bytes: &[u8], word: fn([u8; 4]) -> u32| -> Vec<u32> {
        let (chunks, _) = bytes.as_chunks::<4>();
        chunks.iter().map(|chunk| word(*chunk)).collect()
    };
    let of = |input: &[u8]| vkabort(&["sanitize", "-", "-o", "-"], input).ok().stdout;
    let new = words(&of(&little(&endless())), u32::from_le_bytes);
    assert_ne!(new, endless());
    assert_eq!(words(&of(&big(&endless())), u32::from_be_bytes), new);
}

#[test]
fn modules_without_a_place_for_checks_are_copied() {
    for words in [plain(), aborting()] {
        let run = vkabort(&["sanitize", "-", "-o", "-"], &little(&words)).ok();
        assert_eq!(run.stdout, little(&words));
        run.says("standard input: no place for these checks, copied unchanged");
    }
    let run = vkabort(
        &["sanitize", "-", "-o", "-", "--checks", "initialized"],
        &little(&unstored()),
    )
    .ok();
    assert_eq!(run.stdout, little(&unstored()));
    run.says("standard input: warning: checks are left out: variables of which not all stores are followed");
    let run = vkabort(&["sanitize", "-", "-o", "-", "--checks", "breaks"], &little(&endless())).ok();
    assert_eq!(run.stdout, little(&endless()));
    let filter = ["sanitize", "-", "-o", "-", "--sanitize-filter", "ignore entry=main"];
    assert_eq!(vkabort(&filter, &little(&endless())).ok().stdout, little(&endless()));
    let sites = ["sanitize", "-", "-o", "out.spv", "--sites", "sites.json"];
    vkabort(&sites, &little(&plain())).fails(3, "there are no sites to write");
}

#[test]
fn wrong_options_and_modules_are_explained() {
    let fails = |more: &[&str], code: i32, text: &str| {
        vkabort(&[&["sanitize", "-", "-o", "-"], more].concat(), &little(&endless())).fails(code, text);
    };
    fails(
        &["--checks", "loop"],
        2,
        "`loop` is not a check. Valid values: default, all, loops, ",
    );
    fails(
        &["--checks", "off"],
        2,
        "expected at least one check, for example loops",
    );
    fails(&["--loop-budget", "0"], 2, "0 is not in 1..");
    fails(
        &["--sanitize-filter", "ignore pipeline=x"],
        2,
        "one of entry, file, function, module",
    );
    fails(
        &["--sites", "-"],
        3,
        "only one of the module and the sites can go to standard output",
    );
    vkabort(&["sanitize", "-", "-o", "-"], b"#version 460").fails(3, "not a SPIR-V module");
    vkabort(&["sanitize", "missing.spv", "-o", "-"], b"").fails(4, "missing.spv: cannot be read");
}

#[cfg(unix)]
mod run {
    use super::common::{run_program, with_program};
    use super::*;

    #[test]
    fn checks_reach_the_layer() {
        let folder = with_program("checks", "echo \"<$VK_VKABORT_SHADER_ABORT_SANITIZE>\"");
        assert_eq!(run_program(&folder, &[]).ok().text(), "<>\n");
        assert_eq!(run_program(&folder, &["--sanitize=breaks"]).ok().text(), "<breaks>\n");
        let default = run_program(&folder, &["--sanitize"]).ok();
        assert!(default.text().starts_with("<loops,breaks"), "{}", default.text());
        run_program(&folder, &["--sanitize=loop"]).fails(2, "`loop` is not a check");
        // The program follows the option without a value.
        let args = ["run", "--layer", ".", "--sanitize", "./app"];
        assert_eq!(run_in(&folder, &args, b"").ok().text(), default.text());
    }

    #[test]
    fn modules_are_dumped_and_replaced_by_hash() {
        let script = "ls $VK_VKABORT_SHADER_ABORT_REPLACE_MODULES; echo $VK_VKABORT_SHADER_ABORT_DUMP_MODULES";
        let folder = with_program("by_hand", script);
        std::fs::write(folder.join("new.spv"), big(&plain())).expect("written");
        std::fs::write(folder.join("new.txt"), "text").expect("written");
        let replace = |file: &str| format!("00000000000000AB={file}");
        let run = run_program(
            &folder,
            &["--dump-modules", "modules", "--replace", &replace("new.spv")],
        )
        .ok();
        let modules = folder.canonicalize().expect("it exists").join("modules");
        assert_eq!(run.text(), format!("00000000000000ab.spv\n{}\n", modules.display()));
        assert!(modules.is_dir());
        let fails = |values: &[&str], code: i32, text: &str| {
            let options: Vec<&str> = values.iter().flat_map(|value| ["--replace", value]).collect();
            run_program(&folder, &options).fails(code, text);
        };
        fails(&[&replace("missing.spv")], 4, "missing.spv: cannot be read");
        fails(&[&replace("new.txt")], 3, "new.txt: not a SPIR-V module");
        fails(
            &[&replace("new.spv"), &replace("new.spv")],
            2,
            "--replace 00000000000000ab: given twice",
        );
        fails(
            &["ab=new.spv"],
            2,
            "a module hash is 16 hexadecimal digits, which `--dump-modules` names files by",
        );
        fails(&["new.spv"], 2, "expected HASH=FILE");
        let set = ["--replace", &replace("new.spv"), "--set", "replace_modules=modules"];
        run_program(&folder, &set).fails(2, "--replace and --set replace_modules exclude each other");
        run_program(&folder, &["--dump-modules", "new.txt/modules"]).fails(4, "new.txt/modules: cannot be created");
    }
}
