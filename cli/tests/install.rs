//! `vkabort install` and `vkabort uninstall`, in folders of the test.
// Shell scripts and the folders of Linux.
#![cfg(unix)]

mod common;

use common::{Run, folder, run_with, without_vulkan};
use serde_json::Value as Json;
use std::path::Path;
use std::process::Command;

fn run(folder: &Path, args: &[&str]) -> Run {
    let [data, shared] = ["data", "usr/share"].map(|name| folder.join(name).to_str().expect("UTF-8").to_owned());
    let mut variables = without_vulkan("/nonexistent");
    for (name, value) in &mut variables {
        match *name {
            "XDG_DATA_HOME" => *value = &data,
            "XDG_DATA_DIRS" => *value = &shared,
            _ => {}
        }
    }
    run_with(folder, args, b"", &variables)
}

fn library(folder: &Path, bytes: &[u8]) {
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), bytes).expect("written");
}

#[test]
fn installing_updating_and_uninstalling_for_a_user() {
    let folder = folder("user").canonicalize().expect("the folder exists");
    library(&folder, b"one");
    let ran = run(&folder, &["install", "--layer", ".", "--json"]).ok();
    let done: Json = serde_json::from_str(ran.text()).expect("JSON");
    let manifest = folder.join("data/vulkan/implicit_layer.d/VK_LAYER_vkabort_shader_abort.json");
    let installed = folder.join("data/vkabort/libVkLayer_vkabort_shader_abort.so");
    assert_eq!(done["manifest"].as_str().map(Path::new), Some(manifest.as_path()));
    assert_eq!(done["switch_on"], "VKABORT_ENABLE=1");
    assert_eq!(std::fs::read(&installed).expect("copied"), b"one");
    let json: Json = serde_json::from_slice(&std::fs::read(&manifest).expect("written")).expect("JSON");
    assert_eq!(
        json["layer"]["library_path"].as_str().map(Path::new),
        Some(installed.as_path())
    );
    assert_eq!(json["layer"]["enable_environment"]["VKABORT_ENABLE"], "1");
    // Programs keep the old library mapped: the new one is another file.
    let old = std::fs::File::open(&installed).expect("opened");
    library(&folder, b"two");
    let ran = run(&folder, &["install", "--layer", ".", "--explicit"]).ok();
    ran.prints(&format!("\nreplaced   {}\n", manifest.display()));
    assert_eq!(ran.stderr, "");
    assert_eq!(std::fs::read(&installed).expect("copied"), b"two");
    assert_eq!(std::io::read_to_string(old).expect("the old one"), "one");
    assert!(!manifest.exists(), "one manifest at a time");
    let explicit = folder.join("data/vulkan/explicit_layer.d/VK_LAYER_vkabort_shader_abort.json");
    assert!(explicit.exists());
    let ran = run(&folder, &["uninstall"]).ok();
    assert_eq!(
        ran.text(),
        format!("removed  {}\nremoved  {}\n", explicit.display(), installed.display())
    );
    assert!(!folder.join("data/vkabort").exists());
    assert_eq!(
        run(&folder, &["uninstall"]).ok().text(),
        format!(
            "the layer is not installed in {}\n",
            folder.join("data/vulkan").display()
        )
    );
}

#[test]
fn installing_for_all_users_and_in_place() {
    let folder = folder("system").canonicalize().expect("the folder exists");
    library(&folder, b"one");
    run(
        &folder,
        &["install", "--system", "--prefix", "usr", "--layer", ".", "--in-place"],
    )
    .ok();
    let manifest = folder.join("usr/share/vulkan/implicit_layer.d/VK_LAYER_vkabort_shader_abort.json");
    let json: Json = serde_json::from_slice(&std::fs::read(manifest).expect("written")).expect("JSON");
    let library = folder.join("libVkLayer_vkabort_shader_abort.so");
    assert_eq!(
        json["layer"]["library_path"].as_str().map(Path::new),
        Some(library.as_path())
    );
    assert!(!folder.join("usr/lib").exists());
    let ran = run(&folder, &["uninstall", "--system", "--prefix", "usr", "--json"]).ok();
    let done: Json = serde_json::from_str(ran.text()).expect("JSON");
    assert_eq!(done["removed"].as_array().map(Vec::len), Some(1));
    assert!(library.exists());
    assert_eq!(
        run(&folder, &["install", "--prefix", "usr"]).code,
        2,
        "--prefix requires --system"
    );
}

#[test]
fn a_second_installation_is_noticed() {
    let folder = folder("both").canonicalize().expect("the folder exists");
    library(&folder, b"one");
    let system = ["--system", "--prefix", "usr"];
    let ran = run(&folder, &[&["install", "--layer", "."], &system[..]].concat()).ok();
    assert_eq!(ran.stderr, "");
    let [user, all] = ["data", "usr/share"].map(|data| {
        folder
            .join(data)
            .join("vulkan/implicit_layer.d/VK_LAYER_vkabort_shader_abort.json")
    });
    let (user, all) = (user.display(), all.display());
    let expected = format!("vkabort: the layer is also registered by {all}; the loader uses {user}\n");
    assert_eq!(run(&folder, &["install", "--layer", "."]).ok().stderr, expected);
    let expected = format!("vkabort: the layer is also registered by {all}; the loader uses {all}\n");
    assert_eq!(run(&folder, &["uninstall"]).ok().stderr, expected);
    let ran = run(&folder, &[&["uninstall"], &system[..]].concat()).ok();
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_folder_that_may_not_be_written_is_explained_by_scope() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("foreign");
    library(&folder, b"one");
    for name in ["data", "usr"] {
        std::fs::create_dir(folder.join(name)).expect("created");
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o555)).expect("set");
    }
    // Root may write anywhere, unless it gives up the capability.
    let is_root = std::fs::write(folder.join("data/x"), b"").is_ok();
    for (options, hint) in [
        (
            &[][..],
            "the folder does not belong to this user: correct its owner, or set XDG_DATA_HOME",
        ),
        (
            &["--system", "--prefix", "usr"],
            "installing for all users requires root",
        ),
    ] {
        let mut command = match is_root {
            true => Command::new("setpriv"),
            false => Command::new(env!("CARGO_BIN_EXE_vkabort")),
        };
        if is_root {
            command.args([
                "--bounding-set=-dac_override",
                "--inh-caps=-all",
                env!("CARGO_BIN_EXE_vkabort"),
            ]);
        }
        let output = command
            .args(["install", "--layer", "."])
            .args(options)
            .current_dir(&folder)
            .env("XDG_DATA_HOME", folder.join("data"))
            .output();
        Run::from(output.expect("it starts")).fails(4, &format!("cannot be written ({hint}"));
    }
}

#[test]
fn the_library_of_32_bit_programs_is_registered_beside_the_other() {
    let folder = folder("both").canonicalize().expect("the folder exists");
    library(&folder, b"\x7fELF\x02");
    std::fs::create_dir(folder.join("32")).expect("created");
    library(&folder.join("32"), b"\x7fELF\x01");
    let ran = run(&folder, &["install", "--layer", ".", "--json"]).ok();
    let done: Json = serde_json::from_str(ran.text()).expect("JSON");
    for (manifest, library, bits, arch) in [("manifest", "library", 2, "64"), ("manifest_32", "library_32", 1, "32")] {
        let (manifest, library) = (
            done[manifest].as_str().expect("a path"),
            done[library].as_str().expect("a path"),
        );
        assert_eq!(std::fs::read(library).expect("copied")[4], bits);
        let json: Json = serde_json::from_slice(&std::fs::read(manifest).expect("written")).expect("JSON");
        assert_eq!(json["layer"]["library_path"], library);
        assert_eq!(json["layer"]["library_arch"], arch);
    }
    let ran = run(&folder, &["uninstall", "--json"]).ok();
    let done: Json = serde_json::from_str(ran.text()).expect("JSON");
    assert_eq!(done["removed"].as_array().map(Vec::len), Some(4), "{done}");
    assert!(!folder.join("data/vkabort").exists());
}

#[test]
fn errors_name_the_file() {
    let folder = folder("blocked");
    library(&folder, b"one");
    std::fs::write(folder.join("data"), b"a file instead of a folder").expect("written");
    run(&folder, &["install", "--layer", "."])
        .fails(4, "data/vkabort/libVkLayer_vkabort_shader_abort.so: cannot be written");
    run(&folder, &["install", "--layer", "nowhere"]).fails(4, "nowhere: cannot be found");
}
