//! The README's commands run, its code compiles, and its picture shows the output of the C example.

use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{cargo, process, root};
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};

/// Environment variable: write the picture instead of comparing it.
const BLESS: &str = "VKABORT_BLESS";

/// A fenced block of the README.
struct Block {
    language: String,
    text: String,
    /// What runs it, if not this test: the comment `<!-- run by: NAME -->` before it.
    run_by: Option<String>,
}

fn blocks() -> Result<Vec<Block>> {
    let readme = fs::read_to_string(root().join("README.md"))?;
    let mut blocks = Vec::new();
    let mut run_by = None;
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line
            .strip_prefix("<!-- run by: ")
            .and_then(|line| line.strip_suffix(" -->"))
        {
            run_by = Some(name.to_owned());
        } else if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                language: language.to_owned(),
                text: text.join("\n") + "\n",
                run_by: run_by.take(),
            });
        }
    }
    Ok(blocks)
}

/// The programs of the README: `vkabort`, `glslang` and the C example's sources, in a scratch folder.
struct Shell {
    test: CommandTest,
    path: OsString,
}

impl Shell {
    fn new() -> Result<Self> {
        let test = CommandTest::new()?;
        fs::create_dir_all(test.home())?;
        for name in ["main.c", "shader_abort.h", "sum.comp"] {
            fs::copy(root().join("examples/c").join(name), test.home().join(name))?;
        }
        let programs = [test.command.clone(), cargo::build_glslang()?];
        let folders = programs
            .iter()
            .filter_map(|program| program.parent())
            .map(PathBuf::from);
        let old = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&old)))?;
        Ok(Self { test, path })
    }

    /// Runs a line. Those of Cargo run in the repository, the others in the scratch folder on the first driver.
    fn run(&self, line: &str) -> Result<String> {
        if line.starts_with("cargo ") {
            let mut command = Command::new("sh");
            return process::output(command.args(["-c", line]).current_dir(root()));
        }
        let driver = drivers().into_iter().next().context("no driver found")?;
        let mut command = self.test.program(&driver, Path::new("sh"))?;
        command.args(["-c", line]).env("PATH", &self.path);
        // The loader searches this folder for what `vkabort install` registers.
        command.env_remove("XDG_DATA_HOME");
        let ended = self.test.finish(&mut command)?;
        let expected = if line.starts_with("vkabort run ") { 90 } else { 0 };
        ensure!(exit_code(&ended)? == expected, "{line}\n{}", ended.output_tail());
        Ok(ended.stdout + &ended.stderr)
    }
}

#[test]
fn every_command_runs() -> Result<()> {
    let shell = Shell::new()?;
    for block in blocks()?.iter().filter(|block| block.language == "sh") {
        match &block.run_by {
            None => {
                for line in block.text.replace("\\\n", " ").lines() {
                    let output = shell.run(line)?;
                    // Whatever switches the layer on, the shader aborts.
                    let aborts = line.ends_with("./sum sum.spv") || line.starts_with("vkabort decode");
                    ensure!(
                        output.contains("shader aborted: index 4000000") == aborts,
                        "{line}\n{output}"
                    );
                }
            }
            Some(name) if name.starts_with(".ci/") => {
                let script = fs::read_to_string(root().join(name))?;
                for line in block.text.lines() {
                    ensure!(script.contains(line), "{name} does not run `{line}`");
                }
            }
            Some(name) => {
                let (file, function) = name.split_once("::").context("not FILE::TEST")?;
                let source = fs::read_to_string(root().join(format!("tests/tests/{file}.rs")))?;
                ensure!(
                    source.contains(&format!("#[test]\nfn {function}()")),
                    "{name} is not a test"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn the_c_code_compiles_and_the_glsl_code_is_of_the_example() -> Result<()> {
    let shell = Shell::new()?;
    let shader = fs::read_to_string(root().join("examples/c/sum.comp"))?;
    let mut languages = Vec::new();
    for block in blocks()? {
        match block.language.as_str() {
            "c" => {
                let source = shell.test.home().join("readme.c");
                fs::write(&source, &block.text)?;
                let mut compiler = Command::new("cc");
                compiler.args([
                    "-std=c11",
                    "-Wall",
                    "-Werror",
                    "-fsyntax-only",
                    "-include",
                    "shader_abort.h",
                ]);
                process::output(compiler.arg(&source).current_dir(shell.test.home()))?;
            }
            "glsl" => {
                for line in block.text.lines().map(str::trim).filter(|line| *line != "..") {
                    ensure!(shader.lines().any(|other| other.trim() == line), "{line}");
                }
            }
            _ => {}
        }
        languages.push(block.language);
    }
    ensure!(
        ["c", "glsl", "sh"]
            .iter()
            .all(|one| languages.iter().any(|all| all == one))
    );
    Ok(())
}

#[test]
fn the_picture_is_the_output_of_the_example() -> Result<()> {
    let shell = Shell::new()?;
    shell.run("glslang -V -gVS sum.comp -o sum.spv")?;
    shell.run("cc main.c -o sum -lvulkan")?;
    let output = shell.run("vkabort run --color always ./sum sum.spv >/dev/null")?;
    // glslang writes the folder into the module, so the module's hash differs from machine to machine.
    let hash = output.split("module ").nth(1).and_then(|rest| rest.get(..16));
    let output = output.replace(hash.context("no module hash")?, "04d25cb85928e4ce");
    let text = format!("$ vkabort run ./sum sum.spv\n{output}");
    let picture = anstyle_svg::Term::new()
        .palette(anstyle_svg::WIN10_CONSOLE)
        .render_svg(text.trim_end());
    let path = root().join("docs/report.svg");
    if std::env::var_os(BLESS).is_some() {
        fs::create_dir_all(root().join("docs"))?;
        fs::write(&path, &picture)?;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    ensure!(
        stored == picture,
        "docs/report.svg is out of date: run `cargo xtask picture`"
    );
    Ok(())
}
