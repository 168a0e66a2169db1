//! A virtual X display for programs with windows.

use crate::programs::installed;
use crate::scratch::{self, TempDir};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running Xvfb, which ends on drop.
pub struct Display {
    server: Child,
    name: String,
    folder: TempDir,
}

impl Display {
    /// Starts Xvfb. `None` if it is not installed, with a note.
    ///
    /// # Errors
    ///
    /// Xvfb does not start, or is not installed where the tests require it.
    pub fn open() -> Result<Option<Self>> {
        let Some(program) = installed("Xvfb")? else {
            return Ok(None);
        };
        let folder = scratch::folder()?;
        // Xvfb chooses a free display number and writes it to standard output when it is ready. By default it closes all
        // connections when the last client leaves, also those of clients that are about to come.
        let mut server = Command::new(program)
            .args("-displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset -fbdir".split(' '))
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start")?;
        let mut number = String::new();
        let out = server.stdout.take().context("Xvfb has no stdout")?;
        BufReader::new(out).read_line(&mut number)?;
        Ok(Some(Self {
            server,
            name: format!(":{}", number.trim()),
            folder,
        }))
    }

    /// The pixels on the screen, as an XWD file that the server writes to while programs draw.
    pub fn screen(&self) -> PathBuf {
        self.folder.path().join("Xvfb_screen0")
    }

    /// Value of `DISPLAY` for its clients.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
