//! Runs the commands of a document in a scratch folder, and compares their output with the text that follows them.

use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::drivers::{Driver, validation_layer};
use vkabort_test_kit::{glslang, process, root};
use vkabort_tests::assembly;
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};
use vkabort_tests::slang::Slang;

/// The programs of the documents on the `PATH`, in a scratch folder.
pub struct Shell {
    test: CommandTest,
    path: OsString,
    driver: Driver,
}

impl Shell {
    pub fn new() -> Result<Self> {
        let test = CommandTest::new()?;
        fs::create_dir_all(test.home())?;
        let programs = [test.command.clone(), glslang::find().map_err(anyhow::Error::msg)?];
        let folders = programs
            .iter()
            .filter_map(|program| program.parent())
            .map(PathBuf::from);
        let old = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&old)))?;
        let driver = drivers()?.remove(0);
        Ok(Self { test, path, driver })
    }

    /// Runs the following commands on this driver instead of the first.
    pub fn use_driver(&mut self, name: &str) -> Result<()> {
        let driver = drivers()?.into_iter().find(|driver| driver.name == name);
        self.driver = driver.with_context(|| format!("the driver {name} is not installed"))?;
        Ok(())
    }

    /// The folder in which commands run.
    pub fn folder(&self) -> PathBuf {
        self.test.home()
    }

    /// Copies the files of a folder of the repository into the scratch folder.
    pub fn copy(&self, folder: &str) -> Result<()> {
        let from = root().join(folder);
        for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
            let path = entry?.path();
            if path.is_file() {
                fs::copy(&path, self.folder().join(path.file_name().unwrap_or_default()))?;
            }
        }
        Ok(())
    }

    /// Runs a line and returns both of its outputs. Lines of Cargo run in the repository, the others in the scratch folder on
    /// the driver. `cd` copies a folder of the repository there. Release builds are not run, only looked up: they would
    /// compile everything once more.
    pub fn run(&self, line: &str, exit: i32) -> Result<String> {
        if line.starts_with("cargo ") {
            let line = line.replace("cargo build --release ", "cargo tree --quiet --depth 0 ");
            let mut command = Command::new("sh");
            return process::output(command.args(["-c", &line]).current_dir(root()));
        }
        if let Some(folder) = line.strip_prefix("cd ") {
            return self.copy(folder).map(|()| String::new());
        }
        if let Some(arguments) = line.strip_prefix("slangc ") {
            return self.slang(arguments).with_context(|| line.to_owned());
        }
        if let Some(arguments) = line.strip_prefix("spirv-as --target-env vulkan1.2 ") {
            return self.assemble(arguments).with_context(|| line.to_owned());
        }
        let mut command = self.test.program(&self.driver, Path::new("sh"))?;
        // In one stream, in the order of a terminal.
        command
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .env("PATH", &self.path);
        // The loader searches this folder for what `vkabort install` registers.
        command.env_remove("XDG_DATA_HOME");
        // Explicit layers: the validation layer, and ours when `vkabort install --explicit` has registered it.
        let validation = validation_layer(None).map_err(anyhow::Error::msg)?;
        let registered = self.folder().join(".local/share/vulkan/explicit_layer.d");
        command.env("VK_LAYER_PATH", std::env::join_paths([validation, registered])?);
        let ended = self.test.finish(&mut command)?;
        ensure!(exit_code(&ended)? == exit, "{line}\n{}", ended.output_tail());
        Ok(ended.stdout + &ended.stderr)
    }

    /// `slangc FILE OPTION.. -target spirv -o OUTPUT`, by the compiler's library, which takes the same arguments.
    fn slang(&self, arguments: &str) -> Result<String> {
        let (arguments, output) = arguments.split_once(" -target spirv ").context("no -target spirv")?;
        let (more, output) = output.split_once("-o ").context("no -o")?;
        let mut words = arguments.split_whitespace().chain(more.split_whitespace());
        let file = words.next().context("no file")?;
        let source = fs::read_to_string(self.folder().join(file))?;
        let code = Slang::find()?.compile(file, &source, &words.collect::<Vec<_>>())?;
        self.write_words(output, &code)
    }

    /// `spirv-as FILE -o OUTPUT`, by an assembler that supports the instruction.
    fn assemble(&self, arguments: &str) -> Result<String> {
        let (file, output) = arguments.split_once(" -o ").context("no -o")?;
        let source = fs::read_to_string(self.folder().join(file))?;
        self.write_words(output, &assembly::assemble(&source)?)
    }

    fn write_words(&self, name: &str, words: &[u32]) -> Result<String> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(self.folder().join(name), bytes)?;
        Ok(String::new())
    }
}

/// The text with another hash of modules: glslang writes the folder into a module, so the hash differs from machine to machine.
pub fn with_hash(text: &str, hash: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(|word| match word.split_at_checked(16) {
            Some((digits, rest)) if rest.len() <= 1 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                format!("{hash}{rest}")
            }
            _ => word.to_owned(),
        })
        .collect()
}

/// The lines without hashes, numbers of words and spaces at their ends. With the folder's length, the number of the words
/// behind it differs, too.
fn lines(text: &str) -> Vec<String> {
    let line = |line: &str| match line.trim_end().rsplit_once(", word ") {
        Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{before}, word N"),
        _ => line.trim_end().to_owned(),
    };
    with_hash(text, "HASH").lines().map(line).collect()
}

/// Whether `output` is the expected text, in which a line `..` stands for any number of lines.
pub fn matches(expected: &str, output: &str) -> bool {
    fn from(expected: &[String], output: &[String]) -> bool {
        match expected.split_first() {
            None => output.is_empty(),
            Some((first, rest)) if first == ".." => (0..=output.len()).any(|skipped| from(rest, &output[skipped..])),
            Some((first, rest)) => output
                .split_first()
                .is_some_and(|(line, more)| line == first && from(rest, more)),
        }
    }
    from(&lines(expected), &lines(output))
}

#[test]
fn dots_are_any_lines_and_hashes_are_equal() {
    assert!(matches("a\n..\nc\n", "a\nb\nb\nc\n"));
    assert!(matches("..\nc", "c\n"));
    assert!(!matches("a\n..\nc", "a\nb\n"));
    assert!(matches("(04d25cb85928e4ce)", "(a4d25cb85928e4c0)  "));
    assert!(!matches("(04d25cb85928e4cg)", "(a4d25cb85928e4c0)"));
    assert!(matches("in `main`, word 1200", "in `main`, word 1201"));
    assert!(!matches("in `main`, word 1200", "in `main`, word x"));
}
