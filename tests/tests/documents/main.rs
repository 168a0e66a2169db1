//! The commands of README and the guide run and print the text that follows them, their code compiles, their links lead
//! somewhere, and their pictures show real output.

mod blocks;
mod links;
mod pictures;
mod shell;

use anyhow::{Context, Result, bail, ensure};
use blocks::Block;
use shell::Shell;
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::{process, root};

/// Environment variable: rewrite pictures and expected texts instead of comparing them.
const BLESS: &str = "VKABORT_BLESS";

#[test]
fn every_block_of_the_readme_is_checked() -> Result<()> {
    check(&root().join("README.md"))
}

#[test]
fn every_block_of_the_guide_is_checked() -> Result<()> {
    let failures: Vec<String> = blocks::guide()?
        .iter()
        .filter_map(|page| check(page).err())
        .map(|error| format!("{error:#}"))
        .collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n\n"));
    Ok(())
}

/// Checks the blocks of a document up to the first that is wrong.
fn check(path: &Path) -> Result<()> {
    let shell = Shell::new()?;
    // The guide's commands run there, as its first page says; README's `cd` there.
    if !path.ends_with("README.md") {
        shell.run("cd examples/c", 0)?;
    }
    let mut document = Document {
        path,
        shell,
        output: None,
    };
    for block in &blocks::blocks(path)? {
        let place = || format!("{}:{}", path.display(), block.line);
        document.check(block).with_context(place)?;
    }
    Ok(())
}

/// A document whose blocks are checked in their order, in one folder.
struct Document<'a> {
    path: &'a Path,
    shell: Shell,
    /// Output of the last commands, for the text that follows them.
    output: Option<String>,
}

impl Document<'_> {
    fn check(&mut self, block: &Block) -> Result<()> {
        let output = self.output.take();
        let mut exit = 0;
        for (key, value) in &block.directives {
            match key.as_str() {
                "run by" => return run_by(value, &block.text),
                "from" => return from(value, &block.text),
                "file" => return self.write(value, &block.text),
                "driver" => self.shell.use_driver(value)?,
                "exit" => exit = value.parse().context("the exit code is not a number")?,
                _ => bail!("nothing checks `{key}`"),
            }
        }
        match block.language.as_str() {
            "sh" => self.run(&block.text, exit),
            "text" => {
                let output = output.context("no command before this text, and no file that it is from")?;
                self.compare(&block.text, &output)
            }
            "c" => self.compile(&block.text),
            language => bail!("nothing checks this block ({language}); see CONTRIBUTING.md"),
        }
    }

    /// Runs commands, and keeps their output for the text behind them.
    fn run(&mut self, text: &str, exit: i32) -> Result<()> {
        let text = text.replace("\\\n", " ");
        let lines: Vec<&str> = text.lines().collect();
        let (last, first) = lines.split_last().context("no command")?;
        let mut output = String::new();
        for line in first {
            output += &self.shell.run(line, 0)?;
        }
        output += &self.shell.run(last, exit)?;
        // Whatever switches the layer on, the shader of the C example aborts; README does not show its output again.
        let aborts = self.path.ends_with("README.md") && lines.iter().any(|line| line.ends_with("./sum sum.spv"));
        ensure!(
            !aborts || output.contains("shader aborted: index 4000000"),
            "{text}\n{output}"
        );
        self.output = Some(output);
        Ok(())
    }

    fn compare(&self, expected: &str, output: &str) -> Result<()> {
        if shell::matches(expected, output) {
            return Ok(());
        }
        if std::env::var_os(BLESS).is_some() && expected.ends_with('\n') {
            let document = fs::read_to_string(self.path)?;
            return Ok(fs::write(self.path, document.replacen(expected, output, 1))?);
        }
        bail!("the document says\n{expected}\nbut the commands print\n{output}\nVKABORT_BLESS=1 rewrites the document")
    }

    /// Writes a file. The steps of a workflow run too, so that its commands are known to work.
    fn write(&mut self, name: &str, text: &str) -> Result<()> {
        let path = self.shell.folder().join(name);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(path, text)?;
        if name.ends_with(".yml") {
            for line in text.lines() {
                if let Some((_, command)) = line.split_once("run: ") {
                    self.shell.run(command, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Compiles C code that is not a whole program.
    fn compile(&self, text: &str) -> Result<()> {
        let source = self.shell.folder().join("block.c");
        fs::write(&source, text)?;
        fs::copy(
            root().join("examples/c/shader_abort.h"),
            self.shell.folder().join("shader_abort.h"),
        )?;
        let mut compiler = Command::new("cc");
        compiler.args("-std=c11 -Wall -Werror -fsyntax-only -include shader_abort.h".split(' '));
        process::output(compiler.arg(&source).current_dir(self.shell.folder()))?;
        Ok(())
    }
}

/// The script runs every line, or the test exists.
fn run_by(name: &str, text: &str) -> Result<()> {
    if name.starts_with(".ci/") {
        let script = fs::read_to_string(root().join(name))?;
        for line in text.lines() {
            ensure!(script.contains(line), "{name} does not run `{line}`");
        }
        return Ok(());
    }
    let (file, function) = name.split_once("::").context("not FILE::TEST")?;
    let folder = if file.contains('/') { "" } else { "tests/tests/" };
    let source = fs::read_to_string(root().join(format!("{folder}{file}.rs")))?;
    ensure!(
        source.contains(&format!("#[test]\nfn {function}()")),
        "{name} is not a test"
    );
    Ok(())
}

/// Every line but `..` is a line of the file, apart from indentation.
fn from(file: &str, text: &str) -> Result<()> {
    let source = fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?;
    for line in text.lines().map(str::trim).filter(|line| *line != "..") {
        ensure!(
            source.lines().any(|other| other.trim() == line),
            "{file} has no line `{line}`"
        );
    }
    Ok(())
}
