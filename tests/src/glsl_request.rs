//! Compiles shaders for test programs in Wine, which cannot start glslang: they write requests, which the harness answers.
//!
//! A request is a file in the folder of compiled shaders; its name is unique. The answer is a file of the same name with the bytes
//! of the module, or with the error.

use crate::shader_cache;
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use vkabort_test_kit::glslang;
use vkabort_test_kit::scratch::folder_in;

const REQUEST: &str = "request";
const MODULE: &str = "module";
const ERROR: &str = "error";

/// Time between two looks at the folder.
const INTERVAL: Duration = Duration::from_millis(20);
/// Time within which the harness answers.
const LIMIT: Duration = Duration::from_secs(60);

/// Requests the words of a file with the name `name` and this text, as bytes.
///
/// # Errors
///
/// The text does not compile, or the harness does not answer.
pub fn send(name: &str, text: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    let folder =
        std::env::var_os(shader_cache::VARIABLE).with_context(|| format!("{} is not set", shader_cache::VARIABLE))?;
    send_in(Path::new(&folder), name, text, arguments)
}

fn send_in(folder: &Path, name: &str, text: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let request = folder.join(format!("{}-{number}.{REQUEST}", std::process::id()));
    let content = serde_json::to_vec(&(name, text, arguments))?;
    write(&request, &content)?;
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(bytes) = take(&request.with_extension(MODULE)) {
            return Ok(bytes);
        }
        if let Some(error) = take(&request.with_extension(ERROR)) {
            bail!("{}", String::from_utf8_lossy(&error));
        }
        sleep(INTERVAL);
    }
    bail!("the harness has not compiled {name} in {LIMIT:?}")
}

/// Answers the requests in a folder, in a thread that ends with the process.
pub fn serve(folder: PathBuf) {
    std::thread::spawn(move || {
        loop {
            answer_all(&folder);
            sleep(INTERVAL);
        }
    });
}

fn answer_all(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let requests = entries.map(|entry| entry.path());
    for request in requests.filter(|path| path.extension() == Some(OsStr::new(REQUEST))) {
        let Some(content) = take(&request) else { continue };
        // An answer that cannot be written is one that does not come.
        let _ = match compile(&content) {
            Ok(bytes) => write(&request.with_extension(MODULE), &bytes),
            Err(error) => write(&request.with_extension(ERROR), format!("{error:#}").as_bytes()),
        };
    }
}

fn compile(content: &[u8]) -> Result<Vec<u8>> {
    let (name, text, arguments): (String, String, Vec<String>) = serde_json::from_slice(content)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let scratch = folder_in(&std::env::temp_dir())?;
    glslang::compile(scratch.path(), &name, &text, &arguments)
}

/// Writes a file that others see only as a whole.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let staged = path.with_extension("staged");
    fs::write(&staged, content)?;
    Ok(fs::rename(&staged, path)?)
}

/// Reads a file and removes it.
fn take(path: &Path) -> Option<Vec<u8>> {
    let content = fs::read(path).ok()?;
    fs::remove_file(path).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered_with_the_module_or_the_error() -> Result<()> {
        let folder = vkabort_test_kit::scratch::folder()?;
        serve(folder.path().to_owned());
        let text = "#version 460\nvoid main() {}\n";
        let module = send_in(folder.path(), "a.comp", text, &["--target-env", "vulkan1.2"])?;
        assert_eq!(module.get(..4), Some([0x03, 0x02, 0x23, 0x07].as_slice()));
        let error = send_in(folder.path(), "a.comp", "#version 460\nvoid main() { x; }\n", &[]);
        let error = error.map_or_else(|error| error.to_string(), |_| String::new());
        assert!(error.contains("'x' : undeclared identifier"), "{error}");
        Ok(())
    }
}
