//! The layer in a container that sees only files that are imported into it, as Steam's does for games: the implicit manifests that it finds,
//! with the paths of its own copies of their libraries.
#![allow(clippy::print_stdout, reason = "a skipped test prints the reason")]

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_manifest::{ENABLE, LAYER, LIBRARY, file_name};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::process;
use vkabort_test_kit::programs::installed;
use vkabort_tests::command_test::{CommandTest, exit_code};

/// Exit code of the demo if the device lacks the extension.
const NO_EXTENSION: i32 = 2;
/// Exit code of `vkabort run` if a shader aborted.
const ABORTED: i32 = 90;
/// Folder of the imported files, in the container.
const OVERRIDES: &str = "/overrides";

/// `bwrap` with the system's programs and the options, around the demo. `None` if it cannot make a container, with a note.
fn container(demo: &Path, options: &[&str]) -> Option<Vec<String>> {
    let mut words = vec![
        "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--ro-bind",
        "/usr",
        "/usr",
    ];
    for (to, at) in [("usr/lib", "/lib"), ("usr/lib64", "/lib64"), ("usr/bin", "/bin")] {
        words.extend(["--symlink", to, at]);
    }
    words.extend(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    let works = Command::new("bwrap").args(&words[1..]).arg("true").output();
    if !works.is_ok_and(|ended| ended.status.success()) {
        println!("skipped: bwrap cannot make a container here");
        return None;
    }
    let demo = demo.to_str()?;
    words.extend(["--ro-bind", demo, "/demo"]);
    words.extend(options);
    words.push("/demo");
    Some(words.into_iter().map(str::to_owned).collect())
}

/// Imports the manifest that `vkabort install` has written below `data`, as Steam's container does: `library_arch` is lost.
fn import(data: &Path, to: &Path) -> Result<()> {
    let text = fs::read(data.join("vulkan/implicit_layer.d").join(file_name(LAYER)))?;
    let mut manifest: Json = serde_json::from_slice(&text)?;
    let library = manifest["layer"]["library_path"].as_str().context("no library")?;
    let folder = to.join("share/vulkan/implicit_layer.d");
    fs::create_dir_all(&folder)?;
    fs::copy(library, to.join(LIBRARY))?;
    let layer = manifest["layer"].as_object_mut().context("no layer")?;
    layer.insert("library_path".into(), format!("{OVERRIDES}/{LIBRARY}").into());
    layer.remove("library_arch");
    fs::write(folder.join("05-x86_64-linux-gnu.json"), manifest.to_string()).map_err(Into::into)
}

#[test]
fn an_installed_layer_is_used_in_a_container_and_one_of_run_is_not() -> Result<()> {
    let Ok(driver) = TestDriver::Lavapipe.find() else {
        println!("skipped: lavapipe is not installed");
        return Ok(());
    };
    if installed("bwrap")?.is_none() {
        return Ok(());
    }
    let test = CommandTest::new()?;
    let demo = cargo::build_demo(Profile::OWN)?;
    let scratch = test.scratch.path();
    let (data, imported) = (scratch.join("data"), scratch.join("imported"));
    let folder = imported.to_str().context("not UTF-8")?;
    let Some(words) = container(&demo, &["--ro-bind", folder, OVERRIDES]) else {
        return Ok(());
    };
    let mut install = Command::new(&test.command);
    install.args(["install", "--layer"]).arg(&test.layer.library);
    process::output(install.env("XDG_DATA_HOME", &data))?;
    import(&data, &imported)?;
    let paths = format!("{OVERRIDES}/share:/usr/share");
    let run = |words: &[String], enable: bool| {
        let mut command = test.program(&driver, Path::new(&words[0]))?;
        command
            .args(&words[1..])
            .env("XDG_DATA_DIRS", &paths)
            .env("HOME", "/tmp");
        command.envs(enable.then_some((ENABLE, "1")));
        test.finish(&mut command)
    };
    let on = run(&words, true)?;
    ensure!(
        exit_code(&on)? == 0 && on.stderr.contains("shader aborted"),
        "{}",
        on.output_tail()
    );
    let off = run(&words, false)?;
    ensure!(exit_code(&off)? == NO_EXTENSION, "{}", off.output_tail());

    // The temporary folder of `vkabort run` is outside; if it is shared, the layer works where its library is visible.
    let own = container(&demo, &[]).context("bwrap worked a moment ago")?;
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let hidden = test.finish(&mut test.run(&driver, &[], &own)?)?;
    ensure!(
        exit_code(&hidden)? == NO_EXTENSION && hidden.stderr.contains("the layer was not used"),
        "{}",
        hidden.output_tail()
    );
    let temporary = std::env::temp_dir();
    let shared = [temporary.as_path(), test.layer.library.parent().context("no folder")?];
    let mut options = Vec::new();
    for folder in shared.iter().map(|folder| folder.to_str()) {
        let folder = folder.context("not UTF-8")?;
        options.extend(["--bind", folder, folder]);
    }
    let visible = container(&demo, &options).context("bwrap worked a moment ago")?;
    let visible: Vec<&str> = visible.iter().map(String::as_str).collect();
    let visible = test.finish(&mut test.run(&driver, &[], &visible)?)?;
    ensure!(exit_code(&visible)? == ABORTED, "{}", visible.output_tail());
    Ok(())
}
