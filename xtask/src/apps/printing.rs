//! Prints that `vkabort run --replace` adds to the shaders of a program.

use super::run::Ran;
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use vkabort_test_kit::{cargo, process, target};

/// Lines about prints that are counted because there is no room for them, by shader or, with too many shaders, together.
const COUNTED: &[&str] = &[
    " no room (printf_size)",
    " without room of some shaders are counted together",
];

/// The modules of a program: as it has them, and with prints.
pub struct PrintingModules {
    /// The command that adds prints.
    add_prints: PathBuf,
    folder: PathBuf,
}

impl PrintingModules {
    /// Builds the command that adds prints.
    ///
    /// # Errors
    ///
    /// The build fails.
    pub fn new() -> Result<Self> {
        let built = cargo::build(&["--example", "add_prints"])?;
        Ok(Self {
            add_prints: built
                .get("add_prints")
                .context("the example add_prints is not built")?
                .clone(),
            folder: target().join("vkabort/apps/modules"),
        })
    }

    /// The options that write the modules of a program.
    pub fn dumping(&self) -> Vec<OsString> {
        let _ = fs::remove_dir_all(&self.folder);
        vec!["--dump-modules".into(), self.folder.clone().into()]
    }

    /// Adds prints to the modules that were written. Returns the options that run these.
    ///
    /// # Errors
    ///
    /// There are no modules, or one is not valid.
    pub fn replacing(&self) -> Result<Vec<OsString>> {
        process::output(Command::new(&self.add_prints).arg(&self.folder))?;
        let mut options = vec!["--report".into(), self.report().into()];
        for entry in fs::read_dir(&self.folder)? {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(hash) = name.strip_suffix(".printing.spv") {
                options.push("--replace".into());
                options.push(format!("{hash}={}", file.display()).into());
            }
        }
        ensure!(options.len() > 2, "the program has no shaders");
        Ok(options)
    }

    /// Tests that a run with prints had prints and nothing else to say. Returns their number.
    ///
    /// # Errors
    ///
    /// It had no print, or a report or a warning.
    pub fn count(&self, ran: &Ran) -> Result<usize> {
        let log = fs::read_to_string(self.report())?;
        let prints = log.lines().filter(|line| line.contains(r#""type":"print""#)).count();
        let is_other = |line: &&str| line.contains("vkabort: ") && !COUNTED.iter().any(|text| line.contains(text));
        let other = ran.errors.lines().find(is_other);
        ensure!(prints > 0 && other.is_none(), "{prints} prints, and {other:?}");
        Ok(prints)
    }

    fn report(&self) -> PathBuf {
        self.folder.join("report.jsonl")
    }
}
