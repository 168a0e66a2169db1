//! The process's environment, and whether it can be trusted.
//!
//! In secure execution a process has more privileges than the user who started it: a setuid program or, on Windows, an
//! elevated process. Its environment, home and working folder are that user's, so the layer reads none of them and writes no
//! file: only the application configures it. The Vulkan loader enables implicit layers in such processes too.

use crate::os;
use std::ffi::OsString;
use std::sync::LazyLock;

static IS_SECURE: LazyLock<bool> = LazyLock::new(os::has_elevated_privileges);

/// Whether the process is in secure execution.
pub fn is_secure_execution() -> bool {
    *IS_SECURE
}

/// An environment variable. `None` in secure execution, and if the variable is not set or empty.
pub fn variable(name: &str) -> Option<OsString> {
    let value = (!is_secure_execution()).then(|| std::env::var_os(name)).flatten();
    value.filter(|value| !value.is_empty())
}

/// All environment variables. None in secure execution.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    let variables = (!is_secure_execution()).then(std::env::vars_os);
    variables.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_tests_are_not_in_secure_execution() {
        assert!(!is_secure_execution());
        assert!(variable("PATH").is_some());
    }

    /// Product code that reads the environment by another way would do so in secure execution too.
    #[test]
    fn no_other_file_reads_the_environment() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs")
                    && !path.ends_with("environment.rs")
                {
                    let text = fs::read_to_string(&path).expect("a source file");
                    let reads = ["env::var", "env::vars", "getenv", "home_dir"];
                    assert!(!reads.iter().any(|call| text.contains(call)), "{}", path.display());
                    files += 1;
                }
            }
        }
        assert!(files > 50, "{files} files");
    }
}
